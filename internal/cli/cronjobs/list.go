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

// Selection is the CronJobs that a command is for: those whose names it is given or, without names,
// those that these flags select.
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

// CheckNames says what is wrong with the flags and the names.
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

// CheckChosen says what is wrong for a command that is for no CronJobs unless some are chosen.
func (s *Selection) CheckChosen(names []string) error {
	if len(names) == 0 && !s.HasFlags() {
		return errors.New("name the CronJob, or several, or select some with -l or -A")
	}
	return s.CheckNames(names)
}

// HasFlags reports whether one of the flags is given.
func (s *Selection) HasFlags() bool { return s.Selector != "" || s.AllNamespaces }

// Namespace is the namespace of the CronJobs; "" for all.
func (s *Selection) Namespace(e *env.Env) (string, error) {
	if s.AllNamespaces {
		return metav1.NamespaceAll, nil
	}
	return e.Namespace()
}

// NameOf names a CronJob as far as is needed to tell it from the others.
func (s *Selection) NameOf(namespace, name string) string {
	if s.AllNamespaces {
		return namespace + "/" + name
	}
	return name
}

// Qualify has an error about a CronJob say of which namespace it is, if that is not clear.
func (s *Selection) Qualify(cronJob client.Object, err error) error {
	if err == nil || !s.AllNamespaces {
		return err
	}
	return fmt.Errorf("namespace %s: %w", cronJob.GetNamespace(), err)
}

// SayNone says, as kubectl does, that there are no such CronJobs.
func (s *Selection) SayNone(e *env.Env) {
	if s.AllNamespaces {
		fmt.Fprintln(e.ErrOut, "No resources found")
		return
	}
	namespace, _ := e.Namespace() // it was read to look for them
	fmt.Fprintf(e.ErrOut, "No resources found in %s namespace.\n", namespace)
}

// visit calls visit with the CronJobs of a kind that the flags select, until it fails.
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

// Watch watches the CronJobs of a kind that the flags select. It begins with those that there are.
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

// Each calls visit with each CronJob of a kind, and returns what went wrong: one that can't be read,
// or that visit fails for, does not keep it from the others.
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

// ListV1 returns the CronJobs that Each visits, in v1, which is always served. Where there are
// none, it says so. One that can't be decoded would fail a list of the type: here it is an error of
// its own.
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

// Jobs returns the Jobs of CronJobs that the flags select, as JobsByOwner does.
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
