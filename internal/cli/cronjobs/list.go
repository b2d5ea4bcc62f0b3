// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package cronjobs

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/pager"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tutorial.kubebuilder.io/project/internal/cli/env"
)

// Each calls visit with each object of a list. It reads the list in pages, as the API server sends
// all objects of a page to the conversion webhook at once.
func Each(ctx context.Context, c client.Reader, list client.ObjectList, visit func(runtime.Object) error,
	options ...client.ListOption,
) error {
	pages := pager.New(func(ctx context.Context, page metav1.ListOptions) (runtime.Object, error) {
		list := list.DeepCopyObject().(client.ObjectList) //nolint:forcetypeassert // a copy of the same type
		options := append(slices.Clone(options), client.Limit(page.Limit), client.Continue(page.Continue))
		return list, Explain(c.List(ctx, list, options...))
	})
	return pages.EachListItemWithAlloc(ctx, metav1.ListOptions{}, visit)
}

// Selection is the flags that say which CronJobs a command is for when it is not given their names.
type Selection struct {
	Selector      string
	AllNamespaces bool
}

// AddFlags has a command take the flags. The verb is what it does to CronJobs.
func (s *Selection) AddFlags(cmd *cobra.Command, verb string) {
	cmd.Flags().BoolVarP(&s.AllNamespaces, "all-namespaces", "A", false, verb+" those of all namespaces.")
	cmd.Flags().StringVarP(&s.Selector, "selector", "l", "", verb+" those with these labels, such as app=shop,tier!=cache.")
}

// Check says what is wrong with the flags.
func (s *Selection) Check() error {
	if _, err := labels.Parse(s.Selector); err != nil {
		return fmt.Errorf("-l %q: %w", s.Selector, err)
	}
	return nil
}

// List returns the CronJobs of a kind that the flags select.
func (s *Selection) List(ctx context.Context, e *env.Env, c client.Reader, kind schema.GroupVersionKind) (
	[]*unstructured.Unstructured, error,
) {
	namespace, err := e.Namespace()
	if err != nil {
		return nil, err
	}
	if s.AllNamespaces {
		namespace = metav1.NamespaceAll
	}
	selector, err := labels.Parse(s.Selector)
	if err != nil {
		return nil, err
	}
	var found []*unstructured.Unstructured
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	err = Each(ctx, c, list, func(object runtime.Object) error {
		found = append(found, object.(*unstructured.Unstructured)) //nolint:forcetypeassert // the list has no others
		return nil
	}, client.InNamespace(namespace), client.MatchingLabelsSelector{Selector: selector})
	return found, err
}
