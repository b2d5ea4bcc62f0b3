// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// valueEnd is where a value ends. The parser gives only its start.
func (s *source) valueEnd(n *yaml.Node) (end int, err error) {
	start := s.offset(n)
	switch {
	case n.Kind == yaml.ScalarNode:
		return s.scalarEnd(n)
	case n.Kind == yaml.AliasNode:
		return start + len("*") + len(n.Value), nil
	case len(n.Content) > 0:
		end, err = s.valueEnd(n.Content[len(n.Content)-1])
	}
	if err != nil || n.Style&yaml.FlowStyle == 0 {
		return end, err
	}
	for at := max(start, end); at < len(s.text); at++ { // blanks, a comma and comments, up to the bracket
		switch s.text[at] {
		case '}', ']':
			return at + 1, nil
		case '#':
			at = s.lineEnd(at)
		}
	}
	return 0, troublef(start, "it can't be told where this ends")
}

// The texts of scalars in quotes.
var (
	doubleQuoted = regexp.MustCompile(`(?s)^"(\\.|[^"\\])*"`)
	singleQuoted = regexp.MustCompile(`^'(''|[^'])*'`)
)

// scalarEnd is where a scalar ends.
func (s *source) scalarEnd(n *yaml.Node) (int, error) {
	start := s.offset(n)
	if n.Anchor != "" || n.Style&yaml.TaggedStyle != 0 {
		return 0, troublef(start, "%s has an anchor or a tag", n.Value)
	}
	var found []byte
	switch n.Style {
	case yaml.DoubleQuotedStyle:
		found = doubleQuoted.Find(s.text[start:])
	case yaml.SingleQuotedStyle:
		found = singleQuoted.Find(s.text[start:])
	case yaml.LiteralStyle, yaml.FoldedStyle:
		return 0, troublef(start, "%q is a block scalar: write it on one line, in quotes", strings.TrimSpace(n.Value))
	case 0:
		if end, ok := s.plainEnd(start, n.Value); ok {
			return end, nil
		}
	}
	if found == nil {
		return 0, troublef(start, "it can't be told where %q ends", n.Value)
	}
	return start + len(found), nil
}

// plainEnd is behind the last word of a plain scalar. It has no escapes: its words are in the text
// as they are, with blanks and line breaks between them.
func (s *source) plainEnd(start int, value string) (int, bool) {
	at := start
	for word := range strings.FieldsSeq(value) {
		for at < len(s.text) && unicode.IsSpace(rune(s.text[at])) {
			at++
		}
		if !bytes.HasPrefix(s.text[at:], []byte(word)) {
			return 0, false
		}
		at += len(word)
	}
	return at, true
}

// quote is how a scalar is written: between double or single quotes, or plain.
type quote byte

const (
	plain  quote = 0
	double quote = '"'
	single quote = '\''
)

// quoteOf is how a scalar is written; a block scalar's words would be put in double quotes.
func quoteOf(n *yaml.Node) quote {
	switch n.Style {
	case yaml.SingleQuotedStyle:
		return single
	case 0:
		return plain
	default:
		return double
	}
}

// plainText are the texts that may be written plain: those that start with a letter or digit and
// have nothing that means something in YAML.
var plainText = regexp.MustCompile(`^[A-Za-z0-9][-A-Za-z0-9*/,?+_. ]*$`)

// write returns a text as a scalar with these quotes, or with others if it needs them.
func write(text string, quotes quote, flow bool) string {
	isString := (&yaml.Node{Kind: yaml.ScalarNode, Value: text}).ShortTag() == "!!str"
	switch {
	case quotes == plain && !flow && isString && plainText.MatchString(text) && strings.TrimSpace(text) == text:
		return text
	case quotes == single && !strings.ContainsFunc(text, isUnprintable):
		return "'" + strings.ReplaceAll(text, "'", "''") + "'"
	}
	var quoted bytes.Buffer
	encoder := json.NewEncoder(&quoted)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // a string can be encoded
	return strings.TrimSuffix(quoted.String(), "\n")
}

// isUnprintable reports whether a character has to be escaped.
func isUnprintable(r rune) bool { return !unicode.IsPrint(r) }
