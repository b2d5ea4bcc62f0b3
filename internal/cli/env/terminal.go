// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"cmp"
	"os"

	"golang.org/x/term"
)

// Source is what In reads from.
type Source int

const (
	// Program is a program that runs the command, such as ui. It has asked its user itself.
	Program Source = iota

	// Pipe is a pipe or a file, which can't answer.
	Pipe

	// Terminal is a terminal, whose user can answer.
	Terminal
)

// SourceOf returns the source of an input.
func SourceOf(in *os.File) Source {
	if term.IsTerminal(int(in.Fd())) {
		return Terminal
	}
	return Pipe
}

// defaultColumns is the width of a terminal whose width is unknown.
const defaultColumns = 80

// ColumnsOf returns the width of a terminal; 0 for any other file.
func ColumnsOf(out *os.File) int {
	if !term.IsTerminal(int(out.Fd())) {
		return 0
	}
	width, _, _ := term.GetSize(int(out.Fd())) // 0 after an error
	return cmp.Or(width, defaultColumns)
}
