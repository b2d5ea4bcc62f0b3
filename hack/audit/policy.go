// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	goversion "go/version"
	"os"
	"slices"
	"strings"

	"golang.org/x/mod/semver"
	"sigs.k8s.io/yaml"
)

// policy is what may be linked. Its file says what the fields mean.
type policy struct {
	Licences struct {
		Allowed []string          `json:"allowed"`
		Known   map[string]string `json:"known"`
	} `json:"licences"`
	KnownBad []badVersions `json:"knownBad"`
}

// badVersions are those of a module from one version on and before another; of the first all, if Since is empty.
type badVersions struct {
	Module string `json:"module"`
	Since  string `json:"since,omitempty"`
	Fixed  string `json:"fixed"`
	Why    string `json:"why"`
}

// readPolicy reads and checks a policy.
func readPolicy(file string) (*policy, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	p := &policy{}
	if err := yaml.UnmarshalStrict(text, p); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for _, bad := range p.KnownBad {
		valid := isVersion(bad.Module, bad.Fixed) && (bad.Since == "" || isVersion(bad.Module, bad.Since))
		if !valid || bad.Why == "" {
			return nil, fmt.Errorf("%s: knownBad of %q: want a fixed version, since none or a version, and why", file, bad.Module)
		}
	}
	return p, nil
}

// check says what is wrong with modules.
func (p *policy) check(modules []module) []error {
	var problems []error
	for _, m := range modules {
		if len(m.licences) == 0 {
			problems = append(problems, fmt.Errorf("%s: no file of it says what its licence is", m))
		}
		for _, licence := range m.licences {
			if !slices.Contains(p.Licences.Allowed, licence) {
				problems = append(problems, fmt.Errorf("%s: its licence, %s, is not one of those allowed", m, licence))
			}
		}
		for _, bad := range p.KnownBad {
			if bad.has(m) {
				problems = append(problems, fmt.Errorf("%s: known to be bad before %s: %s", m, bad.Fixed, bad.Why))
			}
		}
		if !isVersion(m.path, m.version) {
			problems = append(problems, errors.New(m.String()+": it has no version that can be compared"))
		}
	}
	return problems
}

// has reports whether a module is one of those versions.
func (b badVersions) has(m module) bool {
	return b.Module == m.path && compareVersions(m.path, m.version, b.Fixed) < 0 &&
		(b.Since == "" || compareVersions(m.path, m.version, b.Since) >= 0)
}

// The toolchain's versions are written otherwise than those of modules.

func isVersion(path, version string) bool {
	if path == toolchain {
		return goversion.IsValid(plainGo(version))
	}
	return semver.IsValid(version)
}

func compareVersions(path, a, b string) int {
	if path == toolchain {
		return goversion.Compare(plainGo(a), plainGo(b))
	}
	return semver.Compare(a, b)
}

// plainGo takes off what follows a version: experiments, or a distribution's additions.
func plainGo(version string) string {
	plain, _, _ := strings.Cut(version, " ")
	plain, _, _ = strings.Cut(plain, "-")
	return plain
}

// sorted returns what is in a slice, once each.
func sorted(s []string) []string {
	slices.Sort(s)
	return slices.Compact(s)
}
