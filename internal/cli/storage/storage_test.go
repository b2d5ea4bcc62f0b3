// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	svmv1 "k8s.io/api/storagemigration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/env"
)

const group = "batch.tutorial.kubebuilder.io/"

// owns is an entry of managedFields.
func owns(manager, version, fields string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: metav1.ManagedFieldsOperationApply, APIVersion: group + version,
		FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields),
	}
}

func TestManagedFieldsAreMovedToAVersionThatIsServed(t *testing.T) {
	const v2Fields = `{"f:spec":{"f:suspend":{},"f:schedule":{"f:minute":{}}}}`
	for name, test := range map[string]struct {
		entries     []metav1.ManagedFieldsEntry
		served      []string
		to          string
		want        []metav1.ManagedFieldsEntry
		wantCleaned int
	}{
		"what is served stays": {
			entries: []metav1.ManagedFieldsEntry{owns("m", "v2", v2Fields)}, served: []string{"v1", "v2"}, to: "v1",
			want: []metav1.ManagedFieldsEntry{owns("m", "v2", v2Fields)},
		},
		"a part of the schedule in v2 is all of it in v1": {
			entries: []metav1.ManagedFieldsEntry{owns("m", "v2", v2Fields)}, served: []string{"v1"}, to: "v1", wantCleaned: 1,
			want: []metav1.ManagedFieldsEntry{owns("m", "v1", `{"f:spec":{"f:schedule":{},"f:suspend":{}}}`)},
		},
		"the schedule of v1 is none of the fields of v2": {
			entries: []metav1.ManagedFieldsEntry{owns("m", "v1", `{"f:spec":{"f:schedule":{},"f:suspend":{}}}`)}, served: []string{"v2"}, to: "v2",
			wantCleaned: 1,
			want:        []metav1.ManagedFieldsEntry{owns("m", "v2", `{"f:spec":{"f:suspend":{}}}`)},
		},
		"what the same manager owns is put together": {
			entries: []metav1.ManagedFieldsEntry{owns("m", "v2", v2Fields), owns("m", "v1", `{"f:spec":{"f:timeZone":{}}}`)},
			served:  []string{"v1"}, to: "v1", wantCleaned: 1,
			want: []metav1.ManagedFieldsEntry{owns("m", "v1", `{"f:spec":{"f:schedule":{},"f:suspend":{},"f:timeZone":{}}}`)},
		},
		"other managers are others": {
			entries: []metav1.ManagedFieldsEntry{owns("m", "v2", v2Fields), owns("n", "v1", `{"f:spec":{"f:timeZone":{}}}`)},
			served:  []string{"v1"}, to: "v1", wantCleaned: 1,
			want: []metav1.ManagedFieldsEntry{
				owns("n", "v1", `{"f:spec":{"f:timeZone":{}}}`), owns("m", "v1", `{"f:spec":{"f:schedule":{},"f:suspend":{}}}`),
			},
		},
		"a version that nobody knows is dropped": {
			entries: []metav1.ManagedFieldsEntry{owns("m", "v3", v2Fields)}, served: []string{"v1"}, to: "v1", wantCleaned: 1,
		},
		"what can't be read is dropped": {
			entries: []metav1.ManagedFieldsEntry{owns("m", "v2", `nonsense`), {APIVersion: group + "v2"}}, served: []string{"v1"}, to: "v1",
			wantCleaned: 2,
		},
		"other groups are not ours": {
			entries: []metav1.ManagedFieldsEntry{{Manager: "m", APIVersion: "example.com/v9"}}, served: []string{"v1"}, to: "v1",
			want: []metav1.ManagedFieldsEntry{{Manager: "m", APIVersion: "example.com/v9"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, cleaned := cleanManagedFields(test.entries, test.served, test.to)
			assert.Equal(t, test.wantCleaned, cleaned)
			assert.Equal(t, test.want, got)
		})
	}
}

func TestWhatCanBeKnownOfHowObjectsAreStored(t *testing.T) {
	for name, test := range map[string]struct {
		stored         []string
		objects, since int
		want           []string
	}{
		"one version was ever stored": {[]string{"v2"}, 12, 3, []string{"v1 0", "v2 12"}},
		"two, and nothing is known":   {[]string{"v1", "v2"}, 12, 0, []string{"v1 0 to 12", "v2 0 to 12"}},
		"two, and some were written":  {[]string{"v1", "v2"}, 12, 5, []string{"v1 0 to 7", "v2 5 to 12"}},
		"two, and all were written":   {[]string{"v1", "v2"}, 12, 12, []string{"v1 0", "v2 12"}},
		"no objects":                  {[]string{"v1", "v2"}, 0, 0, []string{"v1 0", "v2 0"}},
	} {
		t.Run(name, func(t *testing.T) {
			crd := &apiextensionsv1.CustomResourceDefinition{}
			crd.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true}, {Name: "v2", Served: true, Storage: true}}
			crd.Status.StoredVersions = test.stored
			var got []string
			for _, version := range bounds(crd, test.objects, test.since) {
				got = append(got, version.Name+" "+version.objects())
			}
			assert.Equal(t, test.want, got)
		})
	}
}

