// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTheLinesOfAParagraphAreJoinedAndThoseOfAListAreNot(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"nothing":              {"", ""},
		"one line":             {"The hours: 0-23.", "The hours: 0-23."},
		"one paragraph":        {"The schedule: a field for\neach part, or\nan interval.", "The schedule: a field for each part, or an interval."},
		"two paragraphs":       {"The first\none.\n\nThe second\none.", "The first one.\n\nThe second one."},
		"a list":               {"One of:\n- this,\n  or\n* that,\n- \"other\".", "One of:\n- this, or\n* that,\n- \"other\"."},
		"what looks like none": {"From 5\n-7 is\n*all*.", "From 5 -7 is *all*."},
		"text after a list":    {"- this\n\nNo more\nof it.", "- this\n\nNo more of it."},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.want, joinLines(tc.text))
			assert.Equal(t, tc.want, joinLines(tc.want), "again")
		})
	}
}
