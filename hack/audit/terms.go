// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/google/licensecheck"
)

var (
	licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|copyright|unlicense)([-._].*)?$`)
	noticeFile  = regexp.MustCompile(`(?i)^(notice|patents)([-._].*)?$`)
	sourceFile  = regexp.MustCompile(`\.(go|s|c|h)$`)
)

// minCoverage is the minimum percentage of a file that known licences make up. A file with less has
// further terms.
const minCoverage = 75

// termsOf returns the files with licences, notices and patent grants in a directory and its parents
// up to root, relative to root. Code that was copied into a module often has its own terms beside
// it.
func termsOf(dir, root string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	relative, err := filepath.Rel(root, dir)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, entry := range entries {
		name := entry.Name()
		if entry.Type().IsRegular() && !sourceFile.MatchString(name) && (licenceFile.MatchString(name) || noticeFile.MatchString(name)) {
			found = append(found, filepath.Join(relative, name))
		}
	}
	if relative == "." {
		return found, nil
	}
	above, err := termsOf(filepath.Dir(dir), root)
	return append(found, above...), err
}

// licencesIn returns the licences whose texts are in some files. A file without a known licence is
// "unknown". Notices and patent grants do not count.
func licencesIn(root string, files []string) ([]string, error) {
	var found []string
	for _, file := range files {
		if noticeFile.MatchString(filepath.Base(file)) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			return nil, err
		}
		coverage := licensecheck.Scan(text)
		if coverage.Percent < minCoverage {
			found = append(found, "unknown")
		}
		for _, match := range coverage.Match {
			found = append(found, match.ID)
		}
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}

// copyTerms copies the terms of the main module to a new directory, and those of the linked modules
// to paths below it, as their licences require for the distribution of the binary.
func copyTerms(dir string, modules []*module) error {
	own, err := termsOf(".", ".")
	if err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil { //nolint:gosec // for all to read
		return err
	}
	for _, m := range append([]*module{{root: ".", terms: own}}, modules...) {
		if len(m.terms) == 0 {
			return fmt.Errorf("%s: there is no file with its terms in %s", m, m.root)
		}
		for _, file := range m.terms {
			text, err := os.ReadFile(filepath.Join(m.root, file))
			if err != nil {
				return err
			}
			target := filepath.Join(dir, m.path, file)
			if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil { //nolint:gosec // for all to read
				return err
			}
			if err := os.WriteFile(target, text, 0o644); err != nil { //nolint:gosec // for all to read
				return err
			}
		}
	}
	return nil
}
