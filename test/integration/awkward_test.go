// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	v2 "tutorial.kubebuilder.io/project/apis/batch/v2"
	"tutorial.kubebuilder.io/project/internal/plan"
)

// awkward are CronJobs as they may have been stored while the webhooks were off. Suspended are
// those that would run, in their time.
var awkward = map[string]struct {
	schedule, zone, wantReason, wantEvent string
}{
	"garbage":          {"garbage", "", v1.ReasonInvalidSchedule, plan.EventUnparseableSchedule},
	"four-fields":      {"0 0 1 1", "", v1.ReasonInvalidSchedule, plan.EventUnparseableSchedule},
	"every-two-blanks": {"@every  5m", "", v1.ReasonInvalidSchedule, plan.EventUnparseableSchedule},
	"every-nothing":    {"@every ", "", v1.ReasonInvalidSchedule, plan.EventUnparseableSchedule},
	"zone-prefix":      {"TZ=UTC 0 0 * * *", "", v1.ReasonInvalidSchedule, plan.EventUnparseableSchedule},
	"zone-prefix-only": {"TZ=UTC", "", v1.ReasonInvalidSchedule, plan.EventUnparseableSchedule},
	"cron-zone-prefix": {"CRON_TZ=", "", v1.ReasonInvalidSchedule, plan.EventUnparseableSchedule},
	"never":            {"0 0 30 2 *", "", v1.ReasonInvalidSchedule, plan.EventUnparseableSchedule},
	"control-signs":    {"\x00\x1b[31m\u2028", "", v1.ReasonInvalidSchedule, plan.EventUnparseableSchedule},
	"json":             {`{"minute":"0"}`, "", v1.ReasonInvalidSchedule, plan.EventUnparseableSchedule},
	"unknown-zone":     {"@yearly", "Mars/Phobos", v1.ReasonInvalidTimeZone, plan.EventUnknownTimeZone},
	"machine-zone":     {"@yearly", "Local", v1.ReasonInvalidTimeZone, plan.EventUnknownTimeZone},
	"two-blanks":       {"0  0  1  1  *", "", v1.ReasonScheduled, ""},
	"tabs":             {"\t0\t0 1 1 *\n", "", v1.ReasonScheduled, ""},
	"macro":            {"@yearly", "", v1.ReasonScheduled, ""},
	"good":             {nextYear, "Europe/Paris", v1.ReasonScheduled, ""},
}

const keep = "example.com/keep"

// newAwkwardSpace makes a namespace with one of each awkward object, and some that are merely large
// or written in another way.
func newAwkwardSpace(t *testing.T) *space {
	t.Helper()
	s := newSpaceOn(t, shared, map[string]string{webhooksLabel: webhooksOff})
	for name, c := range awkward {
		object := s.cronJob(name).Schedule(c.schedule).Obj()
		if c.zone != "" {
			object.Spec.TimeZone = &c.zone
		}
		object.Finalizers = []string{keep}
		s.create(object)
	}
	large := s.cronJob("large").Schedule("@hourly").Suspend(true).Obj()
	large.Annotations = map[string]string{"example.com/large": strings.Repeat("x", 250*1024)}
	large.Finalizers = []string{keep}
	s.create(large)

	full := s.cronJob("full").Schedule("@hourly").Suspend(true).Obj()
	full.Annotations = map[string]string{"example.com/full": strings.Repeat("x", 256*1024-len("example.com/full"))}
	full.Finalizers = []string{keep}
	s.create(full)

	units := s.object("v1", "units", yearly["v1"], `jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [
		{name: main, image: busybox, resources: {limits: {cpu: 1000m, memory: "1073741824", ephemeral-storage: 0.5Gi}}}]}}}}`)
	units.SetFinalizers([]string{keep})
	require.NoError(t, s.Client.Create(t.Context(), units))
	return s
}

// awkwardCount is how many objects newAwkwardSpace makes.
var awkwardCount = len(awkward) + 3

