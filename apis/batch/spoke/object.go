// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package spoke

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
)

// members are those of a JSON object, or the elements of a list, which have no names. They are
// parts of the text that they were read from: to decode and encode all of it would take twice as
// long.
type members []member

type member struct{ name, value string }

// split splits JSON that is valid, and reports whether it starts with this bracket.
func split(raw string, open byte) (all members, ok bool) {
	if raw == "" || raw[0] != open {
		return nil, false
	}
	all = make(members, 0, 12)
	if open == '[' { // it may be long
		all = make(members, 0, 1+strings.Count(raw, ","))
	}
	name, depth, start := "", 0, 1
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; c {
		case '"':
			for i++; raw[i] != '"'; i++ {
				if raw[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			depth++
		case ':', ',', '}', ']':
			if part := strings.TrimSpace(raw[start:i]); depth == 1 && c == ':' {
				if name, start = part, i+1; strings.Contains(part, `\`) {
					name = encode(textOf(part)) // all that needs no escape has none
				}
			} else if depth == 1 {
				if start = i + 1; part != "" {
					all = append(all, member{name, part})
				}
			}
			if c == '}' || c == ']' {
				depth--
			}
		}
	}
	return all, true
}

// isNamed reports whether a member has a name. None has the empty one.
func (m member) isNamed(name string) bool { return name != "" && m.name[1:len(m.name)-1] == name }

// get returns the value of a member, the last if there are several; empty for none.
func (m members) get(name string) string {
	for i := range slices.Backward(m) {
		if m[i].isNamed(name) {
			return m[i].value
		}
	}
	return ""
}

// set sets the value of a member, whose name needs no escapes. The empty one removes it.
func (m *members) set(name, value string) {
	*m = slices.DeleteFunc(*m, func(m member) bool { return m.isNamed(name) })
	if value != "" {
		*m = append(*m, member{`"` + name + `"`, value})
	}
}

func (m members) object() string {
	size := 2
	for i := range m {
		size += len(m[i].name) + len(m[i].value) + 2
	}
	out := &strings.Builder{}
	out.Grow(size)
	out.WriteByte('{')
	for i := range m {
		out.WriteString(","[:min(i, 1)])
		out.WriteString(m[i].name)
		out.WriteByte(':')
		out.WriteString(m[i].value)
	}
	out.WriteByte('}')
	return out.String()
}

// textOf returns a value if it is a string; "" if it is not.
func textOf(value string) string {
	if value == "" || value[0] != '"' {
		return ""
	}
	if strings.IndexByte(value, '\\') < 0 && utf8.ValidString(value) { // it costs less
		return value[1 : len(value)-1]
	}
	var text string
	_ = json.Unmarshal([]byte(value), &text)
	return text
}

// encode returns a value that has only strings as JSON. It does not escape <, > and &, which would
// take six times as many bytes.
func encode[V any](value V) string {
	if text, isText := any(value).(string); isText && isPlain(text) { // it costs less
		return `"` + text + `"`
	}
	raw, _ := json.Marshal(value)
	if !strings.Contains(string(raw), `\u`) { // it costs less
		return string(raw)
	}
	out := &strings.Builder{}
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value)
	return strings.TrimSuffix(out.String(), "\n")
}

// isPlain reports whether a text needs no escapes in JSON.
func isPlain(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }) < 0
}

// isDecodable reports whether the API server can decode a text as JSON. Its nesting, with the five
// levels of the answer around it, must be within the decoder's limit, and its numbers must fit into
// Go's types.
func isDecodable(text string) bool {
	var values any
	return json.Unmarshal([]byte("[[[[["+text+"]]]]]"), &values) == nil && json.Valid([]byte(text))
}

// isMissing reports whether a member is absent or null.
func isMissing(value string) bool { return value == "" || value == "null" }

// object has the parts of an object that a conversion reads. Without metadata there is no place to
// keep a value, and without a spec there is none to convert: then they are nil.
type object struct {
	top, metadata, spec members
	annotations         map[string]string
}

// With these options, jsontext accepts what encoding/json does, in less time.
var anyNames, anyText = jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)

// takeApart splits an object into those parts.
func takeApart(raw []byte) (*object, error) {
	top, isObject := members(nil), jsontext.Value(raw).IsValid(anyNames, anyText)
	if isObject {
		top, isObject = split(strings.TrimSpace(string(raw)), '{')
	}
	if !isObject {
		return nil, errors.New("reading the object: it is not a JSON object")
	}
	o := &object{top: top}
	o.spec, _ = split(top.get("spec"), '{')
	if isMissing(top.get("metadata")) {
		o.top.set("metadata", "{}")
	}
	o.metadata, _ = split(o.top.get("metadata"), '{')
	o.takeStrings("labels")
	o.annotations = o.takeStrings("annotations")
	return o, nil
}

// takeStrings returns a map of strings in the metadata, and drops the member if it is anything
// else. The API server also drops it when it reads a stored object, and refuses it in a converted
// one. A null among the strings becomes an empty string.
func (o *object) takeStrings(name string) map[string]string {
	raw := o.metadata.get(name)
	if isMissing(raw) {
		return nil
	}
	all, ok := split(raw, '{')
	hasNull := false
	values := make(map[string]string, len(all))
	for i := range all {
		if isMissing(all[i].value) {
			all[i].value, hasNull = `""`, true
		}
		ok = ok && all[i].value[0] == '"'
		values[textOf(all[i].name)] = textOf(all[i].value)
	}
	if !ok {
		o.metadata.set(name, "")
		return nil
	}
	if hasNull {
		o.metadata.set(name, all.object())
	}
	return values
}

func (o *object) assemble(apiVersion string) []byte {
	if o.metadata != nil {
		o.top.set("metadata", o.metadata.object())
	}
	if o.spec != nil {
		o.top.set("spec", o.spec.object())
	}
	o.top.set("apiVersion", encode(apiVersion))
	return []byte(o.top.object())
}

// show sets a member of the status. An empty value removes it, and the status if nothing else is in
// it. So a status that is {} stays so: it would come back as none.
func (o *object) show(name, value string) {
	if name == "" {
		return
	}
	raw := o.top.get("status")
	status, _ := split(raw, '{')
	if value == status.get(name) || value != "" && raw != "" && len(status) == 0 {
		return
	}
	status.set(name, value)
	o.top.set("status", "")
	if len(status) > 0 {
		o.top.set("status", status.object())
	}
}

// annotate has the annotations of a version keep this and nothing else. It leaves out what the API
// server would refuse, which would fail every list that has the object: it checks annotations only
// if a conversion changes them.
func (o *object) annotate(keys, kept Members) {
	rest := maps.Clone(o.annotations)
	delete(rest, keys.Value)
	delete(rest, keys.List)
	for _, pair := range [][2]string{{keys.Value, kept.Value}, {keys.List, kept.List}} {
		if pair[1] == "" {
			continue
		}
		more := map[string]string{pair[0]: pair[1]}
		maps.Copy(more, rest)
		if areAccepted(more) {
			rest = more
		}
	}
	if maps.Equal(rest, o.annotations) || !areAccepted(rest) {
		return
	}
	o.annotations = nil
	o.metadata.set("annotations", "")
	if len(rest) > 0 {
		o.annotations = rest
		o.metadata.set("annotations", encode(rest))
	}
}

func areAccepted(annotations map[string]string) bool {
	return len(apivalidation.ValidateAnnotations(annotations, nil)) == 0
}
