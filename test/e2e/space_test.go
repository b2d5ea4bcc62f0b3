//go:build e2e

// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	v2 "tutorial.kubebuilder.io/project/apis/batch/v2"
	"tutorial.kubebuilder.io/project/test/builders"
)

// testLabel is on the namespaces of tests.
const testLabel = "e2e.tutorial.kubebuilder.io/test"

// space is a namespace for one test.
type space struct {
	t  *testing.T
	ns string
}

// newSpace makes a namespace. At the test's end it is deleted, and nobody waits for it but
// TestMain.
func newSpace(t *testing.T) *space {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-", Labels: map[string]string{testLabel: ""}}}
	require.NoError(t, cluster.Create(t.Context(), namespace))
	s := &space{t: t, ns: namespace.Name}
	t.Cleanup(s.delete)
	return s
}

// delete deletes the namespace, if it is still there.
func (s *space) delete() {
	s.t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.ns}}
	assert.NoError(s.t, client.IgnoreNotFound(cluster.Delete(context.Background(), namespace)))
}

// awaitGone waits until the namespace is deleted.
func (s *space) awaitGone() {
	s.t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.ns}}
	await(s.t, func(ctx context.Context) error { return isNotThere(ctx, namespace) })
}

// key names an object in the namespace.
func (s *space) key(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: s.ns, Name: name}
}

// cronJob begins a CronJob in the namespace, of Jobs that end at once.
func (s *space) cronJob(name string) *builders.CronJob {
	return builders.MakeCronJob(name).Namespace(s.ns)
}

// create stores a CronJob.
func (s *space) create(c *builders.CronJob) *v1.CronJob {
	s.t.Helper()
	object := c.Obj()
	object.UID = "" // the API server's to give
	require.NoError(s.t, cluster.Create(s.t.Context(), object))
	return object
}

// v1 reads a CronJob in v1.
func (s *space) v1(name string) *v1.CronJob {
	s.t.Helper()
	c := &v1.CronJob{}
	require.NoError(s.t, cluster.Get(s.t.Context(), s.key(name), c))
	return c
}

// v2 reads a CronJob in v2.
func (s *space) v2(name string) *v2.CronJob {
	s.t.Helper()
	c := &v2.CronJob{}
	require.NoError(s.t, cluster.Get(s.t.Context(), s.key(name), c))
	return c
}

// kubectl runs kubectl in the namespace.
func (s *space) kubectl(args ...string) string {
	s.t.Helper()
	return kubectl(s.t, append([]string{"-n", s.ns}, args...)...)
}

// jobs returns the Jobs of the namespace.
func (s *space) jobs(ctx context.Context) ([]batchv1.Job, error) {
	list := &batchv1.JobList{}
	err := cluster.List(ctx, list, client.InNamespace(s.ns))
	return list.Items, err
}

// applySamplesAndReadThem applies both samples, which has to succeed at once, and reads each in the
// other version.
func (s *space) applySamplesAndReadThem() {
	s.t.Helper()
	s.kubectl("apply", "-k", "config/samples")
	assert.Equal(s.t, "*/1 * * * *", s.v1("cronjob-sample-v2").Spec.Schedule)
	assert.Equal(s.t, v2.CronSchedule{Minute: new(v2.CronField("*/1"))}, s.v2("cronjob-sample").Spec.Schedule)
	s.kubectl("wait", "--for=condition=Ready", "--timeout=1m", "tcj/cronjob-sample", "tcj/cronjob-sample-v2")
}

// await waits until a check passes, and reports what it said last if it never does.
func await(t *testing.T, check func(context.Context) error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), glance, patience, true, func(ctx context.Context) (bool, error) {
		if err := check(ctx); ctx.Err() == nil {
			last = err
		}
		return last == nil, nil
	})
	require.NoError(t, err, "the last time: %v", last)
}

// sinceSeconds says how long something took.
func sinceSeconds(begin time.Time) string {
	return time.Since(begin).Round(100 * time.Millisecond).String()
}

// list returns the CronJobs of the namespace.
func (s *space) list() []v1.CronJob {
	s.t.Helper()
	list := &v1.CronJobList{}
	require.NoError(s.t, cluster.List(s.t.Context(), list, client.InNamespace(s.ns)))
	return list.Items
}

// awaitJobs waits until there are at least so many Jobs, and returns them.
func (s *space) awaitJobs(atLeast int) []batchv1.Job {
	s.t.Helper()
	var jobs []batchv1.Job
	await(s.t, func(ctx context.Context) error {
		var err error
		if jobs, err = s.jobs(ctx); err == nil && len(jobs) < atLeast {
			err = fmt.Errorf("there are %d Jobs, not %d", len(jobs), atLeast)
		}
		return err
	})
	return jobs
}

// awaitNoJobs waits until the garbage collector has deleted the Jobs whose CronJobs are gone.
func (s *space) awaitNoJobs() {
	s.t.Helper()
	await(s.t, func(ctx context.Context) error {
		jobs, err := s.jobs(ctx)
		if err == nil && len(jobs) > 0 {
			err = fmt.Errorf("%d Jobs are left", len(jobs))
		}
		return err
	})
}

// edit changes a CronJob in v1.
func (s *space) edit(name string, change func(*v1.CronJob)) {
	s.t.Helper()
	c := s.v1(name)
	before := c.DeepCopy()
	change(c)
	require.NoError(s.t, cluster.Patch(s.t.Context(), c, client.MergeFrom(before)))
}

// events returns the messages of the events with a reason about CronJobs.
func (s *space) events(reason string) []string {
	s.t.Helper()
	list := &eventsv1.EventList{}
	require.NoError(s.t, cluster.List(s.t.Context(), list, client.InNamespace(s.ns)))
	var notes []string
	for i := range list.Items {
		if list.Items[i].Reason == reason {
			notes = append(notes, list.Items[i].Note)
		}
	}
	return notes
}

// readFile reads a file of the project.
func readFile(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, path))
	require.NoError(t, err)
	return string(content)
}
