// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"
)

// toolchain is the path for the Go toolchain, with the standard library. Its versions are those of
// `go version`.
const toolchain = "go"

type module struct {
	path, version string

	// sum is its checksum in go.sum; "" for the toolchain.
	sum string

	// root is the directory of its source. terms has the files there, relative to root, with the
	// terms of the linked packages.
	root  string
	terms []string

	// licences are SPDX identifiers.
	licences []string
}

func (m *module) String() string { return m.path + "@" + m.version }

// linkedModules returns the toolchain and the modules that the linker recorded in a binary, except
// the main module.
func linkedModules(binary string) ([]*module, error) {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return nil, err
	}
	sources, err := findSources(info)
	if err != nil {
		return nil, err
	}
	modules := []*module{{path: toolchain, version: info.GoVersion}}
	for _, dep := range info.Deps {
		if dep.Replace != nil {
			return nil, fmt.Errorf("%s replaces %s: it has no version that can be checked", dep.Replace.Path, dep.Path)
		}
		modules = append(modules, &module{path: dep.Path, version: dep.Version, sum: dep.Sum})
	}
	for _, m := range modules {
		source := sources[m.String()]
		if source == nil {
			return nil, fmt.Errorf("%s is linked, but the source here does not use it: build the binary again", m)
		}
		m.root = source.root
		for _, dir := range source.packages {
			terms, err := termsOf(dir, source.root)
			if err != nil {
				return nil, err
			}
			m.terms = append(m.terms, terms...)
		}
		slices.Sort(m.terms)
		m.terms = slices.Compact(m.terms)
	}
	return modules, nil
}

// source has the directories of a module and of its packages that are in the binary.
type source struct {
	root     string
	packages []string
}

// packageFormat makes go list print the module, its directory, and that of the package. go list
// does not know the version of the toolchain.
const packageFormat = "{{if .Standard}}" + toolchain + "@{{else}}{{.Module.Path}}@{{.Module.Version}}{{end}}\t" +
	"{{if .Standard}}{{.Root}}{{else}}{{.Module.Dir}}{{end}}\t{{.Dir}}"

// findSources returns the sources of the packages in a binary, by module and version, according to
// the module in the working directory.
func findSources(info *debug.BuildInfo) (map[string]*source, error) {
	command := exec.Command("go", "list", "-deps", "-f", packageFormat, info.Path) //nolint:gosec // as the binary says
	command.Env, command.Stderr = append(os.Environ(), "GOPROXY=off"), os.Stderr
	for _, setting := range info.Settings {
		if slices.Contains([]string{"GOOS", "GOARCH", "CGO_ENABLED"}, setting.Key) {
			command.Env = append(command.Env, setting.Key+"="+setting.Value)
		}
	}
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w; go mod download fetches what is missing", err)
	}
	sources := map[string]*source{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if len(fields) != 3 {
			return nil, fmt.Errorf("go list: want a module, its directory and a package's, not %q", line)
		}
		name := fields[0]
		if name == toolchain+"@" {
			name += info.GoVersion
		}
		if sources[name] == nil {
			sources[name] = &source{root: fields[1]}
		}
		sources[name].packages = append(sources[name].packages, fields[2])
	}
	return sources, nil
}
