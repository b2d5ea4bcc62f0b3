// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"

	"github.com/aymanbagabas/go-udiff"
	"go.yaml.in/yaml/v3"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// member is a member of a mapping and its new value as JSON; an empty value removes it.
type member struct {
	name string
	raw  json.RawMessage
}

// change replaces the member at an index of the node's content by others, or by none.
type change struct {
	at      int
	inPlace []member
}

// Set changes an object to have the given content. Members of the metadata, of the annotations and
// of the spec are replaced as a whole, with the comments in them kept. Apply makes the change.
func (o *Object) Set(object []byte) error {
	switch at := helmAction.FindIndex(o.document.Text); {
	case at != nil:
		return errorf(o.document.LineAt(at[0]), IsTemplate)
	case o.shared:
		return o.Errorf("", "the %s is an alias, or in one: write it out", o.Kind)
	}
	return o.document.update(o.node, o.Value, object, 0)
}

// isUpdated has the members that are updated member by member, not replaced as a whole.
var isUpdated = map[string]bool{"metadata": true, "annotations": true, "spec": true}

// update changes a mapping, which has this value, to have the given content. step is the
// indentation of its members.
func (d *Document) update(n *yaml.Node, value map[string]any, object []byte, step int) error {
	differences, err := compare(value, object)
	if err != nil {
		return err
	}
	var changes []change
	var added []member
	for _, is := range differences {
		i := indexOf(n, is.name)
		below, isMapping := is.before.(map[string]any)
		isReplaced := len(is.raw) > 0 && (isUpdated[is.name] && isMapping || is.name == "apiVersion" || is.name == "kind")
		switch {
		case !is.wasThere:
			added = append(added, is.member)
		case i < 0:
			return errorf(d.before+n.Line, "%s is merged in with <<: write it out", is.name)
		case isReplaced && n.Content[i+1].Kind == yaml.AliasNode:
			return errorf(d.before+n.Content[i].Line, "%s is the alias *%s: write it out", is.name, n.Content[i+1].Value)
		case isReplaced && isMapping:
			err = d.update(n.Content[i+1], below, is.raw, columnOf(n.Content[i+1])-columnOf(n))
		case isReplaced:
			err = d.replaceText(n.Content[i+1], is.before, is.after)
		case len(is.raw) == 0:
			changes = append(changes, change{at: i})
		default:
			changes = append(changes, change{i, []member{is.member}})
		}
		if err != nil {
			return err
		}
		switch {
		case len(is.raw) == 0:
			delete(value, is.name)
		case !isReplaced || !isMapping:
			value[is.name] = is.after
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return a.at - b.at })
	if len(added) > 0 {
		if len(changes) == 0 {
			return errorf(d.before+n.Line, "%s would have to be added: do it by hand", added[0].name)
		}
		changes[0].inPlace = append(changes[0].inPlace, added...)
	}
	return d.change(n, changes, step)
}

// difference is a member whose value changes.
type difference struct {
	member

	before, after any
	wasThere      bool
}

// compare returns the members that differ between a value and a JSON object, sorted by name.
func compare(value map[string]any, object []byte) ([]difference, error) {
	var wanted map[string]json.RawMessage
	if err := json.Unmarshal(object, &wanted); err != nil {
		return nil, err
	}
	names := slices.Concat(slices.Collect(maps.Keys(value)), slices.Collect(maps.Keys(wanted)))
	slices.Sort(names)
	var all []difference
	for _, name := range slices.Compact(names) {
		is := difference{member: member{name, wanted[name]}}
		is.before, is.wasThere = value[name]
		if len(is.raw) > 0 {
			if err := utiljson.Unmarshal(is.raw, &is.after); err != nil {
				return nil, err
			}
		}
		if is.wasThere != (len(is.raw) > 0) || !reflect.DeepEqual(is.before, is.after) {
			all = append(all, is)
		}
	}
	return all, nil
}

func (d *Document) change(n *yaml.Node, changes []change, step int) error {
	if n.Style&yaml.FlowStyle != 0 {
		return d.changeFlow(n, changes, step)
	}
	for _, c := range changes {
		if err := d.changeLines(n, c, step); err != nil {
			return err
		}
	}
	return nil
}

func columnOf(mapping *yaml.Node) int {
	if len(mapping.Content) == 0 {
		return mapping.Column
	}
	return mapping.Content[0].Column
}

func (d *Document) replace(from, to int, text string) {
	d.edits = append(d.edits, udiff.Edit{Start: from, End: to, New: text})
}

// replaceText replaces a text that is written without escapes. It keeps the quotes.
func (d *Document) replaceText(n *yaml.Node, before, after any) error {
	was, isText := before.(string)
	text, _ := after.(string)
	start := d.offset(n)
	if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 {
		start++
	}
	if !isText || !bytes.HasPrefix(d.Text[start:], []byte(was)) {
		return errorf(d.before+n.Line, "%s has an anchor, a tag or an escape: write it without", n.Value)
	}
	d.replace(start, start+len(was), text)
	return nil
}

// Apply returns the changed text. It decodes the text again, to check that it has the wanted
// content.
func (d *Document) Apply() ([]byte, error) {
	if len(d.edits) == 0 {
		return d.Text, nil
	}
	text, err := udiff.ApplyBytes(d.Text, d.edits)
	var says any
	if err == nil {
		says, err = d.values(text)
	}
	if err == nil && !reflect.DeepEqual(says, d.value) {
		err = errors.New("the text would not say the same")
	}
	if err != nil {
		return nil, errorf(d.LineAt(d.edits[0].Start), "it can't be changed safely: %v", err)
	}
	return text, nil
}
