// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

const (
	cronJobKind     = "CronJob"
	cronJobListKind = "CronJobList"

	// mergeTag is what the parser makes of the key "<<".
	mergeTag = "!!merge"
)

// typeMeta says what an object is.
type typeMeta struct{ apiVersion, kind string }

// isOurs reports whether it is of our group.
func (t typeMeta) isOurs() bool { return strings.HasPrefix(t.apiVersion, v1.GroupVersion.Group+"/") }

// isCronJob reports whether it is a CronJob or a list of CronJobs.
func (t typeMeta) isCronJob() bool { return t.kind == cronJobKind || t.kind == cronJobListKind }

// isList reports whether it has objects in items.
func (t typeMeta) isList() bool {
	return t.kind == cronJobListKind || t.kind == "List" || t.kind == "ResourceList"
}

// items is what a list's items are that do not say it themselves.
func (t typeMeta) items() typeMeta {
	if t.kind == cronJobListKind {
		return typeMeta{t.apiVersion, cronJobKind}
	}
	return typeMeta{}
}

// orElse fills in what the object does not say.
func (t typeMeta) orElse(inherited typeMeta) typeMeta {
	if t.apiVersion == "" {
		t.apiVersion = inherited.apiVersion
	}
	if t.kind == "" {
		t.kind = inherited.kind
	}
	return t
}

// wants reports whether an object of this type is to be converted. That its version is not known is told as an error.
func (o Options) wants(t typeMeta) (bool, string) {
	switch {
	case !t.isCronJob():
		return false, ""
	case t.apiVersion == builtInAPIVersion:
		return o.From != Ours, ""
	case !t.isOurs() || o.From == BuiltIn || t.apiVersion == o.To.apiVersion():
		return false, ""
	case t.apiVersion != o.To.other().apiVersion():
		return false, "apiVersion " + t.apiVersion + " is not known: want " + V1.apiVersion() + " or " + V2.apiVersion()
	}
	return true, ""
}

// entry is a key of a mapping and its value.
type entry struct {
	key, value *yaml.Node

	// merged says that it is not in the mapping itself, but in one that it merges with "<<".
	merged bool
}

// lookup finds the entry of a key, the mapping's own before those that it merges.
func lookup(mapping *yaml.Node, key string) (entry, bool) {
	if mapping == nil || mapping.Kind != yaml.MappingNode {
		return entry{}, false
	}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if k := mapping.Content[i]; k.Kind == yaml.ScalarNode && k.Value == key {
			return entry{key: k, value: mapping.Content[i+1]}, true
		}
	}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Tag != mergeTag {
			continue
		}
		sources := []*yaml.Node{mapping.Content[i+1]}
		if sources[0].Kind == yaml.SequenceNode {
			sources = sources[0].Content
		}
		for _, source := range sources {
			// This ends, as findLoop has been asked before.
			if e, ok := lookup(resolve(source), key); ok {
				e.merged = true
				return e, true
			}
		}
	}
	return entry{}, false
}

// resolve follows an alias.
func resolve(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// isNull reports whether a value is null, or left out.
func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// isString reports whether a value is a string.
func isString(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" }

// text returns a string of a mapping; "" if it has none.
func text(mapping *yaml.Node, key string) string {
	if e, ok := lookup(mapping, key); ok {
		return resolve(e.value).Value
	}
	return ""
}

// object is something to convert: a CronJob, or a list of CronJobs as far as its apiVersion goes.
type object struct {
	node *yaml.Node
	typeMeta
}

// isBuiltIn reports whether it is Kubernetes' own.
func (o object) isBuiltIn() bool { return o.apiVersion == builtInAPIVersion }

// find returns what is to be converted at or below a node.
func (c *conversion) find(n *yaml.Node, inherited typeMeta) ([]object, error) {
	mapping := resolve(n)
	if mapping == nil || mapping.Kind != yaml.MappingNode {
		return nil, nil
	}
	meta := typeMeta{text(mapping, "apiVersion"), text(mapping, "kind")}.orElse(inherited)
	wanted, unknown := c.options.wants(meta)
	if unknown != "" {
		return nil, troublef(c.offset(n), "%s", unknown)
	}
	var found []object
	if wanted {
		if n.Kind == yaml.AliasNode || c.aliased[mapping] {
			return nil, troublef(c.offset(n), "the %s is an alias, or is used by one: write it out", meta.kind)
		}
		found = append(found, object{mapping, meta})
	}
	items, ok := lookup(mapping, "items")
	if !meta.isList() || !ok || resolve(items.value).Kind != yaml.SequenceNode {
		return found, nil
	}
	for _, item := range resolve(items.value).Content {
		objects, err := c.find(item, meta.items())
		if err != nil {
			return nil, err
		}
		if len(objects) > 0 && (items.merged || items.value.Kind == yaml.AliasNode || c.aliased[items.value]) {
			return nil, troublef(c.offset(items.value), "items is an alias, or is used by one: write it out")
		}
		found = append(found, objects...)
	}
	return found, nil
}

// aliasTargets returns the nodes that aliases stand for.
func aliasTargets(n *yaml.Node, into map[*yaml.Node]bool) map[*yaml.Node]bool {
	if n.Kind == yaml.AliasNode {
		into[n.Alias] = true
		return into // what is behind it is in the tree as well
	}
	for _, child := range n.Content {
		aliasTargets(child, into)
	}
	return into
}

// findLoop returns an alias of something that it is itself part of; nil if there is none.
func findLoop(n *yaml.Node, above map[*yaml.Node]bool) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		if above[n.Alias] {
			return n
		}
		return nil
	}
	if n.Anchor != "" {
		above[n] = true
		defer delete(above, n)
	}
	for _, child := range n.Content {
		if alias := findLoop(child, above); alias != nil {
			return alias
		}
	}
	return nil
}

// findDuplicate returns a key that its mapping has twice; nil if there is none.
func findDuplicate(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.MappingNode {
		seen := make(map[string]bool, len(n.Content)/2)
		for i := 0; i < len(n.Content); i += 2 {
			key := n.Content[i]
			if key.Kind != yaml.ScalarNode {
				continue
			}
			name := nameOf(key)
			if seen[name] {
				return key
			}
			seen[name] = true
		}
	}
	for _, child := range n.Content {
		if key := findDuplicate(child); key != nil {
			return key
		}
	}
	return nil
}

// nameOf returns a key as JSON has it, and so kubectl: the numbers 8, 08 and 8.0 are one name, "8".
func nameOf(key *yaml.Node) string {
	switch key.ShortTag() {
	case "!!int":
		var number int64
		if key.Decode(&number) == nil {
			return strconv.FormatInt(number, 10)
		}
	case "!!float":
		var number float64
		if key.Decode(&number) == nil {
			return strconv.FormatFloat(number, 'g', -1, 64)
		}
	}
	return key.Value
}
