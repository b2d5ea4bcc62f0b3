// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package pages

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	v2 "tutorial.kubebuilder.io/project/apis/batch/v2"
	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/manifest"
	"tutorial.kubebuilder.io/project/internal/cli/next"
	"tutorial.kubebuilder.io/project/internal/schedule"
)

// playgroundTicks is how many ticks the playground shows.
const playgroundTicks = 20

// playground is the page on which schedules are tried.
type playground struct {
	// Text is the schedule of v1, Fields are those of v2's. ByFields says that these were typed.
	Text     string
	Fields   []scheduleField
	ByFields bool

	// Further are further schedules of v1, one to a line, Exclude days, with blanks or commas between
	// them.
	Further, Zone, Exclude, NotBefore, NotAfter string

	// Problem says why there is no forecast, Warnings what is probably not meant.
	Problem  string
	Warnings []string

	Description string
	Ticks       []tick
	Completed   bool // none is left after these
	InTwoZones  bool
	Here        string

	// V1 and V2 are the spec in each version, as YAML.
	V1, V2 string
}

// scheduleField is a field of v2's schedule, by its name in JSON.
type scheduleField struct{ Name, Label, Value string }

// tick is a time at which the schedule fires, or would.
type tick struct {
	At    *moment
	Here  *moment
	Notes string
}

// scheduleFields are those of v2's schedule, in its order.
var scheduleFields = []scheduleField{
	{Name: "minute", Label: "Minute"}, {Name: "hour", Label: "Hour"}, {Name: "dayOfMonth", Label: "Day of month"},
	{Name: "month", Label: "Month"}, {Name: "dayOfWeek", Label: "Day of week"}, {Name: "every", Label: "Every (an interval)"},
}

// playground is the page on which schedules are tried: what is typed on one side is the other's.
func (s *Site) playground(r *http.Request) (view, error) {
	query, now := r.URL.Query(), s.Env.Clock.Now()
	p := playground{
		Text: query.Get("text"), ByFields: query.Get("by") == "fields", Further: query.Get("further"),
		Zone: strings.TrimSpace(query.Get("zone")), Exclude: query.Get("exclude"),
		NotBefore: query.Get("notBefore"), NotAfter: query.Get("notAfter"), Here: zoneOf(now),
	}
	if !query.Has("text") && !query.Has("by") {
		p.Text = "30 2 * * 1-5"
	}
	if err := p.fill(query, now); err != nil {
		p.Problem = strings.TrimPrefix(err.Error(), "spec.schedule")
		p.Problem = strings.TrimLeft(p.Problem, ".:- ")
	}
	return view{Title: "Playground", Page: "playground", Content: p}, nil
}

// fill fills what follows from what was typed.
func (p *playground) fill(query url.Values, now time.Time) error {
	hub, spoke, converter := &v1.CronJob{}, &v2.CronJob{}, runtime.DefaultUnstructuredConverter
	if p.ByFields {
		typed := map[string]any{}
		for _, field := range scheduleFields {
			if value := strings.TrimSpace(query.Get(field.Name)); value != "" {
				typed[field.Name] = value
			}
		}
		if err := cmp.Or(converter.FromUnstructured(typed, &spoke.Spec.Schedule), spoke.ConvertTo(hub)); err != nil {
			return err
		}
		p.Text = hub.Spec.Schedule
	}
	errSpec := p.setSpec(hub)
	if err := spoke.ConvertFrom(hub); err != nil {
		return err
	}
	values, err := converter.ToUnstructured(&spoke.Spec.Schedule)
	if err != nil {
		return err
	}
	for _, field := range scheduleFields {
		field.Value, _, _ = unstructured.NestedString(values, field.Name)
		p.Fields = append(p.Fields, field)
	}
	if errSpec != nil {
		return errSpec
	}
	if err := manifest.CheckSchedules(&spoke.Spec); p.ByFields && err != nil {
		return err
	}
	if err := p.forecast(hub, now); err != nil {
		return err
	}
	p.V1, p.V2 = textOf(hub.Spec), textOf(spoke.Spec)
	return nil
}

// setSpec writes into a spec what was typed, but for v2's fields.
func (p *playground) setSpec(hub *v1.CronJob) error {
	hub.Spec = v1.CronJobSpec{Schedule: p.Text}
	for line := range strings.Lines(p.Further) {
		if line = strings.TrimSpace(line); line != "" {
			hub.Spec.AdditionalSchedules = append(hub.Spec.AdditionalSchedules, line)
		}
	}
	if p.Zone != "" {
		hub.Spec.TimeZone = &p.Zone
	}
	for _, days := range strings.FieldsFunc(p.Exclude, func(r rune) bool { return strings.ContainsRune(" ,\t\n", r) }) {
		hub.Spec.Exclude = append(hub.Spec.Exclude, v1.ExcludedDays(days))
	}
	for _, end := range []struct {
		name, text string
		to         **metav1.Time
	}{{"notBefore", p.NotBefore, &hub.Spec.NotBefore}, {"notAfter", p.NotAfter, &hub.Spec.NotAfter}} {
		if strings.TrimSpace(end.text) == "" {
			continue
		}
		at, err := cronjobs.ParseTime(end.name, strings.TrimSpace(end.text), cronjobs.Zone(hub))
		if err != nil {
			return err
		}
		*end.to = new(metav1.NewTime(at))
	}
	return nil
}

// forecast says what the schedules mean, and when they fire.
func (p *playground) forecast(hub *v1.CronJob, now time.Time) error {
	if err := cronjobs.CheckNew(hub); err != nil {
		return err
	}
	f, err := next.Stored(hub, now, playgroundTicks)
	if err != nil {
		return err
	}
	for _, text := range append([]string{hub.Spec.Schedule}, hub.Spec.AdditionalSchedules...) {
		for _, warning := range schedule.Warnings(text) {
			p.Warnings = append(p.Warnings, warning.String())
		}
	}
	p.Description, p.Completed = f.Description, f.Completed
	for _, t := range f.WithSkipped() {
		here := t.Time.In(now.Location())
		p.InTwoZones = p.InTwoZones || here.Format(time.RFC3339) != t.Time.Format(time.RFC3339)
		p.Ticks = append(p.Ticks, tick{At: momentOf(t.Time, now), Here: momentOf(here, now), Notes: strings.Join(t.Notes, "; ")})
	}
	return nil
}
