// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	svmv1 "k8s.io/api/storagemigration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/printers"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
)

// resource is what is stored.
var resource = metav1.GroupResource{Group: v1.GroupVersion.Group, Resource: "cronjobs"}

// lag is how long after a change of the CRD some API server may still store as before.
const lag = 10 * time.Second

// State is what can be known of how objects are stored.
type State struct {
	CRD string `json:"crd"`

	// Objects is how many there are.
	Objects int `json:"objects"`

	// Versions are those of the CRD.
	Versions []VersionState `json:"versions"`

	// UnservedManagedFields counts the objects with managedFields about versions not served.
	UnservedManagedFields int `json:"unservedManagedFields"`

	// Migration is the cluster's newest StorageVersionMigration of them; nil for none.
	Migration *MigrationState `json:"migration,omitempty"`
}

// VersionState is how much is stored as a version. No API tells how an object is stored; but it
// can't be in a version that status.storedVersions does not list, and it is in the storage version
// if it was written since the CRD was last changed.
type VersionState struct {
	Name    string `json:"name"`
	Served  bool   `json:"served"`
	Storage bool   `json:"storage"`

	// Stored is whether status.storedVersions has it.
	Stored bool `json:"stored"`

	// AtLeast and AtMost bound the number of objects that are stored as it.
	AtLeast int `json:"objectsAtLeast"`
	AtMost  int `json:"objectsAtMost"`
}

// MigrationState is how far a StorageVersionMigration is.
type MigrationState struct {
	Name   string `json:"name"`
	State  string `json:"state"`
	Detail string `json:"detail,omitempty"`
}

// String is the state on a line.
func (m *MigrationState) String() string {
	if m.Detail == "" {
		return m.State
	}
	return m.State + ": " + m.Detail
}

// hasEnded reports whether the cluster does nothing more about it.
func (m *MigrationState) hasEnded() bool {
	return m.State == string(svmv1.MigrationSucceeded) || m.State == string(svmv1.MigrationFailed)
}

// getCRD reads the CRD.
func getCRD(ctx context.Context, c client.Client) (*apiextensionsv1.CustomResourceDefinition, error) {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := c.Get(ctx, client.ObjectKey{Name: cronjobs.Resource}, crd); err != nil {
		return nil, fmt.Errorf("reading the CRD: %w", err)
	}
	return crd, nil
}

// storageVersion is the version in which objects are stored when they are written.
func storageVersion(crd *apiextensionsv1.CustomResourceDefinition) (string, error) {
	for i := range crd.Spec.Versions {
		version := &crd.Spec.Versions[i]
		if version.Storage && !version.Served {
			return "", fmt.Errorf("the CRD stores %s, which it does not serve: have it serve %s", version.Name, version.Name)
		}
		if version.Storage {
			return version.Name, nil
		}
	}
	return "", fmt.Errorf("the CRD %s stores no version", crd.Name)
}

// readState finds out how objects are stored, as far as can be known.
func readState(ctx context.Context, c client.Client) (*State, error) {
	crd, err := getCRD(ctx, c)
	if err != nil {
		return nil, err
	}
	storage, err := storageVersion(crd)
	if err != nil {
		return nil, err
	}
	state, since, changed := &State{CRD: crd.Name}, 0, changedAt(crd)
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: resource.Group, Version: storage, Kind: "CronJobList"})
	err = cronjobs.Each(ctx, c, list, func(item runtime.Object) error {
		object, ok := item.(*metav1.PartialObjectMetadata)
		if !ok {
			return fmt.Errorf("got a %T, want metadata", item)
		}
		state.Objects++
		if !changed.IsZero() && writtenAt(object).After(changed.Add(lag)) {
			since++
		}
		if hasUnservedFields(object, crd) {
			state.UnservedManagedFields++
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("listing CronJobs: %w", err)
	}
	state.Versions = bounds(crd, state.Objects, since)
	state.Migration, err = newestMigration(ctx, c)
	return state, err
}

// hasUnservedFields reports whether an object has managedFields about a version that is not served.
func hasUnservedFields(object *metav1.PartialObjectMetadata, crd *apiextensionsv1.CustomResourceDefinition) bool {
	return slices.ContainsFunc(object.ManagedFields, func(entry metav1.ManagedFieldsEntry) bool {
		version, isOurs := strings.CutPrefix(entry.APIVersion, resource.Group+"/")
		return isOurs && !slices.ContainsFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
			return v.Name == version && v.Served
		})
	})
}

