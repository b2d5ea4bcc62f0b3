// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package spoke

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
)

// jsonObject is a JSON object whose members are not decoded.
type jsonObject map[string]json.RawMessage

// readObject reads the members of a value, and reports whether it is an object.
func readObject(value json.RawMessage) (jsonObject, bool) {
	var object jsonObject
	err := json.Unmarshal(value, &object)
	return object, err == nil && object != nil
}

// textOf returns a value if it is a string; "" if it is not.
func textOf(value json.RawMessage) string {
	text := ""
	if json.Unmarshal(value, &text) != nil {
		return ""
	}
	return text
}

// isMissing reports whether a member is absent or null.
func isMissing(value json.RawMessage) bool { return value == nil || string(value) == "null" }

// isDecodable reports whether the API server can decode a text as JSON. Its nesting, with the five
// levels of the answer around it, must be within the decoder's limit, and its numbers must fit into
// Go's types.
func isDecodable(text string) bool {
	var values any
	return json.Unmarshal([]byte("[[[[["+text+"]]]]]"), &values) == nil && json.Valid([]byte(text))
}

// encode returns a value that came from JSON, or has only strings, as JSON. Unlike json.Marshal, it
// does not escape <, > and &, which would take six times as many bytes.
func encode(value any) json.RawMessage {
	raw, err := json.Marshal(value)
	if err != nil { // impossible: its raw parts have been decoded before
		return json.RawMessage("null")
	}
	if !bytes.Contains(raw, []byte(`\u`)) {
		return raw
	}
	out := &bytes.Buffer{}
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value)
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

// rawObject has the parts of an object that a conversion reads.
type rawObject struct {
	top, metadata, spec jsonObject

	// annotations are those to write, and stored those that were read.
	annotations, stored map[string]string

	// hasMetadata and hasSpec are whether these parts are objects. Without metadata there is no
	// place to keep a value, and without a spec there is none to convert.
	hasMetadata, hasSpec bool

	// isTyped is whether the result becomes a Go value, which can't hold what its version can't read.
	isTyped bool
}

// takeApart splits an object into those parts.
func takeApart(object []byte) (*rawObject, error) {
	o := &rawObject{}
	var ok bool
	if o.top, ok = readObject(object); !ok {
		var nothing any
		err := json.Unmarshal(object, &nothing)
		return nil, fmt.Errorf("reading the object: %w", cmp.Or(err, errors.New("it is JSON, but no object")))
	}
	o.spec, o.hasSpec = readObject(o.top["spec"])
	if o.metadata, o.hasMetadata = readObject(o.top["metadata"]); !o.hasMetadata {
		o.metadata, o.hasMetadata = jsonObject{}, isMissing(o.top["metadata"])
	}
	o.takeStrings("labels")
	o.stored = o.takeStrings("annotations")
	o.annotations = o.stored
	return o, nil
}

// takeStrings returns a map of strings in the metadata, and drops the member if it is anything
// else. The API server also drops it when it reads a stored object, and refuses it in a converted
// one. A null among the strings becomes an empty string.
func (o *rawObject) takeStrings(member string) map[string]string {
	raw := o.metadata[member]
	if isMissing(raw) {
		return nil
	}
	var values map[string]string
	if json.Unmarshal(raw, &values) != nil {
		delete(o.metadata, member)
		return nil
	}
	if bytes.Contains(raw, []byte("null")) {
		o.metadata[member] = encode(values)
	}
	return values
}

// assemble puts the parts together again.
func (o *rawObject) assemble(apiVersion string) []byte {
	o.top["apiVersion"] = encode(apiVersion)
	if o.hasSpec {
		o.top["spec"] = encode(o.spec)
	}
	if o.hasMetadata {
		switch {
		case maps.Equal(o.annotations, o.stored):
		case len(o.annotations) == 0:
			delete(o.metadata, "annotations")
		default:
			o.metadata["annotations"] = encode(o.annotations)
		}
		o.top["metadata"] = encode(o.metadata)
	}
	return encode(o.top)
}

// show sets a member of the status to a text, cut after maxShown characters. Only an object with a
// UID gets it: a manifest, which has none, gets no status. Partial objects of server-side apply may
// have a UID, and get it too. No manager owns the field by that: the API server computes ownership
// from the request, without the status.
//
// A status that is {} stays so: when the text is dropped again, it could not be distinguished from
// a missing status.
func (o *rawObject) show(member, text string) {
	status, ok := readObject(o.top["status"])
	hasNoMembers := ok && len(status) == 0 || !ok && o.top["status"] != nil
	if member == "" || text == "" || textOf(o.metadata["uid"]) == "" || hasNoMembers {
		return
	}
	if !ok {
		status = jsonObject{}
	}
	if all := []rune(text); len(all) > maxShown {
		text = string(all[:maxShown]) + "…"
	}
	status[member] = encode(text)
	o.top["status"] = encode(status)
}

// dropShown drops a member of the status, and the status if nothing else is in it.
func (o *rawObject) dropShown(member string) {
	status, _ := readObject(o.top["status"])
	if member == "" || status[member] == nil {
		return
	}
	delete(status, member)
	if len(status) > 0 {
		o.top["status"] = encode(status)
	} else {
		delete(o.top, "status")
	}
}

// maxShown limits a text in the status, in characters.
const maxShown = 1024

// annotate returns annotations without some keys, and with these values. It leaves out what the API
// server would refuse: it checks annotations only if a conversion changes them.
func annotate(annotations map[string]string, without []string, with [][2]string) map[string]string {
	rest := maps.Clone(annotations)
	maps.DeleteFunc(rest, func(key, _ string) bool { return slices.Contains(without, key) })
	switch {
	case len(rest) == len(annotations) || !areAccepted(rest):
		rest = annotations
	case len(rest) == 0:
		rest = nil
	}
	for _, kept := range with {
		merged := make(map[string]string, len(rest)+1)
		maps.Copy(merged, rest)
		merged[kept[0]] = kept[1]
		if areAccepted(merged) {
			rest = merged
		}
	}
	return rest
}

// areAccepted reports whether the API server accepts these annotations: it limits their size and
// keys. If a conversion returned others, it would fail, and with it every list that has the object.
func areAccepted(annotations map[string]string) bool {
	if apivalidation.ValidateAnnotationsSize(annotations) != nil {
		return false
	}
	for key := range annotations {
		if len(validation.IsQualifiedName(strings.ToLower(key))) > 0 {
			return false
		}
	}
	return true
}
