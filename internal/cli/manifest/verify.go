// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"sigs.k8s.io/yaml"

	v2 "tutorial.kubebuilder.io/project/apis/batch/v2"
	"tutorial.kubebuilder.io/project/internal/cli/builtin"
)

// verify checks that the converted text means what the text before did, in the other version, and
// nothing else. It reads both as kubectl does, with another parser than the one that gave the
// positions.
func (c *conversion) verify(converted []byte) error {
	want, err := c.values(c.text)
	if err != nil {
		return err
	}
	got, err := c.values(converted)
	if err != nil {
		return fmt.Errorf("the converted text could not be read: %w", err)
	}
	visitCronJobs(want, typeMeta{}, func(object map[string]any, meta typeMeta) {
		if wanted, _ := c.options.wants(meta); wanted && object["apiVersion"] != nil {
			object["apiVersion"] = c.options.To.apiVersion()
		}
		normalize(object, meta)
	})
	visitCronJobs(got, typeMeta{}, normalize)
	if !reflect.DeepEqual(want, got) {
		return errors.New("the converted text would not say the same")
	}
	return nil
}

// values reads a document.
func (c *conversion) values(text []byte) (value any, err error) {
	if c.isJSON {
		err = json.Unmarshal(text, &value)
	} else {
		err = yaml.UnmarshalStrict(text, &value)
	}
	return value, err
}

// visitCronJobs calls a function for each CronJob at or below a value, and each list of CronJobs,
// of whatever version.
func visitCronJobs(value any, inherited typeMeta, visit func(map[string]any, typeMeta)) {
	object, ok := value.(map[string]any)
	if !ok {
		return
	}
	var meta typeMeta
	meta.apiVersion, _ = object["apiVersion"].(string)
	meta.kind, _ = object["kind"].(string)
	meta = meta.orElse(inherited)
	if items, ok := object["items"].([]any); ok && meta.isList() {
		for _, item := range items {
			visitCronJobs(item, meta.items(), visit)
		}
	}
	if meta.isCronJob() {
		visit(object, meta)
	}
}

// normalize gives a CronJob the spelling that those of both versions and the built-in one have in
// common: the schedule is the text that the typed conversion makes of its fields, without
// annotations that carry another spelling, and without a time zone in it. A schedule that can't be
// read stays as it is.
func normalize(object map[string]any, _ typeMeta) {
	spec, _ := object["spec"].(map[string]any)
	metadata, _ := object["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	var fields v2.CronSchedule
	var err error
	switch schedule := spec["schedule"].(type) {
	case string:
		text, zone, hasZone := builtin.SplitZone(schedule)
		if hasZone && zone != "" {
			spec["timeZone"] = zone
		}
		carried, _ := annotations[v2.ScheduleV2Annotation].(string)
		fields, err = toFields(text, map[string]string{v2.ScheduleV2Annotation: carried})
	case map[string]any:
		fields, err = decodeFields(schedule)
	default:
		err = errNoFields
	}
	if text, textErr := toText(fields, nil); err == nil && textErr == nil {
		spec["schedule"] = text
	}
	delete(annotations, v2.ScheduleV1Annotation)
	delete(annotations, v2.ScheduleV2Annotation)
	if len(annotations) == 0 {
		delete(metadata, "annotations")
	}
	if len(metadata) == 0 {
		delete(object, "metadata")
	}
}

// decodeFields decodes a v2 schedule that was read into a map.
func decodeFields(schedule map[string]any) (fields v2.CronSchedule, err error) {
	raw, err := json.Marshal(schedule)
	if err == nil {
		err = json.Unmarshal(raw, &fields)
	}
	return fields, err
}
