// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"tutorial.kubebuilder.io/project/apis/batch"
	"tutorial.kubebuilder.io/project/internal/cli/builtin"
	"tutorial.kubebuilder.io/project/internal/cli/lint"
	"tutorial.kubebuilder.io/project/internal/cli/manifest"
	"tutorial.kubebuilder.io/project/internal/validate"
)

type options struct {
	// fromBuiltIn is whether to convert the built-in CronJobs of batch/v1, and leave ours alone.
	fromBuiltIn bool

	// to is the target apiVersion.
	to string

	// check is whether to check the schedules of CronJobs that have the target version already.
	check bool
}

type result struct {
	// text is the converted file. It equals the original if there is nothing to convert or an
	// error.
	text []byte

	// ours and builtIn count the CronJobs, and converted those of them that were converted.
	ours, builtIn, converted int

	// findings are sorted by line.
	findings []manifest.Finding
}

func (r result) leftAlone() bool {
	return slices.ContainsFunc(r.findings, func(f manifest.Finding) bool { return f.IsError })
}

// converter converts one file. It knows no field of a schedule: the checker of lint knows what is
// invalid, and batch.Versions converts objects.
type converter struct {
	options

	checker *lint.Checker
	result
}

// convertFile converts the CronJobs in a file of YAML or JSON documents. If it can't convert the
// file safely, it returns the file unchanged, with findings that say why.
func convertFile(ctx context.Context, text []byte, checker *lint.Checker, o options) result {
	c := converter{options: o, checker: checker}
	if finding, ok := manifest.FindUTF16(text); ok {
		return result{text: text, findings: []manifest.Finding{finding}}
	}
	if bytes.HasPrefix(text, manifest.ByteOrderMark) {
		c.text = slices.Clone(manifest.ByteOrderMark)
	}
	for _, d := range manifest.Split(text) {
		converted, err := c.convertDocument(ctx, d)
		finding := manifest.Finding{}
		if errors.As(err, &finding) {
			c.findings = append(c.findings, finding)
		}
		c.text = append(c.text, converted...)
	}
	slices.SortStableFunc(c.findings, func(a, b manifest.Finding) int { return a.Line - b.Line })
	if c.leftAlone() {
		c.text, c.converted = text, 0
		// Notes are about the conversion, which is dropped.
		c.findings = slices.DeleteFunc(c.findings, func(f manifest.Finding) bool { return !f.IsError })
	}
	return c.result
}

func (c *converter) convertDocument(ctx context.Context, d *manifest.Document) ([]byte, error) {
	hasCronJobs := false
	err := d.Visit(c.concerns, func(o *manifest.Object) error {
		hasCronJobs = hasCronJobs || o.IsCronJob()
		return c.convertObject(ctx, o)
	})
	if err != nil {
		return nil, err
	}
	if !hasCronJobs {
		c.noteMentions(d)
	}
	return d.Apply()
}

func (c *converter) concerns(apiVersion string) bool {
	o := manifest.Object{APIVersion: apiVersion}
	switch {
	case c.fromBuiltIn:
		return o.IsBuiltIn()
	case apiVersion == c.to:
		return c.check
	}
	return o.IsOurs()
}

// convertObject converts a CronJob, or the apiVersion of a list of CronJobs.
func (c *converter) convertObject(ctx context.Context, o *manifest.Object) error {
	if !o.IsCronJob() {
		return nil
	}
	isOne := o.IsOne()
	switch {
	case isOne && o.IsOurs():
		c.ours++
	case isOne && o.IsBuiltIn():
		c.builtIn++
	}
	if !c.concerns(o.APIVersion) {
		return nil
	}
	if o.IsOurs() {
		if err := o.CheckVersion(); err != nil {
			return err
		}
	}
	switch {
	case o.APIVersion == c.to:
		return c.checkObject(ctx, o)
	case !isOne:
		return c.set(o, maps.Clone(o.Value))
	}
	c.converted++
	wanted, err := c.convert(ctx, o)
	if err != nil {
		return err
	}
	return c.set(o, wanted)
}

// set replaces the content of an object. It sets the apiVersion and the kind if the object has
// them.
func (c *converter) set(o *manifest.Object, wanted map[string]any) error {
	if _, ok := wanted["apiVersion"]; ok {
		wanted["apiVersion"] = c.to
	}
	if kind, ok := wanted["kind"].(string); ok && o.IsBuiltIn() {
		wanted["kind"] = strings.Replace(kind, builtin.GVK.Kind, manifest.Kind, 1)
	}
	raw, err := json.Marshal(wanted)
	if err != nil {
		return err
	}
	return o.Set(raw)
}

// checkObject returns an error if the API server would refuse a schedule of the object. It skips
// patches.
func (c *converter) checkObject(ctx context.Context, o *manifest.Object) error {
	if !o.IsOne() || o.IsPatch() {
		return nil
	}
	value := typed(o.Value, o.APIVersion)
	problem, err := c.refused(ctx, value)
	switch {
	case err != nil:
		return o.Errorf("", "%v", err)
	case problem != nil:
		return o.Errorf(problem.Path, "the API server would refuse it: %v", problem)
	}
	return c.noteWarnings(o, value)
}

func typed(value map[string]any, apiVersion string) map[string]any {
	value = maps.Clone(value)
	value["apiVersion"], value["kind"] = apiVersion, manifest.Kind
	return value
}

// refused returns the first problem of the schedules or the time zone for which the API server
// would refuse the object; nil for none.
func (c *converter) refused(ctx context.Context, value map[string]any) (*lint.Problem, error) {
	spec, _ := value["spec"].(map[string]any)
	problems, err := c.checker.Refused(ctx, value)
	for _, p := range problems {
		name := fieldOfSpec(p.Path)
		if slices.Contains(scheduleFields, name) && spec[name] != nil {
			return &p, err
		}
	}
	return nil, err
}

// scheduleFields has the members of the spec that say when Jobs start: those that versions write
// differently, and the time zone.
var scheduleFields = func() []string {
	table := batch.Versions
	names := []string{"timeZone", table.Hub.Members.Value, table.Hub.Members.List}
	for _, version := range table.Spokes {
		names = append(names, version.Members.Value, version.Members.List)
	}
	return names
}()

func fieldOfSpec(path string) string {
	steps := strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' })
	if len(steps) < 2 {
		return ""
	}
	return steps[1]
}

func (c *converter) noteWarnings(o *manifest.Object, value map[string]any) error {
	if _, hasSpec := value["spec"].(map[string]any); !hasSpec {
		return nil
	}
	hub, err := convertSpec(value, nil, batch.Versions.Hub.APIVersion)
	if err != nil {
		return o.Errorf("", "%v", err)
	}
	var text string
	var further []string
	members := batch.Versions.Hub.Members
	if json.Unmarshal(hub[members.Value], &text) != nil || json.Unmarshal(hub[members.List], &further) != nil {
		further = nil // there is no list
	}
	for _, warning := range validate.FormOf(value).Warnings(append([]string{text}, further...)...) {
		c.note(o, warning.Path, warning.String())
	}
	return nil
}

// note adds a note about a field, which does not prevent the conversion.
func (c *converter) note(o *manifest.Object, path, message string) {
	line, _ := o.Position(path)
	c.findings = append(c.findings, manifest.Finding{Line: line, Message: message})
}
