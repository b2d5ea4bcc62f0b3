// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// defaultStep is the indentation per level if the text does not show any, in columns.
const defaultStep = 2

// changeLines replaces the lines of a member. The comments in them go above, but for the one behind
// the key or the only one, which stay at the end of the line.
//
//	schedule: "0 9 * * *"  # comment     schedule:  # comment
//	                               ──►     minute: "0"
//	                                       hour: "9"
func (d *Document) changeLines(n *yaml.Node, c change, step int) error {
	key := n.Content[c.at]
	at := d.offset(key)
	start := bytes.LastIndexByte(d.Text[:at], '\n') + 1
	indent := string(d.Text[start:at])
	if strings.Trim(indent, " ") != "" {
		return errorf(d.before+key.Line, "%s is not on a line of its own", key.Value)
	}
	end := d.endOfLines(start, len(indent), n.Content[c.at+1])
	var lines []string
	for _, m := range c.inPlace {
		written, err := m.lines(step)
		if err != nil {
			return err
		}
		lines = append(lines, written...)
	}
	lines = withComments(lines, d.commentsIn(start, end))
	newline := "\n"
	if i := bytes.IndexByte(d.Text, '\n'); i > 0 && d.Text[i-1] == '\r' {
		newline = "\r\n"
	}
	text := ""
	for _, line := range lines {
		text += indent + line + newline
	}
	if d.Text[end-1] != '\n' {
		text = strings.TrimSuffix(text, newline)
	}
	d.replace(start, end, text)
	return nil
}

// endOfLines returns the end of a member's lines: its value, and the comments below that are
// indented like it.
func (d *Document) endOfLines(start, indent int, value *yaml.Node) int {
	end := nextLine(d.Text, max(start, d.closing(value)-1))
	for at := end; at < len(d.Text); at = nextLine(d.Text, at) {
		line := d.Text[at:nextLine(d.Text, at)]
		content := bytes.TrimLeft(line, " ")
		deeper := len(line) - len(content) - indent
		switch isItem := value.Kind == yaml.SequenceNode && isMarker(content, "-"); {
		case len(bytes.TrimSpace(content)) == 0, deeper <= 0 && content[0] == '#':
			continue // it may belong to the next member
		case deeper > 0, deeper == 0 && isItem:
			end = nextLine(d.Text, at)
		default:
			return end
		}
	}
	return end
}

// closing returns the offset after the closing bracket or quote of a value; its start if it has
// none.
func (d *Document) closing(value *yaml.Node) int {
	at := d.offset(value)
	switch {
	case value.Kind == yaml.ScalarNode:
		return at + len(quoted.Find(d.Text[at:]))
	case value.Style&yaml.FlowStyle != 0:
		return d.endOfFlow(value)
	}
	return at
}

func (m member) lines(step int) ([]string, error) {
	var value yaml.Node
	if err := yaml.Unmarshal(m.raw, &value); err != nil {
		return nil, err
	}
	top := value.Content[0]
	top.Style &^= yaml.FlowStyle // nested values keep their brackets
	unquoteKeys(top)
	out := &bytes.Buffer{}
	encoder := yaml.NewEncoder(out)
	encoder.SetIndent(max(step, defaultStep))
	err := encoder.Encode(&yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Value: m.name}, top}})
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n"), err
}

// unquoteKeys removes the quotes of JSON keys. The encoder adds those that YAML needs.
func unquoteKeys(n *yaml.Node) {
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			child.Style = 0
		}
		unquoteKeys(child)
	}
}

// comment is a comment in the replaced lines. Its text goes from the "#" to the end of the line.
type comment struct {
	// before is the white space before the comment.
	before, text string
	ownLine      bool

	// isFirst is whether the comment is on the first of the lines.
	isFirst bool
}

var (
	// quoted matches a quoted scalar, with its tag and anchor.
	quoted = regexp.MustCompile(`^(?:[!&]\S*\s+)*(?:"(?:\\.|[^"\\])*"|'(?:''|[^'])*')`)

	// commentText matches a comment in a text without quotes. The parser accepts one right after a
	// closing quote.
	commentText = regexp.MustCompile(`(^|` + blot + `|[ \t\r\n]+)(#[^\r\n]*)`)
)

// blot replaces each byte of a quoted scalar. It can't occur in YAML.
const blot = "\x01"

// withoutQuotes returns the text with its quoted scalars blanked out, so that no bracket, comma or
// # in them is mistaken for syntax.
func (d *Document) withoutQuotes() []byte {
	if d.blotted != nil {
		return d.blotted
	}
	d.blotted = bytes.Clone(d.Text)
	var blotOut func(n *yaml.Node)
	blotOut = func(n *yaml.Node) {
		if n.Kind == yaml.ScalarNode {
			at := d.offset(n)
			copy(d.blotted[at:], bytes.Repeat([]byte(blot), len(quoted.Find(d.Text[at:]))))
		}
		for _, child := range n.Content {
			blotOut(child)
		}
	}
	blotOut(d.root)
	return d.blotted
}

func (d *Document) commentsIn(from, to int) []comment {
	var found []comment
	text := d.withoutQuotes()[from:to]
	for _, at := range commentText.FindAllSubmatchIndex(text, -1) {
		before := strings.ReplaceAll(string(text[at[2]:at[3]]), blot, " ")
		found = append(found, comment{
			before: before, text: strings.TrimRight(string(text[at[4]:at[5]]), " \t"),
			ownLine: at[0] == 0 || strings.Contains(before, "\n"), isFirst: !bytes.Contains(text[:at[4]], []byte("\n")),
		})
	}
	return found
}

// withComments adds the comments of the replaced lines to the new ones.
func withComments(lines []string, comments []comment) []string {
	var above []string
	for _, c := range comments {
		if len(lines) > 0 && !c.ownLine && (c.isFirst || len(comments) == 1) {
			lines[0] += c.before + c.text
		} else {
			above = append(above, c.text)
		}
	}
	return append(above, lines...)
}
