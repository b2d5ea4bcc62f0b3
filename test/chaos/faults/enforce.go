// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"slices"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tutorial.kubebuilder.io/project/test/chaos/storm"
)

// How long the storm waits for an answer, and before it asks again.
const (
	enforceTimeout = 8 * time.Second
	enforceRetry   = 200 * time.Millisecond
)

// policed says which requests the policy of a refusal is about.
var policed = map[Kind]admissionv1.Rule{
	DenyCreates:    rule("batch", "jobs"),
	InvalidCreates: rule("batch", "jobs"),
	DenyDeletes:    rule("batch", "jobs"),
	DenyStatuses:   rule("batch.tutorial.kubebuilder.io", "cronjobs/status"),
	DenyEvents:     rule("events.k8s.io", "events"),
}

func rule(group, resources string) admissionv1.Rule {
	return admissionv1.Rule{APIGroups: []string{group}, APIVersions: []string{"*"}, Resources: []string{resources}}
}

// operations are what the targets of policies are to the API server.
var operations = map[Target]admissionv1.OperationType{
	Creates: admissionv1.Create, Deletes: admissionv1.Delete, Statuses: admissionv1.Update, Events: admissionv1.Create,
}

// prepareRefusals makes the policies, which bind nobody yet, and takes the right to read single
// objects out of the managers' role: they have it in each namespace, as where the operator serves
// only some.
func (s *Site) prepareRefusals(ctx context.Context) error {
	for kind, rule := range policed {
		if err := s.Client.Create(ctx, policy(kind, rule)); err != nil {
			return fmt.Errorf("making the policy of %s: %w", kind, err)
		}
	}
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
	if err := s.Client.Create(ctx, reads); err != nil {
		return err
	}
	return s.Client.Update(ctx, role)
}

// GrantReads lets the managers read single objects in the storm's namespaces.
func (s *Site) GrantReads(ctx context.Context) error {
	for _, namespace := range storm.Namespaces() {
		if err := s.Client.Create(ctx, readsIn(namespace)); err != nil {
			return err
		}
	}
	return nil
}

// policy returns the policy that refuses managers what a rule is about. One that names no reason
// answers with 422.
func policy(kind Kind, rule admissionv1.Rule) *admissionv1.ValidatingAdmissionPolicy {
	refusal := refusals[kind]
	validation := admissionv1.Validation{Expression: "false", Message: "not in this namespace"}
	conditions := []admissionv1.MatchCondition{{
		Name: "managers", Expression: fmt.Sprintf("request.userInfo.username == %q", managerUser),
	}}
	if kind == InvalidCreates {
		// Else users could not create CronJobs while it lasts.
		conditions = append(conditions, admissionv1.MatchCondition{
			Name: "stored", Expression: "!has(request.dryRun) || !request.dryRun",
		})
	} else {
		validation.Reason = new(metav1.StatusReasonForbidden)
	}
	return &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: string(kind)},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{
				RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: []admissionv1.OperationType{operations[refusal.target]}, Rule: rule,
				},
			}}},
			MatchConditions: conditions,
			Validations:     []admissionv1.Validation{validation},
		},
	}
}

// enforce begins or ends to enforce a refusal, and tries until that has worked.
func (s *Site) enforce(ctx context.Context, step Step, refuse bool) error {
	switch refusals[step.Kind].by {
	case byPolicy:
		return s.put(ctx, binding(step), refuse)
	case byRole:
		return s.put(ctx, readsIn(step.Namespace), !refuse)
	case byQuota:
		quota := quotaIn(step.Namespace)
		if err := s.put(ctx, quota, refuse); err != nil || !refuse {
			return err
		}
		// In the place of the controller, which is not run. Until then the API server refuses as
		// well.
		return insist(ctx, func(ctx context.Context) error {
			filled := quotaIn(step.Namespace)
			filled.Status = corev1.ResourceQuotaStatus{Hard: quota.Spec.Hard, Used: quota.Spec.Hard}
			return s.Client.Status().Patch(ctx, filled, client.Merge)
		})
	case byWebhook:
	}
	return nil
}

// put has an object be there, or be gone.
func (s *Site) put(ctx context.Context, object client.Object, there bool) error {
	return insist(ctx, func(ctx context.Context) error {
		if !there {
			return client.IgnoreNotFound(s.Client.Delete(ctx, object))
		}
		object.SetResourceVersion("")
		if err := s.Client.Create(ctx, object); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
		return nil
	})
}

// insist tries until it works: the API server may be what a fault has struck.
func insist(ctx context.Context, try func(ctx context.Context) error) error {
	for {
		attempt, cancel := context.WithTimeout(ctx, enforceTimeout)
		err := try(attempt)
		cancel()
		if err == nil {
			return nil
		}
		if !sleep(ctx, enforceRetry) {
			return err
		}
	}
}

// binding has the policy of a refusal be in force in its namespace.
func binding(step Step) *admissionv1.ValidatingAdmissionPolicyBinding {
	return &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: string(step.Kind) + "-" + step.Namespace},
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName:        string(step.Kind),
			ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
			MatchResources: &admissionv1.MatchResources{NamespaceSelector: &metav1.LabelSelector{
				MatchLabels: map[string]string{corev1.LabelMetadataName: step.Namespace},
			}},
		},
	}
}

// quotaIn returns a quota that has no room for Jobs.
func quotaIn(namespace string) *corev1.ResourceQuota {
	return &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "full"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"count/jobs.batch": resource.MustParse("0")}},
	}
}

// readsIn gives the managers the right to read single objects in a namespace.
func readsIn(namespace string) *rbacv1.RoleBinding {
	return &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "manager-reads"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "manager-reads"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: managerUser}},
	}
}
