// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// What a create costs is told apart by leaving things out: here, all but the CRD, and all but the webhooks.

const (
	// plainGroup is the API group of custom resources with the schema of v1 and nothing besides.
	plainGroup = "plain.bench.example"

	// crdPatience is how long the API server may take to serve a CRD, or to delete it with all there is of it.
	crdPatience = 5 * time.Minute

	// leaseName is the operator's Lease.
	leaseName = "cronjob-controller.tutorial.kubebuilder.io"
)

var plainCRD = kind{plainGroup + "/v1", "/apis/" + plainGroup + "/v1/%s/cronjobs", asText}

// crdsPath is where the API server has the CRDs.
const crdsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// installPlainCRD installs the operator's CRD as another, with v1 alone, and returns its name.
func (p *plane) installPlainCRD(ctx context.Context, root string) (string, error) {
	raw, err := os.ReadFile(filepath.Join(root, "config", "crd", "bases", "batch.tutorial.kubebuilder.io_cronjobs.yaml"))
	if err != nil {
		return "", fmt.Errorf("reading the CRD: %w", err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(raw, crd); err != nil {
		return "", fmt.Errorf("reading the CRD: %w", err)
	}
	crd.Spec.Group, crd.Name = plainGroup, crd.Spec.Names.Plural+"."+plainGroup
	crd.Spec.Conversion = nil
	crd.Spec.Versions = slices.DeleteFunc(crd.Spec.Versions, func(version apiextensionsv1.CustomResourceDefinitionVersion) bool {
		return version.Name != "v1"
	})
	manifest, err := json.Marshal(crd)
	if err != nil {
		return "", fmt.Errorf("writing the CRD: %w", err)
	}
	if err := p.json.Post().AbsPath(crdsPath).SetHeader("Content-Type", "application/json").Body(manifest).Do(ctx).Error(); err != nil {
		return "", fmt.Errorf("installing a CRD: %w", err)
	}
	return crd.Name, wait.PollUntilContextTimeout(ctx, time.Second/10, crdPatience, true, func(ctx context.Context) (bool, error) {
		return p.list(ctx, plainCRD, 0) == nil, nil
	})
}

// uninstall deletes a CRD, and waits until all there is of it is gone.
func (p *plane) uninstall(ctx context.Context, name string) error {
	if err := p.json.Delete().AbsPath(crdsPath, name).Do(ctx).Error(); err != nil {
		return fmt.Errorf("deleting a CRD: %w", err)
	}
	return wait.PollUntilContextTimeout(ctx, time.Second/10, crdPatience, true, func(ctx context.Context) (bool, error) {
		err := p.json.Get().AbsPath(crdsPath, name).Do(ctx).Error()
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	})
}

// lead takes the operator's Lease, so that none of its replicas becomes the leader.
func (p *plane) lead(ctx context.Context) (*coordinationv1.Lease, error) {
	now := metav1.NowMicro()
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.namespaces[0], Name: leaseName},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: new("bench"), LeaseDurationSeconds: new(int32(24 * time.Hour / time.Second)), AcquireTime: &now, RenewTime: &now,
		},
	}
	if err := p.Client.Create(ctx, lease); err != nil {
		return nil, fmt.Errorf("taking the Lease: %w", err)
	}
	return lease, nil
}
