// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package page writes figures into a page of Markdown that is written by hand otherwise.
package page

import (
	"fmt"
	"os"
	"strings"

	"github.com/google/renameio/v2"
)

// Begin returns the line after which the part of a name begins.
func Begin(name string) string { return "<!-- " + name + ": begin, generated -->" }

// End returns the line before which it ends.
func End(name string) string { return "<!-- " + name + ": end -->" }

// Replace replaces what is between the lines Begin and End of a name by a text. It fails, and
// changes nothing, if the page has not both of them, in this order, once.
func Replace(path, name, text string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	begin, end := Begin(name)+"\n", End(name)+"\n"
	before, rest, hasBegin := strings.Cut(string(content), begin)
	_, after, hasEnd := strings.Cut(rest, end)
	if !hasBegin || !hasEnd || strings.Count(string(content), begin) > 1 || strings.Count(string(content), end) > 1 {
		return fmt.Errorf("%s: want the lines %s and %s, once and in this order", path, Begin(name), End(name))
	}
	return renameio.WriteFile(path, []byte(before+begin+"\n"+text+"\n"+end+after), 0o644)
}
