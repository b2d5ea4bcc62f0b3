// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"errors"
	"strings"

	"go.yaml.in/yaml/v3"

	v2 "tutorial.kubebuilder.io/project/apis/batch/v2"
	"tutorial.kubebuilder.io/project/internal/schedule"
)

// checkSpec returns trouble if the API server would refuse a schedule or the time zone.
func (c *conversion) checkSpec(object *yaml.Node) error {
	err := c.checkFieldsOf(child(object, "spec"))
	if refused := (remark{}); errors.As(err, &refused) {
		return troublef(refused.at, "the API server would refuse it: %s", refused.message)
	}
	return err
}

// checkFieldsOf says what is wrong with the schedules or the time zone of a spec.
func (c *conversion) checkFieldsOf(spec *yaml.Node) error {
	if zone := child(spec, "timeZone"); zone != nil && isString(zone) && !isPlaceholder(zone) {
		if _, err := schedule.LoadZone(zone.Value); err != nil {
			return troublef(c.offset(zone), "spec.timeZone: %v", err)
		}
	}
	slots, err := c.slotsOf(cronJob{spec: spec})
	for _, s := range slots {
		s.value = resolve(s.value)
		switch {
		case isPlaceholder(s.value):
		case c.options.To == V1:
			_, _, err = c.readText(cronJob{}, s)
		default:
			err = c.checkFields(s, s.isPart(spec))
		}
		if err != nil {
			return err
		}
	}
	return err
}

// checkFields checks a v2 schedule. Of what is merged with others, in a patch or with "<<", it
// checks what does not depend on them.
func (c *conversion) checkFields(s slot, isPart bool) error {
	at := c.offset(s.value)
	if s.value.Kind != yaml.MappingNode {
		return troublef(at, "%s: %v", s.path, errNoFields)
	}
	fields := v2.CronSchedule{}
	for i := 0; i+1 < len(s.value.Content); i += 2 {
		key, value := s.value.Content[i], resolve(s.value.Content[i+1])
		switch {
		case key.Tag == mergeTag:
			isPart = true
		case isNull(value):
		case isPlaceholder(value):
			return nil
		default:
			if err := setField(&fields, key.Value, value); err != nil {
				return troublef(c.offset(key), "%s.%s: %v", s.path, key.Value, err)
			}
		}
	}
	if isPart && len(fieldsOf(fields)) == 0 {
		return nil
	}
	text, err := checkFields(s.path, fields, s.parse)
	if err != nil && (!isPart || !errors.Is(err, schedule.ErrNeverFires)) {
		return troublef(at, "%v", err)
	}
	c.noteWarnings(s, text, true)
	return nil
}

// isPlaceholder reports whether Helm, Jinja, kustomize or envsubst is to fill in a text.
func isPlaceholder(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && (templateAction.MatchString(n.Value) || strings.Contains(n.Value, "$"))
}
