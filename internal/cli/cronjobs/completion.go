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

const completionTimeout = 3 * time.Second

const maxCompletions = 500

// CompleteNames completes the first limit arguments with the names of CronJobs, except those given
// before; 0 means no limit. Without a cluster it completes nothing.
func CompleteNames(e *env.Env, limit int) cobra.CompletionFunc {
	return complete(e, v1.GroupVersion.WithKind("CronJobList"), limit)
}

// CompleteBuiltinNames completes all arguments with names of built-in CronJobs.
func CompleteBuiltinNames(e *env.Env) cobra.CompletionFunc {
	return complete(e, batchv1.SchemeGroupVersion.WithKind("CronJobList"), 0)
}

// CompleteNamespaces completes the value of a flag with names of namespaces.
func CompleteNamespaces(e *env.Env) cobra.CompletionFunc {
	completeNames := complete(e, corev1.SchemeGroupVersion.WithKind("NamespaceList"), 0)
	return func(cmd *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return completeNames(cmd, nil, begun)
	}
}

// CompleteFrom completes the value of a flag with values from the CronJob that the first argument
// names.
func CompleteFrom(e *env.Env, valuesOf func(*v1.CronJob) []cobra.Completion) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completionTimeout)
		defer cancel()
		_, cronJob, err := Named(ctx, e, args[0])
		if err != nil {
			cobra.CompErrorln(err.Error())
			return nil, cobra.ShellCompDirectiveError
		}
		return slices.DeleteFunc(valuesOf(cronJob), func(value string) bool {
			return !strings.HasPrefix(value, begun)
		}), cobra.ShellCompDirectiveNoFileComp
	}
}

func complete(e *env.Env, kind schema.GroupVersionKind, limit int) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if limit > 0 && len(args) >= limit {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		names, err := namesOf(cmd.Context(), e, kind)
		if err != nil {
			cobra.CompErrorln(err.Error())
			return nil, cobra.ShellCompDirectiveError
		}
		return slices.DeleteFunc(names, func(name string) bool {
			return !strings.HasPrefix(name, begun) || slices.Contains(args, name)
		}), cobra.ShellCompDirectiveNoFileComp
	}
}

func namesOf(ctx context.Context, e *env.Env, kind schema.GroupVersionKind) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, completionTimeout)
	defer cancel()
	namespace, err := e.Namespace()
	if err != nil {
		return nil, err
	}
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
