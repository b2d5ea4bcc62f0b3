// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"slices"
	"text/template"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tutorial.kubebuilder.io/project/test/chaos/storm"
	"tutorial.kubebuilder.io/project/test/localcluster"
	"tutorial.kubebuilder.io/project/test/plane"
)

//go:embed manifests
var files embed.FS

var manifests = template.Must(template.ParseFS(files, "manifests/*.yaml"))

// prepareRefusals moves the right to read single objects from the managers' cluster role to a role
// in each namespace of the storm, as in an operator that serves only some.
func (s *Site) prepareRefusals(ctx context.Context) error {
	role := &rbacv1.ClusterRole{}
	if err := s.Client.Get(ctx, client.ObjectKey{Name: "manager-role"}, role); err != nil {
		return err
	}
	reads := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "manager-reads"}}
	for i := range role.Rules {
		rule := &role.Rules[i]
		isOfOurs := slices.Contains(rule.Resources, "jobs") || slices.Contains(rule.Resources, "cronjobs")
		if at := slices.Index(rule.Verbs, "get"); at >= 0 && isOfOurs && slices.Contains(rule.Verbs, "watch") {
			rule.Verbs = slices.Delete(rule.Verbs, at, at+1)
			reads.Rules = append(reads.Rules, rbacv1.PolicyRule{
				APIGroups: rule.APIGroups, Resources: rule.Resources, Verbs: []string{"get"},
			})
		}
	}
	if len(reads.Rules) == 0 {
		return fmt.Errorf("the managers' role %s has no right to read CronJobs and Jobs that could be taken away", role.Name)
	}
	if err := errors.Join(s.Client.Create(ctx, reads), s.Client.Update(ctx, role)); err != nil {
		return err
	}
	for _, namespace := range storm.Namespaces {
		if err := s.enforce(ctx, Step{Kind: DenyReads, Namespace: namespace}, false); err != nil {
			return err
		}
	}
	return nil
}

// enforce starts or ends a refusal by the API server: it creates or deletes its objects, or for a
// right, deletes or creates them. It retries until that has worked.
func (s *Site) enforce(ctx context.Context, step Step, refuse bool) error {
	objects, err := objectsOf(step)
	if err != nil {
		return err
	}
	for _, object := range objects {
		err := plane.Insist(ctx, func(ctx context.Context) error {
			if refuse == (step.Kind == DenyReads) {
				return client.IgnoreNotFound(s.Client.Delete(ctx, object))
			}
			return s.put(ctx, object)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// objectsOf returns the objects of a refusal by the API server; none for one by a webhook.
func objectsOf(step Step) (objects []*unstructured.Unstructured, err error) {
	refusal := refusals[step.Kind]
	if refusal.manifest == "" {
		return nil, nil
	}
	var text bytes.Buffer
	err = manifests.ExecuteTemplate(&text, refusal.manifest, map[string]any{
		"Kind": step.Kind, "Namespace": step.Namespace, "User": localcluster.ManagerUser, "Invalid": step.Kind == InvalidCreates,
		"Group": refusal.group, "Resource": refusal.resource, "Operation": refusal.operation,
	})
	for decoder := yaml.NewYAMLOrJSONDecoder(&text, 4096); err == nil; {
		object := &unstructured.Unstructured{}
		if err = decoder.Decode(object); err == nil {
			objects = append(objects, object)
		}
	}
	if !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("reading %s: %w", refusal.manifest, err)
	}
	return objects, nil
}

// put creates an object if it does not exist, and sets its status.
func (s *Site) put(ctx context.Context, object *unstructured.Unstructured) error {
	if err := s.Client.Create(ctx, object.DeepCopy()); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	if object.Object["status"] == nil {
		return nil
	}
	return s.Client.Status().Patch(ctx, object.DeepCopy(), client.Merge)
}
