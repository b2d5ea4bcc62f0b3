// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/sets"
)

// source is the text of a document, in which the parser's nodes can be found again.
type source struct {
	text []byte

	// lines are the offsets at which the lines start that the parser counts.
	lines []int
}

// lineBreak is what ends a line. YAML 1.1, which the parser speaks, knows three line breaks besides
// those of Unix, Windows and old Macs.
var lineBreak = regexp.MustCompile("\r\n|[\n\r\u0085\u2028\u2029]")

// newSource indexes a text.
func newSource(text []byte) *source {
	s := &source{text: text, lines: []int{0}}
	for _, at := range lineBreak.FindAllIndex(text, -1) {
		s.lines = append(s.lines, at[1])
	}
	return s
}

// halfCharacter is an escape sequence of JSON that the YAML parser refuses: half of a character.
var halfCharacter = regexp.MustCompile(`\\u[dD][89a-fA-F][0-9a-fA-F]{2}`)

// parse returns the root of the document; nil if it is empty.
func (s *source) parse(isJSON bool) (*yaml.Node, error) {
	text := s.text
	if isJSON {
		text = halfCharacter.ReplaceAll(text, []byte(`\u0020`)) // positions stay the same
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document, further yaml.Node
	if err := decoder.Decode(&document); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, nil //nolint:nilnil // an empty document is neither a node nor an error
		}
		return nil, err
	}
	if !errors.Is(decoder.Decode(&further), io.EOF) {
		return nil, errors.New("yaml: more than one document without a line --- between them")
	}
	// Decode finds what the nodes do not show: a key that is there twice, an alias of itself.
	var values any
	if err := document.Decode(&values); err != nil {
		return nil, err
	}
	return document.Content[0], checkKeys(values)
}

// checkKeys returns an error if two keys of a mapping are the same as texts, such as 8 and 8.0: which
// of them kubectl takes is chance.
func checkKeys(values any) error {
	var below []any
	switch values := values.(type) {
	case map[any]any: // not all keys are texts
		seen := sets.New[string]()
		for key, value := range values {
			text := fmt.Sprint(key)
			if seen.Has(text) {
				return fmt.Errorf("yaml: the key %.40q is there twice", text)
			}
			seen.Insert(text)
			below = append(below, value)
		}
	case map[string]any:
		below = slices.Collect(maps.Values(values))
	case []any:
		below = values
	}
	for _, value := range below {
		if err := checkKeys(value); err != nil {
			return err
		}
	}
	return nil
}

// offset is where a node starts. Columns are counted in characters.
func (s *source) offset(n *yaml.Node) int {
	at := s.lines[min(max(n.Line, 1), len(s.lines))-1]
	for range n.Column - 1 {
		if at >= len(s.text) {
			break
		}
		_, size := utf8.DecodeRune(s.text[at:])
		at += size
	}
	return at
}

// lineStart is where the line of an offset starts.
func (s *source) lineStart(at int) int { return bytes.LastIndexByte(s.text[:at], '\n') + 1 }

// lineEnd is where the line of an offset ends, before the line break.
func (s *source) lineEnd(at int) int {
	end := len(s.text)
	if i := bytes.IndexByte(s.text[at:], '\n'); i >= 0 {
		end = at + i
	}
	if end > at && s.text[end-1] == '\r' {
		end--
	}
	return end
}

// nextLine is where the line after that of an offset starts, or the text ends.
func (s *source) nextLine(at int) int { return at + lineLength(s.text[at:]) }

// newline is the line break of the text.
func (s *source) newline() string {
	if i := bytes.IndexByte(s.text, '\n'); i > 0 && s.text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// indent returns the blanks that a line starts with.
func (s *source) indent(at int) string {
	line := s.text[s.lineStart(at):]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// isFirst reports whether nothing but blanks is before an offset on its line.
func (s *source) isFirst(at int) bool {
	return len(bytes.Trim(s.text[s.lineStart(at):at], " \t")) == 0
}

// skipBlanks is the offset of the first character from here on, on this line, that is no blank.
func (s *source) skipBlanks(at int) int {
	for at < len(s.text) && (s.text[at] == ' ' || s.text[at] == '\t') {
		at++
	}
	return at
}

// afterColon is the offset behind the colon of a key.
func (s *source) afterColon(key *yaml.Node) (int, error) {
	start := s.offset(key)
	end, err := s.scalarEnd(key)
	if err != nil {
		return 0, err
	}
	if at := s.skipBlanks(end); at < len(s.text) && s.text[at] == ':' {
		return at + 1, nil
	}
	return 0, troublef(start, "%s is not written as a key and a colon", key.Value)
}

// comments returns the comments in a stretch of text that has nothing else but blanks and marks.
func (s *source) comments(from, to int) []comment {
	var found []comment
	for at := from; at < to; at++ {
		if s.text[at] == '#' {
			end := min(s.lineEnd(at), to)
			found = append(found, comment{at: at, text: string(bytes.TrimRight(s.text[at:end], " \t")), ownLine: s.isFirst(at)})
			at = end
		}
	}
	return found
}

// comment is a comment, from its "#" to the end of the line.
type comment struct {
	at   int
	text string

	// ownLine says that nothing else is on its line.
	ownLine bool
}
