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

// scalarEnd is where a scalar ends. The parser gives only its start.
func (s *source) scalarEnd(n *yaml.Node) (int, error) {
	start := s.offset(n)
	if n.Anchor != "" || n.Style&yaml.TaggedStyle != 0 {
		return 0, troublef(start, "%s has an anchor or a tag", n.Value)
	}
	end, ok := 0, false
	switch n.Style {
	case yaml.DoubleQuotedStyle:
		end, ok = s.doubleQuotedEnd(start)
	case yaml.SingleQuotedStyle:
		end, ok = s.singleQuotedEnd(start)
	case yaml.LiteralStyle, yaml.FoldedStyle:
		return 0, troublef(start, "%q is a block scalar: write it on one line, in quotes", strings.TrimSpace(n.Value))
	case 0:
		end, ok = s.plainEnd(start, n.Value)
	}
	if !ok {
		return 0, troublef(start, "it can't be told where %q ends", n.Value)
	}
	return end, nil
}

// doubleQuotedEnd is behind the closing quote.
func (s *source) doubleQuotedEnd(start int) (int, bool) {
	for at := start + 1; at < len(s.text); at++ {
		switch s.text[at] {
		case '\\':
			at++
		case '"':
			return at + 1, s.text[start] == '"'
		}
	}
	return 0, false
}

// singleQuotedEnd is behind the closing quote; two quotes stand for one inside.
func (s *source) singleQuotedEnd(start int) (int, bool) {
	for at := start + 1; at < len(s.text); at++ {
		if s.text[at] != '\'' {
			continue
		}
		if at+1 == len(s.text) || s.text[at+1] != '\'' {
			return at + 1, s.text[start] == '\''
		}
		at++
	}
	return 0, false
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
	if encoder.Encode(text) != nil { // can't be: it is a string
		return `""`
	}
	return strings.TrimSuffix(quoted.String(), "\n")
}

// isUnprintable reports whether a character has to be escaped.
func isUnprintable(r rune) bool { return !unicode.IsPrint(r) }
