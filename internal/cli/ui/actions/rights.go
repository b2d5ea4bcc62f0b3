// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package actions

import (
	"context"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// rightsAge is how long an answer of the API server is cached.
const rightsAge = 30 * time.Second

// Right is a right to make some requests.
type Right = authorizationv1.ResourceAttributes

// The rights that pages and actions need.
var (
	// ReadLogs is the right to read the logs of Pods.
	ReadLogs = Right{Verb: "get", Resource: "pods", Subresource: "log"}

	patchCronJobs = Right{Verb: "patch", Group: v1.GroupVersion.Group, Resource: "cronjobs"}
	createJobs    = Right{Verb: "create", Group: "batch", Resource: "jobs"}
)

// Rights asks the API server what the user may do.
type Rights struct {
	cluster client.Writer
	answers *cache.Expiring
}

// NewRights returns the rights of the client's user.
func NewRights(cluster client.Writer, c clock.Clock) *Rights {
	return &Rights{cluster: cluster, answers: cache.NewExpiringWithClock(c)}
}

// Have reports whether the user has a right in a namespace; false if the API server does not
// answer.
func (r *Rights) Have(ctx context.Context, right Right, namespace string) bool {
	right.Namespace = namespace
	if known, ok := r.answers.Get(right); ok {
		allowed, isAnswer := known.(bool)
		return isAnswer && allowed
	}
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &right}}
	if err := r.cluster.Create(ctx, review); err != nil {
		return false
	}
	r.answers.Set(right, review.Status.Allowed, rightsAge)
	return review.Status.Allowed
}
