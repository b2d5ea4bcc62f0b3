// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package pages

import (
	"context"
	"net/http"
	"path"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"tutorial.kubebuilder.io/project/apis/batch"
	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// object is the page that shows a stored object in all versions.
type object struct {
	Namespace, Name string
	Versions        []version
}

type version struct {
	Name string

	// Text is the part that users write, and Status the part that the operator writes, both as
	// YAML. Problem is why they are missing.
	Text, Status, Problem string
}

func (s *Site) object(r *http.Request) (view, error) {
	ctx, cancel := context.WithTimeout(r.Context(), readTimeout)
	defer cancel()
	o := object{Namespace: r.PathValue("namespace"), Name: r.PathValue("name")}
	for _, apiVersion := range batch.Versions.APIVersions() {
		v, stored := version{Name: path.Base(apiVersion)}, &unstructured.Unstructured{}
		stored.SetAPIVersion(apiVersion)
		stored.SetKind(batch.Versions.Hub.Kind)
		switch err := s.Cluster.Get(ctx, client.ObjectKey{Namespace: o.Namespace, Name: o.Name}, stored); {
		case meta.IsNoMatchError(err):
			v.Problem = "The cluster does not serve this version: the operator was installed without webhooks."
		case err != nil:
			return view{}, err
		default:
			v.Text, v.Status = textsOf(stored)
		}
		o.Versions = append(o.Versions, v)
	}
	return view{Title: o.Namespace + "/" + o.Name + " in each version", Page: "object", IsStill: true, Content: o}, nil
}

// textsOf returns the part of an object that users write, and the part that the operator writes.
func textsOf(stored *unstructured.Unstructured) (text, status string) {
	written := stored.DeepCopy()
	unstructured.RemoveNestedField(written.Object, "status")
	for _, field := range []string{"creationTimestamp", "generation", "managedFields", "resourceVersion", "uid"} {
		unstructured.RemoveNestedField(written.Object, "metadata", field)
	}
	annotations := written.GetAnnotations()
	delete(annotations, v1.EditedAnnotation)
	if len(annotations) == 0 {
		annotations = nil // drop the field
	}
	written.SetAnnotations(annotations)
	return textOf(written.Object), textOf(stored.Object["status"])
}

func textOf(value any) string {
	text, err := yaml.Marshal(value)
	if err != nil {
		return err.Error() // a value that was decoded from JSON can be encoded
	}
	return string(text)
}
