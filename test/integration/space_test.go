// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	v2 "tutorial.kubebuilder.io/project/apis/batch/v2"
	"tutorial.kubebuilder.io/project/test/builders"
)

const (
	crdName = "cronjobs.batch.tutorial.kubebuilder.io"

	// nextYear is a schedule that does not fire while the tests run, unless they run into the new
	// year.
	nextYear = "0 0 1 1 *"
)

// space is a namespace for one test.
type space struct {
	*controlPlane
	t  *testing.T
	ns string
}

// newSpace makes a namespace on the shared control plane.
func newSpace(t *testing.T) *space {
	t.Helper()
	return newSpaceOn(t, shared, nil)
}

// newSpaceOn makes a namespace with labels.
func newSpaceOn(t *testing.T, plane *controlPlane, labels map[string]string) *space {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-", Labels: labels}}
	require.NoError(t, plane.Client.Create(t.Context(), namespace))
	s := &space{controlPlane: plane, t: t, ns: namespace.Name}
	t.Cleanup(s.clear)
	return s
}

// clear deletes the test's CronJobs and Jobs, so that they do not tick on: nobody collects the
// garbage of a control plane without controllers.
func (s *space) clear() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	list := &v1.CronJobList{}
	assert.NoError(s.t, s.Client.List(ctx, list, client.InNamespace(s.ns)))
	for i := range list.Items {
		if len(list.Items[i].Finalizers) > 0 {
			noFinalizers := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
			_ = s.Client.Delete(ctx, &list.Items[i])
			assert.NoError(s.t, client.IgnoreNotFound(s.Client.Patch(ctx, &list.Items[i], noFinalizers)))
		}
	}
	assert.NoError(s.t, s.Client.DeleteAllOf(ctx, &v1.CronJob{}, client.InNamespace(s.ns)))
	assert.NoError(s.t, s.Client.DeleteAllOf(ctx, &batchv1.Job{}, client.InNamespace(s.ns),
		client.PropagationPolicy(metav1.DeletePropagationBackground)))
}

// cronJob begins a CronJob in the namespace.
func (s *space) cronJob(name string) *builders.CronJob {
	return builders.MakeCronJob(name).Namespace(s.ns)
}

// create stores an object.
func (s *space) create(object client.Object) {
	s.t.Helper()
	require.NoError(s.t, s.Client.Create(s.t.Context(), object))
}

// get reads a CronJob in v1.
func (s *space) get(name string) *v1.CronJob {
	s.t.Helper()
	c := &v1.CronJob{}
	require.NoError(s.t, s.Client.Get(s.t.Context(), s.key(name), c))
	return c
}

// annotationsOf returns the annotations of a CronJob without the time of its last edit, which the
// webhook writes.
func annotationsOf(c client.Object) map[string]string {
	rest := map[string]string{}
	maps.Copy(rest, c.GetAnnotations())
	delete(rest, v1.EditedAnnotation)
	return rest
}

// getV2 reads a CronJob in v2.
func (s *space) getV2(name string) *v2.CronJob {
	s.t.Helper()
	c := &v2.CronJob{}
	require.NoError(s.t, s.Client.Get(s.t.Context(), s.key(name), c))
	return c
}

func (s *space) key(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: s.ns, Name: name}
}

// edit changes a CronJob in v1.
func (s *space) edit(name string, change func(*v1.CronJob)) {
	s.t.Helper()
	c := s.get(name)
	before := c.DeepCopy()
	change(c)
	require.NoError(s.t, s.Client.Patch(s.t.Context(), c, client.MergeFrom(before)))
}

// delete deletes a CronJob, and leaves its Jobs: there is no garbage collector.
func (s *space) delete(name string) {
	s.t.Helper()
	require.NoError(s.t, s.Client.Delete(s.t.Context(), s.get(name)))
}

// jobs returns the Jobs of a CronJob, or of all when the name is "", by tick.
func (s *space) jobs(owner string) []batchv1.Job {
	s.t.Helper()
	list := &batchv1.JobList{}
	require.NoError(s.t, s.Client.List(s.t.Context(), list, client.InNamespace(s.ns)))
	jobs := slices.DeleteFunc(list.Items, func(j batchv1.Job) bool {
		controller := metav1.GetControllerOf(&j)
		return owner != "" && (controller == nil || controller.Name != owner)
	})
	slices.SortFunc(jobs, func(a, b batchv1.Job) int { return cmp.Compare(a.Name, b.Name) })
	return jobs
}

// awaitJobs waits until a CronJob has at least so many Jobs.
func (s *space) awaitJobs(owner string, atLeast int) []batchv1.Job {
	s.t.Helper()
	var jobs []batchv1.Job
	s.eventually(func() bool {
		jobs = s.jobs(owner)
		return len(jobs) >= atLeast
	}, "%s has no %d Jobs", owner, atLeast)
	return jobs
}

// eventually waits until something is so.
func (s *space) eventually(isSo func() bool, message string, args ...any) {
	s.t.Helper()
	require.Eventually(s.t, isSo, patience, glance, append([]any{message}, args...)...)
}