// switchWebhooksOn has the API server ask the webhooks about the namespace, too, and waits until it
// does.
func (s *space) switchWebhooksOn() {
	s.t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.ns}}
	require.NoError(s.t, s.Client.Patch(s.t.Context(), namespace,
		client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"`+webhooksLabel+`":null}}}`))))
	s.eventually(func() bool { return !s.admitsGarbage(s.t.Context(), s.ns) }, "the webhooks stay off")
}

// listKind returns a list of a version, as untyped as a client is that knows nothing of ours.
func listKind(version string) *unstructured.UnstructuredList {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: "batch.tutorial.kubebuilder.io", Version: version, Kind: "CronJobList"})
	return list
}

func TestC1EveryVersionListsAndWatchesWhateverIsStored(t *testing.T) {
	t.Parallel()
	s := newAwkwardSpace(t)
	for _, version := range []string{"v1", "v2"} {
		list := listKind(version)
		require.NoError(t, s.Client.List(t.Context(), list, client.InNamespace(s.ns)))
		assert.Len(t, list.Items, awkwardCount, version)

		// As the garbage collector and the deletion of namespaces do.
		metadata := &metav1.PartialObjectMetadataList{}
		metadata.SetGroupVersionKind(list.GroupVersionKind())
		require.NoError(t, s.Client.List(t.Context(), metadata, client.InNamespace(s.ns)))
		assert.Len(t, metadata.Items, awkwardCount, version)

		watcher, err := s.Client.Watch(t.Context(), listKind(version), client.InNamespace(s.ns),
			&client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: "0"}})
		require.NoError(t, err)
		seen := map[string]bool{}
		for len(seen) < awkwardCount {
			select {
			case event := <-watcher.ResultChan():
				require.NotEqual(t, watch.Error, event.Type, "%v", event.Object)
				seen[event.Object.(client.Object).GetName()] = true
			case <-time.After(patience):
				require.FailNow(t, "the watch does not show all", "%s: %v", version, seen)
			}
		}
		watcher.Stop()
	}
	typed := &v2.CronJobList{}
	require.NoError(t, s.Client.List(t.Context(), typed, client.InNamespace(s.ns)))
	assert.Len(t, typed.Items, awkwardCount, "and the Go types decode them all")
	out := s.kubectl(t, "get", "-n", s.ns, "cronjobs.batch.tutorial.kubebuilder.io", "--no-headers")
	assert.Len(t, strings.Split(strings.TrimSpace(out), "\n"), awkwardCount, "and kubectl shows them all")
}

func TestC2WhateverIsStoredReadsBackThroughV2AsItWas(t *testing.T) {
	t.Parallel()
	s := newAwkwardSpace(t)
	list := &v1.CronJobList{}
	require.NoError(t, s.Client.List(t.Context(), list, client.InNamespace(s.ns)))
	for _, before := range list.Items {
		s.awaitObserved(before.Name)
		before := s.get(before.Name)
		labelInV2 := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"touched":"in-v2"}}}`))
		require.NoError(t, s.Client.Patch(t.Context(), s.object("v2", before.Name), labelInV2), before.Name)
		after := s.get(before.Name)
		if before.Name == "full" {
			// No annotation fits any more, so that the fields alone have to do.
			assert.Equal(t, "0 * * * *", after.Spec.Schedule)
			continue
		}
		assert.Equal(t, before.Spec, after.Spec, before.Name)
		assert.Equal(t, before.Annotations, after.Annotations, before.Name)
		assert.Equal(t, before.Generation, after.Generation, before.Name)
		assert.Equal(t, map[string]string{"touched": "in-v2"}, after.Labels, before.Name)
	}
	inV2 := s.object("v2", "units")
	require.NoError(t, s.Client.Get(t.Context(), s.key("units"), inV2))
	containers, _, err := unstructured.NestedSlice(inV2.Object, "spec", "jobTemplate", "spec", "template", "spec", "containers")
	require.NoError(t, err)
	limits, _, _ := unstructured.NestedMap(containers[0].(map[string]any), "resources", "limits")
	assert.Equal(t, map[string]any{"cpu": "1000m", "memory": "1073741824", "ephemeral-storage": "0.5Gi"}, limits, "as they were written")
}

