// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package spoke

import (
	"bytes"
	"cmp"
	"encoding/json"
	"path"
	"slices"
)

// translation converts all values of a version, each in its canonical form: the text itself in the
// hub, and compact JSON in a spoke. The first is that of Members.Value; empty if there is none.
type translation func([]string) []string

// dialect is how one version reads, writes and keeps its values. That of the hub is a Spoke without
// translations.
type dialect struct {
	Spoke
	keys  Members // of the annotations that keep the values on objects of other versions
	write func(string) json.RawMessage
}

func (d *dialect) isSpoke() bool { return d.fromHub != nil }

// hub returns the dialect of the hub.
func (t Table) hub() dialect {
	hub := Spoke{APIVersion: t.Hub.APIVersion, Object: t.Hub.Object, Members: t.Hub.Members, read: readText}
	return dialect{hub, t.keys(t.Hub.APIVersion), func(text string) json.RawMessage { return encode(text) }}
}

// dialects returns those of all versions, that of the hub first.
func (t Table) dialects() []dialect {
	all := append(make([]dialect, 0, len(t.Spokes)+1), t.hub())
	for _, s := range t.Spokes {
		all = append(all, dialect{s, t.keys(s.APIVersion), func(text string) json.RawMessage { return json.RawMessage(text) }})
	}
	return all
}

// keys returns the keys of the annotations that keep the values of a version.
func (t Table) keys(apiVersion string) Members {
	version := path.Base(apiVersion)
	return Members{Value: t.Hub.Annotations.Value + version, List: t.Hub.Annotations.List + version}
}

// find returns the first that matches; nil if none does.
func find(all []dialect, matches func(*dialect) bool) *dialect {
	for i := range all {
		if matches(&all[i]) {
			return &all[i]
		}
	}
	return nil
}

// readList reads a list of values, and reports whether it is one. No list is an empty one.
func (d *dialect) readList(raw json.RawMessage) ([]string, bool) {
	var elements []json.RawMessage
	if raw != nil && json.Unmarshal(raw, &elements) != nil {
		return nil, false
	}
	values := make([]string, len(elements))
	for i, element := range elements {
		var ok bool
		if values[i], ok = d.read(element); !ok {
			return nil, false
		}
	}
	return values, true
}

// writeList returns a list of values as JSON.
func (d *dialect) writeList(values []string) json.RawMessage { return encode(each(values, d.write)) }

// canRead reports whether the version can read its value, or its list if it is one.
func (d *dialect) canRead(raw json.RawMessage, isList bool) bool {
	_, ok := d.read(raw)
	if isList {
		_, ok = d.readList(raw)
	}
	return ok || isMissing(raw)
}

// readKept reads a value that an annotation keeps: it is as this package writes it.
func (d *dialect) readKept(text string) (string, bool) {
	if !d.isSpoke() || text == "" {
		return text, true
	}
	value, ok := d.read(json.RawMessage(text))
	return value, ok && escape(text) == escape(value)
}

// isKeptUnread reports whether an annotation keeps a value that its spoke can't read.
func (d *dialect) isKeptUnread(text string) bool {
	raw := json.RawMessage(text)
	return d.isSpoke() && mayBeRead(raw) && isDecodable(text) && !d.canRead(raw, false) && contained(raw) == nil
}

// mayBeRead reports whether some version could read a value: texts are those of the hub, and objects
// those of a spoke.
func mayBeRead(raw json.RawMessage) bool { return len(raw) > 0 && (raw[0] == '"' || raw[0] == '{') }

// contained returns the object that a text contains; nil if there is none.
func contained(raw json.RawMessage) json.RawMessage {
	if content := textContent(raw); len(content) > 0 && content[0] == '{' {
		return content
	}
	return nil
}

