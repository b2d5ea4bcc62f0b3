// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package pages

import (
	"html/template"
	"time"

	"k8s.io/apimachinery/pkg/util/duration"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/history"
	"tutorial.kubebuilder.io/project/internal/cli/ui/timeline"
	"tutorial.kubebuilder.io/project/internal/plan"
)

// functions are the functions of the templates.
var functions = template.FuncMap{
	"symbol": history.Symbol,
	"human":  duration.HumanDuration,
	"kinds":  func() []string { return timeline.Kinds },
	"iso":    iso,
	"moment": momentOf,
	"timeOf": timeOf,
	"zone":   cronjobs.Zone,
	"why":    func(missed v1.MissedTicks) string { return plan.MissedRow(missed).Event().Note },
}

// iso formats an instant for ui.js.
func iso(at time.Time) string { return at.UTC().Format(time.RFC3339) }

func zoneOf(now time.Time) string {
	if now.Location() == time.Local {
		return now.Format("MST")
	}
	return now.Location().String()
}

// moment is an instant, shown relative to now. ui.js counts it down.
type moment struct {
	at, now time.Time
}

func momentOf(at, now time.Time) *moment {
	if at.IsZero() {
		return nil
	}
	return &moment{at, now}
}

// ISO returns the instant for programs.
func (m *moment) ISO() string { return iso(m.at) }

// Full returns the instant for people, in its own time zone.
func (m *moment) Full() string { return m.at.Format("Mon 2006-01-02 15:04:05 -07:00") }

// Distance returns the time from now, such as "in 5m" or "5m ago".
func (m *moment) Distance() string {
	if m.at.After(m.now) {
		return "in " + m.Bare()
	}
	return m.Bare() + " ago"
}

// Bare returns the time from now, such as "5m".
func (m *moment) Bare() string { return duration.HumanDuration(m.at.Sub(m.now).Abs()) }
