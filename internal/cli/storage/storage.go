// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package storage is the commands storage and storage migrate: in which version CronJobs are stored, and
// how to have all of them stored in the present one.
package storage

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"tutorial.kubebuilder.io/project/internal/cli/env"
)

const long = `Show in which versions CronJobs are stored.

The API does not tell how an object is stored. Known is that none is stored as a version that
status.storedVersions of the CRD does not list, and that all that was written since the CRD was last
changed is stored in its storage version. Where that leaves a doubt, a range is shown.`

// NewCommand returns the command.
func NewCommand(e *env.Env) *cobra.Command {
	output := ""
	command := &cobra.Command{
		Use:   "storage",
		Short: "Show in which versions CronJobs are stored, and have them stored in one",
		Long:  long,
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if output != "" && output != "json" && output != "yaml" {
				return fmt.Errorf("--output=%s: use json or yaml", output)
			}
			c, err := e.Client()
			if err != nil {
				return err
			}
			state, err := gather(command.Context(), c)
			if err != nil {
				return err
			}
			return show(e, state, output)
		},
	}
	command.Flags().StringVarP(&output, "output", "o", "", "Output format. One of: (json, yaml).")
	command.AddCommand(newMigrateCommand(e))
	return command
}

// show prints the state.
func show(e *env.Env, state *State, output string) error {
	var text []byte
	var err error
	switch output {
	case "json":
		text, err = json.MarshalIndent(state, "", "    ")
		text = append(text, '\n')
	case "yaml":
		text, err = yaml.Marshal(state)
	default:
		return state.print(e.Out)
	}
	if err != nil {
		return err
	}
	_, err = e.Out.Write(text)
	return err
}
