// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package pages

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	v2 "tutorial.kubebuilder.io/project/apis/batch/v2"
	"tutorial.kubebuilder.io/project/internal/cli/env"
	"tutorial.kubebuilder.io/project/internal/cli/ui/acts"
)

// object is the page of what is stored, in both versions, which can be edited.
type object struct {
	Namespace, Name string
	Versions        []version
	MayEdit         bool
}

// version is an object in one version.
type version struct {
	Name string

	// Text and Status are what users write and the operator writes, as YAML. Problem says why they
	// are not there.
	Text, Status, Problem string

	// Before and Base are the text that an edit is of, and which spec of which object that was.
	Before, Base string

	// Edited is what the API server says to an edit; nil without one.
	Edited *edited
}

// edited is what the API server says to an edit.
type edited struct {
	// Refusal says why it is refused, Warnings what is probably not meant.
	Refusal  string
	Warnings []string

	// Diff is what is changed, IsStored says that it is rather than would be.
	Diff     string
	IsStored bool
}

// object is the page of what is stored.
func (s *Site) object(r *http.Request) (view, error) {
	o, err := s.readObject(r)
	return o.view(), err
}

func (o object) view() view {
	return view{Title: o.Namespace + "/" + o.Name + " in both versions", Page: "object", IsStill: true, Content: o}
}

// readObject reads what is stored.
func (s *Site) readObject(r *http.Request) (object, error) {
	ctx, cancel := context.WithTimeout(r.Context(), readTimeout)
	defer cancel()
	o := object{Namespace: r.PathValue("namespace"), Name: r.PathValue("name")}
	o.MayEdit = s.Rights.Have(ctx, acts.PatchCronJobs, o.Namespace)
	for _, name := range []string{v1.GroupVersion.Version, v2.GroupVersion.Version} {
		v := version{Name: name}
		switch stored, err := s.read(ctx, o, name); {
		case meta.IsNoMatchError(err):
			v.Problem = "The cluster does not serve this version: the operator was installed without webhooks."
		case err != nil:
			return o, err
		default:
			v.Text, v.Status = textsOf(stored)
			v.Before, v.Base = v.Text, baseOf(stored)
		}
		o.Versions = append(o.Versions, v)
	}
	return o, nil
}

// read reads the object in one version.
func (s *Site) read(ctx context.Context, o object, version string) (*unstructured.Unstructured, error) {
	stored := &unstructured.Unstructured{}
	stored.SetGroupVersionKind(v1.GroupVersion.WithKind("CronJob").GroupKind().WithVersion(version))
	return stored, s.Cluster.Get(ctx, client.ObjectKey{Namespace: o.Namespace, Name: o.Name}, stored)
}

// textsOf returns what users write of an object, and what the operator does.
func textsOf(stored *unstructured.Unstructured) (text, status string) {
	written := stored.DeepCopy()
	unstructured.RemoveNestedField(written.Object, "status")
	for _, field := range []string{"creationTimestamp", "generation", "managedFields", "resourceVersion", "uid"} {
		unstructured.RemoveNestedField(written.Object, "metadata", field)
	}
	annotations := written.GetAnnotations()
	delete(annotations, v1.EditedAnnotation)
	if len(annotations) == 0 {
		annotations = nil // no field
	}
	written.SetAnnotations(annotations)
	return textOf(written.Object), textOf(stored.Object["status"])
}

// baseOf tells a spec from those that others write later.
func baseOf(stored *unstructured.Unstructured) string {
	return fmt.Sprintf("%s/%d", stored.GetUID(), stored.GetGeneration())
}

// textOf returns a value of an object as YAML.
func textOf(value any) string {
	text, err := yaml.Marshal(value)
	if err != nil {
		return err.Error() // no value that was decoded from JSON has one
	}
	return string(text)
}

// edit is the page of an edit, which is tried, or stored if the form says so. One that is sent
// twice, or of a spec that was edited since, is refused.
func (s *Site) edit(r *http.Request) (view, error) {
	if err := r.ParseForm(); err != nil {
		return view{}, err
	}
	o, err := s.readObject(r)
	if err != nil {
		return view{}, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), 2*readTimeout) // admission tries the template
	defer cancel()
	for i := range o.Versions {
		if v := &o.Versions[i]; v.Name == r.PostForm.Get("version") {
			v.Text, v.Before, v.Base = formText(r, "text"), formText(r, "before"), r.PostForm.Get("base")
			s.change(ctx, o, v, r.PostForm.Get("do") == "store")
		}
	}
	return o.view(), nil
}

// formText returns the text of a field, with the ends of lines that YAML has.
func formText(r *http.Request, name string) string {
	return strings.ReplaceAll(r.PostForm.Get(name), "\r\n", "\n")
}

// change has the API server try or store the text of a version.
func (s *Site) change(ctx context.Context, o object, v *version, store bool) {
	v.Edited = &edited{}
	before, now := &unstructured.Unstructured{}, &unstructured.Unstructured{}
	err := cmp.Or(yaml.UnmarshalStrict([]byte(v.Before), &before.Object), yaml.UnmarshalStrict([]byte(v.Text), &now.Object))
	if err == nil {
		err = checkIdentity(o, v.Name, now)
	}
	if err == nil {
		err = s.patch(ctx, o, v, before, now, store)
	}
	if err != nil {
		v.Edited.Refusal = err.Error()
		return
	}
	after, status := textsOf(now)
	v.Edited.Diff = udiff.Unified("before", "after", v.Before, after)
	if v.Edited.IsStored = store; store {
		v.Text, v.Before, v.Status, v.Base = after, after, status, baseOf(now)
	}
}

// checkIdentity says of a text that it is of another object, or of another version.
func checkIdentity(o object, version string, now *unstructured.Unstructured) error {
	for _, field := range []struct{ name, is, want string }{
		{"apiVersion", now.GetAPIVersion(), v1.GroupVersion.Group + "/" + version},
		{"kind", now.GetKind(), "CronJob"},
		{"metadata.namespace", now.GetNamespace(), o.Namespace},
		{"metadata.name", now.GetName(), o.Name},
	} {
		if field.is != field.want {
			return fmt.Errorf("%s: want %q, not %q: this page edits one CronJob", field.name, field.want, field.is)
		}
	}
	return nil
}

// patch has the API server change what differs between two texts of an object, and refuse fields
// that it does not know. What the operator writes in the status meanwhile is no conflict.
func (s *Site) patch(ctx context.Context, o object, v *version, before, now *unstructured.Unstructured, store bool) error {
	config := rest.CopyConfig(s.Config)
	config.WarningHandler = (*warnings)(&v.Edited.Warnings)
	cluster, err := client.New(config, client.Options{
		Scheme: s.Cluster.Scheme(), Mapper: s.Cluster.RESTMapper(), FieldOwner: env.FieldManager, FieldValidation: metav1.FieldValidationStrict,
	})
	if err != nil {
		return err
	}
	options := &client.PatchOptions{}
	if !store {
		options.DryRun = []string{metav1.DryRunAll}
	}
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		stored, err := s.read(ctx, o, v.Name)
		switch {
		case err != nil:
			return err
		case baseOf(stored) != v.Base:
			return errors.New("the CronJob was edited since this page was made: open the page again")
		}
		before.SetResourceVersion(stored.GetResourceVersion())
		return cluster.Patch(ctx, now, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}), options)
	})
}

// warnings are what the API server warns of.
type warnings []string

// HandleWarningHeader takes a warning.
func (w *warnings) HandleWarningHeader(_ int, _, text string) { *w = append(*w, text) }
