//go:build e2e

// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	v2 "tutorial.kubebuilder.io/project/apis/batch/v2"
)

// load is a client that edits a CronJob in v2 and in v1, and reads it in both, alone and in lists,
// over and over. What it reads has to be what it wrote last, as nobody else writes.
type load struct {
	t      *testing.T
	space  *space
	client client.Client
	retry  time.Duration // how long a call may fail and be repeated; zero for not at all

	cancel context.CancelFunc
	warm   chan struct{} // closed when it has made some calls
	ended  chan struct{}

	// What happened, to be read when it has ended.
	calls    map[string]int // by what they do
	slowest  time.Duration
	failures []string // of calls that failed for good
	repeated []string // of tries that were repeated
}

const (
	// callsPerSecond bounds the load.
	callsPerSecond = 100

	// tryTimeout is how long one try of a call may take.
	tryTimeout = 15 * time.Second

	// warmUp is how many rounds come before what the load is for.
	warmUp = 20
)

// startLoad starts a load in a namespace of its own. A call that fails is repeated for so long:
// with zero, each has to succeed.
func startLoad(t *testing.T, retry time.Duration) *load {
	t.Helper()
	s := newSpace(t)
	s.create(s.cronJob("c").Suspend(true))
	paced := rest.CopyConfig(config)
	paced.QPS, paced.Burst = callsPerSecond, 1
	paced.Timeout = tryTimeout
	own, err := client.New(paced, client.Options{Scheme: cluster.Scheme(), Mapper: cluster.RESTMapper()})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	l := &load{
		t: t, space: s, client: own, retry: retry,
		cancel: cancel, warm: make(chan struct{}), ended: make(chan struct{}),
		calls: map[string]int{},
	}
	go l.run(ctx)
	<-l.warm
	return l
}

// stop ends the load and fails the test if a call has failed.
func (l *load) stop() {
	l.t.Helper()
	l.cancel()
	<-l.ended
	l.t.Logf("calls: %v, of which %d failed; the slowest took %s", l.calls, len(l.failures), l.slowest.Round(time.Millisecond))
	for _, failure := range l.repeated {
		l.t.Log("repeated: ", failure)
	}
	assert.Empty(l.t, l.failures)
}

// run edits and reads until the context ends.
func (l *load) run(ctx context.Context) {
	defer close(l.ended)
	for i := 0; ctx.Err() == nil; i++ {
		if i == warmUp {
			close(l.warm)
		}
		minute := fmt.Sprint(i % 60)
		if !l.call(ctx, "applying v2", func(ctx context.Context) error { return l.apply(ctx, minute) }) ||
			!l.call(ctx, "patching v1", func(ctx context.Context) error { return l.patch(ctx, minute) }) {
			continue
		}
		for version, schedule := range map[schema.GroupVersion]any{
			v1.GroupVersion: minute + " * * * *",
			v2.GroupVersion: map[string]any{"minute": minute},
		} {
			l.call(ctx, "reading "+version.Version, func(ctx context.Context) error { return l.read(ctx, version, schedule, minute) })
			l.call(ctx, "listing "+version.Version, func(ctx context.Context) error { return l.list(ctx, version, schedule, minute) })
		}
	}
}

// call makes one call, notes how it went, and reports whether it succeeded. What the end of the
// load interrupts does not count.
func (l *load) call(ctx context.Context, what string, call func(context.Context) error) bool {
	begin := time.Now()
	failure := func(err error) string {
		return fmt.Sprintf("%s %s after %s: %v", begin.Format(time.TimeOnly), what, sinceSeconds(begin), err)
	}
	err := call(ctx)
	for err != nil && ctx.Err() == nil && time.Since(begin) < l.retry {
		l.repeated = append(l.repeated, failure(err))
		err = call(ctx)
	}
	if ctx.Err() != nil {
		return false
	}
	l.calls[what]++
	l.slowest = max(l.slowest, time.Since(begin))
	if err != nil {
		l.failures = append(l.failures, failure(err))
	}
	return err == nil
}

// apply sets the minute, by server-side apply: that reads, converts and writes, and converts the
// lists of owned fields.
func (l *load) apply(ctx context.Context, minute string) error {
	c := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v2.GroupVersion.String(),
		"kind":       "CronJob",
		"metadata":   map[string]any{"namespace": l.space.ns, "name": "c"},
		"spec":       map[string]any{"schedule": map[string]any{"minute": minute}},
	}}
	return l.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(c), client.FieldOwner("e2e"), client.ForceOwnership)
}

// patch sets a label, in v1.
func (l *load) patch(ctx context.Context, minute string) error {
	c := &v1.CronJob{}
	c.Namespace, c.Name = l.space.ns, "c"
	return l.client.Patch(ctx, c, client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"labels":{"minute":%q}}}`, minute)))
}

// read reads what was written.
func (l *load) read(ctx context.Context, version schema.GroupVersion, schedule any, minute string) error {
	c := &unstructured.Unstructured{}
	c.SetGroupVersionKind(version.WithKind("CronJob"))
	if err := l.client.Get(ctx, l.space.key("c"), c); err != nil {
		return err
	}
	return isAsWritten(c, schedule, minute)
}

// list lists the CronJobs of all namespaces, and finds what was written.
func (l *load) list(ctx context.Context, version schema.GroupVersion, schedule any, minute string) error {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(version.WithKind("CronJobList"))
	if err := l.client.List(ctx, list); err != nil {
		return err
	}
	for i := range list.Items {
		if list.Items[i].GetNamespace() == l.space.ns {
			return isAsWritten(&list.Items[i], schedule, minute)
		}
	}
	return fmt.Errorf("it is not among %d CronJobs", len(list.Items))
}

// isAsWritten reports, by an error if not, whether a CronJob is what apply and patch have written.
func isAsWritten(c *unstructured.Unstructured, schedule any, minute string) error {
	got, _, _ := unstructured.NestedFieldNoCopy(c.Object, "spec", "schedule")
	if label := c.GetLabels()["minute"]; label != minute || !reflect.DeepEqual(got, schedule) {
		return fmt.Errorf("the schedule is %v and the label %q, not %v and %q", got, label, schedule, minute)
	}
	return nil
}
