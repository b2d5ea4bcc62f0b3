// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
)

// source is where the linked packages of a module are.
type source struct {
	version  string
	root     string
	packages []string // directories, each root or below it
}

func (s *source) String() string {
	if s == nil {
		return "none"
	}
	return s.version
}

// findSources returns the sources of the packages in a binary, by the path of their module. It asks the go
// command in the directory that the program runs in, which has to be that of the module the binary is built
// from, and lets it ask nobody.
func findSources(info *debug.BuildInfo) (map[string]*source, error) {
	arguments := []string{"list", "-deps", "-json=Dir,Root,Standard,Module"}
	environment := append(os.Environ(), "GOPROXY=off")
	for _, setting := range info.Settings {
		switch setting.Key {
		case "GOOS", "GOARCH", "CGO_ENABLED":
			environment = append(environment, setting.Key+"="+setting.Value)
		case "-tags":
			arguments = append(arguments, "-tags="+setting.Value)
		}
	}
	command := exec.Command("go", append(arguments, info.Path)...) //nolint:gosec // what the binary says of itself
	command.Env, command.Stderr = environment, os.Stderr
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("where its packages are: go list: %w; go mod download fetches what is missing", err)
	}
	sources := map[string]*source{}
	for decoder := json.NewDecoder(bytes.NewReader(out)); decoder.More(); {
		p := listedPackage{}
		if err := decoder.Decode(&p); err != nil {
			return nil, fmt.Errorf("the answer of go list: %w", err)
		}
		path, found := p.module(info.GoVersion)
		if sources[path] == nil {
			sources[path] = &found
		}
		sources[path].packages = append(sources[path].packages, p.Dir)
	}
	return sources, nil
}

// listedPackage is what go list says of a package.
type listedPackage struct {
	Dir, Root string
	Standard  bool
	Module    struct{ Path, Version, Dir string }
}

// module returns the path and the source of a package's module. The standard library comes with a toolchain,
// the version of which go list does not say.
func (p *listedPackage) module(goVersion string) (string, source) {
	if p.Standard {
		return toolchain, source{version: goVersion, root: p.Root}
	}
	return p.Module.Path, source{version: p.Module.Version, root: p.Module.Dir}
}

// terms returns the files with the terms of a module's packages, relative to its root: those in the
// directories of the packages and in the directories above them. Code that was copied into a module often
// has terms of its own beside it.
func (s *source) terms() ([]string, error) {
	seen := map[string]bool{}
	var found []string
	for _, dir := range s.packages {
		for ; !seen[dir]; dir = filepath.Dir(dir) {
			seen[dir] = true
			here, err := termsIn(dir)
			if err != nil {
				return nil, err
			}
			for _, name := range here {
				file, err := filepath.Rel(s.root, filepath.Join(dir, name))
				if err != nil {
					return nil, err
				}
				found = append(found, file)
			}
			if dir == s.root {
				break
			}
		}
	}
	return sorted(found), nil
}

// termsIn returns the names of the files in a directory with licences, notices and grants of patents.
func termsIn(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var found []string
	for _, entry := range entries {
		name := entry.Name()
		if entry.Type().IsRegular() && !sourceFile.MatchString(name) && (licenceFile.MatchString(name) || noticeFile.MatchString(name)) {
			found = append(found, name)
		}
	}
	return found, nil
}
