// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	v2 "tutorial.kubebuilder.io/project/apis/batch/v2"
	"tutorial.kubebuilder.io/project/internal/schedule"
)

// field makes a part of a v2 schedule.
func field(text string) *v2.CronField {
	return new(v2.CronField(text))
}

// cronJobV2 makes a suspended CronJob in v2.
func (s *space) cronJobV2(name string, when v2.CronSchedule) *v2.CronJob {
	template := s.cronJob(name).Obj().Spec.JobTemplate
	return &v2.CronJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: name},
		Spec:       v2.CronJobSpec{Schedule: when, CommonSpec: v1.CommonSpec{Suspend: new(true), JobTemplate: template}},
	}
}

func TestC2AV1ScheduleReadsBackAsItWasWritten(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	tests := map[string]struct {
		schedule string
		wantV2   v2.CronSchedule
		wantKept bool
	}{
		"fields": {
			schedule: "*/5 9-17 * * 1-5",
			wantV2:   v2.CronSchedule{Minute: field("*/5"), Hour: field("9-17"), DayOfWeek: field("1-5")},
		},
		"every-minute": {schedule: "* * * * *", wantV2: v2.CronSchedule{Minute: field("*")}},
		"interval":     {schedule: "@every 90m", wantV2: v2.CronSchedule{Every: "90m"}},
		"macro":        {schedule: "@hourly", wantV2: v2.CronSchedule{Minute: field("0")}, wantKept: true},
		"blanks": {
			schedule: "0  9 \t* * mon",
			wantV2:   v2.CronSchedule{Minute: field("0"), Hour: field("9"), DayOfWeek: field("mon")},
			wantKept: true,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			written := s.cronJob(name).Schedule(test.schedule).Suspend(true).Obj()
			written.Annotations = map[string]string{"example.com/mine": "stays"}
			s.create(written)

			inV2 := s.getV2(name)
			assert.Equal(t, test.wantV2, inV2.Spec.Schedule)
			assert.Equal(t, "stays", inV2.Annotations["example.com/mine"])
			kept, isKept := inV2.Annotations[v2.ScheduleV1Annotation]
			assert.Equal(t, test.wantKept, isKept, "an annotation is for what the fields alone can't carry")
			if isKept {
				assert.Equal(t, test.schedule, kept)
			}

			// Written in v2 with nothing changed but a label, it is still the text in v1.
			require.NoError(t, s.Client.Patch(t.Context(), inV2,
				client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"touched":"in-v2"}}}`))))
			after := s.get(name)
			assert.Equal(t, test.schedule, after.Spec.Schedule)
			assert.Equal(t, map[string]string{"example.com/mine": "stays"}, after.Annotations)
			assert.Equal(t, "in-v2", after.Labels["touched"])
			assert.EqualValues(t, 1, after.Generation, "the spec has not changed")
		})
	}
}

func TestC3AV2ScheduleReadsBackAsItWasWritten(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	tests := map[string]struct {
		schedule v2.CronSchedule
		wantV1   string
		wantKept bool
	}{
		"one-field":     {schedule: v2.CronSchedule{Hour: field("9")}, wantV1: "* 9 * * *"},
		"interval":      {schedule: v2.CronSchedule{Every: "1h30m"}, wantV1: "@every 1h30m"},
		"star-in-hour":  {schedule: v2.CronSchedule{Minute: field("0"), Hour: field("*")}, wantV1: "0 * * * *", wantKept: true},
		"only-stars":    {schedule: v2.CronSchedule{Hour: field("*"), Month: field("*")}, wantV1: "* * * * *", wantKept: true},
		"names-of-days": {schedule: v2.CronSchedule{Minute: field("0"), DayOfWeek: field("MON-fri")}, wantV1: "0 * * * MON-fri"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s.create(s.cronJobV2(name, test.schedule))

			inV1 := s.get(name)
			assert.Equal(t, test.wantV1, inV1.Spec.Schedule)
			assert.Equal(t, test.wantKept, inV1.Annotations[v2.ScheduleV2Annotation] != "")

			// Written in v1 with nothing changed but a label, it is still the same in v2.
			require.NoError(t, s.Client.Patch(t.Context(), inV1,
				client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"touched":"in-v1"}}}`))))
			after := s.getV2(name)
			assert.Equal(t, test.schedule, after.Spec.Schedule)
			assert.Empty(t, after.Annotations)
			assert.Equal(t, "in-v1", after.Labels["touched"])
		})
	}
}

