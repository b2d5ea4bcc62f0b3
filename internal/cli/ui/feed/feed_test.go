// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package feed

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/test/builders"
)

var noon = time.Date(2027, 1, 15, 12, 0, 0, 0, time.UTC)

func TestASnapshotIsInOrderAndFindsWhatItHas(t *testing.T) {
	b, a, other := builders.MakeCronJob("b").Obj(), builders.MakeCronJob("a").Obj(), builders.MakeCronJob("a").Namespace("shop").Obj()
	s := NewSnapshot(Health{}, []v1.CronJob{*other, *b, *a}, nil)
	assert.Equal(t, []*v1.CronJob{a, b, other}, s.CronJobs)
	assert.Equal(t, []string{"default", "shop"}, s.Namespaces())
	found, ok := s.Find("shop", "a")
	assert.True(t, ok)
	assert.Equal(t, other, found)
	_, ok = s.Find("shop", "b")
	assert.False(t, ok)
}

func TestASnapshotHasTheJobsOfEachOldestFirst(t *testing.T) {
	c := builders.MakeCronJob("c").Obj()
	newer, older := builders.MakeJob(c, noon).Obj(), builders.MakeJob(c, noon.Add(-time.Hour)).Obj()
	strangers := builders.MakeJob(builders.MakeCronJob("other").Obj(), noon).Obj()
	nobodys := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: "nobodys"}}
	s := NewSnapshot(Health{}, []v1.CronJob{*c}, []batchv1.Job{*newer, *strangers, *nobodys, *older})
	assert.Equal(t, []*batchv1.Job{older, newer}, s.JobsOf(c))
}

func TestARunIsTakenForDeletedOnlyWhereAllJobsAreKnown(t *testing.T) {
	c := builders.MakeCronJob("c").Obj()
	c.Status.RecentRuns = []v1.Run{{JobName: "c-1", Trigger: v1.TriggerSchedule, Result: v1.RunRunning}}
	s := NewSnapshot(Health{JobsComplete: true}, []v1.CronJob{*c}, nil)
	assert.Equal(t, v1.RunDeleted, s.HistoryOf(c, noon, 0).Entries[0].State)
	s.JobsComplete = false
	assert.Equal(t, v1.RunRunning, s.HistoryOf(c, noon, 0).Entries[0].State)
}

func TestAFeedWakesThoseThatWait(t *testing.T) {
	f := &Feed{}
	assert.Empty(t, f.Snapshot().CronJobs)
	changed := f.Wait()
	select {
	case <-changed:
		t.Fatal("nothing has changed")
	default:
	}
	s := NewSnapshot(Health{}, nil, nil)
	f.Set(s)
	<-changed
	assert.Same(t, s, f.Snapshot())
}

func TestWhatNoPageShowsIsNotKept(t *testing.T) {
	c := builders.MakeCronJob("c").Obj()
	c.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "m"}}
	c.Annotations = map[string]string{corev1.LastAppliedConfigAnnotation: "{}", "a": "b"}
	_, err := trim(c)
	assert.NoError(t, err)
	assert.Nil(t, c.ManagedFields)
	assert.Equal(t, map[string]string{"a": "b"}, c.Annotations)
	assert.Empty(t, c.Spec.JobTemplate.Spec.Template.Spec.Containers)

	job := builders.MakeJob(c, noon).Succeeded(noon).Obj()
	job.Spec.Template.Spec.Containers, job.ManagedFields = make([]corev1.Container, 1), make([]metav1.ManagedFieldsEntry, 1)
	job.Spec.Suspend = new(true)
	want := job.DeepCopy()
	want.Spec, want.ManagedFields = batchv1.JobSpec{Suspend: new(true)}, nil
	_, err = trim(job)
	assert.NoError(t, err)
	assert.Equal(t, want, job)
	tombstone, err := trim("tombstone")
	assert.NoError(t, err)
	assert.Equal(t, "tombstone", tombstone)
}
