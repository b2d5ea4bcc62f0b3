// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authorizationv1 "k8s.io/api/authorization/v1"
	svmv1 "k8s.io/api/storagemigration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"tutorial.kubebuilder.io/project/apis/batch"
	v2 "tutorial.kubebuilder.io/project/apis/batch/v2"
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
	require.NoError(t, batch.AddToScheme(scheme))
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
		"nobody begins before --timeout": {deadline: 10 * time.Second, want: "not begun after 10s"},
		"it is interrupted before":       {onWait: func(_ client.Client, interrupt func()) { interrupt() }, want: "interrupted"},
		"the cluster has begun, and goes on": {
			deadline: 10 * time.Second, want: "the cluster goes on", wantLeft: true,
			onWait: func(c client.Client, _ func()) {
				running := request(c)
				running.Status.Conditions = []metav1.Condition{{Type: string(svmv1.MigrationRunning), Status: metav1.ConditionTrue}}
				assert.NoError(t, c.Update(t.Context(), running))
			},
		},
		"it is another's": {objects: []client.Object{others}, deadline: 10 * time.Second, want: "not begun after 10s", wantLeft: true},
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

// clusterOf is a cluster with CronJobs, stored as v1 once and now as v2.
func clusterOf(t *testing.T, funcs interceptor.Funcs, names ...string) client.Client {
	t.Helper()
	crd := storedCRD()
	crd.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true}, {Name: "v2", Served: true, Storage: true}}
	crd.Status.StoredVersions = []string{"v1", "v2"}
	builder := fake.NewClientBuilder().WithScheme(newScheme(t)).WithObjects(crd).WithStatusSubresource(crd)
	for _, name := range names {
		builder.WithObjects(&v2.CronJob{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}})
	}
	return interceptor.NewClient(builder.Build(), funcs)
}

// without is a cluster that has no StorageVersionMigration.
func without(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
	if _, isMigrations := list.(*svmv1.StorageVersionMigrationList); isMigrations {
		return &meta.NoKindMatchError{GroupKind: svmv1.SchemeGroupVersion.WithKind("StorageVersionMigration").GroupKind()}
	}
	return c.List(ctx, list, options...)
}

func TestTheCommandWritesEachCronJobItselfWhereTheClusterDoesNot(t *testing.T) {
	for name, tc := range map[string]struct {
		list     func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error
		wantOuts []string
	}{
		"there is no StorageVersionMigration": {without, []string{"the cluster has no StorageVersionMigration\n"}},
		"nobody begins with it": {nil, []string{
			"created storageversionmigration.", "Pending\nthe cluster has not begun with it for 30s: ", "deleted storageversionmigration.",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			conflicts, writes := 1, map[string]int{}
			c := clusterOf(t, interceptor.Funcs{List: tc.list, Update: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.UpdateOption) error {
				if object.GetName() == "busy" && conflicts > 0 {
					conflicts--
					return apierrors.NewConflict(schema.GroupResource{}, "busy", nil)
				}
				writes[object.GetName()]++
				return c.Update(ctx, object, options...)
			}}, "busy", "idle")
			streams, _, out, _ := genericiooptions.NewTestIOStreams()
			e := env.New(streams)
			e.Clock = &skippingClock{FakeClock: clocktesting.NewFakeClock(time.Now()), onWait: func() {}}
			require.NoError(t, (&migrator{Env: e, client: c}).run(t.Context()), out)
			for _, want := range append(tc.wantOuts, "writing each CronJob as it is, to store it as v2\nwrote 2 CronJobs\nstatus.storedVersions is [v2]\n") {
				assert.Contains(t, out.String(), want)
			}
			assert.Equal(t, map[string]int{"busy": 1, "idle": 1}, writes)
			crd, err := getCRD(t.Context(), c)
			require.NoError(t, err)
			assert.Equal(t, []string{"v2"}, crd.Status.StoredVersions)
		})
	}
}

