// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package acts

import (
	"context"
	"sync"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// rightsAge is how long an answer about a right counts.
const rightsAge = 30 * time.Second

// Right is something that the API server allows to some of its users.
type Right struct{ verb, group, resource, subresource string }

// The rights that pages and acts ask for.
var (
	// ReadLogs is the right to read the logs of Pods.
	ReadLogs = Right{"get", "", "pods", "log"}

	// PatchCronJobs is the right to edit CronJobs.
	PatchCronJobs = Right{"patch", v1.GroupVersion.Group, "cronjobs", ""}

	createJobs = Right{"create", "batch", "jobs", ""}
)

// Rights asks the API server what the user may do.
type Rights struct {
	cluster client.Writer
	clock   clock.Clock

	mu      sync.Mutex
	answers map[question]answer
}

type question struct {
	Right
	namespace string
}

type answer struct {
	allowed bool
	at      time.Time
}

// NewRights returns the rights of the user of a client.
func NewRights(cluster client.Writer, c clock.Clock) *Rights {
	return &Rights{cluster: cluster, clock: c, answers: map[question]answer{}}
}

// Have reports whether the user has a right in a namespace. Where nobody answers, they have not.
func (r *Rights) Have(ctx context.Context, right Right, namespace string) bool {
	asked := question{right, namespace}
	r.mu.Lock()
	known, ok := r.answers[asked]
	r.mu.Unlock()
	if ok && r.clock.Since(known.at) < rightsAge {
		return known.allowed
	}
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{
			Namespace: namespace, Verb: right.verb, Group: right.group, Resource: right.resource, Subresource: right.subresource,
		},
	}}
	if err := r.cluster.Create(ctx, review); err != nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answers[asked] = answer{review.Status.Allowed, r.clock.Now()}
	return review.Status.Allowed
}
