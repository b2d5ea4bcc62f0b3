// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
)

// rewrite writes each CronJob as it is, which stores it in the storage version, and then takes the
// other versions off the list. One that can't be written keeps the list as it is, and not the
// others from being written.
func (m *migrator) rewrite(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, version string) error {
	m.say("writing each CronJob as it is, to store it as %s", version)
	everywhere, written := cronjobs.Selection{AllNamespaces: true}, 0
	kind := v1.GroupVersion.WithKind("CronJob").GroupKind().WithVersion(version)
	errs := everywhere.Each(ctx, m.Env, m.client, kind, nil, func(object *unstructured.Unstructured) error {
		err := m.write(ctx, object)
		if err == nil {
			written++
		}
		return err
	})
	m.say("wrote %d CronJobs", written)
	if len(errs) > 0 {
		return cronjobs.Fail(m.Env, append(errs,
			errors.New("status.storedVersions is left as it is: repeat the command when these can be written")))
	}
	return m.trim(ctx, crd, version)
}

// write writes an object as it is. One that others write meanwhile is read and written again; one
// that is gone needs it no more.
func (m *migrator) write(ctx context.Context, object *unstructured.Unstructured) error {
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		err := m.client.Update(ctx, object)
		if apierrors.IsConflict(err) {
			return cmp.Or(m.client.Get(ctx, client.ObjectKeyFromObject(object), object), err)
		}
		return err
	})
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("CronJob %s: %w", object.GetName(), err)
	}
	return nil
}

// trim takes all versions but one off the list, if the CRD is as it was before.
func (m *migrator) trim(ctx context.Context, before *apiextensionsv1.CustomResourceDefinition, version string) error {
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		crd, err := getCRD(ctx, m.client)
		if err != nil {
			return err
		}
		if crd.Generation != before.Generation {
			return errors.New("the CRD was changed meanwhile: repeat the command")
		}
		crd.Status.StoredVersions = []string{version}
		return m.client.Status().Update(ctx, crd)
	})
	if err != nil {
		return fmt.Errorf("all CronJobs are stored as %s, but status.storedVersions was not updated: %w", version, err)
	}
	m.say("status.storedVersions is %v", []string{version})
	return nil
}
