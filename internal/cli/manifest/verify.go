// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"errors"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
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

// values reads a document, with whole numbers as integers, as the API server does.
func (c *conversion) values(text []byte) (value any, err error) {
	if !c.isJSON {
		if text, err = yaml.YAMLToJSONStrict(text); err != nil {
			return nil, fmt.Errorf("error converting YAML to JSON: %w", err)
		}
	}
	err = utiljson.Unmarshal(text, &value)
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
// common: a schedule is the text that the typed conversion makes of its fields, without annotations
// that carry another spelling, and without a time zone in it.
func normalize(object map[string]any, _ typeMeta) {
	spec, _ := object["spec"].(map[string]any)
	metadata, _ := object["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	if text, ok := spec["schedule"].(string); ok {
		rest, zone, hasZone := builtin.SplitZone(text)
		if hasZone && zone != "" {
			spec["timeZone"] = zone
		}
		spec["schedule"] = rest
	}
	if spec["schedule"] != nil {
		spec["schedule"] = normalSchedule(spec["schedule"])
	}
	additional, _ := spec[additionalName].([]any)
	for i, schedule := range additional {
		additional[i] = normalSchedule(schedule)
	}
	for _, name := range leftOut {
		delete(annotations, name)
	}
	if len(annotations) == 0 {
		delete(metadata, "annotations")
	}
	if len(metadata) == 0 {
		delete(object, "metadata")
	}
}

// normalSchedule returns the text that the typed conversion makes of a schedule of either version;
// what is none stays as it is.
func normalSchedule(schedule any) any {
	var fields v2.CronSchedule
	var err error
	switch schedule := schedule.(type) {
	case string:
		fields, err = toFields(schedule)
	case map[string]any:
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(schedule, &fields)
	default:
		return schedule
	}
	text, textErr := toText(fields)
	if err != nil || textErr != nil {
		return schedule
	}
	return text
}
