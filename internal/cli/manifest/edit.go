// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"cmp"
	"slices"
)

// edit replaces the text between two offsets.
type edit struct {
	from, to int
	text     string
}

// edits are made to one text, all by its offsets before any of them.
type edits []edit

// replace adds an edit.
func (e *edits) replace(from, to int, text string) { *e = append(*e, edit{from, to, text}) }

// insert adds an edit that takes nothing away.
func (e *edits) insert(at int, text string) { e.replace(at, at, text) }

// apply returns the text edited. Insertions at the same place stay in their order.
func (e edits) apply(text []byte) ([]byte, error) {
	slices.SortStableFunc(e, func(a, b edit) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	var edited []byte
	at := 0
	for _, edit := range e {
		if edit.from < at || edit.to < edit.from || edit.to > len(text) {
			return nil, troublef(min(edit.from, len(text)), "two changes meet here")
		}
		edited = append(append(edited, text[at:edit.from]...), edit.text...)
		at = edit.to
	}
	return append(edited, text[at:]...), nil
}
