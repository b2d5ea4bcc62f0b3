// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package cronjobs

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/env"
)

// completionTimeout is how long a shell waits for the names that complete a word.
const completionTimeout = 3 * time.Second

// maxCompletions is how many names a shell is offered.
const maxCompletions = 500

// CompleteNames completes the first limit arguments with the names of the namespace's CronJobs that
// are not given yet; all arguments if limit is 0. Where no cluster answers it completes nothing.
func CompleteNames(e *env.Env, limit int) cobra.CompletionFunc {
	return completeNames(e, v1.GroupVersion.WithKind("CronJobList"), limit)
}

// CompleteBuiltinNames completes all arguments with the names of built-in CronJobs, as CompleteNames
// does with those of ours.
func CompleteBuiltinNames(e *env.Env) cobra.CompletionFunc {
	return completeNames(e, batchv1.SchemeGroupVersion.WithKind("CronJobList"), 0)
}

func completeNames(e *env.Env, kind schema.GroupVersionKind, limit int) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if limit > 0 && len(args) >= limit {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		namespace, err := e.Namespace()
		if err != nil {
			return completeNothing(err)
		}
		return completeObjects(cmd.Context(), e, kind, namespace, begun, args)
	}
}

// CompleteNamespaces completes a flag with the names of the cluster's namespaces. Where no cluster
// answers, or it does not list them for the user, it completes nothing.
func CompleteNamespaces(e *env.Env) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return completeObjects(cmd.Context(), e, corev1.SchemeGroupVersion.WithKind("NamespaceList"), "", begun, nil)
	}
}

// completeObjects completes a word with the names of objects that are not given yet.
func completeObjects(ctx context.Context, e *env.Env, kind schema.GroupVersionKind, namespace, begun string, given []string) (
	[]cobra.Completion, cobra.ShellCompDirective,
) {
	names, err := namesOf(ctx, e, kind, namespace)
	if err != nil {
		return completeNothing(err)
	}
	return slices.DeleteFunc(names, func(name string) bool {
		return !strings.HasPrefix(name, begun) || slices.Contains(given, name)
	}), cobra.ShellCompDirectiveNoFileComp
}

// completeNothing completes nothing, because of an error.
func completeNothing(err error) ([]cobra.Completion, cobra.ShellCompDirective) {
	cobra.CompErrorln(err.Error())
	return nil, cobra.ShellCompDirectiveError
}

// namesOf returns the names of the objects in a list of this kind.
func namesOf(ctx context.Context, e *env.Env, kind schema.GroupVersionKind, namespace string) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, completionTimeout)
	defer cancel()
	c, err := e.Client()
	if err != nil {
		return nil, err
	}
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(kind)
	if err := c.List(ctx, list, client.InNamespace(namespace), client.Limit(maxCompletions)); err != nil {
		return nil, err
	}
	names := make([]string, len(list.Items))
	for i := range list.Items {
		names[i] = list.Items[i].Name
	}
	return names, nil
}
