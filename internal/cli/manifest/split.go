// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"encoding/json"
	"slices"
)

// byteOrderMark may start a file.
var byteOrderMark = []byte("\ufeff")

// part is a document of a file. The heads and bodies of all parts, one after the other, are the file.
type part struct {
	// start is where the head starts in the file.
	start int

	// head is what comes before the document and is none of its business: a byte order mark.
	head []byte

	// body is the document, with the line "---" that starts it or the line "..." that ends it.
	body []byte

	// isJSON says that the body is one JSON value.
	isJSON bool
}

// split cuts a file into its documents: at the lines of YAML's document markers, and after each
// value of a stream of JSON.
func split(text []byte) []part {
	var parts []part
	head := 0
	if bytes.HasPrefix(text, byteOrderMark) {
		head = len(byteOrderMark)
	}
	start := 0
	for at := head; at < len(text); {
		end := at + lineLength(text[at:])
		next := end
		switch line := text[at:end]; {
		case isMarker(line, "---") && at > start+head:
			parts = append(parts, newParts(text, start, head, at)...)
			start, head = at, 0
		case isMarker(line, "..."):
			parts = append(parts, newParts(text, start, head, end)...)
			start, head = end, 0
		}
		at = next
	}
	if start < len(text) {
		parts = append(parts, newParts(text, start, head, len(text))...)
	}
	return parts
}

// lineLength is the length of the first line, with its end.
func lineLength(text []byte) int {
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		return i + 1
	}
	return len(text)
}

// isMarker reports whether a line is a document marker: alone, or with blanks after it.
func isMarker(line []byte, marker string) bool {
	rest, ok := bytes.CutPrefix(line, []byte(marker))
	return ok && (len(rest) == 0 || bytes.IndexByte([]byte(" \t\r\n"), rest[0]) >= 0)
}

// newParts returns the document between two offsets, or if it is a stream of JSON values, each of them.
func newParts(text []byte, start, head, end int) []part {
	whole := part{start: start, head: text[start : start+head], body: text[start+head : end]}
	body, offset := whole.body, 0
	if isMarker(body[:lineLength(body)], "---") {
		offset = len("---")
	}
	if trimmed := bytes.TrimLeft(body[offset:], " \t\r\n"); len(trimmed) == 0 || trimmed[0] != '{' {
		return []part{whole}
	}
	decoder := json.NewDecoder(bytes.NewReader(body[offset:]))
	var ends []int
	for decoder.More() {
		var value json.RawMessage
		if decoder.Decode(&value) != nil {
			return []part{whole} // YAML that starts with a brace
		}
		ends = append(ends, offset+int(decoder.InputOffset()))
	}
	if len(bytes.TrimSpace(body[ends[len(ends)-1]:])) > 0 {
		return []part{whole}
	}
	ends[len(ends)-1] = len(body)
	parts := make([]part, 0, len(ends))
	from := 0
	for _, to := range ends {
		parts = append(parts, part{start: start + head + from, body: body[from:to], isJSON: true})
		from = to
	}
	parts[0].start, parts[0].head = start, whole.head
	return parts
}

// sameParts reports whether two files have the same documents.
func sameParts(a, b []part) bool {
	return slices.EqualFunc(a, b, func(x, y part) bool {
		return bytes.Equal(x.head, y.head) && bytes.Equal(x.body, y.body)
	})
}
