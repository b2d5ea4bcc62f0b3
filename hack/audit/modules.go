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
	"bytes"
	"cmp"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"

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

	// licences are SPDX identifiers.
	licences []string
}

func (m module) compare(other module) int {
	return cmp.Or(cmp.Compare(m.path, other.path), cmp.Compare(m.version, other.version))
}

func (m module) String() string { return m.path + "@" + m.version }

// readModules returns what the linker wrote into a binary of the modules in it, but not the binary's own.
func readModules(binary string) ([]module, error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, fmt.Errorf("what is linked into %s: %w", binary, err)
	}
	modules := []module{{path: toolchain, version: info.GoVersion}}
	for _, dep := range info.Deps {
		if dep.Replace != nil {
			return nil, fmt.Errorf("%s is linked with %s in the place of %s, of which nothing is known", binary, dep.Replace.Path, dep.Path)
		}
		modules = append(modules, module{path: dep.Path, version: dep.Version, sum: dep.Sum})
	}
	return modules, nil
}

// findLicences fills in the licences of modules: those that the policy says, and of the rest those of which the
// modules' own files have the text.
func findLicences(modules []module, policy *policy) error {
	dirs, err := moduleDirs(modules)
	if err != nil {
		return err
	}
	for i := range modules {
		m := &modules[i]
		if said, ok := policy.Licences.Known[m.path]; ok {
			m.licences = []string{said}
			continue
		}
		if m.licences, err = licencesIn(dirs[m.path]); err != nil {
			return fmt.Errorf("the licences of %s: %w", m, err)
		}
	}
	return nil
}

// moduleDirs returns where Go keeps the source of modules, by path. It asks the go command in the directory that the
// program runs in, which has to be that of the module the binaries are built from, and lets it ask nobody.
func moduleDirs(modules []module) (map[string]string, error) {
	arguments, linked := []string{"list", "-m", "-json"}, map[string]string{}
	for _, m := range modules {
		if m.path != toolchain { // which may come without its files
			arguments, linked[m.path] = append(arguments, m.path), m.version
		}
	}
	command := exec.Command("go", arguments...)
	command.Env = append(os.Environ(), "GOPROXY=off")
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("where the modules are: go list: %w", err)
	}
	dirs := map[string]string{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); decoder.More(); {
		var m struct {
			Path, Version, Dir string
		}
		if err := decoder.Decode(&m); err != nil {
			return nil, fmt.Errorf("the answer of go list: %w", err)
		}
		switch {
		case m.Version != linked[m.Path]:
			return nil, fmt.Errorf("%s@%s is linked, and go.mod has %s: build the binary again", m.Path, linked[m.Path], m.Version)
		case m.Dir == "":
			return nil, fmt.Errorf("the source of %s@%s is not in Go's cache: run go mod download", m.Path, m.Version)
		}
		dirs[m.Path] = m.Dir
	}
	return dirs, nil
}

var (
	licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|copyright|unlicense)([-._].*)?$`)
	sourceFile  = regexp.MustCompile(`\.(go|s|c|h)$`)
)

// leastCoverage is how many percent of a file known licences have to make up: less means that it says more than they.
const leastCoverage = 75

// licencesIn returns the licences whose texts are in a module's directory. A file that is no known licence is
// one called unknown.
func licencesIn(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, entry := range entries {
		if !entry.Type().IsRegular() || !licenceFile.MatchString(entry.Name()) || sourceFile.MatchString(entry.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, entry.Name()))
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
