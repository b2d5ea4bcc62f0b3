// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// place is where a schedule is in the text, and how it is written.
type place struct {
	// key and value are where each starts, and afterColon and end are behind the colon and the
	// value. The key of an item is the item itself.
	key, afterColon, value, end int

	// flow says that it is written between braces or brackets, as in JSON.
	flow bool

	// hasAbove says that comments have a place above it.
	hasAbove bool

	// onKeyLine says that the value starts on the line of its key.
	onKeyLine bool

	// quotes are those of the value, or of its fields; keyQuotes those of the key.
	quotes, keyQuotes quote

	// gap is what is between a colon and a value: nothing in compact JSON.
	gap string

	// indent is what is before the key on its line, where it is the first there, and step what a
	// further level adds to it.
	indent, step string
}

// placeOf finds a schedule in the text.
func (c *conversion) placeOf(job cronJob, s slot) (place, error) {
	p := place{
		key: c.offset(s.key), value: c.offset(s.value),
		flow:   job.spec.Style&yaml.FlowStyle != 0,
		quotes: quotesOf(s.value), keyQuotes: quoteOf(s.key), gap: " ",
	}
	behindKey := p.value
	if s.isItem() {
		behindKey = c.offset(s.list.value)
	}
	if p.keyQuotes == double && c.text[behindKey-1] == ':' {
		p.gap = ""
	}
	var err error
	if p.end, err = c.valueEnd(s.value); err != nil {
		return p, err
	}
	if s.isItem() {
		p.key, p.indent = p.value, c.indent(p.value)
		p.flow = s.list.value.Style&yaml.FlowStyle != 0
		p.hasAbove = strings.Trim(string(c.text[c.lineStart(p.value):p.value]), " \t") == "-"
		return p, nil
	}
	p.hasAbove = !p.flow
	if p.afterColon, err = c.afterColon(s.key); err != nil {
		return p, err
	}
	if !p.flow && !c.isFirst(p.key) {
		return p, troublef(p.key, "schedule is not on a line of its own")
	}
	p.onKeyLine = c.lineStart(p.key) == c.lineStart(p.value)
	p.indent, p.step = c.indent(p.key), c.stepOf(job, s.entry, p.flow)
	return p, nil
}

// stepOf is what a level of indentation adds, from spec to schedule; "" if that is not known.
func (c *conversion) stepOf(job cronJob, e entry, flow bool) string {
	specKey, key := c.offset(job.specKey), c.offset(e.key)
	if c.lineStart(specKey) == c.lineStart(key) || !c.isFirst(key) {
		return ""
	}
	if !flow {
		return strings.Repeat(" ", e.key.Column-job.specKey.Column)
	}
	if step, ok := strings.CutPrefix(c.indent(key), c.indent(specKey)); ok {
		return step
	}
	return ""
}

// spliceText puts another text in the place of a text.
func (c *conversion) spliceText(job cronJob, s slot, text, zone string) error {
	p, err := c.placeOf(job, s)
	if err != nil {
		return err
	}
	c.replace(p.value, p.end, write(text, p.quotes, p.flow))
	c.insertZone(p, zone)
	return nil
}

// spliceFields puts fields in the place of a text. In a list they are put between braces, so that
// whatever is around it stays where it is.
func (c *conversion) spliceFields(job cronJob, s slot, fields []field, zone string) error {
	p, err := c.placeOf(job, s)
	if err != nil {
		return err
	}
	switch {
	case p.flow || s.isItem():
		c.replace(p.value, p.end, c.flowMapping(p, fields))
	case p.onKeyLine:
		// schedule: "0 9 * * *"  # comment     schedule:  # comment
		//                               ──►      minute: "0"
		//                                        hour: "9"
		c.replace(p.afterColon, p.end, "")
		c.insert(c.lineEnd(p.end), c.newline()+c.blockLines(p, fields))
	default:
		// schedule:  # comment           schedule:  # comment
		//   # comment                      # comment
		//   "0 9 * * *"             ──►    minute: "0"
		//                                  hour: "9"
		c.replace(c.lineStart(p.value), p.end, c.blockLines(p, fields))
	}
	c.insertZone(p, zone)
	return nil
}

// blockLines writes fields one to a line, below their key.
func (c *conversion) blockLines(p place, fields []field) string {
	lines := make([]string, 0, len(fields))
	for _, f := range fields {
		lines = append(lines, p.indent+p.step+f.name+": "+write(f.text, p.quotes, false))
	}
	return strings.Join(lines, c.newline())
}

// flowMapping writes fields between braces, one to a line if the JSON around them is written so.
func (c *conversion) flowMapping(p place, fields []field) string {
	open, comma, end := "{", ","+p.gap, "}"
	if p.onKeyLine && p.step != "" && p.keyQuotes == double {
		inner := c.newline() + p.indent + p.step
		open, comma, end = open+inner, ","+inner, c.newline()+p.indent+end
	}
	members := make([]string, 0, len(fields))
	for _, f := range fields {
		members = append(members, p.member(f.name, f.text))
	}
	return open + strings.Join(members, comma) + end
}

