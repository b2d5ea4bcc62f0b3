// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// writeTerms writes the terms of a binary's own module to a new directory, and those of the modules that are
// linked into it below their paths, as each licence asks of whoever gives the binary away.
func writeTerms(dir string, modules []module) error {
	own, err := termsIn(".")
	if err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil { //nolint:gosec // for all to read
		return err
	}
	for _, m := range append([]module{{root: ".", terms: own}}, modules...) {
		if len(m.terms) == 0 {
			return fmt.Errorf("%s: there is no file with its terms in %s", m, m.root)
		}
		for _, name := range m.terms {
			if err := copyFile(filepath.Join(dir, m.path, name), filepath.Join(m.root, name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// copyFile copies a file, and makes the directories that it needs.
func copyFile(to, from string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil { //nolint:gosec // for all to read
		return err
	}
	return os.WriteFile(to, text, 0o644) //nolint:gosec // for all to read
}
