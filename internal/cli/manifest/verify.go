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
	convertVersion := func(object map[string]any, meta typeMeta) error {
		if wanted, _ := c.options.wants(meta); wanted && object["apiVersion"] != nil {
			object["apiVersion"] = c.options.To.apiVersion()
		}
		return normalize(object, meta)
	}
	if err := errors.Join(visitCronJobs(want, typeMeta{}, convertVersion), visitCronJobs(got, typeMeta{}, normalize)); err != nil {
		return err
	}
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

// normalize gives a CronJob the spelling that those of both versions and the built-in one have in
// common: the schedule is the text that the typed conversion makes of its fields, without
// annotations that carry another spelling, and without a time zone in it.
func normalize(object map[string]any, _ typeMeta) error {
	spec, _ := object["spec"].(map[string]any)
	metadata, _ := object["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	var err error
	switch schedule := spec["schedule"].(type) {
	case string:
		text, zone, hasZone := builtin.SplitZone(schedule)
		if hasZone && zone != "" {
			spec["timeZone"] = zone
		}
		carried, _ := annotations[v2.ScheduleV2Annotation].(string)
		var fields v2.CronSchedule
		if fields, err = toFields(text, map[string]string{v2.ScheduleV2Annotation: carried}); err == nil {
			spec["schedule"], err = toText(fields, nil)
		}
	case map[string]any:
		var fields v2.CronSchedule
		if err = decodeValue(schedule, &fields); err == nil {
			spec["schedule"], err = toText(fields, nil)
		}
	}
	delete(annotations, v2.ScheduleV1Annotation)
	delete(annotations, v2.ScheduleV2Annotation)
	if len(annotations) == 0 {
		delete(metadata, "annotations")
	}
	if len(metadata) == 0 {
		delete(object, "metadata")
	}
	return err
}

// decodeValue decodes a value that was read into any.
func decodeValue(value, into any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}