func TestTheListStaysWhereOneCanNotBeWrittenAndTheOthersAreWritten(t *testing.T) {
	c := clusterOf(t, interceptor.Funcs{List: without, Update: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.UpdateOption) error {
		if object.GetName() == "bad" {
			return errors.New("no")
		}
		return c.Update(ctx, object, options...)
	}}, "bad", "good", "other")
	streams, _, out, errOut := genericiooptions.NewTestIOStreams()
	require.Error(t, (&migrator{Env: env.New(streams), client: c}).run(t.Context()))
	assert.Contains(t, out.String(), "wrote 2 CronJobs\n")
	assert.Contains(t, errOut.String(), "error: namespace shop: CronJob bad: no\n")
	assert.Contains(t, errOut.String(), "status.storedVersions is left as it is")
	crd, err := getCRD(t.Context(), c)
	require.NoError(t, err)
	assert.Equal(t, []string{"v1", "v2"}, crd.Status.StoredVersions)
}

func TestACheckNamesEachCronJobThatWouldChangeOrBeRefusedAndWritesNothing(t *testing.T) {
	c := clusterOf(t, interceptor.Funcs{
		Create: func(_ context.Context, _ client.WithWatch, object client.Object, _ ...client.CreateOption) error {
			object.(*authorizationv1.SelfSubjectAccessReview).Status.Allowed = true //nolint:forcetypeassert // nothing else is created
			return nil
		},
		Update: func(_ context.Context, _ client.WithWatch, object client.Object, options ...client.UpdateOption) error {
			require.Equal(t, []client.UpdateOption{client.DryRunAll}, options)
			if object.GetName() == "refused" && object.GetObjectKind().GroupVersionKind().Version == "v1" {
				return errors.New("not today")
			}
			return nil
		},
	}, "fine", "lossy", "refused", "unread")
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	lossy := func(object []byte, apiVersion string) ([]byte, error) {
		text := strings.Replace(string(object), "batch.tutorial.kubebuilder.io/v2", apiVersion, 1)
		text = strings.Replace(text, "batch.tutorial.kubebuilder.io/v1", apiVersion, 1)
		switch {
		case strings.Contains(text, "unread") && strings.HasSuffix(apiVersion, "v1"):
			return nil, errors.New("no object")
		case strings.Contains(text, "lossy") && strings.HasSuffix(apiVersion, "v1"):
			text = strings.Replace(text, `"name":`, `"generateName":"l","name":`, 1)
		}
		return []byte(text), nil
	}
	err := (&checker{Env: env.New(streams), client: c, convert: lossy}).run(t.Context())
	require.EqualError(t, err, "3 of 4 CronJobs would change or be refused")
	assert.Equal(t, `shop/lossy: would change by way of v1: {"metadata":{"generateName":"l"}}
shop/refused: would be refused in v1: not today
shop/unread: can't be converted to v1: no object
converted 4 CronJobs to each version and back, and tried to write them
`, out.String())
}

func TestACheckSaysThatWritesWereNotTriedWithoutTheRight(t *testing.T) {
	c := clusterOf(t, interceptor.Funcs{
		Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error { return nil },
		Update: func(context.Context, client.WithWatch, client.Object, ...client.UpdateOption) error {
			return errors.New("forbidden")
		},
	}, "a")
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	require.NoError(t, (&checker{Env: env.New(streams), client: c, convert: batch.Versions.ConvertJSON}).run(t.Context()))
	assert.Equal(t, "converted 1 CronJobs to each version and back; whether they would be refused was not tried: "+
		"you have no right to update CronJobs of all namespaces\n", out.String())
}

func TestATimeoutBelowZeroIsRefused(t *testing.T) {
	command := newMigrateCommand(env.New(genericiooptions.NewTestIOStreamsDiscard()))
	command.SilenceErrors, command.SilenceUsage = true, true
	command.SetArgs([]string{"--timeout=-1s"})
	assert.EqualError(t, command.ExecuteContext(t.Context()), "--timeout=-1s: use 0 or more")
}