func TestC6AnEditedScheduleWinsInEitherVersion(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		edit   func(s *space)
		wantV1 string
		wantV2 v2.CronSchedule
	}{
		"edited in v2": {
			edit: func(s *space) {
				c := s.getV2("c")
				before := c.DeepCopy()
				c.Spec.Schedule.Minute = field("30")
				require.NoError(s.t, s.Client.Patch(s.t.Context(), c, client.MergeFrom(before)))
			},
			wantV1: "30 * * * *",
			wantV2: v2.CronSchedule{Minute: field("30")},
		},
		"edited in v2 and back": {
			edit: func(s *space) {
				for _, minute := range []string{"30", "0"} {
					c := s.getV2("c")
					before := c.DeepCopy()
					c.Spec.Schedule.Minute = field(minute)
					require.NoError(s.t, s.Client.Patch(s.t.Context(), c, client.MergeFrom(before)))
				}
			},
			wantV1: "0 * * * *",
			wantV2: v2.CronSchedule{Minute: field("0")},
		},
		"edited in v1": {
			edit: func(s *space) {
				s.edit("c", func(c *v1.CronJob) { c.Spec.Schedule = "15 * * * *" })
			},
			wantV1: "15 * * * *",
			wantV2: v2.CronSchedule{Minute: field("15")},
		},
		"replaced in v2": {
			edit: func(s *space) {
				c := s.getV2("c")
				c.Annotations = nil
				c.Spec.Schedule = v2.CronSchedule{Every: "5m"}
				require.NoError(s.t, s.Client.Update(s.t.Context(), c))
			},
			wantV1: "@every 5m",
			wantV2: v2.CronSchedule{Every: "5m"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := newSpace(t)
			s.create(s.cronJob("c").Schedule("@hourly").Suspend(true).Obj())
			s.awaitReady("c", metav1.ConditionTrue, v1.ReasonSuspended) // and the status no longer changes
			test.edit(s)
			inV1, inV2 := s.get("c"), s.getV2("c")
			assert.Equal(t, test.wantV1, inV1.Spec.Schedule)
			assert.Equal(t, test.wantV2, inV2.Spec.Schedule)
			assert.Empty(t, annotationsOf(inV1), "nothing older is kept")
			assert.Empty(t, annotationsOf(inV2), "nothing older is kept")
		})
	}
}

func TestC6AV2ScheduleEditedInV1DoesNotComeBack(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(s.cronJobV2("c", v2.CronSchedule{Minute: field("0"), Hour: field("*")}))
	s.edit("c", func(c *v1.CronJob) { c.Spec.Schedule = "5 * * * *" })
	s.edit("c", func(c *v1.CronJob) { c.Spec.Schedule = "0 * * * *" })
	assert.Equal(t, v2.CronSchedule{Minute: field("0")}, s.getV2("c").Spec.Schedule)
	assert.Empty(t, annotationsOf(s.get("c")))
}

func TestS7AnUpdateInV2ThatDropsTheTextOfV1IsNoEdit(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(s.cronJob("c").Schedule("@yearly").Obj())
	c := s.getV2("c")
	before := c.DeepCopy()
	c.Annotations = nil
	require.NoError(t, s.Client.Patch(t.Context(), c, client.MergeFrom(before)))
	stored := s.get("c")
	assert.Equal(t, "0 0 1 1 *", stored.Spec.Schedule)
	assert.EqualValues(t, 1, stored.Generation, "by which the manager tells it from an edit")
}

func TestC5BothVersionsFireAtTheSameInstants(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	newYear := v2.CronSchedule{Minute: field("0"), Hour: field("0"), DayOfMonth: field("1"), Month: field("jan")}
	for _, zone := range []string{"UTC", "America/New_York", "Pacific/Auckland"} {
		t.Run(zone, func(t *testing.T) {
			location, err := schedule.LoadZone(zone)
			require.NoError(t, err)
			inV1, inV2 := s.cronJob("v1-"+toName(zone)).Schedule("@yearly").TimeZone(zone).Obj(), s.cronJobV2("v2-"+toName(zone), newYear)
			inV2.Spec.TimeZone, inV2.Spec.Suspend = &zone, nil
			s.create(inV1)
			s.create(inV2)
			want := time.Date(time.Now().In(location).Year()+1, time.January, 1, 0, 0, 0, 0, location)
			for _, name := range []string{inV1.Name, inV2.Name} {
				s.awaitReady(name, metav1.ConditionTrue, v1.ReasonScheduled)
				assert.WithinDuration(t, want, s.get(name).Status.NextScheduleTime.Time, 0)
				assert.WithinDuration(t, want, s.getV2(name).Status.NextScheduleTime.Time, 0)
			}
		})
	}
}

func TestA2NoTimeZoneMeansUTCWhereverTheManagerRuns(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(s.cronJob("c").Schedule("@yearly").Obj())
	s.awaitReady("c", metav1.ConditionTrue, v1.ReasonScheduled)
	want := time.Date(time.Now().UTC().Year()+1, time.January, 1, 0, 0, 0, 0, time.UTC)
	assert.WithinDuration(t, want, s.get("c").Status.NextScheduleTime.Time, 0, "the manager's own zone is %s", managerZone)
}

func TestA3DefaultsAreSetInBothVersions(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(s.cronJob("in-v1").Schedule(nextYear).Obj())
	inV2 := s.cronJobV2("in-v2", v2.CronSchedule{Every: "8760h"})
	inV2.Spec.Suspend = nil
	s.create(inV2)
	for _, name := range []string{"in-v1", "in-v2"} {
		one, two := s.get(name).Spec, s.getV2(name).Spec
		assert.Equal(t, v1.AllowConcurrent, one.ConcurrencyPolicy)
		assert.Equal(t, v1.AllowConcurrent, two.ConcurrencyPolicy)
		for what, got := range map[string][2]any{
			"suspend":                    {one.Suspend, two.Suspend},
			"successfulJobsHistoryLimit": {one.SuccessfulJobsHistoryLimit, two.SuccessfulJobsHistoryLimit},
			"failedJobsHistoryLimit":     {one.FailedJobsHistoryLimit, two.FailedJobsHistoryLimit},
		} {
			want := map[string]any{
				"suspend":                    new(false),
				"successfulJobsHistoryLimit": new(int32(3)),
				"failedJobsHistoryLimit":     new(int32(1)),
			}[what]
			assert.Equal(t, want, got[0], "%s of %s in v1", what, name)
			assert.Equal(t, want, got[1], "%s of %s in v2", what, name)
		}
	}
}
