// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"tutorial.kubebuilder.io/project/apis/batch"
	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/builtin"
)

const (
	// Kind is that of ours. In a copy of the operator, it may differ from that of the built-in.
	Kind = "CronJob"

	// mergeTag is what the parser makes of the key "<<".
	mergeTag = "!!merge"
)

// Object is an object in a document: a CronJob, a list of CronJobs, or another object of our group.
type Object struct {
	// APIVersion and Kind are its own, or what its list says; Version is that of the APIVersion.
	APIVersion, Kind string
	Version          Version

	// Value is what it says, as kubectl reads it: a whole number is an int64.
	Value map[string]any

	document *Document
	node     *yaml.Node

	// shared says that an alias stands for it: an edit would change something else too.
	shared bool
}

// IsOurs reports whether it is of our group.
func (o *Object) IsOurs() bool { return isOurs(o.APIVersion) }

// IsBuiltIn reports whether it is of Kubernetes' own group.
func (o *Object) IsBuiltIn() bool { return o.APIVersion == builtin.GVK.GroupVersion().String() }

func isOurs(apiVersion string) bool { return strings.HasPrefix(apiVersion, v1.GroupVersion.Group+"/") }

// one is the kind of a CronJob in its group.
func (o *Object) one() string {
	if o.IsBuiltIn() {
		return builtin.GVK.Kind
	}
	return Kind
}

// IsOne reports whether it is a CronJob, of whatever group.
func (o *Object) IsOne() bool { return o.Kind == o.one() }

// IsCronJob reports whether it is a CronJob, of whatever group, or a list of CronJobs.
func (o *Object) IsCronJob() bool { return o.IsOne() || o.isListOfOne() }

func (o *Object) isListOfOne() bool { return o.Kind == o.one()+"List" }

// isList reports whether it has objects in items.
func (o *Object) isList() bool {
	return o.isListOfOne() || o.Kind == "List" || o.Kind == "ResourceList"
}

// CheckVersion returns trouble if our group has no such version.
func (o *Object) CheckVersion() error {
	known := batch.Versions.APIVersions()
	if slices.Contains(known, o.APIVersion) {
		return nil
	}
	return o.Troublef("", "apiVersion %s is not known: want %s", o.APIVersion, strings.Join(known, " or "))
}

// IsPatch reports whether it is part of a patch: it lacks the template that every CronJob has.
func (o *Object) IsPatch() bool {
	spec, _ := o.Value["spec"].(map[string]any)
	_, hasTemplate := spec["jobTemplate"]
	return spec != nil && !hasTemplate
}

// Position is where the field of a path is, such as spec.schedule, counted from 1, and columns in
// characters. Where there is no such field, it is the deepest one that has it.
func (o *Object) Position(path string) (line, column int) {
	at, _ := o.find(path)
	return o.document.before + at.Line, at.Column
}

// Troublef makes trouble at the field of a path.
func (o *Object) Troublef(path, format string, args ...any) error {
	at, _ := o.find(path)
	return troublef(o.document.before+at.Line, format, args...)
}

// IsPlaceholder reports whether Helm, Jinja, kustomize or envsubst is to fill in a field, or one
// below it.
func (o *Object) IsPlaceholder(path string) bool {
	_, value := o.find(path)
	return value != nil && hasPlaceholder(value)
}

func hasPlaceholder(n *yaml.Node) bool {
	isPlaceholder := n.Kind == yaml.ScalarNode && (templateAction.MatchString(n.Value) || strings.Contains(n.Value, "$"))
	return isPlaceholder || slices.ContainsFunc(n.Content, hasPlaceholder)
}

// Text returns a field as it is written, without quotes; "" if it is no scalar.
func (o *Object) Text(path string) string {
	if _, value := o.find(path); value != nil {
		return value.Value
	}
	return ""
}

// find returns the node that shows where a field is, and its value; no value if it is not there.
func (o *Object) find(path string) (at, value *yaml.Node) {
	at, value = o.node, o.node
	for _, step := range strings.FieldsFunc(path, func(r rune) bool { return r == '.' || r == '[' || r == ']' }) {
		key, below := lookup(value, step)
		index, err := strconv.Atoi(step)
		switch {
		case below != nil:
			at, value = key, below
		case err == nil && value.Kind == yaml.SequenceNode && index < len(value.Content):
			at, value = value.Content[index], resolve(value.Content[index])
		default:
			return at, nil
		}
	}
	return at, value
}

// Visit calls back for each CronJob, each list of CronJobs and each other object of our group. If
// the document can't be read, it fails if there seems to be a CronJob whose apiVersion concerns the
// caller.
func (d *Document) Visit(concerns func(apiVersion string) bool, call func(*Object) error) error {
	if !slices.ContainsFunc([]string{v1.GroupVersion.Group, Kind, builtin.GVK.Kind}, func(name string) bool {
		return bytes.Contains(d.Text, []byte(name))
	}) {
		return nil
	}
	if err := d.parse(); err != nil {
		return d.unreadable(err, concerns)
	}
	if d.root == nil { // it is empty
		return nil
	}
	return d.visit(d.root, d.value, Object{}, call)
}

// visit calls back for the objects at or below a node, which says what the value has. An item of a
// list is what the list says, unless it says so itself.
func (d *Document) visit(n *yaml.Node, value any, list Object, call func(*Object) error) error {
	mapping, isMapping := value.(map[string]any)
	if !isMapping {
		return nil
	}
	o := Object{Value: mapping, document: d, node: resolve(n), shared: list.shared || n.Kind == yaml.AliasNode}
	o.APIVersion, _ = mapping["apiVersion"].(string)
	o.Kind, _ = mapping["kind"].(string)
	if list.isListOfOne() {
		o.APIVersion, o.Kind = cmp.Or(o.APIVersion, list.APIVersion), cmp.Or(o.Kind, list.one())
	}
	o.Version = Version(o.APIVersion[strings.LastIndexByte(o.APIVersion, '/')+1:])
	if o.IsCronJob() || o.IsOurs() {
		if err := call(&o); err != nil {
			return err
		}
	}
	items, _ := mapping["items"].([]any)
	_, nodes := o.find("items")
	if !o.isList() || nodes == nil || len(nodes.Content) != len(items) {
		return nil
	}
	for i, item := range nodes.Content {
		if err := d.visit(item, items[i], o, call); err != nil {
			return err
		}
	}
	return nil
}

// lookup finds a key and its value, with aliases followed: the mapping's own before those that it
// merges. There may be none.
func lookup(mapping *yaml.Node, name string) (key, value *yaml.Node) {
	if mapping.Kind != yaml.MappingNode {
		return nil, nil
	}
	if i := indexOf(mapping, name); i >= 0 {
		return mapping.Content[i], resolve(mapping.Content[i+1])
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
			if key, value = lookup(resolve(source), name); key != nil {
				return key, value
			}
		}
	}
	return nil, nil
}

// indexOf is the index of a mapping's own key in its content; -1 for none.
func indexOf(mapping *yaml.Node, name string) int {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if key := mapping.Content[i]; key.Kind == yaml.ScalarNode && key.Value == name {
			return i
		}
	}
	return -1
}

func resolve(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}
