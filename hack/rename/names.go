// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"go/scanner"
	"go/token"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"
)

// names has all names of an operator.
type names struct{ module, group, kind, plural, short, project string }

func present() (names, error) {
	var scaffold struct {
		Repo        string `json:"repo"`
		ProjectName string `json:"projectName"`
	}
	var crd apiextensionsv1.CustomResourceDefinition
	paths, err := filepath.Glob("config/crd/bases/*.yaml")
	if err != nil || len(paths) != 1 {
		return names{}, fmt.Errorf("want one CRD in config/crd/bases of the working directory, got %q", paths)
	}
	for path, into := range map[string]any{"PROJECT": &scaffold, paths[0]: &crd} {
		data, err := os.ReadFile(filepath.Clean(path))
		if err == nil {
			err = yaml.Unmarshal(data, into)
		}
		if err != nil {
			return names{}, fmt.Errorf("reading %s: %w", path, err)
		}
	}
	is := crd.Spec.Names
	if len(is.ShortNames) != 1 {
		return names{}, fmt.Errorf("%s: want one short name, got %q", paths[0], is.ShortNames)
	}
	return names{scaffold.Repo, crd.Spec.Group, is.Kind, is.Plural, is.ShortNames[0], scaffold.ProjectName}, nil
}

// label returns the group without its domain. kubebuilder names the folders of the group after it.
func (n names) label() string { return strings.SplitN(n.group, ".", 2)[0] }

func (n names) domain() string { return strings.TrimPrefix(n.group, n.label()+".") }

// kinds returns the plural of the kind for Go identifiers and sentences, such as Policies for
// Policy.
func (n names) kinds() string {
	common := 0
	for common < min(len(n.kind), len(n.plural)) && strings.ToLower(n.kind)[common] == n.plural[common] {
		common++
	}
	return n.kind[:common] + n.plural[common:]
}

var isModule = regexp.MustCompile(`^[a-z0-9-]+(\.[a-z0-9-]+)+(/[A-Za-z0-9._-]+)*$`).MatchString

var isKind = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`).MatchString

func (n names) validate() error {
	var errs []error
	check := func(isWrong bool, name, value, want string) {
		if isWrong {
			errs = append(errs, fmt.Errorf("-%s %q: want %s", name, value, want))
		}
	}
	isLabel := func(s string) bool { return len(validation.IsDNS1035Label(s)) == 0 }
	check(!isModule(n.module), "module", n.module, "the path of a Go module, as example.com/backup-operator")
	check(len(validation.IsDNS1123Subdomain(n.group)) > 0 || !strings.Contains(n.domain(), ".") || !isName(n.label()),
		"group", n.group, "a word that can name a Go package and a domain, as ops.example.com")
	check(n.label() == lowerFirst(n.kind) || n.label() == lowerFirst(n.kinds()),
		"group", n.group, "a group that begins with another word than the kind: packages get this name, and variables the kind's")
	check(!isKind(n.kind) || !isName(lowerFirst(n.kind)),
		"kind", n.kind, "a word with a capital, as Backup, that is no word of Go in lower case")
	check(!isLabel(n.plural) || strings.EqualFold(n.plural, n.kind) || n.plural[0] != strings.ToLower(n.kind + "-")[0],
		"plural", n.plural, "the plural of the kind in lower case, as backups, other than the singular")
	check(!isLabel(n.short), "short", n.short, "a short name in lower case, as bk")
	check(!isLabel(n.project) || len(n.project) > 27,
		"project", n.project, "up to 27 letters, digits and hyphens in lower case, as backup-operator")
	return errors.Join(errs...)
}

// isName reports whether a name is valid for a Go package or variable.
func isName(s string) bool { return token.IsIdentifier(s) && types.Universe.Lookup(s) == nil }

func lowerFirst(s string) string {
	first := min(1, len(s))
	return strings.ToLower(s[:first]) + s[first:]
}

// isFree returns an error if Go code has identifiers that would collide with the new names.
func (n names) isFree(old names, files []string) error {
	taken := map[string]string{}
	if n.kind != old.kind {
		for _, name := range []string{n.kind, n.kinds(), n.kind + "List", n.kind + "Spec", n.kind + "Status", n.kind + "Reconciler"} {
			taken[name] = "-kind " + n.kind
		}
	}
	if n.label() != old.label() {
		taken[n.label()] = "-group " + n.group
	}
	for _, name := range files {
		if path.Ext(name) != ".go" || isOwn(name) {
			continue
		}
		source, err := os.ReadFile(filepath.Clean(name))
		if err != nil {
			return err
		}
		fset := token.NewFileSet()
		var s scanner.Scanner
		s.Init(fset.AddFile(name, -1, len(source)), source, nil, 0)
		for pos, tok, text := s.Scan(); tok != token.EOF; pos, tok, text = s.Scan() {
			if by := taken[text]; tok == token.IDENT && by != "" {
				return fmt.Errorf("%s: %s is the name of something else at %s: choose another", by, text, fset.Position(pos))
			}
		}
	}
	return nil
}
