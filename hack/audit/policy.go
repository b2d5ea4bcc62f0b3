// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/mod/semver"
	"sigs.k8s.io/yaml"
)

// policy is what may be linked. policy.yaml describes the fields.
type policy struct {
	Licences struct {
		Allowed []string          `json:"allowed"`
		Known   map[string]string `json:"known"`
	} `json:"licences"`
	AtLeast map[string]string `json:"atLeast"`
}

func readPolicy(file string) (*policy, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	p := &policy{}
	if err := yaml.UnmarshalStrict(text, p); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for path, version := range p.AtLeast {
		if !semver.IsValid(semantic(version)) {
			return nil, fmt.Errorf("%s: atLeast[%s]: %q is not a version", file, path, version)
		}
	}
	return p, nil
}

// findLicences sets the licences of modules: those in the policy, or else those whose texts the
// modules have.
func (p *policy) findLicences(modules []*module) error {
	for _, m := range modules {
		if known, ok := p.Licences.Known[m.path]; ok {
			m.licences = []string{known}
			continue
		}
		var err error
		if m.licences, err = licencesIn(m.root, m.terms); err != nil {
			return fmt.Errorf("the licences of %s: %w", m, err)
		}
	}
	return nil
}

// check returns an error for each violation of the policy.
func (p *policy) check(modules []*module) error {
	var errs []error
	for _, m := range modules {
		if len(m.licences) == 0 {
			errs = append(errs, fmt.Errorf("%s: none of its files is a licence", m))
		}
		for _, licence := range m.licences {
			if !slices.Contains(p.Licences.Allowed, licence) {
				errs = append(errs, fmt.Errorf("%s: its licence, %s, is not allowed", m, licence))
			}
		}
		// A version that is not semantic is older than all others.
		if atLeast := p.AtLeast[m.path]; atLeast != "" && semver.Compare(semantic(m.version), semantic(atLeast)) < 0 {
			errs = append(errs, fmt.Errorf("%s: want at least %s, which fixes a vulnerability", m, atLeast))
		}
	}
	return errors.Join(errs...)
}

// semantic converts a version to a semantic one. The toolchain's is such as go1.26.8, with an
// optional suffix for experiments or of a distribution.
func semantic(version string) string {
	if number, isToolchain := strings.CutPrefix(version, toolchain); isToolchain {
		number, _, _ = strings.Cut(number, " ")
		number, _, _ = strings.Cut(number, "-")
		return "v" + number
	}
	return version
}
