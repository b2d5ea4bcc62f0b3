// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"

	"sigs.k8s.io/yaml"

	v2 "tutorial.kubebuilder.io/project/apis/batch/v2"
	"tutorial.kubebuilder.io/project/internal/cli/builtin"
)

// verify checks that the converted text says what the typed conversion makes of the text before, and
// nothing else: it reads both as kubectl does, with another parser than the one that gave the positions.
func (c *conversion) verify(converted []byte) error {
	want, err := c.values(c.text)
	if err != nil {
		return err
	}
	got, err := c.values(converted)
	if err != nil {
		return fmt.Errorf("the converted text could not be read: %w", err)
	}
	if err := visitCronJobs(want, typeMeta{}, c.convertValues); err != nil {
		return err
	}
	if err := visitCronJobs(got, typeMeta{}, dropEmptyAnnotations); err != nil {
		return err
	}
	if !reflect.DeepEqual(want, got) {
		return errors.New("the converted text would not say the same")
	}
	return nil
}

// values reads a document.
func (c *conversion) values(text []byte) (any, error) {
	if !c.isJSON {
		var err error
		if text, err = yaml.YAMLToJSONStrict(text); err != nil {
			return nil, err
		}
	}
	return decode(text)
}

// decode reads JSON, with numbers as they are written.
func decode(text []byte) (any, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var value any
	err := decoder.Decode(&value)
	return value, err
}

// visitCronJobs calls a function for each CronJob at or below a value, and each list of CronJobs, of
// whatever version.
func visitCronJobs(value any, inherited typeMeta, visit func(map[string]any, typeMeta) error) error {
	object, ok := value.(map[string]any)
	if !ok {
		return nil
	}
	var meta typeMeta
	meta.apiVersion, _ = object["apiVersion"].(string)
	meta.kind, _ = object["kind"].(string)
	meta = meta.orElse(inherited)
	if items, ok := object["items"].([]any); ok && meta.isList() {
		for _, item := range items {
			if err := visitCronJobs(item, meta.items(), visit); err != nil {
				return err
			}
		}
	}
	if !meta.isCronJob() {
		return nil
	}
	return visit(object, meta)
}

// convertValues does to an object what the splices should have done to its text.
func (c *conversion) convertValues(object map[string]any, meta typeMeta) error {
	if wanted, _ := c.options.wants(meta); !wanted {
		return dropEmptyAnnotations(object, meta)
	}
	_, saysVersion := object["apiVersion"]
	if meta.kind == cronJobKind {
		if err := c.convertValue(object, meta); err != nil {
			return err
		}
	}
	if saysVersion {
		object["apiVersion"] = c.options.To.apiVersion()
	}
	return nil
}

// convertValue converts a CronJob in place, with the conversion that the API server calls.
func (c *conversion) convertValue(object map[string]any, meta typeMeta) error {
	_, saysVersion := object["apiVersion"]
	_, saysKind := object["kind"]
	object["apiVersion"], object["kind"] = meta.apiVersion, meta.kind
	if meta.apiVersion == builtInAPIVersion {
		object["apiVersion"] = V1.apiVersion()
		moveZone(object)
	}
	raw, err := json.Marshal(object)
	if err != nil {
		return err
	}
	if raw, err = v2.ConvertJSON(raw, c.options.To.apiVersion()); err != nil {
		return err
	}
	value, err := decode(raw)
	if err != nil {
		return err
	}
	converted, ok := value.(map[string]any)
	if !ok {
		return errors.New("the conversion gave no object")
	}
	clear(object)
	maps.Copy(object, converted)
	if !saysVersion {
		delete(object, "apiVersion")
	}
	if !saysKind {
		delete(object, "kind")
	}
	writePartOut(object)
	dropCarriedSchedules(object)
	return dropEmptyAnnotations(object, meta)
}

// moveZone makes timeZone of a time zone in the schedule.
func moveZone(object map[string]any) {
	spec, _ := object["spec"].(map[string]any)
	text, _ := spec["schedule"].(string)
	rest, zone, ok := builtin.SplitZone(text)
	if !ok {
		return
	}
	spec["schedule"] = rest
	if zone != "" {
		spec["timeZone"] = zone
	}
}

// writePartOut writes out the fields of a v2 schedule in a patch, as writtenOut does.
func writePartOut(object map[string]any) {
	spec, _ := object["spec"].(map[string]any)
	fields, ok := spec["schedule"].(map[string]any)
	if _, isWhole := spec["jobTemplate"]; isWhole || !ok {
		return
	}
	if _, isInterval := fields[everyName]; isInterval {
		return
	}
	for _, f := range cronFields(&v2.CronSchedule{}) {
		if _, isSet := fields[f.name]; !isSet {
			fields[f.name] = "*"
		}
	}
}

// dropCarriedSchedules drops the annotations in which a version carries what its schedule can't say:
// between the versions of an object they keep its spelling, in a manifest they would be noise.
func dropCarriedSchedules(object map[string]any) {
	metadata, _ := object["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	delete(annotations, v2.ScheduleV1Annotation)
	delete(annotations, v2.ScheduleV2Annotation)
}

// dropEmptyAnnotations drops annotations, and then metadata, with nothing in them, which say no more than none.
func dropEmptyAnnotations(object map[string]any, _ typeMeta) error {
	metadata, ok := object["metadata"].(map[string]any)
	if !ok {
		return nil
	}
	if annotations, ok := metadata["annotations"].(map[string]any); metadata["annotations"] == nil || ok && len(annotations) == 0 {
		delete(metadata, "annotations")
	}
	if len(metadata) == 0 {
		delete(object, "metadata")
	}
	return nil
}
