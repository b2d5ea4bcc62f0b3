// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"reflect"
	"regexp"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"tutorial.kubebuilder.io/project/apis/batch"
	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/builtin"
	"tutorial.kubebuilder.io/project/internal/cli/manifest"
)

// spec is a spec whose members are JSON, so that the manifest keeps the order of their fields.
type spec map[string]json.RawMessage

func (s spec) value() (value map[string]any, err error) {
	raw, err := json.Marshal(s)
	if err == nil {
		err = utiljson.Unmarshal(raw, &value)
	}
	return value, err
}

func (c *converter) convert(ctx context.Context, o *manifest.Object) (map[string]any, error) {
	wanted := maps.Clone(o.Value)
	carried := c.dropCarried(o, wanted)
	source := typed(wanted, o.APIVersion)
	if c.fromBuiltIn {
		source = c.imported(o, source)
	}
	is, hasSpec := source["spec"].(map[string]any)
	if !hasSpec {
		return wanted, nil
	}
	converted, err := convertSpec(source, carried, c.to)
	if err != nil {
		return nil, o.Errorf("", "%v", err)
	}
	target := typed(wanted, c.to)
	if target["spec"], err = converted.value(); err != nil {
		return nil, o.Errorf("", "%v", err)
	}
	wanted["spec"] = converted
	changed := changedMembers(is, target["spec"])
	if len(changed) == 0 && !c.fromBuiltIn {
		return wanted, nil
	}
	if o.IsPatch() {
		err = cmp.Or(c.checkPatch(o, source, changed), c.completePatch(o, converted, changed))
	}
	return wanted, cmp.Or(err, c.checkConversion(ctx, o, source, target, changed))
}

// convertSpec returns the spec of an object in another version. carried has the annotations from
// which the conversion restores what the current version can't express.
func convertSpec(object map[string]any, carried map[string]string, apiVersion string) (spec, error) {
	raw, err := json.Marshal(map[string]any{
		"apiVersion": object["apiVersion"], "kind": object["kind"], "spec": object["spec"],
		"metadata": map[string]any{"annotations": carried},
	})
	if err != nil {
		return nil, err
	}
	var converted struct{ Spec spec }
	if raw, err = batch.Versions.ConvertJSON(raw, apiVersion); err == nil {
		err = json.Unmarshal(raw, &converted)
	}
	return converted.Spec, err
}

func changedMembers(before map[string]any, after any) []string {
	value, _ := after.(map[string]any)
	var changed []string
	for name, was := range before {
		if is, ok := value[name]; !ok || !reflect.DeepEqual(was, is) {
			changed = append(changed, name)
		}
	}
	for name := range value {
		if _, ok := before[name]; !ok {
			changed = append(changed, name)
		}
	}
	slices.Sort(changed)
	return changed
}

// leftOut has the annotations that do not belong in a manifest: those by which a conversion keeps
// what a version can't express, and the time of the last edit.
var leftOut = func() []string {
	names := []string{v1.EditedAnnotation}
	for _, apiVersion := range batch.Versions.APIVersions() {
		keys := batch.Versions.Hub.AnnotationsOf(apiVersion)
		names = append(names, keys.Value, keys.List)
	}
	return names
}()

