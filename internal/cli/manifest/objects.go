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
	// Kind is the kind of our CronJobs. A copy of the operator may have another one than the
	// built-in.
	Kind = "CronJob"

	// mergeTag is the tag of the merge key "<<".
	mergeTag = "!!merge"
)

// Object is a CronJob, a list of CronJobs, or another object of our group.
type Object struct {
	// APIVersion and Kind are those of the object, or else of its list.
	APIVersion, Kind string
	Version          Version

	// Value is the content as kubectl decodes it: a whole number is an int64.
	Value map[string]any

	document *Document
	node     *yaml.Node

	// shared is whether an alias refers to the object: an edit would then change another one too.
	shared bool
}

// IsOurs reports whether the object is of our group.
func (o *Object) IsOurs() bool { return isOurs(o.APIVersion) }

// IsBuiltIn reports whether the object is of the group batch of Kubernetes.
func (o *Object) IsBuiltIn() bool { return isBuiltIn(o.APIVersion) }

func isBuiltIn(apiVersion string) bool { return apiVersion == builtin.GVK.GroupVersion().String() }

func isOurs(apiVersion string) bool { return strings.HasPrefix(apiVersion, v1.GroupVersion.Group+"/") }

// one returns the kind of a CronJob in the object's group.
func (o *Object) one() string {
	if o.IsBuiltIn() {
		return builtin.GVK.Kind
	}
	return Kind
}

// IsOne reports whether the object is a CronJob, ours or the built-in.
func (o *Object) IsOne() bool { return o.Kind == o.one() }

// IsCronJob reports whether the object is a CronJob or a list of CronJobs, ours or the built-in.
func (o *Object) IsCronJob() bool { return o.IsOne() || o.isListOfOne() }

func (o *Object) isListOfOne() bool { return o.Kind == o.one()+"List" }

// isList reports whether the object has others in items.
func (o *Object) isList() bool {
	return o.isListOfOne() || o.Kind == "List" || o.Kind == "ResourceList"
}

// CheckVersion returns an error if our group does not have the object's version.
func (o *Object) CheckVersion() error {
	known := batch.Versions.APIVersions()
	if slices.Contains(known, o.APIVersion) {
		return nil
	}
	return o.Errorf("", "apiVersion %s is not known: want %s", o.APIVersion, strings.Join(known, " or "))
}

// IsPatch reports whether the object seems to be a patch: it lacks the Job template, which is
// required.
func (o *Object) IsPatch() bool {
	spec, _ := o.Value["spec"].(map[string]any)
	_, hasTemplate := spec["jobTemplate"]
	return spec != nil && !hasTemplate
}

// Position returns the line and the column of a field, such as spec.schedule, both from 1, with
// columns in characters. If the field is missing, it returns the position of its closest parent.
func (o *Object) Position(path string) (line, column int) {
	at, _ := o.find(path)
	return o.document.before + at.Line, at.Column
}

// Errorf returns a finding, as an error, at the position of a field.
func (o *Object) Errorf(path, format string, args ...any) error {
	at, _ := o.find(path)
	return errorf(o.document.before+at.Line, format, args...)
}

// IsPlaceholder reports whether the value of a field has a placeholder of Helm, Jinja, kustomize or
// envsubst.
func (o *Object) IsPlaceholder(path string) bool {
	_, value := o.find(path)
	return value != nil && hasPlaceholder(value)
}

func hasPlaceholder(n *yaml.Node) bool {
	isPlaceholder := n.Kind == yaml.ScalarNode && (templateAction.MatchString(n.Value) || strings.Contains(n.Value, "$"))
	return isPlaceholder || slices.ContainsFunc(n.Content, hasPlaceholder)
}

// Text returns the value of a scalar field; "" if it is missing or not a scalar.
func (o *Object) Text(path string) string {
	if _, value := o.find(path); value != nil {
		return value.Value
	}
	return ""
}

// find returns the node with the position of a field, and its value; nil for the value if it is
// missing.
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

// Visit calls call for each CronJob, each list of CronJobs and each other object of our group. If
// the document can't be read, it returns an error only if there seems to be a CronJob whose
// apiVersion concerns the caller.
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

// visit calls call for the object at a node, which has this value, and for its items. An item of a
// list of CronJobs has the list's apiVersion and kind unless it has its own.
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

// lookup returns a key and its value, with aliases resolved; nil if the key is missing. The
// mapping's own keys come before merged ones.
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

// indexOf returns the index of a mapping's own key in its content; -1 if it is missing.
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
