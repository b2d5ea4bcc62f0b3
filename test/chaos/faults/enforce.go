// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tutorial.kubebuilder.io/project/hack/localcluster"
	"tutorial.kubebuilder.io/project/test/chaos/storm"
	"tutorial.kubebuilder.io/project/test/plane"
)

// prepareRefusals makes the policies, which bind nobody yet, and takes the right to read single
// objects out of the managers' role: they have it in each namespace, as where the operator serves
// only some.
func (s *Site) prepareRefusals(ctx context.Context) error {
	for kind, refusal := range refusals {
		if refusal.policy == nil {
			continue
		}
		if err := s.Client.Create(ctx, policy(kind, refusal)); err != nil {
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

// policy returns the policy that refuses managers what a refusal is about. One that names no reason
// answers with 422.
func policy(kind Kind, refusal refusal) *admissionv1.ValidatingAdmissionPolicy {
	validation := admissionv1.Validation{Expression: "false", Message: "not in this namespace"}
	conditions := []admissionv1.MatchCondition{{
		Name: "managers", Expression: fmt.Sprintf("request.userInfo.username == %q", localcluster.ManagerUser),
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
					Operations: []admissionv1.OperationType{refusal.by}, Rule: *refusal.policy,
				},
			}}},
			MatchConditions: conditions,
			Validations:     []admissionv1.Validation{validation},
		},
	}
}

// enforce begins or ends to enforce a refusal, and tries until that has worked.
func (s *Site) enforce(ctx context.Context, step Step, refuse bool) error {
	switch refusal := refusals[step.Kind]; {
	case refusal.policy != nil:
		return s.put(ctx, binding(step), refuse)
	case refusal.isRights:
		return s.put(ctx, readsIn(step.Namespace), !refuse)
	case refusal.isQuota:
		quota := quotaIn(step.Namespace)
		if err := s.put(ctx, quota, refuse); err != nil || !refuse {
			return err
		}
		// In the place of the controller, which is not run. Until then the API server refuses as
		// well.
		return plane.Insist(ctx, func(ctx context.Context) error {
			filled := quotaIn(step.Namespace)
			filled.Status = corev1.ResourceQuotaStatus{Hard: quota.Spec.Hard, Used: quota.Spec.Hard}
			return s.Client.Status().Patch(ctx, filled, client.Merge)
		})
	}
	return nil
}

// put has an object be there, or be gone.
func (s *Site) put(ctx context.Context, object client.Object, there bool) error {
	return plane.Insist(ctx, func(ctx context.Context) error {
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
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: localcluster.ManagerUser}},
	}
}
