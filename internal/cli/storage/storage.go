// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package storage is the commands storage, storage check and storage migrate: in which version
// CronJobs are stored, whether each converts to every version and back, and how to have all of them
// stored in the present one.
package storage

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/env"
)

const long = `Show in which versions CronJobs are stored.

The API does not tell how an object is stored. Known is that none is stored as a version that
status.storedVersions of the CRD does not list. Where it lists several, a range is shown.`

// resource is what is stored.
var resource = metav1.GroupResource{Group: v1.GroupVersion.Group, Resource: "cronjobs"}

// NewCommand returns the command.
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

// readCRD reads the CRD, and in which version objects are stored when they are written.
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

// servedBy returns the API versions that a CRD serves.
func servedBy(crd *apiextensionsv1.CustomResourceDefinition) map[string]bool {
	served := map[string]bool{}
	for i := range crd.Spec.Versions {
		served[resource.Group+"/"+crd.Spec.Versions[i].Name] = crd.Spec.Versions[i].Served
	}
	return served
}

// each calls visit with each CronJob of the cluster, read in a version, and returns what went wrong.
func each(ctx context.Context, e *env.Env, c client.Client, version string, visit func(*unstructured.Unstructured) error) []error {
	everywhere := cronjobs.Selection{AllNamespaces: true}
	return everywhere.Each(ctx, e, c, v1.GroupVersion.WithKind("CronJob").GroupKind().WithVersion(version), nil, visit)
}

// write writes an object as it is. One that was written or deleted since it was read needs it no
// more: every write stores all of it in the storage version.
func write(ctx context.Context, c client.Client, object client.Object, options ...client.UpdateOption) error {
	err := c.Update(ctx, object, options...)
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
