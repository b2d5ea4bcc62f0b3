// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"tutorial.kubebuilder.io/project/internal/cli/builtin"
)

var (
	// templateAction matches the start of an action in a template of Helm or Jinja.
	templateAction = regexp.MustCompile(`\{\{|\{%`)

	// helmAction matches an action that only Helm can have. Other actions may be arguments of a
	// command, such as docker or kubectl.
	helmAction = regexp.MustCompile(`\{\{[^}]*(\.(Values|Release|Chart|Capabilities|Files)\b|\b(include|tpl|toYaml)\s)`)
)

// IsTemplate is the message for a CronJob in a template, such as a Helm chart's.
const IsTemplate = "it is a template: convert what it renders, or edit it by hand"

// If a document can't be parsed, these expressions tell whether it has CronJobs.
var (
	apiVersionText = regexp.MustCompile(`(?m)["']?apiVersion["']?[ \t]*:[ \t]*["']?([^\s"',}]+)`)
	kindText       = regexp.MustCompile(`(?m)["']?kind["']?[ \t]*:[ \t]*["']?(` + Kind + "|" + builtin.GVK.Kind + `)(List)?\b`)
	errorLine      = regexp.MustCompile(`line (\d+): `)
)

// unreadable returns the error for a document that can't be parsed; nil if it does not seem to have
// a CronJob that concerns the caller.
func (d *Document) unreadable(err error, concerns func(apiVersion string) bool) error {
	isConcerned := slices.ContainsFunc(apiVersionText.FindAllSubmatch(bytes.ReplaceAll(d.Text, []byte(`\/`), []byte("/")), -1),
		func(match [][]byte) bool { return concerns(string(match[1])) })
	if !isConcerned || !kindText.Match(d.Text) {
		return nil
	}
	if at := templateAction.FindIndex(d.Text); at != nil {
		return errorf(d.LineAt(at[0]), IsTemplate)
	}
	if several := (&yaml.TypeError{}); errors.As(err, &several) {
		err = errors.New("yaml: " + several.Errors[0])
	}
	line := 1
	if match := errorLine.FindStringSubmatch(err.Error()); match != nil {
		line, _ = strconv.Atoi(match[1])
	}
	line = min(line, 1+bytes.Count(d.Text, []byte("\n")))
	return errorf(d.before+line, "it can't be read: %s", errorLine.ReplaceAllString(explainYAML(err).Error(), ""))
}

// explainYAML adds a hint to an error of the YAML parser that an unquoted schedule causes.
func explainYAML(err error) error {
	switch text := err.Error(); {
	case strings.Contains(text, "did not find expected alphabetic or numeric character"):
		return fmt.Errorf("%w: in YAML, * begins an alias: put the value in quotes, such as \"*/5 * * * *\", or \"*/5\" in a field of v2", err)
	case strings.Contains(text, "found character that cannot start any token"):
		return fmt.Errorf("%w: put a schedule that starts with @ in quotes, such as \"@daily\", and indent with blanks, not tabs", err)
	}
	return err
}
