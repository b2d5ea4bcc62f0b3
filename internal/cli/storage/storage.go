// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package storage implements the commands storage, storage check and storage migrate: in which
// version CronJobs are stored, whether each converts to every version and back, and rewriting all
// in the storage version.
package storage

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/printers"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/env"
)

const long = `Show in which versions CronJobs are stored.

The API does not tell how an object is stored. It is known that none is stored as a version that is not
in status.storedVersions of the CRD. If that has several versions, the command prints a range for each.`

var resource = metav1.GroupResource{Group: v1.GroupVersion.Group, Resource: "cronjobs"}

// NewCommand returns the command storage.
func NewCommand(e *env.Env) *cobra.Command {
	output := cronjobs.Output{}
	command := &cobra.Command{
		Use:   "storage",
		Short: "Show in which versions CronJobs are stored, and have them stored in one",
		Long:  long,
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := output.Check(); err != nil {
				return err
			}
			c, err := e.Client()
			if err != nil {
				return err
			}
			state, err := readState(command.Context(), c)
			switch {
			case err != nil:
				return err
			case output.Format != "":
				return output.Write(e.Out, state)
			}
			return state.print(e.Out)
		},
	}
	output.AddFlag(command, "json", "yaml")
	command.AddCommand(newCheckCommand(e), newMigrateCommand(e))
	return command
}

// State is what is known of how the objects are stored.
type State struct {
	CRD string `json:"crd"`

	// Objects counts the CronJobs of the cluster.
	Objects int `json:"objects"`

	Versions []VersionState `json:"versions"`

	// UnservedManagedFields counts the objects with managedFields of versions that are not served.
	UnservedManagedFields int `json:"unservedManagedFields"`
}

// VersionState is the state of one version of the CRD.
type VersionState struct {
	Name    string `json:"name"`
	Served  bool   `json:"served"`
	Storage bool   `json:"storage"`

	// Stored is whether status.storedVersions lists the version.
	Stored bool `json:"stored"`

	// AtLeast and AtMost bound the number of objects that are stored in this version.
	AtLeast int `json:"objectsAtLeast"`
	AtMost  int `json:"objectsAtMost"`
}

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

func hasUnservedFields(object *metav1.PartialObjectMetadata, served map[string]bool) bool {
	return slices.ContainsFunc(object.ManagedFields, func(entry metav1.ManagedFieldsEntry) bool {
		return strings.HasPrefix(entry.APIVersion, resource.Group+"/") && !served[entry.APIVersion]
	})
}

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

func (v VersionState) objects() string {
	if v.AtLeast == v.AtMost {
		return fmt.Sprint(v.AtLeast)
	}
	return fmt.Sprintf("%d to %d", v.AtLeast, v.AtMost)
}

// readCRD returns the CRD and its storage version, which must be served.
func readCRD(ctx context.Context, c client.Client) (*apiextensionsv1.CustomResourceDefinition, string, error) {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := c.Get(ctx, client.ObjectKey{Name: cronjobs.Resource}, crd); err != nil {
		return nil, "", fmt.Errorf("reading the CRD: %w", err)
	}
	storage := slices.IndexFunc(crd.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Storage })
	if storage < 0 {
		return nil, "", fmt.Errorf("the CRD %s stores no version", crd.Name)
	}
	version := crd.Spec.Versions[storage]
	if !version.Served {
		return nil, "", fmt.Errorf("the CRD stores %[1]s, which it does not serve: have it serve %[1]s", version.Name)
	}
	return crd, version.Name, nil
}

func servedBy(crd *apiextensionsv1.CustomResourceDefinition) map[string]bool {
	served := map[string]bool{}
	for i := range crd.Spec.Versions {
		served[resource.Group+"/"+crd.Spec.Versions[i].Name] = crd.Spec.Versions[i].Served
	}
	return served
}

func each(ctx context.Context, e *env.Env, c client.Client, version string, visit func(*unstructured.Unstructured) error) []error {
	everywhere := cronjobs.Selection{AllNamespaces: true}
	return everywhere.Each(ctx, e, c, v1.GroupVersion.WithKind("CronJob").GroupKind().WithVersion(version), nil, visit)
}

// write writes an object without changes. It ignores that the object was written or deleted since:
// every write stores the whole object in the storage version.
func write(ctx context.Context, c client.Client, object client.Object, options ...client.UpdateOption) error {
	err := c.Update(ctx, object, options...)
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
