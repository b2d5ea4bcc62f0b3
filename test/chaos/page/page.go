// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package page writes figures into a page of Markdown that is written by hand otherwise.
package page

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/google/renameio/v2"
)

// Begin returns the line after which the part of a name begins.
func Begin(name string) string { return "<!-- " + name + ": begin, generated -->" }

// End returns the line before which it ends.
func End(name string) string { return "<!-- " + name + ": end -->" }

// Replace replaces what is between the lines Begin and End of a name by what write writes. It
// fails, and changes nothing, if the page has not both of them, in this order, once.
func Replace(path, name string, write func(w io.Writer) error) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	begin, end := []byte(Begin(name)+"\n"), []byte(End(name)+"\n")
	before, rest, hasBegin := bytes.Cut(content, begin)
	_, after, hasEnd := bytes.Cut(rest, end)
	if !hasBegin || !hasEnd || bytes.Count(content, begin) > 1 || bytes.Count(content, end) > 1 {
		return fmt.Errorf("%s: want the lines %s and %s, once and in this order", path, Begin(name), End(name))
	}
	var page bytes.Buffer
	page.Write(before)
	page.Write(begin)
	page.WriteByte('\n')
	if err := write(&page); err != nil {
		return err
	}
	page.WriteByte('\n')
	page.Write(end)
	page.Write(after)
	return renameio.WriteFile(path, page.Bytes(), 0o644)
}
