// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"encoding/json"
)

// byteOrderMark may start a file.
var byteOrderMark = []byte("\ufeff")

// part is a document of a file. The heads and bodies of all parts are the file.
type part struct {
	// start is where the head starts in the file.
	start int

	// head is what comes before the document: a byte order mark, or nothing.
	head []byte

	// body is the document, with the line "---" that starts it or the line "..." that ends it.
	body []byte

	// isJSON says that the body is one JSON value.
	isJSON bool
}

// finding returns a remark about the part as a finding in its file.
func (p part) finding(file []byte, r remark) Finding {
	at := min(p.start+len(p.head)+r.at, len(file))
	return Finding{Line: 1 + bytes.Count(file[:at], []byte("\n")), Trouble: r.trouble, Message: r.message}
}

// split cuts a file into its documents, at the lines of YAML's document markers.
func split(text []byte) []part {
	var parts []part
	start, head := 0, 0
	if bytes.HasPrefix(text, byteOrderMark) {
		head = len(byteOrderMark)
	}
	cut := func(end int) {
		body := text[start+head : end]
		parts = append(parts, part{start: start, head: text[start : start+head], body: body, isJSON: json.Valid(body)})
		start, head = end, 0
	}
	for at := head; at < len(text); {
		line := text[at : at+lineLength(text[at:])]
		if isMarker(line, "---") && at > start+head {
			cut(at)
		}
		at += len(line)
		if isMarker(line, "...") {
			cut(at)
		}
	}
	if start < len(text) {
		cut(len(text))
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
