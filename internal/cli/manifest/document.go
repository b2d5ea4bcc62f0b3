// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"
	"go.yaml.in/yaml/v3"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	k8syaml "sigs.k8s.io/yaml"
)

// ByteOrderMark may start a file. It is not part of any document.
var ByteOrderMark = []byte("\ufeff")

// Document is one YAML or JSON document of a file.
type Document struct {
	// Text includes the marker line: the "---" that starts the document or the "..." that ends it.
	Text []byte

	// before is the number of lines of the file before the document.
	before int

	isJSON bool

	// lines has the offsets of the line starts, by the line numbers of the YAML parser.
	lines []int

	// root has the positions of the values. value is the content as kubectl decodes it, which
	// differs from the content of root for some scalars.
	root  *yaml.Node
	value any

	// blotted is the text with quoted scalars blanked out; see withoutQuotes.
	blotted []byte

	edits []udiff.Edit
}

// Split splits a file into its documents at the YAML document markers.
func Split(text []byte) []*Document {
	text = bytes.TrimPrefix(text, ByteOrderMark)
	var documents []*Document
	start, before := 0, 0
	cut := func(end int) {
		if start == end {
			return
		}
		body := text[start:end]
		documents = append(documents, &Document{Text: body, before: before, isJSON: json.Valid(body)})
		start, before = end, before+bytes.Count(body, []byte("\n"))
	}
	for at := 0; at < len(text); {
		end := nextLine(text, at)
		if isMarker(text[at:end], "---") {
			cut(at)
		}
		if isMarker(text[at:end], "...") {
			cut(end)
		}
		at = end
	}
	cut(len(text))
	return documents
}

// nextLine returns the start of the next line, or the end of the text.
func nextLine(text []byte, at int) int {
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(text)
}

// isMarker reports whether a line is a document marker, optionally followed by white space.
func isMarker(line []byte, marker string) bool {
	rest, ok := bytes.CutPrefix(line, []byte(marker))
	return ok && (len(rest) == 0 || bytes.IndexByte([]byte(" \t\r\n"), rest[0]) >= 0)
}

var (
	// lineBreak matches a line break of YAML 1.1, the version of the parser. It has three more than
	// those of Unix, Windows and old Macs.
	lineBreak = regexp.MustCompile("\r\n|[\n\r\u0085\u2028\u2029]")

	// halfCharacter matches a JSON escape of one half of a surrogate pair, which the YAML parser
	// rejects.
	halfCharacter = regexp.MustCompile(`\\u[dD][89a-fA-F][0-9a-fA-F]{2}`)
)

func (d *Document) parse() error {
	d.lines = []int{0}
	for _, at := range lineBreak.FindAllIndex(d.Text, -1) {
		d.lines = append(d.lines, at[1])
	}
	text := d.Text
	if d.isJSON {
		text = halfCharacter.ReplaceAll(text, []byte(`\u0020`)) // positions stay the same
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document, further yaml.Node
	if err := decoder.Decode(&document); err != nil {
		if errors.Is(err, io.EOF) {
			return nil // it is empty
		}
		return err
	}
	if !errors.Is(decoder.Decode(&further), io.EOF) {
		return errors.New("yaml: more than one document without a line --- between them")
	}
	// Decode finds mistakes that the nodes do not show: a duplicate key, an alias of itself.
	var value any
	err := document.Decode(&value)
	if err == nil {
		value, err = d.values(d.Text)
	}
	if err == nil {
		d.root, d.value = document.Content[0], value
	}
	return err
}

// values decodes a text, with whole numbers as integers, as the API server does.
func (d *Document) values(text []byte) (value any, err error) {
	if !d.isJSON {
		if text, err = k8syaml.YAMLToJSONStrict(text); err != nil {
			return nil, err
		}
	}
	err = utiljson.Unmarshal(text, &value)
	return value, err
}

// offset returns the offset of a node. Its column counts characters, not bytes.
func (d *Document) offset(n *yaml.Node) int {
	at := d.lines[min(max(n.Line, 1), len(d.lines))-1]
	for range n.Column - 1 {
		_, size := utf8.DecodeRune(d.Text[at:])
		at += size
	}
	return at
}

// LineAt returns the line number in the file for an offset in the document.
func (d *Document) LineAt(at int) int { return d.before + 1 + bytes.Count(d.Text[:at], []byte("\n")) }

func errorf(line int, format string, args ...any) error {
	return Finding{Line: line, IsError: true, Message: fmt.Sprintf(format, args...)}
}
