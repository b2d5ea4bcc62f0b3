// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"errors"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	v2 "tutorial.kubebuilder.io/project/apis/batch/v2"
	"tutorial.kubebuilder.io/project/internal/schedule"
)

// checkSpec returns trouble if the API server would refuse a schedule or the time zone.
func (c *conversion) checkSpec(object *yaml.Node) error {
	spec := child(object, "spec")
	if zone := child(spec, "timeZone"); zone != nil && isString(zone) && !isPlaceholder(zone) {
		if _, err := schedule.LoadZone(zone.Value); err != nil {
			return c.refused(zone, fmt.Sprintf("spec.timeZone: %v", err))
		}
	}
	if err := c.checkAdditional(spec); err != nil {
		return err
	}
	value := child(spec, "schedule")
	switch {
	case value == nil || isNull(value) || isPlaceholder(value):
		return nil
	case c.options.To == V1:
		if _, _, err := c.readText(cronJob{}, entry{value: value}); err != nil {
			return c.refused(value, err.Error())
		}
		return nil
	}
	return c.checkFields(schedulePath, value, isPartial(spec), schedule.ParseNew)
}

// checkFields checks a v2 schedule. Of what is merged with others, in a patch or with "<<", it
// checks what does not depend on them.
func (c *conversion) checkFields(path string, mapping *yaml.Node, isPart bool, parse schedule.Parser) error {
	if mapping.Kind != yaml.MappingNode {
		return c.refused(mapping, fmt.Sprintf("%s: %v", path, errNoFields))
	}
	fields := v2.CronSchedule{}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		key, value := mapping.Content[i], resolve(mapping.Content[i+1])
		switch {
		case key.Tag == mergeTag:
			isPart = true
		case isNull(value):
		case isPlaceholder(value):
			return nil
		default:
			if err := setField(&fields, key.Value, value); err != nil {
				return c.refused(key, path+"."+key.Value+": "+err.Error())
			}
		}
	}
	if isPart && len(fieldsOf(fields)) == 0 {
		return nil
	}
	if err := checkFields(path, fields, parse); err != nil && (!isPart || !errors.Is(err, schedule.ErrNeverFires)) {
		return c.refused(mapping, err.Error())
	}
	text, err := toText(fields, nil)
	if err == nil {
		c.noteWarnings(c.offset(mapping), path, text, true)
	}
	return err
}

// isPlaceholder reports whether Helm, Jinja, kustomize or envsubst is to fill in a text.
func isPlaceholder(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && (templateAction.MatchString(n.Value) || strings.Contains(n.Value, "$"))
}

// refused is the trouble that the API server would refuse a field.
func (c *conversion) refused(at *yaml.Node, why string) error {
	return troublef(c.offset(at), "the API server would refuse it: %s", why)
}