// awaitObserved waits until the manager has looked at a CronJob.
func (s *space) awaitObserved(name string) {
	s.t.Helper()
	s.eventually(func() bool { return s.get(name).Status.ObservedGeneration > 0 }, "%s is not observed", name)
}

func TestC1MetadataOfWhateverIsStoredCanBeEditedThroughEitherVersionOnceTheWebhooksAreOn(t *testing.T) {
	t.Parallel()
	s := newAwkwardSpace(t)
	s.switchWebhooksOn()
	list := &v1.CronJobList{}
	require.NoError(t, s.Client.List(t.Context(), list, client.InNamespace(s.ns)))
	refused := map[string]string{}
	for _, c := range list.Items {
		for _, version := range []string{"v1", "v2"} {
			label := fmt.Appendf(nil, `{"metadata":{"labels":{"touched":"in-%s"}}}`, version)
			err := s.Client.Patch(t.Context(), s.object(version, c.Name), client.RawPatch(types.MergePatchType, label))
			if err != nil {
				refused["labelling "+c.Name+" in "+version] = err.Error()
			}
		}
	}
	assert.Empty(t, refused)
}

func TestWhateverIsStoredCanBeSuspendedButNotMadeWorseThroughEitherVersionOnceTheWebhooksAreOn(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"v1", "v2"} {
		t.Run(version, func(t *testing.T) {
			s := newAwkwardSpace(t)
			s.switchWebhooksOn()
			refused := map[string]string{}
			for name := range awkward {
				stored := s.get(name).Spec.Schedule
				suspended := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"suspend":true}}`))
				if err := s.Client.Patch(t.Context(), s.object(version, name), suspended); err != nil {
					refused["suspending "+name] = err.Error()
				}
				assert.Equal(t, stored, s.get(name).Spec.Schedule, name)
				worse := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"timeZone":"Moon/Tycho"}}`))
				err := s.Client.Patch(t.Context(), s.object(version, name), worse)
				assert.ErrorContains(t, err, `unknown time zone "Moon/Tycho"`, name)
			}
			assert.Empty(t, refused)
		})
	}
}

func TestC1WhateverIsStoredCanBeDeletedThroughEitherVersionOnceTheWebhooksAreOn(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"v1", "v2"} {
		t.Run(version, func(t *testing.T) {
			s := newAwkwardSpace(t)
			s.switchWebhooksOn()
			list := listKind(version)
			require.NoError(t, s.Client.List(t.Context(), list, client.InNamespace(s.ns)))
			refused := map[string]string{}
			for i := range list.Items {
				item := &list.Items[i]
				require.NoError(t, s.Client.Delete(t.Context(), item))
				noFinalizers := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
				if err := s.Client.Patch(t.Context(), item, noFinalizers); err != nil {
					refused["removing the finalizer of "+item.GetName()] = err.Error()
				}
			}
			require.Empty(t, refused)
			require.NoError(t, s.Client.List(t.Context(), list, client.InNamespace(s.ns)))
			assert.Empty(t, list.Items)
		})
	}
}

func TestC1ANamespaceOfWhateverIsStoredEmptiesThroughV2(t *testing.T) {
	t.Parallel()
	s := newAwkwardSpace(t)
	noFinalizers := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
	list := listKind("v2")
	require.NoError(t, s.Client.List(t.Context(), list, client.InNamespace(s.ns)))
	for i := range list.Items {
		require.NoError(t, s.Client.Patch(t.Context(), &list.Items[i], noFinalizers))
	}
	require.NoError(t, s.Client.DeleteAllOf(t.Context(), s.object("v2", ""), client.InNamespace(s.ns)))
	require.NoError(t, s.Client.List(t.Context(), list, client.InNamespace(s.ns)))
	assert.Empty(t, list.Items)
}

