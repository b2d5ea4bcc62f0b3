// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"debug/buildinfo"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"

	"github.com/google/licensecheck"
)

// toolchain is what the Go toolchain, and with it the standard library, goes by; its versions are those of
// `go version`.
const toolchain = "go"

// module is something linked into a binary.
type module struct {
	path, version string

	// sum is its checksum in go.sum; the toolchain has none.
	sum string

	// root is the directory of its source, and terms are the files in it, relative to root, with the
	// terms under which the linked packages may be used.
	root  string
	terms []string

	// licences are SPDX identifiers.
	licences []string
}

func (m module) compare(other module) int {
	return cmp.Or(cmp.Compare(m.path, other.path), cmp.Compare(m.version, other.version))
}

func (m module) String() string { return m.path + "@" + m.version }

// readAllModules returns the modules that are linked into any of several binaries, once each.
func readAllModules(binaries []string) ([]module, error) {
	var all []module
	for _, binary := range binaries {
		modules, err := readModules(binary)
		if err != nil {
			return nil, fmt.Errorf("what is linked into %s: %w", binary, err)
		}
		for _, m := range modules {
			if i := slices.IndexFunc(all, func(other module) bool { return m.compare(other) == 0 }); i >= 0 {
				all[i].terms = sorted(slices.Concat(all[i].terms, m.terms))
			} else {
				all = append(all, m)
			}
		}
	}
	slices.SortFunc(all, module.compare)
	return all, nil
}

// readModules returns what the linker wrote into a binary of the modules in it, but not the binary's own,
// and the terms that their source has.
func readModules(binary string) ([]module, error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	sources, err := findSources(info)
	if err != nil {
		return nil, err
	}
	linked := append([]*debug.Module{{Path: toolchain, Version: info.GoVersion}}, info.Deps...)
	modules := make([]module, 0, len(linked))
	for _, dep := range linked {
		if dep.Replace != nil {
			return nil, fmt.Errorf("%s is linked in the place of %s, and nothing is known of it", dep.Replace.Path, dep.Path)
		}
		found := sources[dep.Path]
		if found == nil || found.version != dep.Version {
			return nil, fmt.Errorf("%s@%s is linked, and the source here uses %s: build the binary again", dep.Path, dep.Version, found)
		}
		terms, err := found.terms()
		if err != nil {
			return nil, err
		}
		modules = append(modules, module{path: dep.Path, version: dep.Version, sum: dep.Sum, root: found.root, terms: terms})
	}
	return modules, nil
}

// findLicences fills in the licences of modules: those that the policy says, and of the rest those of which the
// modules' own files have the text.
func findLicences(modules []module, policy *policy) error {
	for i := range modules {
		m := &modules[i]
		if said, ok := policy.Licences.Known[m.path]; ok {
			m.licences = []string{said}
			continue
		}
		var err error
		if m.licences, err = licencesIn(m.root, m.terms); err != nil {
			return fmt.Errorf("the licences of %s: %w", m, err)
		}
	}
	return nil
}

var (
	licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|copyright|unlicense)([-._].*)?$`)
	noticeFile  = regexp.MustCompile(`(?i)^(notice|patents)([-._].*)?$`)
	sourceFile  = regexp.MustCompile(`\.(go|s|c|h)$`)
)

// leastCoverage is how many percent of a file known licences have to make up: less means that it says more than they.
const leastCoverage = 75

// licencesIn returns the licences whose texts are in some of a module's files. A file that is no known
// licence is one called unknown; notices and grants of patents are none.
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
		if coverage.Percent < leastCoverage {
			found = append(found, "unknown")
		}
		for _, match := range coverage.Match {
			found = append(found, match.ID)
		}
	}
	return sorted(found), nil
}
