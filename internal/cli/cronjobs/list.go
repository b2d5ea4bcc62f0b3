// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package cronjobs

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/pager"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/env"
)

// Each calls visit for each object of a list. It reads the list in pages, since the API server
// sends all objects of a page to the conversion webhook at once.
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

// Selection is how a command selects CronJobs: by name, or without names by these flags.
type Selection struct {
	Selector      string
	AllNamespaces bool
}

// AddFlags adds the flags to a command. The verb is for their help.
func (s *Selection) AddFlags(cmd *cobra.Command, verb string) {
	cmd.Flags().BoolVarP(&s.AllNamespaces, "all-namespaces", "A", false, verb+" those of all namespaces.")
	cmd.Flags().StringVarP(&s.Selector, "selector", "l", "", verb+" those with these labels, such as app=shop,tier!=cache.")
}

// Check returns an error if a flag is invalid.
func (s *Selection) Check() error {
	if _, err := labels.Parse(s.Selector); err != nil {
		return fmt.Errorf("-l %q: %w", s.Selector, err)
	}
	return nil
}

// CheckNames returns an error if a flag or a name is invalid, or they don't go together.
func (s *Selection) CheckNames(names []string) error {
	switch {
	case len(names) > 0 && s.Selector != "":
		return errors.New("give NAMEs or -l SELECTOR, not both")
	case len(names) > 0 && s.AllNamespaces:
		return errors.New("-A goes without NAMEs, or with -l: a NAME is of one namespace, see -n")
	}
	for _, name := range names {
		if _, err := ParseName(name); err != nil {
			return err
		}
	}
	return s.Check()
}

// CheckChosen is CheckNames for a command that requires a name or a flag.
func (s *Selection) CheckChosen(names []string) error {
	if len(names) == 0 && !s.HasFlags() {
		return errors.New("name the CronJob, or several, or select some with -l or -A")
	}
	return s.CheckNames(names)
}

// HasFlags reports whether a flag is set.
func (s *Selection) HasFlags() bool { return s.Selector != "" || s.AllNamespaces }

// Namespace returns the namespace of the CronJobs; "" for all.
func (s *Selection) Namespace(e *env.Env) (string, error) {
	if s.AllNamespaces {
		return metav1.NamespaceAll, nil
	}
	return e.Namespace()
}

// NameOf returns the name of a CronJob, with its namespace if there may be several.
func (s *Selection) NameOf(namespace, name string) string {
	if s.AllNamespaces {
		return namespace + "/" + name
	}
	return name
}

// Qualify adds the namespace of a CronJob to an error if there may be several.
func (s *Selection) Qualify(cronJob client.Object, err error) error {
	if err == nil || !s.AllNamespaces {
		return err
	}
	return fmt.Errorf("namespace %s: %w", cronJob.GetNamespace(), err)
}

// SayNone prints kubectl's message for an empty list.
func (s *Selection) SayNone(e *env.Env) {
	if s.AllNamespaces {
		fmt.Fprintln(e.ErrOut, "No resources found")
		return
	}
	namespace, _ := e.Namespace() // the list was read with it
	fmt.Fprintf(e.ErrOut, "No resources found in %s namespace.\n", namespace)
}

// visit calls visit for each CronJob that the flags select, until it returns an error.
func (s *Selection) visit(ctx context.Context, e *env.Env, c client.Reader, kind schema.GroupVersionKind,
	visit func(*unstructured.Unstructured) error,
) error {
	options, err := s.options(e)
	if err != nil {
		return err
	}
	return Each(ctx, c, listOf(kind), func(object runtime.Object) error {
		return visit(object.(*unstructured.Unstructured)) //nolint:forcetypeassert // the list has no others
	}, options...)
}

// Watch watches the CronJobs that the flags select, beginning with those that exist.
func (s *Selection) Watch(ctx context.Context, e *env.Env, c client.WithWatch, kind schema.GroupVersionKind) (watch.Interface, error) {
	options, err := s.options(e)
	if err != nil {
		return nil, err
	}
	return c.Watch(ctx, listOf(kind), options...)
}

func (s *Selection) options(e *env.Env) ([]client.ListOption, error) {
	namespace, err := s.Namespace(e)
	if err != nil {
		return nil, err
	}
	selector, err := labels.Parse(s.Selector)
	return []client.ListOption{client.InNamespace(namespace), client.MatchingLabelsSelector{Selector: selector}}, err
}

func listOf(kind schema.GroupVersionKind) *unstructured.UnstructuredList {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
	return list
}

// Each calls visit for each selected CronJob of a kind, and returns all errors: that one can't be
// read does not prevent the others.
func (s *Selection) Each(ctx context.Context, e *env.Env, c client.Reader, kind schema.GroupVersionKind, names []string,
	visit func(*unstructured.Unstructured) error,
) []error {
	var errs []error
	collect := func(err error) {
		if err != nil {
			errs = append(errs, err)
		}
	}
	if len(names) == 0 {
		collect(s.visit(ctx, e, c, kind, func(object *unstructured.Unstructured) error {
			collect(s.Qualify(object, visit(object)))
			return ctx.Err()
		}))
		return errs
	}
	namespace, err := e.Namespace()
	if err != nil {
		return []error{err}
	}
	seen := sets.New[string]()
	for _, arg := range names {
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(kind)
		name, err := ParseName(arg)
		if err == nil {
			err = Explain(c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, object))
		}
		switch {
		case err != nil:
			collect(err)
		case !seen.Has(name):
			seen.Insert(name)
			collect(visit(object))
		}
	}
	return errs
}

// DecodeV1 decodes a CronJob that was read in v1.
func DecodeV1(object *unstructured.Unstructured) (*v1.CronJob, error) {
	cronJob := &v1.CronJob{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, cronJob); err != nil {
		return nil, fmt.Errorf("CronJob %s: %w", object.GetName(), err)
	}
	return cronJob, nil
}

// ListV1 returns the selected CronJobs in v1, which is always served. If there are none, it prints
// that. One that can't be decoded is an error of its own; it would fail a list of the Go type.
func (s *Selection) ListV1(ctx context.Context, e *env.Env, c client.Reader, names []string) ([]*v1.CronJob, []error) {
	var found []*v1.CronJob
	errs := s.Each(ctx, e, c, v1.GroupVersion.WithKind("CronJob"), names, func(object *unstructured.Unstructured) error {
		cronJob, err := DecodeV1(object)
		if err == nil {
			found = append(found, cronJob)
		}
		return err
	})
	if len(found)+len(errs) == 0 {
		s.SayNone(e)
	}
	return found, errs
}

// Jobs returns the Jobs of selected CronJobs, as JobsByOwner does.
func (s *Selection) Jobs(ctx context.Context, e *env.Env, c client.Reader, of []*v1.CronJob) (map[types.UID][]*batchv1.Job, error) {
	if len(of) == 0 {
		return nil, nil
	}
	namespace, err := s.Namespace(e)
	if err != nil {
		return nil, err
	}
	return JobsByOwner(ctx, c, namespace, of...)
}
