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
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/env"
)

func TestManagedFieldsAboutAVersionThatIsNotServedAreCounted(t *testing.T) {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	crd.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true}, {Name: "v2"}}
	for apiVersion, want := range map[string]bool{
		"batch.tutorial.kubebuilder.io/v1": false,
		"batch.tutorial.kubebuilder.io/v2": true,
		"batch.tutorial.kubebuilder.io/v3": true,
		"example.com/v9":                   false,
	} {
		object := &metav1.PartialObjectMetadata{}
		object.ManagedFields = []metav1.ManagedFieldsEntry{{APIVersion: apiVersion}}
		assert.Equal(t, want, hasUnservedFields(object, crd), apiVersion)
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

// newScheme has the types that a migration is about.
func newScheme(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, svmv1.AddToScheme(scheme))
	require.NoError(t, apiextensionsv1.AddToScheme(scheme))
	return scheme
}

// storedCRD is a CRD whose objects are stored as v1.
func storedCRD() *apiextensionsv1.CustomResourceDefinition {
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: cronjobs.Resource}}
	crd.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true}}
	return crd
}

func TestARequestThatNobodyBeginsWithIsNotLeftBehind(t *testing.T) {
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
		"nobody begins":                  {want: "the cluster has not begun with it for 1m1s"},
		"nobody begins before --timeout": {deadline: 10 * time.Second, want: "the cluster has not begun with it for 11s"},
		"it is interrupted before":       {onWait: func(_ client.Client, interrupt func()) { interrupt() }, want: "interrupted"},
		"the cluster has begun, and goes on": {
			deadline: 10 * time.Second, want: "the cluster goes on", wantLeft: true,
			onWait: func(c client.Client, _ func()) {
				running := request(c)
				running.Status.Conditions = []metav1.Condition{{Type: string(svmv1.MigrationRunning), Status: metav1.ConditionTrue}}
				assert.NoError(t, c.Update(t.Context(), running))
			},
		},
		"it is another's": {objects: []client.Object{others}, want: "the cluster has not begun with it", wantLeft: true},
	} {
		t.Run(name, func(t *testing.T) {
			c := fake.NewClientBuilder().WithScheme(newScheme(t)).WithObjects(storedCRD()).WithObjects(tc.objects...).Build()
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			e := env.New(genericiooptions.NewTestIOStreamsDiscard())
			e.Clock = &skippingClock{FakeClock: clocktesting.NewFakeClock(time.Now()), onWait: func() {
				if tc.onWait != nil {
					tc.onWait(c, interrupt)
				}
			}}
			m := &migrator{Env: e, client: c, timeout: tc.deadline}
			require.ErrorContains(t, m.run(ctx), tc.want)
			assert.Equal(t, tc.wantLeft, request(c) != nil)
		})
	}
}

func TestAClusterWithoutStorageVersionMigrationIsSaidToHaveNoneAndWhatToDoInstead(t *testing.T) {
	c := interceptor.NewClient(fake.NewClientBuilder().WithScheme(newScheme(t)).WithObjects(storedCRD()).Build(), interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return &meta.NoKindMatchError{GroupKind: svmv1.SchemeGroupVersion.WithKind("StorageVersionMigration").GroupKind()}
		},
	})
	m := &migrator{Env: env.New(genericiooptions.NewTestIOStreamsDiscard()), client: c}
	err := m.run(t.Context())
	require.ErrorContains(t, err, "the cluster has no StorageVersionMigration")
	assert.ErrorContains(t, err, "kubectl get cronjobs.v1.batch.tutorial.kubebuilder.io -A -o json | kubectl replace -f -\n")
	assert.ErrorContains(t, err, `{"status":{"storedVersions":["v1"]}}`)
}

func TestATimeoutBelowZeroIsRefused(t *testing.T) {
	command := newMigrateCommand(env.New(genericiooptions.NewTestIOStreamsDiscard()))
	command.SilenceErrors, command.SilenceUsage = true, true
	command.SetArgs([]string{"--timeout=-1s"})
	assert.EqualError(t, command.ExecuteContext(t.Context()), "--timeout=-1s: use 0 or more")
}
