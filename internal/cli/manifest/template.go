// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"regexp"

	"go.yaml.in/yaml/v3"
)

var (
	// templateAction starts an action of a Go template, as in Helm's charts, or of Jinja.
	templateAction = regexp.MustCompile(`\{\{|\{%`)

	// helmAction is an action that can't be meant for anything but Helm.
	helmAction = regexp.MustCompile(`\{\{[^}]*(\.(Values|Release|Chart|Capabilities|Files)\b|\b(include|tpl|toYaml)\s)`)
)

// refuseTemplates refuses a document that is a template. Texts with template actions are all right
// where plain manifests have them too: in a Job's template, where kubectl or docker may be given
// one, in annotations, and in other objects.
func (c *conversion) refuseTemplates(root *yaml.Node, objects []object) error {
	actions := templateAction.FindAllIndex(c.text, -1)
	if len(actions) == 0 {
		return nil
	}
	if at := helmAction.FindIndex(c.text); at != nil {
		return c.templateTrouble(at[0])
	}
	ours := map[*yaml.Node]bool{}
	for _, o := range objects {
		ours[o.node] = o.kind == cronJobKind
	}
	spans := c.freeTexts(root, ours, true)
	for _, action := range actions {
		if !contains(spans, action[0]) {
			return c.templateTrouble(action[0])
		}
	}
	return nil
}

// templateTrouble says that the document is a template.
func (c *conversion) templateTrouble(at int) error {
	return troublef(at, "it is a template: convert what it renders, or edit it by hand")
}

// span is a stretch of the text.
type span struct{ from, to int }

// contains reports whether an offset is in one of the spans.
func contains(spans []span, at int) bool {
	for _, s := range spans {
		if s.from <= at && at < s.to {
			return true
		}
	}
	return false
}

// freeTexts returns where the scalars are that may have template actions in them.
func (c *conversion) freeTexts(n *yaml.Node, ours map[*yaml.Node]bool, free bool) []span {
	if n.Kind == yaml.ScalarNode {
		end, err := c.scalarEnd(n)
		if !free || err != nil {
			return nil
		}
		return []span{{c.offset(n), end}}
	}
	free = free && !ours[n]
	var spans []span
	for i, child := range n.Content {
		childFree := free
		if n.Kind == yaml.MappingNode && i%2 == 1 {
			key := n.Content[i-1].Value
			childFree = free || key == "jobTemplate" || key == "annotations"
		}
		spans = append(spans, c.freeTexts(child, ours, childFree)...)
	}
	return spans
}