func TestWhenTheCRDWasChangedIsNotWhenItsStatusWas(t *testing.T) {
	spec, status := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 2, 1, 0, 0, 0, 0, time.UTC)
	crd := &apiextensionsv1.CustomResourceDefinition{}
	assert.True(t, changedAt(crd).IsZero())
	crd.ManagedFields = []metav1.ManagedFieldsEntry{{Time: &metav1.Time{Time: spec}}, {Time: &metav1.Time{Time: status}, Subresource: "status"}}
	assert.Equal(t, spec, changedAt(crd))
}

func TestATokenIsForTheCRDAsItWas(t *testing.T) {
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{UID: "u", Generation: 3}}
	m := &migrator{crd: crd, last: "ns/c"}
	m.goOn = m.token()
	after, err := m.readToken()
	require.NoError(t, err)
	assert.Equal(t, "ns/c", after)

	crd.Generation++
	_, err = m.readToken()
	require.ErrorContains(t, err, "the CRD was changed since")
	m.goOn = "nonsense!"
	_, err = m.readToken()
	assert.ErrorContains(t, err, "--continue: not what an interrupted run has printed")
}

// skippingClock is there already when it is waited for, and calls back.
type skippingClock struct {
	*clocktesting.FakeClock
	onWait func()
}

func (c *skippingClock) After(d time.Duration) <-chan time.Time {
	c.Step(d)
	c.onWait()
	there := make(chan time.Time, 1)
	there <- c.Now()
	return there
}

func TestARequestThatNobodyBeginsWithIsNotLeftBehind(t *testing.T) {
	scheme := runtime.NewScheme()
	require.NoError(t, svmv1.AddToScheme(scheme))
	require.NoError(t, v1.AddToScheme(scheme))
	request := func(c client.Client) *svmv1.StorageVersionMigration {
		list := &svmv1.StorageVersionMigrationList{}
		require.NoError(t, c.List(t.Context(), list))
		require.LessOrEqual(t, len(list.Items), 1)
		if len(list.Items) == 0 {
			return nil
		}
		return &list.Items[0]
	}
	others := &svmv1.StorageVersionMigration{ObjectMeta: metav1.ObjectMeta{Name: "others", CreationTimestamp: metav1.Now()}}
	others.Spec.Resource = resource
	for name, tc := range map[string]struct {
		objects  []client.Object
		deadline time.Duration
		onWait   func(c client.Client, interrupt func())
		want     string
		wantLeft bool
	}{
		"nobody begins":                  {want: "nobody has begun with it for 1m1s"},
		"nobody begins before --timeout": {deadline: 10 * time.Second, want: "nobody has begun with it for 11s"},
		"it is interrupted before":       {onWait: func(_ client.Client, interrupt func()) { interrupt() }, want: "interrupted"},
		"the cluster has begun, and goes on": {
			deadline: 10 * time.Second, want: "the cluster goes on", wantLeft: true,
			onWait: func(c client.Client, _ func()) {
				running := request(c)
				running.Status.Conditions = []metav1.Condition{{Type: string(svmv1.MigrationRunning), Status: metav1.ConditionTrue}}
				assert.NoError(t, c.Update(t.Context(), running))
			},
		},
		"it is another's": {objects: []client.Object{others}, want: "nobody has begun with it", wantLeft: true},
	} {
		t.Run(name, func(t *testing.T) {
			c := fake.NewClientBuilder().WithScheme(scheme).WithObjects(tc.objects...).Build()
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			e := env.New(genericiooptions.NewTestIOStreamsDiscard())
			e.Clock = &skippingClock{FakeClock: clocktesting.NewFakeClock(time.Now()), onWait: func() {
				if tc.onWait != nil {
					tc.onWait(c, interrupt)
				}
			}}
			m := newMigrator(e, c, options{qps: 1, page: 1, deadline: tc.deadline})
			m.crd, m.storage = &apiextensionsv1.CustomResourceDefinition{}, "v1"
			require.ErrorContains(t, m.runInCluster(ctx), tc.want)
			assert.Equal(t, tc.wantLeft, request(c) != nil)
		})
	}
}

func TestWrongFlagsAreNamed(t *testing.T) {
	good := options{method: methodAuto, qps: 1, page: 1}
	require.NoError(t, good.validate())
	for want, change := range map[string]func(*options){
		"--method=x":    func(o *options) { o.method = "x" },
		"--qps=0":       func(o *options) { o.qps = 0 },
		"--page-size=0": func(o *options) { o.page = 0 },
		"--timeout=-1s": func(o *options) { o.deadline = -time.Second },
		"--continue":    func(o *options) { o.goOn, o.method = "x", methodCluster },
	} {
		o := good
		change(&o)
		assert.ErrorContains(t, o.validate(), want)
	}
}
