/*
Copyright 2026 The project authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

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
