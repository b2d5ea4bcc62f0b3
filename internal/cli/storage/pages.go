// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// defaultPage is how many objects a page has.
const defaultPage = 500

// pages lists the metadata of all objects, in the order of their keys.
type pages struct {
	client  client.Client
	version string
	limit   int64

	// onPage, if set, is told how many objects there are, as far as is known, when a page has come.
	onPage func(total int)
}

// each calls back for each object, until an error. An object that is created meanwhile may be left out.
func (p *pages) each(ctx context.Context, visit func(*metav1.PartialObjectMetadata) error) error {
	seen, next := 0, ""
	for {
		page, err := p.list(ctx, next)
		if err != nil {
			return fmt.Errorf("listing CronJobs: %w", err)
		}
		seen += len(page.Items)
		if p.onPage != nil {
			p.onPage(seen + remaining(page))
		}
		for i := range page.Items {
			if err := visit(&page.Items[i]); err != nil {
				return err
			}
		}
		if next = page.Continue; next == "" {
			return nil
		}
	}
}

// list lists a page. When the API server no longer has the state at which the first page was listed, it
// goes on with the present one.
func (p *pages) list(ctx context.Context, next string) (*metav1.PartialObjectMetadataList, error) {
	page := &metav1.PartialObjectMetadataList{}
	page.SetGroupVersionKind(schema.GroupVersionKind{Group: v1.GroupVersion.Group, Version: p.version, Kind: "CronJobList"})
	err := p.client.List(ctx, page, client.Limit(p.limit), client.Continue(next))
	status := apierrors.APIStatus(nil)
	if apierrors.IsResourceExpired(err) && errors.As(err, &status) && status.Status().Continue != "" {
		err = p.client.List(ctx, page, client.Limit(p.limit), client.Continue(status.Status().Continue))
	}
	return page, err
}

func remaining(page *metav1.PartialObjectMetadataList) int {
	if page.RemainingItemCount == nil {
		return 0
	}
	return int(*page.RemainingItemCount)
}