// bounds says how many objects are stored as each version, of which so many were written since the
// CRD was changed.
func bounds(crd *apiextensionsv1.CustomResourceDefinition, objects, since int) []VersionState {
	stored := crd.Status.StoredVersions
	versions := make([]VersionState, 0, len(crd.Spec.Versions))
	for i := range crd.Spec.Versions {
		version := &crd.Spec.Versions[i]
		state := VersionState{
			Name: version.Name, Served: version.Served, Storage: version.Storage, Stored: slices.Contains(stored, version.Name),
		}
		switch {
		case state.Storage && len(stored) <= 1:
			state.AtLeast, state.AtMost = objects, objects
		case state.Storage:
			state.AtLeast, state.AtMost = since, objects
		case state.Stored:
			state.AtMost = objects - since
		}
		versions = append(versions, state)
	}
	return versions
}

// changedAt is when the spec of the CRD was changed last, by its managedFields; zero if unknown.
func changedAt(crd *apiextensionsv1.CustomResourceDefinition) time.Time {
	last := time.Time{}
	for _, entry := range crd.ManagedFields {
		if entry.Subresource == "" && entry.Time != nil && entry.Time.After(last) {
			last = entry.Time.Time
		}
	}
	return last
}

// writtenAt is when an object was written last, as far as is known. Every write stores all of it,
// those of the status as well.
func writtenAt(object *metav1.PartialObjectMetadata) time.Time {
	last := object.CreationTimestamp.Time
	for _, entry := range object.ManagedFields {
		if entry.Time != nil && entry.Time.After(last) {
			last = entry.Time.Time
		}
	}
	return last
}

// newestMigration is the cluster's newest migration of our objects; nil if there is none, or the
// cluster does not know of migrations.
func newestMigration(ctx context.Context, c client.Client) (*MigrationState, error) {
	list := &svmv1.StorageVersionMigrationList{}
	switch err := c.List(ctx, list); {
	case meta.IsNoMatchError(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("listing StorageVersionMigrations: %w", err)
	}
	ours := slices.DeleteFunc(list.Items, func(m svmv1.StorageVersionMigration) bool { return m.Spec.Resource != resource })
	if len(ours) == 0 {
		return nil, nil
	}
	newest := slices.MaxFunc(ours, func(a, b svmv1.StorageVersionMigration) int {
		return a.CreationTimestamp.Compare(b.CreationTimestamp.Time)
	})
	return migrationState(&newest), nil
}

// pending is the state of a migration that the cluster has not begun with.
const pending = "Pending"

// migrationState reads the conditions of a migration.
func migrationState(m *svmv1.StorageVersionMigration) *MigrationState {
	for _, kind := range []svmv1.MigrationConditionType{svmv1.MigrationFailed, svmv1.MigrationSucceeded, svmv1.MigrationRunning} {
		condition := meta.FindStatusCondition(m.Status.Conditions, string(kind))
		if condition != nil && condition.Status == metav1.ConditionTrue {
			return &MigrationState{Name: m.Name, State: string(kind), Detail: condition.Message}
		}
	}
	return &MigrationState{Name: m.Name, State: pending}
}

// print writes the state for people.
func (s *State) print(out io.Writer) error {
	w := printers.GetNewTabWriter(out)
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	line("VERSION\tSERVED\tSTORAGE\tSTORED\tOBJECTS")
	for _, version := range s.Versions {
		line("%s\t%t\t%t\t%t\t%s", version.Name, version.Served, version.Storage, version.Stored, version.objects())
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, version := range s.Versions {
		if version.Stored && !version.Storage {
			_, _ = fmt.Fprintf(out, "status.storedVersions of %s lists %s: kubectl cronjob storage migrate "+
				"rewrites what is stored as it, and takes it off the list\n", s.CRD, version.Name)
		}
	}
	if s.UnservedManagedFields > 0 {
		_, _ = fmt.Fprintf(out, "objects with managedFields about versions that are not served: %d; "+
			"once the CRD drops these versions, server-side apply to such an object fails. Reset them, and apply with --force-conflicts once: "+
			`kubectl patch %s NAME --type=merge -p '{"metadata":{"managedFields":[{}]}}'`+"\n", s.UnservedManagedFields, s.CRD)
	}
	if m := s.Migration; m != nil {
		_, _ = fmt.Fprintln(out, "storageversionmigration.storagemigration.k8s.io/"+m.Name, m)
	}
	return nil
}

// objects is how many objects are stored as the version.
func (v VersionState) objects() string {
	if v.AtLeast == v.AtMost {
		return fmt.Sprint(v.AtLeast)
	}
	return fmt.Sprintf("%d to %d", v.AtLeast, v.AtMost)
}
