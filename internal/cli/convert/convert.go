// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package convert implements the command convert, which converts manifests between the versions.
package convert

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"

	"tutorial.kubebuilder.io/project/apis/batch"
	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/env"
	"tutorial.kubebuilder.io/project/internal/cli/files"
	"tutorial.kubebuilder.io/project/internal/cli/lint"
)

// exitChanges is the exit code if there are files to convert. It and files.Failure are like the
// exit codes of kubectl diff.
const exitChanges = 1

// builtIn is the only value of --from.
var builtIn = batchv1.SchemeGroupVersion.String()

// versions has the values of --to.
var versions = func() (names []string) {
	for _, apiVersion := range batch.Versions.APIVersions() {
		names = append(names, path.Base(apiVersion))
	}
	return names
}()

const (
	long = `Convert the CronJobs in manifests to another version. This needs no cluster.

Only apiVersion and the schedules change. Comments, blank lines, the order of keys, quotes, indentation,
line ends and other documents stay the same byte for byte. A file may have several documents, lists of
objects, or patches with a part of an object; JSON stays JSON. Files without our CronJobs are not
changed.

The command reads the result again, and compares it with what the API server would make of the object,
before it writes it. If it can't convert a file safely, it leaves the whole file alone, and prints the
line and the reason: a template, an alias, a merge key or a block scalar in place of a schedule, an
invalid schedule. Other files are still converted.

Manifests have the schedule in the fields of their version alone. What v2 can't express, such as
@hourly, is converted to an equivalent schedule, and a note says what a conversion back would give.

In a patch, which lacks jobTemplate, a v2 schedule is merged field by field with that of the object. So
a patch gets all five fields, and one that has only some of them is not converted to v1. JSON patches,
which are lists of operations on paths, do not name the object: look for /spec/schedule in them
yourself.

The built-in CronJobs of batch/v1 are left alone, except with --from batch/v1, which converts them and
nothing else. Another group in apiVersion makes it another object: if you apply it, it runs beside the
built-in one. To take over CronJobs of a cluster without losing or repeating a tick, use kubectl cronjob
import.

With --check, the command also checks files that have nothing to convert, and prints the line and the
reason if the API server would refuse a schedule.

It prints to the standard error how many CronJobs it converted and left alone.

Exit codes: 0, there was nothing to convert or it was converted; 1, with --check or --diff, there are
files to convert; 2, a file could not be converted or, with --check, has a schedule that would be
refused, or the command line is wrong.`

	example = `  # Show a manifest as v2
  kubectl cronjob convert -f cronjob.yaml --to v2

  # See what would change in all manifests below a directory
  kubectl cronjob convert -f manifests/ -R --to v2 --diff

  # Convert them in place
  kubectl cronjob convert -f manifests/ -R --to v2 --in-place

  # In CI: fail if there are CronJobs of another version left
  kubectl cronjob convert -f manifests/ -R --to v2 --check

  # Turn built-in CronJobs into ours, in a pipe
  kustomize build . | kubectl cronjob convert -f - --from batch/v1 --to v2`
)

type command struct {
	*env.Env

	filenames []string
	recursive bool

	to   string
	from string

	inPlace   bool
	diff      bool
	onlyCheck bool

	checker *lint.Checker
}

// NewCommand returns the command convert.
func NewCommand(e *env.Env) *cobra.Command {
	c := &command{Env: e}
	cmd := &cobra.Command{
		Use:     "convert -f FILENAME --to " + strings.Join(versions, "|") + " [--in-place | --diff | --check]",
		Short:   "Convert manifests between the versions",
		Long:    long,
		Example: example,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := c.check(); err != nil {
				return files.Failure(err)
			}
			return c.run(cmd.Context())
		},
	}
	c.addFlags(cmd)
	return cmd
}

func (c *command) addFlags(cmd *cobra.Command) {
	files.Configure(cmd, &c.filenames, &c.recursive)
	flags := cmd.Flags()
	flags.StringVar(&c.to, "to", "", "The version to convert to: "+strings.Join(versions, " or ")+".")
	flags.StringVar(&c.from, "from", "", "batch/v1 converts the built-in CronJobs, and nothing else.")
	flags.BoolVarP(&c.inPlace, "in-place", "i", false, "Write the files rather than the standard output.")
	flags.BoolVar(&c.diff, "diff", false, "Print what changes, as a unified diff that patch -p1 and git apply take, and not the files.")
	flags.BoolVar(&c.onlyCheck, "check", false, "Print the names of the files that have something to convert, and not the files. "+
		"A schedule that the API server would refuse is an error, in files that have nothing to convert, too.")
	cronjobs.CompleteWords(cmd, "to", versions...)
	cronjobs.CompleteWords(cmd, "from", builtIn+"\tthe built-in CronJobs")
}

func (c *command) check() error {
	wanted := "want " + strings.Join(versions, " or ")
	switch {
	case c.from != "" && c.from != builtIn:
		return fmt.Errorf("--from %s: want %s; which of our versions is converted follows from --to", c.from, builtIn)
	case len(c.filenames) == 0:
		return errors.New("name files with -f")
	case c.to == "":
		return errors.New("--to is missing: " + wanted)
	case !slices.Contains(versions, c.to):
		return fmt.Errorf("--to %s: %s", c.to, wanted)
	case c.inPlace && c.onlyCheck:
		return errors.New("--check writes nothing: leave out --in-place")
	}
	return nil
}

func (c *command) run(ctx context.Context) error {
	named, err := files.Expand(c.filenames, c.recursive)
	if err != nil {
		return files.Failure(err)
	}
	if c.inPlace && slices.ContainsFunc(named, func(f files.File) bool { return f.Path == files.Stdin }) {
		return files.Failure(errors.New("--in-place can't write the standard input: leave it out, or name files"))
	}
	if c.checker, err = lint.NewChecker(c.Clock.Now()); err != nil {
		return files.Failure(err)
	}
	report := newReport(c)
	for _, f := range named {
		if ctx.Err() != nil {
			return files.Failure(errors.Join(ctx.Err(), report.out.Flush()))
		}
		report.add(c.convertOne(ctx, f))
	}
	return report.end()
}
