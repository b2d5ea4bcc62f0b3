// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/discovery"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// ownersHaveUIDs is the first version of Kubernetes whose CronJob controller finds its Jobs by the
// owner's UID. Earlier ones compare names: they count our Jobs towards the history limits of a
// built-in CronJob of the same name, and delete them.
var ownersHaveUIDs = version.MustParseGeneric("1.37")

// builtinConflicts looks for built-in CronJobs of the same name; nil where they do no harm.
type builtinConflicts struct {
	// live reads from the API server: a cache of all built-in CronJobs would cost more than it
	// saves.
	live    client.Reader
	limiter *requestLimiter
}

// newBuiltinConflicts reads the API server's version once, because clusters are only upgraded.
func newBuiltinConflicts(mgr ctrl.Manager, live client.Reader, limiter *requestLimiter) (*builtinConflicts, error) {
	server, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("making the client that asks for the API server's version: %w", err)
	}
	if !mayPruneByName(server) {
		return nil, nil
	}
	return &builtinConflicts{live: live, limiter: limiter}, nil
}

// mayPruneByName reports whether the cluster's own CronJob controller may delete our Jobs. It
// returns true if the version is unknown.
func mayPruneByName(server discovery.ServerVersionInterface) bool {
	info, err := server.ServerVersion()
	if err != nil {
		return true
	}
	running, err := version.ParseGeneric(info.GitVersion)
	return err != nil || running.LessThan(ownersHaveUIDs)
}

// +kubebuilder:rbac:groups=batch,resources=cronjobs,verbs=get

// warn warns of a built-in CronJob of the same name. It says nothing if the look-up fails.
func (n *builtinConflicts) warn(ctx context.Context, c *v1.CronJob) admission.Warnings {
	if n == nil {
		return nil
	}
	found := &metav1.PartialObjectMetadata{}
	found.SetGroupVersionKind(batchv1.SchemeGroupVersion.WithKind("CronJob"))
	var err error
	if !n.limiter.do(ctx, c.Namespace, func(ctx context.Context) { err = n.live.Get(ctx, client.ObjectKeyFromObject(c), found) }) {
		return nil
	}
	if err != nil {
		if client.IgnoreNotFound(err) != nil {
			ctrl.LoggerFrom(ctx).V(1).Info("Looking for a built-in CronJob of the same name failed", "error", err.Error())
		}
		return nil
	}
	return admission.Warnings{"metadata.name: the namespace has a built-in CronJob (batch/v1) of this name; up to Kubernetes 1.36, " +
		"its controller counts the Jobs of both for its history limits, and may delete those of this one"}
}