// hideList returns what becomes of a list that its version can't read. A wrong value is copied: it
// is wrong in both versions, and the schema of the version that the user wrote gives the best
// error. But one that the other version could read becomes a text that contains it, and such a text
// becomes the value again. A text in a text counts as what the innermost one contains.
func hideList(raw json.RawMessage, from, to *dialect) json.RawMessage {
	core, layers := raw, 0
	for content := textContent(core); content != nil; content = textContent(core) {
		core, layers = content, layers+1
	}
	switch isRead, willBe := from.canRead(core, true), to.canRead(core, true); {
	case !isRead && willBe:
		return encode(string(encode(raw)))
	case isRead && !willBe && layers > 0:
		return textContent(raw)
	}
	return raw
}

// textContent returns the JSON in a text; nil if there is none.
func textContent(raw json.RawMessage) json.RawMessage {
	content := textOf(raw)
	if content == "" || !isDecodable(content) || string(encode(json.RawMessage(content))) != content {
		return nil
	}
	return json.RawMessage(content)
}

// valuesOf returns the values of an object, and the raw members that its version can't read.
func (o *rawObject) valuesOf(d *dialect) (values []string, unreadValue, unreadList json.RawMessage) {
	value := ""
	if raw := o.spec[d.Members.Value]; !isMissing(raw) {
		var ok bool
		if value, ok = d.read(raw); !ok {
			value, unreadValue = "", raw
		}
	}
	raw := o.spec[d.Members.List]
	if d.Members.List == "" {
		raw = nil
	}
	list, ok := d.readList(raw)
	if !ok {
		unreadList = raw
	}
	return append([]string{value}, list...), unreadValue, unreadList
}

// translate converts the values of an object from the hub to a spoke or back, and returns them.
func (o *rawObject) translate(from, to *dialect, forth, back translation) []string {
	values, unreadValue, unreadList := o.valuesOf(from)
	if from.isSpoke() && o.spec[from.Members.Value] == nil {
		// A Go type can't distinguish no value from the zero value, which a text becomes that is none.
		strict := back
		back = func(texts []string) []string {
			again := strict(texts)
			if again[0] == from.none {
				again[0] = ""
			}
			return again
		}
	}
	plain := forth(values)
	converted := o.restore(to, values, plain, forth, back)
	isNull := string(o.spec[from.Members.Value]) == "null"
	if isNull && plain[0] == "" {
		converted[0] = "" // null is none in both versions, whatever is kept
	}
	kept := from.keep(values, back(converted))
	delete(o.spec, from.Members.Value)
	switch value, unread := o.valueFor(to, converted[0], unreadValue); {
	case isNull && converted[0] == "":
		o.spec[to.Members.Value] = json.RawMessage("null")
	case value != nil:
		o.spec[to.Members.Value] = value
	case unread:
		kept = append(kept, [2]string{from.keys.Value, string(unreadValue)})
	}
	o.setList(from, to, converted[1:], unreadList, len(values) == 1)
	o.annotations = annotate(o.annotations, []string{from.keys.Value, from.keys.List, to.keys.Value, to.keys.List}, kept)
	return converted
}

// valueFor returns a converted value as JSON; nil for none, or if an annotation has to keep one that
// could not be read.
func (o *rawObject) valueFor(to *dialect, converted string, unread json.RawMessage) (value json.RawMessage, isKept bool) {
	wasUnread := o.annotations[to.keys.Value]
	switch {
	case unread != nil && !mayBeRead(unread):
		return unread, false
	case unread != nil && to.isSpoke():
		return encode(string(encode(unread))), false
	case unread != nil:
		return contained(unread), true
	case converted != "":
		return to.write(converted), false
	case !o.isTyped && to.isKeptUnread(wasUnread):
		return json.RawMessage(wasUnread), false
	}
	return nil, false
}

// setList sets the list of an object that is converted.
func (o *rawObject) setList(from, to *dialect, converted []string, unread json.RawMessage, isEmptyList bool) {
	name := cmp.Or(to.Members.List, from.Members.List)
	raw := o.spec[from.Members.List]
	if from.Members.List != "" {
		delete(o.spec, from.Members.List)
	}
	switch {
	case unread != nil && to.Members.List == "":
		o.spec[name] = unread
	case unread != nil:
		o.spec[name] = hideList(unread, from, to)
	case len(converted) > 0:
		o.spec[name] = to.writeList(converted)
	case raw != nil && from.Members.List != "" && isEmptyList: // null or []
		o.spec[name] = raw
	}
}

