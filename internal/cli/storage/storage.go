// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package storage is the commands storage and storage migrate: in which version CronJobs are
// stored, and how to have the cluster store all of them in the present one.
package storage

import (
	"github.com/spf13/cobra"

	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/env"
)

const long = `Show in which versions CronJobs are stored.

The API does not tell how an object is stored. Known is that none is stored as a version that
status.storedVersions of the CRD does not list, and that all that was written since the CRD was last
changed is stored in its storage version. Where that does not settle it, a range is shown.`

// NewCommand returns the command.
func NewCommand(e *env.Env) *cobra.Command {
	output := cronjobs.Output{}
	command := &cobra.Command{
		Use:   "storage",
		Short: "Show in which versions CronJobs are stored, and have them stored in one",
		Long:  long,
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := output.Check(); err != nil {
				return err
			}
			c, err := e.Client()
			if err != nil {
				return err
			}
			state, err := readState(command.Context(), c)
			switch {
			case err != nil:
				return err
			case output.Format != "":
				return output.Write(e.Out, state)
			}
			return state.print(e.Out)
		},
	}
	output.AddFlag(command, "json", "yaml")
	command.AddCommand(newCheckCommand(e), newMigrateCommand(e))
	return command
}
