// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"cmp"
	"slices"
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
	return typeMeta{cmp.Or(t.apiVersion, inherited.apiVersion), cmp.Or(t.kind, inherited.kind)}
}

// wants reports whether an object of this type is to be converted, and what is wrong with its
// version.
func (o Options) wants(t typeMeta) (bool, string) {
	switch {
	case !t.isCronJob():
		return false, ""
	case t.apiVersion == builtInAPIVersion:
		return o.BuiltIn, ""
	case !t.isOurs() || o.BuiltIn || t.apiVersion == o.To.apiVersion():
		return false, ""
	}
	unknown := unknownVersion(t.apiVersion, V1.apiVersion(), V2.apiVersion())
	return unknown == "", unknown
}

// unknownVersion says what is wrong with an apiVersion that is none of these; "" for nothing.
func unknownVersion(apiVersion string, known ...string) string {
	if slices.Contains(known, apiVersion) {
		return ""
	}
	return "apiVersion " + apiVersion + " is not known: want " + strings.Join(known, " or ")
}

// concern reports whether a CronJob of this type is converted, checked or refused.
func (o Options) concern(t typeMeta) bool {
	wanted, unknown := o.wants(t)
	isChecked := o.Check && !o.BuiltIn && t.apiVersion == o.To.apiVersion()
	return wanted || unknown != "" || isChecked
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

// child is the value of a key, with aliases followed; nil if there is none.
func child(mapping *yaml.Node, key string) *yaml.Node {
	if e, ok := lookup(mapping, key); ok {
		return resolve(e.value)
	}
	return nil
}

// isNull reports whether a value is null, or left out.
func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// isString reports whether a value is a string.
func isString(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" }

// text returns a string of a mapping; "" if it has none.
func text(mapping *yaml.Node, key string) string {
	if value := child(mapping, key); value != nil {
		return value.Value
	}
	return ""
}

// object is a CronJob, a list of CronJobs as far as its apiVersion goes, or of a kind that our
// group does not have.
type object struct {
	node *yaml.Node
	typeMeta

	// shared says that an alias stands for it: an edit would change something else too.
	shared bool
}

// isBuiltIn reports whether it is Kubernetes' own.
func (o object) isBuiltIn() bool { return o.apiVersion == builtInAPIVersion }

// visit calls back for each CronJob, each list of CronJobs and each other object of our group at or
// below a node.
func (c *conversion) visit(n *yaml.Node, inherited typeMeta, shared bool, call func(object) error) error {
	mapping := resolve(n)
	if mapping.Kind != yaml.MappingNode {
		return nil
	}
	shared = shared || c.aliased[mapping]
	meta := typeMeta{text(mapping, "apiVersion"), text(mapping, "kind")}.orElse(inherited)
	if meta.isCronJob() || meta.isOurs() {
		if err := call(object{mapping, meta, shared}); err != nil {
			return err
		}
	}
	items, ok := lookup(mapping, "items")
	if !meta.isList() || !ok || resolve(items.value).Kind != yaml.SequenceNode {
		return nil
	}
	list := resolve(items.value)
	for _, item := range list.Content {
		if err := c.visit(item, meta.items(), shared || items.merged || c.aliased[list], call); err != nil {
			return err
		}
	}
	return nil
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
