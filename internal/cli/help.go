// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// newOptionsCommand returns the command that lists kubectl's flags, which all commands have. They
// are too many for the help of each.
func newOptionsCommand() *cobra.Command {
	return &cobra.Command{
		Use:               "options",
		Short:             "List the flags that all commands take",
		Long:              "List the flags that all commands take. They are kubectl's own.",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		Run: func(cmd *cobra.Command, _ []string) {
			cmd.Print("The following flags can be passed to any command:\n\n", cmd.InheritedFlags().FlagUsages())
		},
	}
}

// leaveOutGlobalFlags replaces the persistent flags of root in the help of all commands by a hint
// at the command options. It hides them only while the help is printed, so that completion still
// has them.
func leaveOutGlobalFlags(root *cobra.Command) {
	usage := root.UsageFunc()
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		hide := func(hidden bool) {
			root.PersistentFlags().VisitAll(func(flag *pflag.Flag) { flag.Hidden = hidden })
		}
		hide(true)
		defer hide(false)
		if err := usage(cmd); err != nil {
			return err
		}
		_, err := fmt.Fprintf(cmd.OutOrStderr(), "\nUse %q for the flags that all commands take.\n", root.DisplayName()+" options")
		return err
	})
}

// finish adds a hint at the help to errors about the command line of a command and its subcommands,
// and takes "[flags]" from their usage lines, which name the flags that matter.
func finish(cmd *cobra.Command) {
	// Subcommands first: they would inherit the hint, and add it twice.
	for _, below := range cmd.Commands() {
		finish(below)
	}
	cmd.DisableFlagsInUseLine = true
	explain := cmd.FlagErrorFunc()
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return explain(cmd, withHelp(cmd, err)) })
	if check := cmd.Args; check != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if err := check(cmd, args); err != nil {
				return withHelp(cmd, err)
			}
			return nil
		}
	}
}

func withHelp(cmd *cobra.Command, err error) error {
	return fmt.Errorf("%w\nSee '%s --help' for usage", err, cmd.CommandPath())
}
