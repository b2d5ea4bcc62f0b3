// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package cli is the kubectl plugin kubectl cronjob.
package cli

import (
	"github.com/spf13/cobra"

	"tutorial.kubebuilder.io/project/internal/cli/backfill"
	"tutorial.kubebuilder.io/project/internal/cli/convert"
	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/env"
	"tutorial.kubebuilder.io/project/internal/cli/exporting"
	"tutorial.kubebuilder.io/project/internal/cli/history"
	"tutorial.kubebuilder.io/project/internal/cli/importing"
	"tutorial.kubebuilder.io/project/internal/cli/lint"
	"tutorial.kubebuilder.io/project/internal/cli/list"
	"tutorial.kubebuilder.io/project/internal/cli/logs"
	"tutorial.kubebuilder.io/project/internal/cli/next"
	"tutorial.kubebuilder.io/project/internal/cli/run"
	"tutorial.kubebuilder.io/project/internal/cli/storage"
	"tutorial.kubebuilder.io/project/internal/cli/suspend"
	"tutorial.kubebuilder.io/project/internal/cli/ui"
)

// NewCommand returns the plugin's root command.
func NewCommand(e *env.Env, version string) *cobra.Command {
	root := &cobra.Command{
		Use:   "cronjob",
		Short: "Work with CronJobs of batch.tutorial.kubebuilder.io",
		Long: "Work with CronJobs of batch.tutorial.kubebuilder.io: convert manifests between the versions, " +
			"move from the built-in CronJob and back, and see and run what is scheduled.",
		Version: version,
		// main prints errors, once, and the usage is printed only on request.
		SilenceErrors: true,
		SilenceUsage:  true,
		// kubectl runs kubectl-cronjob for kubectl cronjob.
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl cronjob"},
		// kubectl's own completion covers the plugin, through kubectl_complete-cronjob.
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.SetIn(e.In)
	root.SetOut(e.Out)
	root.SetErr(e.ErrOut)
	e.Flags.AddFlags(root.PersistentFlags())
	cronjobs.CompleteFlag(root, "namespace", cronjobs.CompleteNamespaces(e))
	root.AddCommand(
		backfill.NewCommand(e),
		convert.NewCommand(e),
		exporting.NewCommand(e),
		importing.NewCommand(e),
		lint.NewCommand(e),
		next.NewCommand(e),
		run.NewCommand(e),
		storage.NewCommand(e),
		suspend.NewSuspendCommand(e),
		suspend.NewResumeCommand(e),
		history.NewCommand(e),
		list.NewCommand(e),
		logs.NewCommand(e),
		ui.NewCommand(e, func(e *env.Env) *cobra.Command { return NewCommand(e, version) }),
		newOptionsCommand(),
		newVersionCommand(e),
	)
	leaveOutGlobalFlags(root)
	finish(root)
	return root
}