// member writes a key and a value between braces.
func (p place) member(name, text string) string {
	quotes := p.quotes
	if p.keyQuotes == double {
		name, quotes = write(name, double, true), double
	}
	return name + ":" + p.gap + write(text, quotes, true)
}

// insertZone adds timeZone behind the schedule.
func (c *conversion) insertZone(p place, zone string) {
	switch {
	case zone == "":
	case !p.flow:
		c.insert(c.lineEnd(p.end), c.newline()+p.indent+"timeZone: "+write(zone, p.quotes, false))
	case p.step != "" && p.keyQuotes == double:
		c.insert(p.end, ","+c.newline()+p.indent+p.member("timeZone", zone))
	default:
		c.insert(p.end, ","+p.gap+p.member("timeZone", zone))
	}
}

// joinFields puts a text in the place of fields.
func (c *conversion) joinFields(job cronJob, s slot, text string) error {
	p, err := c.placeOf(job, s)
	if err != nil {
		return err
	}
	scalar := write(text, p.quotes, p.flow)
	if s.isItem() || s.value.Style&yaml.FlowStyle != 0 {
		return c.joinFlow(p, s.entry, scalar)
	}
	return c.joinBlock(p, s.entry, scalar)
}

// quotesOf are the quotes of a schedule. Of fields it is none if one of them has none, as those
// that look like numbers have to have some.
func quotesOf(schedule *yaml.Node) quote {
	if schedule.Kind != yaml.MappingNode {
		return quoteOf(schedule)
	}
	for i := 1; i < len(schedule.Content); i += 2 {
		if quoteOf(schedule.Content[i]) == plain {
			return plain
		}
	}
	return quoteOf(schedule.Content[1])
}

// joinFlow replaces fields between braces, or those of an item, by a text. Comments among them go
// above it.
func (c *conversion) joinFlow(p place, e entry, scalar string) error {
	comments, err := c.commentsAround(e, p.value, p.end)
	if err != nil {
		return err
	}
	if len(comments) > 0 && !p.hasAbove {
		return troublef(comments[0].at, "this comment is among the fields of the schedule: move it")
	}
	c.insertAbove(p, comments)
	c.replace(p.value, p.end, scalar)
	return nil
}

// joinBlock puts a text in the place of fields one to a line. Comments among them go above the
// schedule, or behind the text if there is but one, at the end of a line.
//
//	schedule:  # comment                     # the fields' comments
//	  # the fields' comments          ──►    schedule: "0 9 * * *"  # comment
//	  minute: "0"
//	  hour: "9"
func (c *conversion) joinBlock(p place, e entry, scalar string) error {
	p.end = c.endOfFields(p)
	keyLineEnd := c.lineEnd(p.key)
	comments, err := c.commentsAround(e, keyLineEnd, p.end)
	if err != nil {
		return err
	}
	onKey := strings.TrimSpace(string(c.text[p.afterColon:keyLineEnd])) != ""
	tail := ""
	if len(comments) == 1 && !comments[0].ownLine && !onKey {
		at := comments[0].at
		blanks := at - len(strings.TrimRight(string(c.text[:at]), " \t"))
		tail = string(c.text[at-blanks:at]) + comments[0].text
		comments = nil
	}
	c.insertAbove(p, comments)
	c.insert(p.afterColon, " "+scalar+tail)
	c.replace(keyLineEnd, p.end, "")
	return nil
}

// endOfFields is the end of the line of the last field, or of the last comment right below that is
// indented like the fields.
func (c *conversion) endOfFields(p place) int {
	end := c.lineEnd(p.end)
	for at := c.nextLine(end); at < len(c.text); at = c.nextLine(at) {
		text := c.skipBlanks(at)
		if text == len(c.text) || c.text[text] != '#' || text-at <= len(p.indent) {
			break
		}
		end = c.lineEnd(at)
	}
	return end
}

// insertAbove writes comments above the schedule, each on a line.
func (c *conversion) insertAbove(p place, comments []comment) {
	for _, comment := range comments {
		c.insert(c.lineStart(p.key), p.indent+comment.text+c.newline())
	}
}

// commentsAround returns the comments between the keys and values of a mapping.
func (c *conversion) commentsAround(e entry, from, to int) ([]comment, error) {
	var found []comment
	for _, n := range e.value.Content {
		found = append(found, c.comments(from, c.offset(n))...)
		var err error
		if from, err = c.scalarEnd(n); err != nil {
			return nil, err
		}
	}
	return append(found, c.comments(from, to)...), nil
}