func TestS10AMistakeInAStoredObjectIsAConditionAndOneEventAndNoLoop(t *testing.T) {
	t.Parallel()
	s := newAwkwardSpace(t)
	for name, want := range awkward {
		status := metav1.ConditionFalse
		if want.wantEvent == "" {
			status = metav1.ConditionTrue
		}
		s.awaitReady(name, status, want.wantReason)
	}
	s.audit.settle(t, s.ns)
	s.audit.requireSilence(t, s.ns, 3*time.Second)
	for name, want := range awkward {
		if want.wantEvent != "" {
			s.awaitEvent(name, want.wantEvent)
		}
	}
	counts := s.audit.count(t, s.ns)
	assert.Equal(t, map[string]int{
		"patch cronjobs/status": awkwardCount,
		"create events":         12,
	}, counts, "one status write each, and one event for each mistake")

	// The same mistake again, in a new generation, is said again, once.
	s.edit("garbage", func(c *v1.CronJob) { c.Spec.Suspend = new(false) })
	s.awaitReady("garbage", metav1.ConditionFalse, v1.ReasonInvalidSchedule)
	s.eventually(func() bool { return len(s.events("garbage", plan.EventUnparseableSchedule)) == 2 }, "the mistake is not said again")
	s.edit("garbage", func(c *v1.CronJob) { c.Labels = map[string]string{"touched": "yes"} })
	s.audit.settle(t, s.ns)
	assert.Len(t, s.events("garbage", plan.EventUnparseableSchedule), 2)

	// Others go on running, and a mistake that is mended is forgotten.
	s.awaitRuns(s.startClock(), 2)
	s.edit("garbage", func(c *v1.CronJob) { c.Spec.Schedule = "@every 1s" })
	s.awaitReady("garbage", metav1.ConditionTrue, v1.ReasonScheduled)
	s.awaitJobs("garbage", 1)
}

func TestTheSchemaRefusesWhatTheTypesCanNotDecode(t *testing.T) {
	t.Parallel()
	s := newSpaceOn(t, shared, map[string]string{webhooksLabel: webhooksOff})
	template := `jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: busybox, %s}]}}}}`
	tests := map[string]struct{ container, want string }{
		"a port of more than 32 bits": {
			`livenessProbe: {httpGet: {port: 99999999999}}`,
			"livenessProbe.httpGet.port: Invalid value: 99999999999",
		},
		"a quantity with half an exponent": {`resources: {limits: {cpu: 1e1.5}}`, `resources.limits.cpu: Invalid value: "1e1.5"`},
		"a quantity with a huge exponent":  {`resources: {limits: {cpu: 1e99999999999}}`, `resources.limits.cpu: Invalid value: "1e99999999999"`},
	}
	for version := range yearly {
		for name, test := range tests {
			err := s.Client.Create(t.Context(), s.object(version, "c", yearly[version], fmt.Sprintf(template, test.container)))
			assert.ErrorContains(t, err, test.want, "%s in %s", name, version)
		}
	}

	s.create(s.cronJob("c").Schedule(nextYear).Obj())
	for version := range yearly {
		for _, field := range []string{"lastScheduleTime", "lastSuccessfulTime", "nextScheduleTime"} {
			for _, wrong := range []string{"2020-01-01t00:00:00z", "2020-01-01T00:00:00+99:99", "yesterday"} {
				patch := fmt.Appendf(nil, `{"status":{%q:%q}}`, field, wrong)
				err := s.Client.Status().Patch(t.Context(), s.object(version, "c"), client.RawPatch(types.MergePatchType, patch))
				assert.ErrorContains(t, err, fmt.Sprintf("status.%s: Invalid value: %q", field, wrong), "in %s", version)
			}
		}
	}
}
