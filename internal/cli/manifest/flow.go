// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// changeFlow replaces members in flow style, as in JSON. It refuses to change text with comments.
func (d *Document) changeFlow(n *yaml.Node, changes []change, step int) error {
	isRemoved := func(i int) bool {
		return slices.ContainsFunc(changes, func(c change) bool { return c.at == i && len(c.inPlace) == 0 })
	}
	last := len(n.Content)
	for last > 0 && isRemoved(last-2) { // the members at the end that are removed
		last -= 2
	}
	for _, c := range changes {
		from, to := d.offset(n.Content[c.at]), d.endOfFlow(n.Content[c.at+1])
		text := ""
		switch {
		case len(c.inPlace) > 0:
			text = d.flowText(n, c, step)
		case c.at < last: // with the comma after it
			to = d.offset(n.Content[c.at+2])
		case c.at > 0: // with the comma before it
			from = d.endOfFlow(n.Content[c.at-1])
		}
		if comments := d.commentsIn(from, to); len(comments) > 0 {
			return errorf(d.before+n.Content[c.at].Line, "this comment is in what changes: move it: %s", comments[0].text)
		}
		d.replace(from, to, text)
	}
	return nil
}

// flowText formats the members that replace one, on lines of their own if the old one is.
func (d *Document) flowText(n *yaml.Node, c change, step int) string {
	key := n.Content[c.at]
	at := d.offset(key)
	indent := string(d.Text[bytes.LastIndexByte(d.Text[:at], '\n')+1 : at])
	isOnLine := strings.TrimSpace(indent) == "" && step > 0 && step <= len(indent)
	var texts []string
	for _, m := range c.inPlace {
		start := fmt.Sprintf("%q: ", m.name)
		if m.name == key.Value {
			start = string(d.Text[at:d.offset(n.Content[c.at+1])])
		}
		value := &bytes.Buffer{}
		value.Write(m.raw)
		if isOnLine {
			value.Reset()
			_ = json.Indent(value, m.raw, indent, indent[len(indent)-step:]) // it is JSON
		}
		texts = append(texts, start+value.String())
	}
	if isOnLine {
		return strings.Join(texts, ",\n"+indent)
	}
	return strings.Join(texts, ", ")
}

// endOfFlow returns the end of a value in flow style.
func (d *Document) endOfFlow(value *yaml.Node) int {
	start := d.offset(value)
	text := bytes.Clone(d.withoutQuotes()[start:])
	for _, at := range commentText.FindAllSubmatchIndex(text, -1) {
		copy(text[at[4]:at[5]], bytes.Repeat([]byte(" "), at[5]-at[4]))
	}
	depth := 0
	for at, char := range text {
		switch char {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
			if depth == 0 {
				return start + at + 1
			}
		}
		if depth < 0 || depth == 0 && char == ',' {
			return start + len(bytes.TrimRight(text[:at], " \t\r\n"))
		}
	}
	return start + len(text)
}
