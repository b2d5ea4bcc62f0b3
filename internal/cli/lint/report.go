// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"fmt"
	"io"
	"net/url"
	"path/filepath"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
)

// severity is how severe a finding is, in the terms of SARIF.
type severity string

const (
	// severityError is for what the API server would refuse, or what can't be read.
	severityError severity = "error"

	// severityWarning is for what is accepted and probably wrong.
	severityWarning severity = "warning"

	// severityNote is for what was not checked.
	severityNote severity = "note"
)

type rule struct {
	name     string
	severity severity
	text     string
}

var (
	unreadable    = rule{"unreadable", severityError, "The file or document can't be read."}
	invalid       = rule{"invalid", severityError, "The API server would refuse the CronJob."}
	unknownField  = rule{"unknown-field", severityError, "kubectl would refuse the field, and others would lose it."}
	warned        = rule{"warned", severityWarning, "The API server would accept the CronJob with this warning."}
	unevenStep    = rule{"uneven-step", severityWarning, "The step does not divide the hour, day, month, year or week."}
	skippedMonth  = rule{"skipped-month", severityWarning, "Some months do not have the day."}
	noTimeLimit   = rule{"no-time-limit", severityWarning, "Where Jobs hold ticks up, those that hang stop the schedule."}
	shortDeadline = rule{"short-deadline", severityWarning, "Where Jobs hold ticks up, one that waits beyond its deadline is missed."}
	patch         = rule{"patch", severityNote, "Of a patch, only the names of fields are checked."}
)

var rules = []rule{unreadable, invalid, unknownField, warned, unevenStep, skippedMonth, noTimeLimit, shortDeadline, patch}

func (r rule) about(field, message string) finding {
	return finding{Severity: r.severity, Rule: r.name, Field: field, Message: message}
}

// finding is a problem in a file. The checks set just the field; at adds its position.
type finding struct {
	File     string   `json:"file"`
	Line     int      `json:"line"`   // from 1
	Column   int      `json:"column"` // in characters, from 1
	Severity severity `json:"severity"`
	Rule     string   `json:"rule"`
	Field    string   `json:"field,omitempty"`
	Message  string   `json:"message"`
}

func (f finding) String() string {
	if f.Field == "" {
		return f.Message
	}
	return f.Field + ": " + f.Message
}

func write(to io.Writer, output cronjobs.Output, findings []finding) error {
	switch output.Format {
	case "json":
		return output.Write(to, findings)
	case "sarif":
		return writeSARIF(to, findings)
	}
	for _, f := range findings {
		if _, err := fmt.Fprintf(to, "%s:%d:%d: %s: %s [%s]\n", f.File, f.Line, f.Column, f.Severity, f, f.Rule); err != nil {
			return err
		}
	}
	return nil
}

func writeSARIF(to io.Writer, findings []finding) error {
	run := sarif.NewRunWithInformationURI("kubectl cronjob lint", "https://tutorial.kubebuilder.io/project")
	for _, r := range rules {
		run.AddRule(r.name).WithDescription(r.text)
	}
	for _, f := range findings {
		region := sarif.NewRegion().WithStartLine(f.Line).WithStartColumn(f.Column)
		place := sarif.NewPhysicalLocation().WithRegion(region).
			WithArtifactLocation(sarif.NewSimpleArtifactLocation((&url.URL{Path: filepath.ToSlash(f.File)}).String()))
		run.AddResult(sarif.NewRuleResult(f.Rule).WithLevel(string(f.Severity)).WithMessage(sarif.NewTextMessage(f.String())).
			AddLocation(sarif.NewLocationWithPhysicalLocation(place)))
	}
	return sarif.NewReport().AddRun(run).PrettyWrite(to)
}