// dropCarried removes the annotations of leftOut from an object and returns them, for the
// conversion.
func (c *converter) dropCarried(o *manifest.Object, wanted map[string]any) map[string]string {
	metadata, _ := wanted["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	rest, carried := maps.Clone(annotations), map[string]string{}
	for _, name := range leftOut {
		if text, ok := annotations[name].(string); ok {
			carried[name] = text
			delete(rest, name)
			c.note(o, "metadata.annotations", fmt.Sprintf("%s is left out: %s has no use for it", name, path.Base(c.to)))
		}
	}
	if len(carried) == 0 {
		return nil
	}
	wanted["metadata"] = with(metadata, "annotations", rest)
	if len(rest) == 0 {
		metadata = maps.Clone(metadata)
		delete(metadata, "annotations")
		wanted["metadata"] = metadata
	}
	if len(metadata) == 0 {
		delete(wanted, "metadata")
	}
	return carried
}

func with(value map[string]any, name string, member any) map[string]any {
	value = maps.Clone(value)
	value[name] = member
	return value
}

// imported returns a built-in CronJob in the hub version, with its time zone in spec.timeZone.
func (c *converter) imported(o *manifest.Object, source map[string]any) map[string]any {
	source["apiVersion"] = batch.Versions.Hub.APIVersion
	spec, _ := source["spec"].(map[string]any)
	schedule, hasSchedule := spec["schedule"].(string)
	if !hasSchedule {
		return source
	}
	original := &batchv1.CronJob{Spec: batchv1.CronJobSpec{Schedule: schedule}}
	if zone, ok := spec["timeZone"].(string); ok {
		original.Spec.TimeZone = &zone
	}
	ours, notes := builtin.Import(original)
	spec = with(spec, "schedule", ours.Spec.Schedule)
	if ours.Spec.TimeZone != nil {
		spec["timeZone"] = *ours.Spec.TimeZone
	}
	source["spec"] = spec
	for _, note := range notes {
		c.note(o, "spec.schedule", note)
	}
	return source
}

// checkConversion returns an error if a schedule is invalid or the new version can't express it. It
// adds notes about what a conversion changes.
func (c *converter) checkConversion(ctx context.Context, o *manifest.Object, source, target map[string]any, changed []string) error {
	for _, name := range changed {
		if o.IsPlaceholder("spec." + name) {
			return o.Errorf("spec."+name, manifest.IsTemplate)
		}
	}
	problem, err := c.refused(ctx, source)
	switch {
	case err != nil:
		return o.Errorf("", "%v", err)
	case problem != nil:
		return o.Errorf(problem.Path, "%v", problem)
	}
	problem, err = c.refused(ctx, target)
	switch {
	case err != nil:
		return o.Errorf("", "%v", err)
	case problem != nil:
		return o.Errorf("spec."+changed[0], "%s can't express it: %v", path.Base(c.to), problem)
	}
	if err := c.noteWarnings(o, source); err != nil {
		return err
	}
	return c.noteReturn(o, source, target)
}

// noteReturn notes the members that a conversion back would not restore. It returns an error for
// one that would be missing: the new version can't express it.
func (c *converter) noteReturn(o *manifest.Object, source, target map[string]any) error {
	apiVersion, _ := source["apiVersion"].(string)
	back, err := convertSpec(target, nil, apiVersion)
	if err != nil {
		return o.Errorf("", "%v", err)
	}
	value, err := back.value()
	if err != nil {
		return o.Errorf("", "%v", err)
	}
	is, _ := source["spec"].(map[string]any)
	for _, name := range changedMembers(is, value) {
		if back[name] == nil && is[name] != nil {
			return o.Errorf("spec."+name, "%s can't express it", path.Base(c.to))
		}
		c.note(o, "spec."+name, fmt.Sprintf("converted back to %s, the %s would be %s", path.Base(apiVersion), name, back[name]))
	}
	return nil
}

// A patch is merged field by field, and a null removes a field. So a member with fields must have
// all of them in a patch.

// checkPatch returns an error if a member of a patch lacks some fields.
func (c *converter) checkPatch(o *manifest.Object, source map[string]any, changed []string) error {
	apiVersion, _ := source["apiVersion"].(string)
	is, _ := source["spec"].(map[string]any)
	for _, name := range changed {
		fields, hasFields := is[name].(map[string]any)
		for _, field := range c.checker.FieldsOf(apiVersion, name) {
			if _, isSet := fields[field]; hasFields && !isSet {
				return o.Errorf("spec."+name, "without jobTemplate this is a patch, and what it patches may set %s: "+
					"set it here, or to null", field)
			}
		}
	}
	return nil
}

// completePatch sets the missing fields of the members of a patch to null.
func (c *converter) completePatch(o *manifest.Object, converted spec, changed []string) error {
	for _, name := range changed {
		var fields map[string]json.RawMessage
		raw := converted[name]
		if len(raw) == 0 || raw[0] != '{' {
			continue
		}
		if err := json.Unmarshal(raw, &fields); err != nil {
			return err
		}
		for _, field := range c.checker.FieldsOf(c.to, name) {
			if _, isSet := fields[field]; !isSet {
				raw = fmt.Appendf(raw[:len(raw)-1], `,%q:null}`, field)
			}
		}
		converted[name] = raw
		c.note(o, "spec."+name, "without jobTemplate this is a patch: the fields that are not set are null, "+
			"so that it says the same whatever it is merged with")
	}
	return nil
}

// mention matches our group with a version.
var mention = regexp.MustCompile(regexp.QuoteMeta(v1.GroupVersion.Group) + `/v[0-9][0-9a-z]*`)

// noteMentions notes each mention of another version in a document without CronJobs, such as in a
// patch of a kustomization, an owner reference or a text in a ConfigMap. Its author has to decide
// whether to change it.
func (c *converter) noteMentions(d *manifest.Document) {
	for _, at := range mention.FindAllIndex(d.Text, -1) {
		line := bytes.TrimSpace(d.Text[bytes.LastIndexByte(d.Text[:at[0]], '\n')+1 : at[0]])
		if name := string(d.Text[at[0]:at[1]]); name != c.to && !c.fromBuiltIn && !bytes.HasPrefix(line, []byte("#")) {
			c.findings = append(c.findings, manifest.Finding{Line: d.LineAt(at[0]), Message: name + " is named here, and left as it is"})
		}
	}
}
