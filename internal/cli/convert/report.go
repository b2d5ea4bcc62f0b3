// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"

	"tutorial.kubebuilder.io/project/internal/cli/env"
)

// report tells what became of the files.
type report struct {
	*command

	// out is the standard output, and last the last byte of the documents that went there; 0 if none did.
	out  *bufio.Writer
	last byte

	files, changed, failed int
}

func newReport(c *command) *report { return &report{command: c, out: bufio.NewWriter(c.Out)} }

// add tells of one file.
func (r *report) add(o outcome) {
	r.files++
	for _, finding := range o.result.Findings {
		fmt.Fprintf(r.ErrOut, "%s:%s\n", o.file.name, finding)
	}
	if o.err != nil {
		fmt.Fprintf(r.ErrOut, "%s: %v\n", o.file.name, o.err)
	}
	switch {
	case o.err != nil || o.result.LeftAlone():
		r.failed++
	case o.changed:
		r.changed++
	}
	r.print(o)
}

// print writes to the standard output what was asked for. Errors of it are kept until the end.
func (r *report) print(o outcome) {
	switch {
	case r.diff:
		_, _ = r.out.WriteString(o.diff)
	case r.check && o.changed:
		_, _ = fmt.Fprintln(r.out, o.file.name)
	case r.inPlace && o.changed && o.err == nil:
		_, _ = fmt.Fprintf(r.out, "%s converted to %s\n", o.file.name, r.to)
	case !r.check && !r.inPlace:
		// Also what has nothing to convert, or could not be: nothing gets lost in a pipe.
		r.join(o.result.Text)
	}
}

// end returns the error that tells the exit code.
func (r *report) end() error {
	if err := r.out.Flush(); err != nil {
		return trouble(fmt.Errorf("writing the output: %w", err))
	}
	switch {
	case r.failed == 1 && r.files == 1:
		return trouble(errors.New("the file was not converted"))
	case r.failed > 0:
		return trouble(fmt.Errorf("%d of %d files were not converted", r.failed, r.files))
	case r.changed > 0 && !r.inPlace && (r.check || r.diff):
		return &env.ExitError{Code: exitChanges}
	}
	return nil
}

// join writes a file behind the others, so that their documents stay apart. A single file is written as it is.
func (r *report) join(text []byte) {
	if r.last != 0 {
		text = bytes.TrimPrefix(text, []byte("\ufeff"))
	}
	if len(text) == 0 {
		return
	}
	if r.last != 0 && r.last != '\n' {
		_ = r.out.WriteByte('\n')
	}
	switch {
	case r.last == 0, bytes.HasPrefix(text, []byte("---")):
	case bytes.HasPrefix(text, []byte("%")): // a directive, which has to follow the end of a document
		_, _ = r.out.WriteString("...\n")
	default:
		_, _ = r.out.WriteString("---\n")
	}
	_, _ = r.out.Write(text)
	r.last = text[len(text)-1]
}
