// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"github.com/google/renameio/v2/maybe"

	"tutorial.kubebuilder.io/project/internal/cli/manifest"
)

// outcome is what became of a file.
type outcome struct {
	file   file
	result manifest.Result

	// changed says that the file has something to convert, and that it can be.
	changed bool

	// diff is what changes, if it was asked for.
	diff string

	// err is why the file was not read or written.
	err error
}

// convertOne reads a file, converts it and writes it, as far as that was asked for.
func (c *command) convertOne(f file, options manifest.Options) outcome {
	o := outcome{file: f, err: f.err}
	if o.err != nil {
		return o
	}
	before, err := c.read(f)
	if err != nil {
		o.err = err
		return o
	}
	o.result = manifest.Convert(before, options)
	o.changed = !bytes.Equal(before, o.result.Text)
	if !o.changed {
		return o
	}
	if c.diff {
		o.diff = unified(f, before, o.result.Text)
	}
	if c.inPlace {
		o.err = replace(f, before, o.result.Text)
	}
	return o
}

// read returns what is in a file.
func (c *command) read(f file) ([]byte, error) {
	if f.isStdin {
		return io.ReadAll(c.In)
	}
	text, err := os.ReadFile(f.path)
	return text, unwrapPath(err)
}

// replace writes a file anew, as a whole or not at all, with the mode that it has.
func replace(f file, before, after []byte) error {
	info, err := os.Stat(f.path)
	if err != nil {
		return unwrapPath(err)
	}
	if !info.Mode().IsRegular() {
		return errors.New("is not a regular file, and not written in place")
	}
	now, err := os.ReadFile(f.path)
	if err != nil {
		return unwrapPath(err)
	}
	if !bytes.Equal(now, before) {
		return errors.New("was changed by somebody else meanwhile, and is not written")
	}
	return maybe.WriteFile(f.path, after, info.Mode().Perm())
}

// unified is the difference as patch -p1 and git apply read it.
func unified(f file, before, after []byte) string {
	name := "stdin"
	if !f.isStdin {
		name = strings.TrimPrefix(filepath.ToSlash(filepath.Clean(f.name)), "/")
	}
	return udiff.Unified(path.Join("a", name), path.Join("b", name), string(before), string(after))
}
