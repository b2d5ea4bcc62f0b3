// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package shorten limits texts that come from users, in messages and log lines.
package shorten

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Text cuts a text that is longer than limit, in bytes, and appends how long it was.
func Text(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	end := fmt.Sprintf("… (%d bytes)", len(text))
	cut := max(limit-len(end), 0)
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return strings.Clone(text[:cut]) + end
}
