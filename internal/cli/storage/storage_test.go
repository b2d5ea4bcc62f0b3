// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
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
		assert.Equal(t, want, hasUnservedFields(object, servedBy(crd)), apiVersion)
	}
}

func TestWhatCanBeKnownOfHowObjectsAreStored(t *testing.T) {
	for name, test := range map[string]struct {
		stored  []string
		objects int
		want    []string
	}{
		"one version was ever stored": {[]string{"v2"}, 12, []string{"v1 0", "v2 12"}},
		"two":                         {[]string{"v1", "v2"}, 12, []string{"v1 0 to 12", "v2 0 to 12"}},
		"no objects":                  {[]string{"v1", "v2"}, 0, []string{"v1 0", "v2 0"}},
	} {
		t.Run(name, func(t *testing.T) {
			crd := &apiextensionsv1.CustomResourceDefinition{}
			crd.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true}, {Name: "v2", Served: true, Storage: true}}
			crd.Status.StoredVersions = test.stored
			var got []string
			for _, version := range versionsOf(crd, test.objects) {
				got = append(got, version.Name+" "+version.objects())
			}
			assert.Equal(t, test.want, got)
		})
	}
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
	names := func(c client.Client) []string {
		list := &svmv1.StorageVersionMigrationList{}
		require.NoError(t, c.List(t.Context(), list))
		var names []string
		for _, migration := range list.Items {
			names = append(names, migration.Name)
		}
		return names
	}
	others := func(states ...svmv1.MigrationConditionType) *svmv1.StorageVersionMigration {
		migration := &svmv1.StorageVersionMigration{ObjectMeta: metav1.ObjectMeta{Name: "others"}}
		migration.Spec.Resource = resource
		for _, state := range states {
			migration.Status.Conditions = append(migration.Status.Conditions, metav1.Condition{Type: string(state), Status: metav1.ConditionTrue})
		}
		return migration
	}
	for name, tc := range map[string]struct {
		objects     []client.Object
		timeout     time.Duration
		interruptAt time.Duration
		want        string
		wantLeft    []string
	}{
		"nobody begins before --timeout":       {timeout: 10 * time.Second, want: "deadline exceeded"},
		"it is interrupted before":             {interruptAt: 5 * time.Second, want: "canceled"},
		"another's is left as it is":           {objects: []client.Object{others()}, timeout: 10 * time.Second, want: "deadline exceeded", wantLeft: []string{"others"}},
		"the cluster has begun, and --timeout": {objects: []client.Object{others(svmv1.MigrationRunning)}, timeout: 10 * time.Second, want: "others: context deadline exceeded; the cluster goes on", wantLeft: []string{"others"}},
		"the cluster has begun, and it is interrupted": {objects: []client.Object{others(svmv1.MigrationRunning)},
			interruptAt: 5 * time.Second, want: "others: context canceled; the cluster goes on", wantLeft: []string{"others"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := fake.NewClientBuilder().WithScheme(newScheme(t)).WithObjects(storedCRD()).WithObjects(tc.objects...).Build()
				ctx, interrupt := context.WithCancel(t.Context())
				defer interrupt()
				if tc.interruptAt > 0 {
					defer time.AfterFunc(tc.interruptAt, interrupt).Stop()
				}
				m := &migrator{Env: env.New(genericiooptions.NewTestIOStreamsDiscard()), client: c, timeout: tc.timeout}
				require.ErrorContains(t, m.run(ctx), tc.want)
				assert.Equal(t, tc.wantLeft, names(c))
			})
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

// storedVersions reads the list of the CRD.
func storedVersions(t *testing.T, c client.Client) []string {
	t.Helper()
	crd, _, err := readCRD(t.Context(), c)
	require.NoError(t, err)
	return crd.Status.StoredVersions
}

// succeeded is a migration that the cluster is done with.
func succeeded(ctx context.Context, c client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	err := c.Get(ctx, key, object, options...)
	if migration, isMigration := object.(*svmv1.StorageVersionMigration); isMigration {
		migration.Status.Conditions = []metav1.Condition{{Type: string(svmv1.MigrationSucceeded), Status: metav1.ConditionTrue, Message: "all done"}}
	}
	return err
}

func TestAMigrationOfTheClusterIsDoneWhenTheListIsUpdated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := clusterOf(t, interceptor.Funcs{Get: succeeded}, "a")
		streams, _, out, _ := genericiooptions.NewTestIOStreams()
		m := &migrator{Env: env.New(streams), client: c}
		require.ErrorContains(t, m.run(t.Context()), "all objects were written, but status.storedVersions of the CRD is [v1 v2]: was the CRD changed meanwhile?")
		assert.Contains(t, out.String(), "Succeeded: all done\n")

		time.AfterFunc(5*time.Second, func() {
			crd, _, err := readCRD(t.Context(), c)
			assert.NoError(t, err)
			crd.Status.StoredVersions = []string{"v2"}
			assert.NoError(t, c.Status().Update(t.Context(), crd))
		})
		require.NoError(t, m.run(t.Context()))
		assert.Contains(t, out.String(), "status.storedVersions is [v2]\n")
	})
}

func TestAChangeOfTheCRDDuringTheRewriteLeavesTheList(t *testing.T) {
	c := clusterOf(t, interceptor.Funcs{List: without, Update: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.UpdateOption) error {
		crd, _, err := readCRD(ctx, c)
		require.NoError(t, err)
		crd.Spec.Versions[0].Storage, crd.Spec.Versions[1].Storage = true, false
		return errors.Join(c.Update(ctx, crd), c.Update(ctx, object, options...))
	}}, "a")
	err := (&migrator{Env: env.New(genericiooptions.NewTestIOStreamsDiscard()), client: c}).run(t.Context())
	require.ErrorContains(t, err, "status.storedVersions was not updated, repeat the command: ")
	assert.Equal(t, []string{"v1", "v2"}, storedVersions(t, c))
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
			"created storageversionmigration.", "Pending\n", "deleted storageversionmigration.", "the cluster has not begun with it for 30s: ",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				writes := map[string]int{}
				c := clusterOf(t, interceptor.Funcs{List: tc.list, Update: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.UpdateOption) error {
					writes[object.GetName()]++
					if object.GetName() == "written-by-others" {
						return apierrors.NewConflict(schema.GroupResource{}, object.GetName(), nil)
					}
					return c.Update(ctx, object, options...)
				}}, "idle", "written-by-others")
				streams, _, out, _ := genericiooptions.NewTestIOStreams()
				require.NoError(t, (&migrator{Env: env.New(streams), client: c}).run(t.Context()), out)
				for _, want := range append(tc.wantOuts, "writing each CronJob as it is, to store it as v2\nwrote 2 CronJobs\nstatus.storedVersions is [v2]\n") {
					assert.Contains(t, out.String(), want)
				}
				assert.Equal(t, map[string]int{"idle": 1, "written-by-others": 1}, writes)
				assert.Equal(t, []string{"v2"}, storedVersions(t, c))
			})
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
	assert.Equal(t, []string{"v1", "v2"}, storedVersions(t, c))
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
