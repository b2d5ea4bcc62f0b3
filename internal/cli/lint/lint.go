// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package lint implements the command lint, which checks manifests without a cluster, for CI. It
// uses the API server's own packages and the CustomResourceDefinition: tools that know just
// OpenAPI, such as kubeconform, don't know the CEL rules of v2's schema. For the webhooks' checks,
// it uses their package. go-sarif, which writes SARIF, has one dependency, gojsonschema.
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

// exitWarnings is the exit code if there are warnings. With errors, it is that of files.Failure.
const exitWarnings = 1

const (
	long = `Check the CronJobs in manifests, of all versions. This needs no cluster.

Errors are what the API server and the operator's webhooks would refuse, fields that do not exist, and
what can't be read. Warnings are those of the webhooks, and what is accepted but probably wrong: a day
that some months do not have, a step that does not divide the hour, a Job under concurrencyPolicy Forbid
that may hang and stop the schedule. In the template, only the fields, their types and restartPolicy are
checked: just the API server knows whether it can create a Job from it.

The API server reports the errors of its first failed check. This command reports those of all checks.
It prints to the standard error how many CronJobs it checked, and how many of batch/v1 it did not.

A file may have several documents, or lists of objects. For a template, such as a Helm chart, check its
output; placeholders such as $(SCHEDULE) are skipped. In a patch, which lacks jobTemplate, only the
names of the fields are checked.

Exit codes: 0, no findings except notes; 1, there are warnings; 2, there are errors, or the command line
is wrong.`

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
		Use:     "lint -f FILENAME [-R] [-o text|json|sarif]",
		Short:   "Check manifests, without a cluster",
		Long:    long,
		Example: example,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(c.filenames) == 0 {
				return files.Failure(errors.New("name files with -f"))
			}
			if err := c.output.Check(); err != nil {
				return files.Failure(err)
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
		return files.Failure(err)
	}
	checker, err := NewChecker(c.Clock.Now())
	if err != nil {
		return files.Failure(err)
	}
	findings, ours, builtIn := []finding{}, 0, 0 // not nil: an empty list in JSON
	for _, f := range named {
		if ctx.Err() != nil {
			return files.Failure(ctx.Err())
		}
		text, err := f.Read(c.In)
		if err != nil {
			findings = append(findings, unreadable.about("", err.Error()).at(f, 1, 1))
			continue
		}
		found, checked, leftAlone := checkFile(ctx, checker, f, text)
		findings, ours, builtIn = append(findings, found...), ours+checked, builtIn+leftAlone
	}
	fmt.Fprintf(c.ErrOut, "CronJobs checked: %d; of batch/v1, left alone: %d; files: %d\n", ours, builtIn, len(named))
	if err := write(c.Out, c.output, findings); err != nil {
		return files.Failure(fmt.Errorf("writing the output: %w", err))
	}
	return verdict(findings)
}

// checkFile checks our CronJobs in a file. It returns how many there are, and how many of batch/v1.
func checkFile(ctx context.Context, checker *Checker, f files.File, text []byte) (findings []finding, ours, builtIn int) {
	objects, unread := manifest.Objects(text, false)
	for _, t := range unread {
		findings = append(findings, unreadable.about("", t.Message).at(f, t.Line, 1))
	}
	for i := range objects {
		if objects[i].IsBuiltIn() {
			builtIn++
			continue
		}
		ours++
		for _, found := range checker.check(ctx, &objects[i]) {
			line, column := objects[i].Position(found.Field)
			findings = append(findings, found.at(f, line, column))
		}
	}
	slices.SortStableFunc(findings, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return findings, ours, builtIn
}

func (f finding) at(file files.File, line, column int) finding {
	f.File, f.Line, f.Column = file.Name, line, column
	return f
}

// verdict returns the error with the exit code. Everything is printed already.
func verdict(findings []finding) error {
	has := func(s severity) bool {
		return slices.ContainsFunc(findings, func(f finding) bool { return f.Severity == s })
	}
	switch {
	case has(severityError):
		return files.Failure(nil)
	case has(severityWarning):
		return &env.ExitError{Code: exitWarnings}
	}
	return nil
}
