// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/printers"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
)

// State is what can be known of how objects are stored.
type State struct {
	CRD string `json:"crd"`

	// Objects is how many there are.
	Objects int `json:"objects"`

	// Versions are those of the CRD.
	Versions []VersionState `json:"versions"`

	// UnservedManagedFields counts the objects with managedFields about versions not served.
	UnservedManagedFields int `json:"unservedManagedFields"`
}

// VersionState is how much is stored as a version.
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

// readState finds out how objects are stored, as far as can be known.
func readState(ctx context.Context, c client.Client) (*State, error) {
	crd, storage, err := readCRD(ctx, c)
	if err != nil {
		return nil, err
	}
	state, served := &State{CRD: crd.Name}, servedBy(crd)
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: resource.Group, Version: storage, Kind: "CronJobList"})
	err = cronjobs.Each(ctx, c, list, func(object runtime.Object) error {
		state.Objects++
		if hasUnservedFields(object.(*metav1.PartialObjectMetadata), served) { //nolint:forcetypeassert // the list has no others
			state.UnservedManagedFields++
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("listing CronJobs: %w", err)
	}
	state.Versions = versionsOf(crd, state.Objects)
	return state, nil
}

// hasUnservedFields reports whether an object has managedFields about a version that is not served.
func hasUnservedFields(object *metav1.PartialObjectMetadata, served map[string]bool) bool {
	return slices.ContainsFunc(object.ManagedFields, func(entry metav1.ManagedFieldsEntry) bool {
		return strings.HasPrefix(entry.APIVersion, resource.Group+"/") && !served[entry.APIVersion]
	})
}

// versionsOf says how many of the objects are stored as each version.
func versionsOf(crd *apiextensionsv1.CustomResourceDefinition, objects int) []VersionState {
	stored := crd.Status.StoredVersions
	versions := make([]VersionState, 0, len(crd.Spec.Versions))
	for i := range crd.Spec.Versions {
		version := &crd.Spec.Versions[i]
		state := VersionState{
			Name: version.Name, Served: version.Served, Storage: version.Storage, Stored: slices.Contains(stored, version.Name),
		}
		if state.Stored {
			state.AtMost = objects
		}
		if state.Stored && len(stored) == 1 {
			state.AtLeast = objects
		}
		versions = append(versions, state)
	}
	return versions
}

// print writes the state for people.
func (s *State) print(out io.Writer) error {
	w := printers.GetNewTabWriter(out)
	_, _ = fmt.Fprintln(w, "VERSION\tSERVED\tSTORAGE\tSTORED\tOBJECTS")
	for _, version := range s.Versions {
		_, _ = fmt.Fprintf(w, "%s\t%t\t%t\t%t\t%s\n", version.Name, version.Served, version.Storage, version.Stored, version.objects())
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
	return nil
}

// objects is how many objects are stored as the version.
func (v VersionState) objects() string {
	if v.AtLeast == v.AtMost {
		return fmt.Sprint(v.AtLeast)
	}
	return fmt.Sprintf("%d to %d", v.AtLeast, v.AtMost)
}
