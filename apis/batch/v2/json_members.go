// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v2

import (
	"bytes"
	"encoding/json"
	"slices"
)

// jsonObject is a JSON object as its members are written, in their order. What a conversion has no
// business with is neither decoded nor written anew, only copied: a decoder that makes maps of it reads
// every byte once for each level it lies in, and then again to write it.
type jsonObject []jsonMember

// jsonMember is a member of an object: its name, in quotes, and its value, as they are written.
type jsonMember struct {
	name, value json.RawMessage
}

// readObject reads the members of a value, and reports whether it is an object. The value has to be valid JSON.
func readObject(value json.RawMessage) (jsonObject, bool) {
	value = bytes.TrimSpace(value)
	if len(value) == 0 || value[0] != '{' {
		return nil, false
	}
	reader := objectReader{object: make(jsonObject, 0, 16)}
	for at := skipSpace(value, 1); value[at] != '}'; at = skipSpace(value, at) {
		if value[at] == ',' {
			at = skipSpace(value, at+1)
		}
		nameEnd := endOfString(value, at)
		name := plainName(value[at:nameEnd])
		at = skipSpace(value, skipSpace(value, nameEnd)+1) // past the colon
		end := endOfValue(value, at)
		reader.put(name, value[at:end:end]) // of two of a name the last one counts, as for encoding/json
		at = end
	}
	return reader.object, true
}

// fewMembers is up to how many members are looked through one by one for a name: more than a CronJob has
// anywhere, and few enough that nobody can keep us busy with an object of a hundred thousand.
const fewMembers = 64

// objectReader puts an object together.
type objectReader struct {
	object jsonObject
	places map[string]int // of the members by name, once they are many; nil before
}

func (r *objectReader) put(name, value json.RawMessage) {
	if len(r.object) < fewMembers {
		r.object.setQuoted(name, value)
		return
	}
	if r.places == nil {
		r.places = make(map[string]int, 2*fewMembers)
		for i, member := range r.object {
			r.places[string(member.name)] = i
		}
	}
	if i, ok := r.places[string(name)]; ok {
		r.object[i].value = value
		return
	}
	r.places[string(name)] = len(r.object)
	r.object = append(r.object, jsonMember{name, value})
}

// get returns the value of a member; nil if there is none.
func (o *jsonObject) get(name string) json.RawMessage {
	for _, member := range *o {
		if member.is(name) {
			return member.value
		}
	}
	return nil
}

// text returns a member that is a string; "" if it is not.
func (o *jsonObject) text(name string) string {
	text := ""
	if json.Unmarshal(o.get(name), &text) != nil {
		return ""
	}
	return text
}

// set gives a member a value, and adds it at the end if there is none.
func (o *jsonObject) set(name string, value json.RawMessage) {
	o.setQuoted(encode(name), value)
}

func (o *jsonObject) setQuoted(name, value json.RawMessage) {
	for i := range *o {
		if bytes.Equal((*o)[i].name, name) {
			(*o)[i].value = value
			return
		}
	}
	*o = append(*o, jsonMember{name, value})
}

// delete takes a member out.
func (o *jsonObject) delete(name string) {
	*o = slices.DeleteFunc(*o, func(member jsonMember) bool { return member.is(name) })
}

// write writes the object.
func (o *jsonObject) write() json.RawMessage {
	size := len("{}")
	for _, member := range *o {
		size += len(member.name) + len(member.value) + len(":,")
	}
	out := append(make([]byte, 0, size), '{')
	for i, member := range *o {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, member.name...), ':'), member.value...)
	}
	return append(out, '}')
}

// is reports whether a member has a name, which has to be one that needs no escapes.
func (m *jsonMember) is(name string) bool { return m.unquoted() == name }

// unquoted returns the name as it is written between the quotes.
func (m *jsonMember) unquoted() string { return string(m.name[1 : len(m.name)-1]) }

// plainName returns a name, in quotes, without the escapes that it does not need.
func plainName(quoted json.RawMessage) json.RawMessage {
	if !bytes.ContainsRune(quoted, '\\') {
		return quoted
	}
	name := ""
	if json.Unmarshal(quoted, &name) != nil {
		return quoted // can't be: it is valid
	}
	return encode(name)
}

// skipSpace returns where the next token begins.
func skipSpace(text []byte, at int) int {
	for text[at] == ' ' || text[at] == '\t' || text[at] == '\n' || text[at] == '\r' {
		at++
	}
	return at
}

// endOfString returns the end of the string that begins here.
func endOfString(text []byte, at int) int {
	for at++; text[at] != '"'; at++ {
		if text[at] == '\\' {
			at++
		}
	}
	return at + 1
}

// endOfValue returns the end of the value that begins here.
func endOfValue(text []byte, at int) int {
	for depth := 0; ; {
		switch text[at] {
		case '"':
			at = endOfString(text, at)
		case '{', '[':
			depth++
			at++
		case '}', ']':
			depth--
			at++
		default: // a number, a word, or what stands between values
			at++
			if depth == 0 && isEndOfWord(text[at]) {
				return at
			}
			continue
		}
		if depth == 0 {
			return at
		}
	}
}

// isEndOfWord reports whether a number, or true, false or null, ends before this.
func isEndOfWord(char byte) bool {
	switch char {
	case ',', '}', ']', ' ', '\t', '\n', '\r':
		return true
	}
	return false
}