// keep returns the annotations that keep those of a version's values that converting back does not
// restore.
func (d *dialect) keep(values, again []string) (kept [][2]string) {
	if values[0] != again[0] {
		kept = append(kept, [2]string{d.keys.Value, values[0]})
	}
	if !slices.Equal(values[1:], again[1:]) {
		kept = append(kept, [2]string{d.keys.List, string(d.writeList(values[1:]))})
	}
	return kept
}

// restore returns converted values, with the kept originals of those that have one.
func (o *rawObject) restore(to *dialect, values, converted []string, forth, back translation) []string {
	value, list := converted[0], converted[1:]
	if text, ok := o.annotations[to.keys.Value]; ok {
		if kept, ok := to.readKept(text); ok {
			value = kept
		}
	}
	if kept, ok := to.readList(json.RawMessage(o.annotations[to.keys.List])); ok {
		list = kept
	}
	kept := append([]string{value}, list...)
	if slices.Equal(kept, converted) {
		return converted
	}
	means := back(kept)
	if slices.Equal(means, values) {
		return kept
	}
	// Compare each value by itself; if versions have different numbers of them, as they are converted.
	wanted := values
	if len(means) != len(kept) || len(values) != len(converted) {
		means, wanted = forth(means), converted
	}
	if len(means) != len(kept) {
		return converted
	}
	restored := slices.Clone(converted)
	if means[0] == wanted[0] {
		restored[0] = kept[0]
	}
	claim(restored[1:], kept[1:], means[1:], wanted[1:])
	if !says(back(restored), values, back(converted)) {
		return converted
	}
	return restored
}

// says reports whether restored values mean what is wanted, or else what they do without originals.
func says(got, values, without []string) bool {
	if len(got) != len(values) {
		return false
	}
	for i := range got {
		if got[i] != values[i] && (i >= len(without) || got[i] != without[i]) {
			return false
		}
	}
	return true
}

// claim sets the values of a list that have a kept original to it. An original belongs to the value
// that it means: the one at its own position, or else one that was moved. So an edited value has no
// original, and others keep theirs when some are inserted, deleted or swapped.
func claim(list, kept, means, wanted []string) {
	isClaimed, moved := make([]bool, len(list)), map[string][]string{}
	for i := range kept {
		if i < len(list) && means[i] == wanted[i] {
			list[i], isClaimed[i] = kept[i], true
		} else {
			moved[means[i]] = append(moved[means[i]], kept[i])
		}
	}
	for i := range list {
		if from := moved[wanted[i]]; !isClaimed[i] && len(from) > 0 {
			list[i], moved[wanted[i]] = from[0], from[1:]
		}
	}
}

// refresh drops the annotations of a hub object, with these texts, that don't convert to them. It
// leaves those of one version.
func (o *rawObject) refresh(spokes []dialect, texts []string, except string) {
	for i := range spokes {
		s := &spokes[i]
		value, hasValue := o.annotations[s.keys.Value]
		if _, hasList := o.annotations[s.keys.List]; s.APIVersion == except || !hasValue && !hasList {
			continue
		}
		converted := s.fromHub(texts)
		kept := s.keep(o.restore(s, texts, converted, s.fromHub, s.toHub), converted)
		if texts[0] == "" && s.isKeptUnread(value) {
			kept = append(kept, [2]string{s.keys.Value, value})
		}
		o.annotations = annotate(o.annotations, []string{s.keys.Value, s.keys.List}, kept)
	}
}

// escape returns JSON with <, > and & escaped, as older annotations have them.
func escape(text string) string {
	out := &bytes.Buffer{}
	json.HTMLEscape(out, []byte(text))
	return out.String()
}
