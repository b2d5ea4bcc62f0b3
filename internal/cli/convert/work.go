// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"github.com/google/renameio/v2/maybe"

	"tutorial.kubebuilder.io/project/apis/batch"
	"tutorial.kubebuilder.io/project/internal/cli/env"
	"tutorial.kubebuilder.io/project/internal/cli/files"
	"tutorial.kubebuilder.io/project/internal/cli/manifest"
)

type outcome struct {
	file   files.File
	before []byte
	result result

	err error
}

func (o outcome) changed() bool { return !bytes.Equal(o.before, o.result.text) }

func (c *command) convertOne(ctx context.Context, f files.File) outcome {
	before, err := f.Read(c.In)
	if err != nil {
		return outcome{file: f, err: err}
	}
	to := path.Join(path.Dir(batch.Versions.Hub.APIVersion), c.to)
	o := outcome{file: f, before: before}
	o.result = convertFile(ctx, before, c.checker, options{fromBuiltIn: c.from != "", to: to, check: c.onlyCheck})
	if c.inPlace && o.changed() {
		o.err = replace(f, o.result.text)
	}
	return o
}

// replace replaces a file atomically, and keeps its mode.
func replace(f files.File, text []byte) error {
	info, err := os.Stat(f.Path)
	if err != nil {
		return files.UnwrapPath(err)
	}
	if !info.Mode().IsRegular() {
		return errors.New("is not a regular file, and not written in place")
	}
	return maybe.WriteFile(f.Path, text, info.Mode().Perm())
}

// diff returns the changes as a unified diff for patch -p1 and git apply.
func (o outcome) diff() string {
	name := "stdin"
	if o.file.Path != files.Stdin {
		name = strings.TrimPrefix(filepath.ToSlash(filepath.Clean(o.file.Name)), "/")
	}
	return udiff.Unified(path.Join("a", name), path.Join("b", name), string(o.before), string(o.result.text))
}

type report struct {
	*command

	// out writes to the standard output, and last is the last byte that join wrote; 0 for none.
	out  *bufio.Writer
	last byte

	files, changed, failed int

	// ours and builtIn count the CronJobs, and converted those of them that were converted.
	ours, builtIn, converted int
}

func newReport(c *command) *report { return &report{command: c, out: bufio.NewWriter(c.Out)} }

func (r *report) add(o outcome) {
	r.files++
	r.ours, r.builtIn, r.converted = r.ours+o.result.ours, r.builtIn+o.result.builtIn, r.converted+o.result.converted
	for _, finding := range o.result.findings {
		fmt.Fprintf(r.ErrOut, "%s:%s\n", o.file.Name, finding.String())
	}
	if o.err != nil {
		fmt.Fprintf(r.ErrOut, "%s: %v\n", o.file.Name, o.err)
	}
	switch {
	case o.err != nil || o.result.leftAlone():
		r.failed++
	case o.changed():
		r.changed++
	}
	r.print(o)
}

// print prints the result for a file. end returns an error of out.
func (r *report) print(o outcome) {
	switch {
	case r.diff:
		_, _ = r.out.WriteString(o.diff())
	case r.onlyCheck && o.changed():
		_, _ = fmt.Fprintln(r.out, o.file.Name)
	case r.inPlace && o.changed() && o.err == nil:
		_, _ = fmt.Fprintf(r.out, "%s converted to %s\n", o.file.Name, r.to)
	case !r.onlyCheck && !r.inPlace:
		// Files without changes or with errors too: a pipe must not lose any.
		r.join(o.result.text)
	}
}

// end prints the counts, and returns the error with the exit code.
func (r *report) end() error {
	if err := r.out.Flush(); err != nil {
		return files.Failure(fmt.Errorf("writing the output: %w", err))
	}
	hint := ""
	if r.from == "" && r.builtIn > 0 {
		hint = fmt.Sprintf(", of batch/v1 (see --from): %d", r.builtIn)
	}
	fmt.Fprintf(r.ErrOut, "CronJobs to convert: %d; left alone: %d%s; files: %d\n", r.converted, r.ours+r.builtIn-r.converted, hint, r.files)
	switch {
	case r.failed == 1 && r.files == 1:
		return files.Failure(errors.New("the file was not converted"))
	case r.failed > 0:
		return files.Failure(fmt.Errorf("%d of %d files were not converted", r.failed, r.files))
	case r.changed > 0 && !r.inPlace && (r.onlyCheck || r.diff):
		return &env.ExitError{Code: exitChanges}
	}
	return nil
}

// join prints a file after the others, with a document marker between them.
func (r *report) join(text []byte) {
	if r.last != 0 {
		text = bytes.TrimPrefix(text, manifest.ByteOrderMark)
	}
	if len(text) == 0 {
		return
	}
	if r.last != 0 && r.last != '\n' {
		_ = r.out.WriteByte('\n')
	}
	switch {
	case r.last == 0, bytes.HasPrefix(text, []byte("---")):
	case bytes.HasPrefix(text, []byte("%")): // a directive must follow the end of a document
		_, _ = r.out.WriteString("...\n")
	default:
		_, _ = r.out.WriteString("---\n")
	}
	_, _ = r.out.Write(text)
	r.last = text[len(text)-1]
}
