// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// Warning is about something valid in a schedule that is probably a mistake.
type Warning struct {
	// Field is the part that it is about, and Value its text; "" if it is about several.
	Field, Value string

	// Reason says what the schedule does, and what to write if that is not meant.
	Reason string
}

// String returns the warning for a schedule that is one text.
func (w Warning) String() string {
	if w.Field == "" {
		return w.Reason
	}
	return inText(w.Field, w.Value) + ": " + w.Reason
}

// Place returns the path that the warning is about, of a schedule at this path, and what to say there.
// If the schedule is in fields, the path ends with the field.
func (w Warning) Place(path string, inFields bool) (at, reason string) {
	if inFields && w.Field != "" {
		return path + "." + w.Field, w.Reason
	}
	return path, w.String()
}

// At returns the warning with its place before it.
func (w Warning) At(path string, inFields bool) string {
	at, reason := w.Place(path, inFields)
	return at + ": " + reason
}

// Warnings returns the warnings about a schedule; none for an invalid one.
func Warnings(text string) []Warning {
	parsed, err := Parse(text, "")
	words := strings.Fields(text)
	if err != nil || len(parsed.expressions) == 0 || len(words) != len(parts) {
		return nil
	}
	var found []Warning
	for i, value := range words {
		if reason := explainStep(i, value); reason != "" {
			found = append(found, Warning{Field: parts[i].name, Value: value, Reason: reason + intervalInstead(i, words)})
		}
	}
	if parsed.expressions[0].EitherDay {
		found = append(found, Warning{Reason: fmt.Sprintf("%s beside %s: a day that matches either of them matches; "+
			"if it has to match both, leave one out and let the Job check it",
			inText(parts[dayOfMonth].name, words[dayOfMonth]), inText(parts[dayOfWeek].name, words[dayOfWeek]))})
	}
	return found
}

// explainStep explains the first step of a field that reaches no second value; "" if there is none.
// A step as long as the range is probably intended: */60 is once an hour.
func explainStep(i int, value string) string {
	for piece := range strings.SplitSeq(value, ",") {
		span, step, _ := strings.Cut(piece, "/")
		length, err := strconv.Atoi(step)
		if err != nil {
			continue
		}
		all, _ := valuesOf(i, "*")
		if length == bits.OnesCount64(all&^star) {
			continue
		}
		stepped, _ := valuesOf(i, piece)
		whole, _ := valuesOf(i, strings.TrimSuffix(piece, "/"+step)+"/1")
		if stepped, whole = stepped&^star, whole&^star; bits.OnesCount64(stepped) != 1 || stepped == whole {
			continue
		}
		return fmt.Sprintf("the step of %s leads beyond %d, so that only %s %d matches",
			shorten(span+"/"+step), bits.Len64(whole)-1, parts[i].words, bits.TrailingZeros64(stepped))
	}
	return ""
}

// intervalInstead suggests an interval for a step of minutes or hours; "" if other fields restrict
// the step, which an interval can't express.
func intervalInstead(i int, words []string) string {
	const most = 1000 // a longer step is surely not an interval
	length, isStep := strings.CutPrefix(words[i], "*/")
	count, err := strconv.Atoi(length)
	minutes, _ := valuesOf(0, words[0])
	isAlone := strings.Join(words[i+1:], "") == strings.Repeat("*", len(words)-i-1)
	if i > 1 || !isStep || err != nil || count > most || !isAlone || i == 1 && bits.OnesCount64(minutes&^star) > 1 {
		return ""
	}
	every := fmt.Sprintf("%d%c", count, "mh"[i])
	return "; for an interval write @every " + every + ", or every: " + every + " in v2"
}
