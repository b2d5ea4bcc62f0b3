// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package convert is the command that converts manifests on disk from one version to the other.
package convert

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/env"
	"tutorial.kubebuilder.io/project/internal/cli/files"
	"tutorial.kubebuilder.io/project/internal/cli/manifest"
)

// exitChanges is the exit code where there are files to convert. It and files.Trouble are as those
// of kubectl diff.
const exitChanges = 1

// builtIn is what --from takes.
const builtIn = "batch/v1"

const (
	long = `Convert the CronJobs in manifests to another version. It needs no cluster.

Only what has to change is changed: apiVersion and schedule. Comments, blank lines, the order of keys,
quotes, indentation, line ends and other documents stay byte for byte. A file may have several documents,
lists of objects, or patches with a part of an object; JSON stays JSON. Files without CronJobs of ours
are not touched.

What was converted is read again, and compared with what the API server would make of the object, before
it is written. A file that can't be converted safely is left alone as a whole, and named with the line
and the reason: one that is a template, one with an alias, a merge key or a block scalar in the place of
a schedule, one with a schedule that is not valid. The others are converted.

Manifests carry their schedule in the fields of their version alone. What v2 can't spell, such as @hourly,
is converted to what means the same, and a note tells what converting back would give.

In a patch, which lacks jobTemplate, a v2 schedule is merged field by field with that of the object. So a
patch gets all five fields, and one that has only some of them is not converted to v1. JSON patches,
lists of operations on paths, do not name what they change: look for /spec/schedule in them yourself.

The built-in CronJobs of batch/v1 are left as they are, but with --from batch/v1, which converts them and
nothing else. An apiVersion that changes its group makes another object: applied, it runs beside the
built-in one. To take over CronJobs of a cluster without a tick lost or run twice, see kubectl cronjob
import.

With --check, files that have nothing to convert are looked at too: one whose schedule the API server
would refuse is named with the line and the reason.

How many CronJobs it looked at and left alone is printed to the standard error.

Exit codes: 0, there was nothing to convert or it was converted; 1, with --check or --diff, there are files
to convert; 2, some file could not be converted, or has, with --check, a schedule that would be refused, or the command line is wrong.`

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

// command is the command line.
type command struct {
	*env.Env

	filenames []string
	recursive bool

	to   string
	from string

	inPlace bool
	diff    bool
	check   bool
}

// NewCommand returns the command convert.
func NewCommand(e *env.Env) *cobra.Command {
	c := &command{Env: e}
	cmd := &cobra.Command{
		Use:                   "convert -f FILENAME --to v1|v2 [--in-place | --diff | --check]",
		DisableFlagsInUseLine: true,
		Short:                 "Convert manifests between the versions",
		Long:                  long,
		Example:               example,
		RunE: func(cmd *cobra.Command, _ []string) error {
			options, err := c.options()
			if err != nil {
				return files.Trouble(err)
			}
			return c.run(cmd.Context(), options)
		},
	}
	c.addFlags(cmd)
	return cmd
}

func (c *command) addFlags(cmd *cobra.Command) {
	files.Configure(cmd, &c.filenames, &c.recursive)
	flags := cmd.Flags()
	flags.StringVar(&c.to, "to", "", "The version to convert to: v1 or v2.")
	flags.StringVar(&c.from, "from", "", "batch/v1 converts the built-in CronJobs, and nothing else.")
	flags.BoolVarP(&c.inPlace, "in-place", "i", false, "Write the files rather than the standard output.")
	flags.BoolVar(&c.diff, "diff", false, "Print what changes, as a unified diff that patch -p1 and git apply take, and not the files.")
	flags.BoolVar(&c.check, "check", false, "Print the names of the files that have something to convert, and not the files. "+
		"A schedule that the API server would refuse is an error, in files that have nothing to convert, too.")
	cronjobs.CompleteWords(cmd, "to", "v1\tthe schedule as a text", "v2\tthe schedule in fields")
	cronjobs.CompleteWords(cmd, "from", builtIn+"\tthe built-in CronJobs")
}

// options checks the command line, and says what is to be converted to what.
func (c *command) options() (manifest.Options, error) {
	options := manifest.Options{To: manifest.Version(c.to), Check: c.check}
	switch c.from {
	case "":
	case builtIn:
		options.BuiltIn = true
	default:
		return options, fmt.Errorf("--from %s: want %s; which of our versions is converted follows from --to", c.from, builtIn)
	}
	switch {
	case len(c.filenames) == 0:
		return options, errors.New("name files with -f")
	case c.to == "":
		return options, errors.New("--to is missing: want v1 or v2")
	case options.To != manifest.V1 && options.To != manifest.V2:
		return options, fmt.Errorf("--to %s: want v1 or v2", c.to)
	case c.inPlace && c.check:
		return options, errors.New("--check writes nothing: leave out --in-place")
	}
	return options, nil
}

// run converts the files one after the other.
func (c *command) run(ctx context.Context, options manifest.Options) error {
	named, err := files.Expand(c.filenames, c.recursive)
	if err != nil {
		return files.Trouble(err)
	}
	if c.inPlace && slices.ContainsFunc(named, func(f files.File) bool { return f.Path == files.Stdin }) {
		return files.Trouble(errors.New("--in-place can't write the standard input: leave it out, or name files"))
	}
	report := newReport(c)
	for _, f := range named {
		if ctx.Err() != nil {
			return files.Trouble(errors.Join(ctx.Err(), report.out.Flush()))
		}
		report.add(c.convertOne(f, options))
	}
	return report.end()
}
