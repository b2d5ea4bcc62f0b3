// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package lint is the command that checks manifests without a cluster, for CI. What the API server
// would refuse is told by its own packages and the CustomResourceDefinition, as those that only
// know OpenAPI, such as kubeconform, don't know the rules of v2's schema; what the webhooks would
// say, by the package that they use. SARIF is written by go-sarif, which brings but gojsonschema.
package lint

import (
	"cmp"
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

// exitWarnings is the exit code where there are warnings. Where there are errors, it is that of
// files.Trouble.
const exitWarnings = 1

const (
	long = `Check the CronJobs in manifests, of both versions. It needs no cluster.

Errors are what the API server and the operator's webhooks would refuse, fields that do not exist, and
what can't be read. Warnings are what they would warn of, and what is accepted and probably wrong: a day
that not every month has, a step that does not divide the hour, a Job under concurrencyPolicy Forbid that
may hang and stop the schedule. Of the template, only the fields, their types and restartPolicy are checked:
whether a Job can be created from it, only the API server knows.

The API server names what its first check finds. This finds what all would: one wrong field hides no other.
How many CronJobs were checked, and how many of batch/v1 were not, is printed to the standard error.

A file may have several documents, or lists of objects. Of a template, such as a Helm chart, check what it
renders; values such as $(SCHEDULE) are passed over. Of a patch, which lacks jobTemplate, only the names of
the fields are checked.

Exit codes: 0, nothing was found, but for notes; 1, there are warnings; 2, there are errors, or the
command line is wrong.`

	example = `  # Check all manifests below a directory
  kubectl cronjob lint -f manifests/ -R

  # Check what kustomize makes of them
  kustomize build . | kubectl cronjob lint -f -

  # Have the findings shown in a pull request
  kubectl cronjob lint -f manifests/ -R -o sarif > lint.sarif`
)

type command struct {
	*env.Env

	filenames []string
	recursive bool
	output    cronjobs.Output
}

// NewCommand returns the command lint.
func NewCommand(e *env.Env) *cobra.Command {
	c := &command{Env: e}
	cmd := &cobra.Command{
		Use:                   "lint -f FILENAME [-R] [-o text|json|sarif]",
		DisableFlagsInUseLine: true,
		Short:                 "Check manifests, without a cluster",
		Long:                  long,
		Example:               example,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(c.filenames) == 0 {
				return files.Trouble(errors.New("name files with -f"))
			}
			if err := c.output.Check(); err != nil {
				return files.Trouble(err)
			}
			return c.run(cmd.Context())
		},
	}
	files.Configure(cmd, &c.filenames, &c.recursive)
	c.output.AddFlag(cmd, "text", "json", "sarif")
	return cmd
}

func (c *command) run(ctx context.Context) error {
	named, err := files.Expand(c.filenames, c.recursive)
	if err != nil {
		return files.Trouble(err)
	}
	checker, err := NewChecker(c.Clock.Now())
	if err != nil {
		return files.Trouble(err)
	}
	findings, ours, builtIn := []finding{}, 0, 0 // an empty list in JSON
	for _, f := range named {
		if ctx.Err() != nil {
			return files.Trouble(ctx.Err())
		}
		text, err := f.Read(c.In)
		if err != nil {
			findings = append(findings, unreadable.about("", err.Error()).at(f, 1, 1))
			continue
		}
		findings = append(findings, findingsIn(ctx, checker, f, text)...)
		countOurs, countBuiltIn := manifest.Count(text)
		ours, builtIn = ours+countOurs, builtIn+countBuiltIn
	}
	fmt.Fprintf(c.ErrOut, "CronJobs checked: %d; of batch/v1, left alone: %d; files: %d\n", ours, builtIn, len(named))
	if err := write(c.Out, c.output, findings); err != nil {
		return files.Trouble(fmt.Errorf("writing the output: %w", err))
	}
	return verdict(findings)
}

// findingsIn checks a file. The findings are in the order of its lines.
func findingsIn(ctx context.Context, checker *Checker, f files.File, text []byte) []finding {
	var findings []finding
	objects, troubles := manifest.Objects(text)
	for _, t := range troubles {
		findings = append(findings, unreadable.about("", t.Message).at(f, t.Line, 1))
	}
	for i := range objects {
		for _, found := range checker.check(ctx, &objects[i]) {
			line, column := objects[i].Position(found.Field)
			findings = append(findings, found.at(f, line, column))
		}
	}
	slices.SortStableFunc(findings, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return findings
}

func (f finding) at(file files.File, line, column int) finding {
	f.File, f.Line, f.Column = file.Name, line, column
	return f
}

// verdict is the error that has the exit code. All has been printed.
func verdict(findings []finding) error {
	has := func(s severity) bool {
		return slices.ContainsFunc(findings, func(f finding) bool { return f.Severity == s })
	}
	switch {
	case has(severityError):
		return files.Trouble(nil)
	case has(severityWarning):
		return &env.ExitError{Code: exitWarnings}
	}
	return nil
}