// awaitReady waits until the Ready condition says this about the newest spec, and returns the
// CronJob.
func (s *space) awaitReady(name string, status metav1.ConditionStatus, reason string) *v1.CronJob {
	s.t.Helper()
	var c *v1.CronJob
	require.EventuallyWithT(s.t, func(t *assert.CollectT) {
		c = s.get(name)
		ready := meta.FindStatusCondition(c.Status.Conditions, v1.ConditionReady)
		require.NotNil(t, ready, "%s has no condition Ready", name)
		assert.Equal(t, status, ready.Status, "%s: %s", name, ready.Message)
		assert.Equal(t, reason, ready.Reason, "%s: %s", name, ready.Message)
		assert.Equal(t, c.Generation, ready.ObservedGeneration, name)
		assert.Equal(t, c.Generation, c.Status.ObservedGeneration, name)
	}, patience, glance)
	return c
}

// events returns the events with a reason about a CronJob.
func (s *space) events(name, reason string) []eventsv1.Event {
	s.t.Helper()
	list := &eventsv1.EventList{}
	require.NoError(s.t, s.Client.List(s.t.Context(), list, client.InNamespace(s.ns)))
	return slices.DeleteFunc(list.Items, func(e eventsv1.Event) bool {
		return e.Regarding.Name != name || e.Reason != reason
	})
}

// awaitEvent waits until there is an event with a reason about a CronJob, and returns the only one.
func (s *space) awaitEvent(name, reason string) eventsv1.Event {
	s.t.Helper()
	var found []eventsv1.Event
	s.eventually(func() bool {
		found = s.events(name, reason)
		return len(found) > 0
	}, "%s has no event %s", name, reason)
	require.Len(s.t, found, 1)
	require.Nil(s.t, found[0].Series, "the event %s was repeated", reason)
	return found[0]
}

// awaitRuns has a CronJob that runs every second as a clock: it waits until that has started so
// many Jobs more.
func (s *space) awaitRuns(clock string, more int) {
	s.t.Helper()
	s.awaitJobs(clock, len(s.jobs(clock))+more)
}

// startClock makes a CronJob for awaitRuns, that keeps all its Jobs.
func (s *space) startClock() string {
	s.t.Helper()
	s.create(s.cronJob("clock").Schedule("@every 1s").Obj())
	return "clock"
}

// end ends a Job, as the Job controller would.
func (s *space) end(job *batchv1.Job, result batchv1.JobConditionType) {
	s.t.Helper()
	require.NoError(s.t, client.IgnoreNotFound(s.tryEnd(s.t.Context(), job, result)))
}

func (s *space) tryEnd(ctx context.Context, job *batchv1.Job, result batchv1.JobConditionType) error {
	before := job.DeepCopy()
	now := metav1.Now()
	job.Status.StartTime = &job.CreationTimestamp
	criterion := batchv1.JobSuccessCriteriaMet
	if result == batchv1.JobComplete {
		job.Status.Succeeded, job.Status.CompletionTime = 1, &now
	} else {
		job.Status.Failed, criterion = 1, batchv1.JobFailureTarget
	}
	for _, condition := range []batchv1.JobConditionType{criterion, result} {
		job.Status.Conditions = append(job.Status.Conditions, batchv1.JobCondition{
			Type: condition, Status: corev1.ConditionTrue, Reason: "Test", LastProbeTime: now, LastTransitionTime: now,
		})
	}
	return s.Client.Status().Patch(ctx, job, client.MergeFrom(before))
}

// endJobs ends every Job of the namespace that was started on schedule as soon as it is there,
// until the test is over.
func (s *space) endJobs(result batchv1.JobConditionType) {
	s.t.Helper()
	s.onJobs(func(job *batchv1.Job, _ time.Time) {
		if job.Annotations[v1.ScheduledAtAnnotation] == "" {
			return
		}
		if err := s.tryEnd(s.t.Context(), job, result); client.IgnoreNotFound(err) != nil && s.t.Context().Err() == nil {
			s.t.Errorf("ending Job %s: %v", job.Name, err)
		}
	})
}

// onJobs calls back for each Job that is created in the namespace from now on, with the time at
// which we heard of it, until the test is over.
func (s *space) onJobs(created func(job *batchv1.Job, heard time.Time)) {
	s.t.Helper()
	watcher, err := s.Client.Watch(s.t.Context(), &batchv1.JobList{}, client.InNamespace(s.ns))
	require.NoError(s.t, err)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for event := range watcher.ResultChan() {
			if job, ok := event.Object.(*batchv1.Job); ok && event.Type == "ADDED" {
				created(job, time.Now())
			}
		}
	}()
	s.t.Cleanup(func() {
		watcher.Stop()
		<-ended
	})
}

// tickOf returns the tick that a Job's annotation names.
func tickOf(t *testing.T, job *batchv1.Job) time.Time {
	t.Helper()
	tick, err := time.Parse(time.RFC3339, job.Annotations[v1.ScheduledAtAnnotation])
	require.NoError(t, err)
	return tick
}
