// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package shorten

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
)

func TestAShortenedTextIsText(t *testing.T) {
	for most := range 40 {
		got := Text(strings.Repeat("€", 100), most)
		assert.True(t, utf8.ValidString(got))
		assert.LessOrEqual(t, len(got), max(most, len("… (300 bytes)")))
	}
	assert.Equal(t, "as it is", Text("as it is", 8))
}
