// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// isOwn reports whether a file belongs to this program or its test. They keep the built-in kind and
// the old names.
func isOwn(name string) bool {
	return strings.HasPrefix(name, "hack/rename/") || strings.HasPrefix(name, "test/rename/")
}

// kept matches what is never renamed: the built-in CronJob, the book's tutorial, the manual of
// PROJECT. They come before the kind, which they contain.
const kept = `batchv1\.CronJob\w*|SchemeGroupVersion\.WithKind\("CronJob"\)` +
	`|[Bb]uilt-in(?: batch/v1)? CronJobs?\b|built-in-cronjob` +
	`|CronJobs? of (?:<code>|` + "`" + `)?batch/v1|CronJobs? \(batch/v1\)|batch/v1 CronJobs?` +
	`|"?apiVersion"?: ?"?batch/v1"?(?:\\n|[,\s]\s*)"?kind"?: ?"?CronJob|groups=batch,resources=cronjobs|batch/cronjobs` +
	`|cronjobs?\.batch\b|create cronjob\b|cronjob\.kubernetes\.io|multiversion-tutorial|project-config\.html`

// replacer replaces names. Each rule matches one of the names with its surroundings.
type replacer struct {
	rules *regexp.Regexp // a group for each name
	with  []string       // the replacement for each group
}

func newReplacer(old, to names) replacer {
	var rules []string
	var r replacer
	rule := func(before, old, after, replacement string) {
		rules, r.with = append(rules, before+"("+regexp.QuoteMeta(old)+")"+after), append(r.with, replacement)
	}
	lower := strings.ToLower
	dashed := func(s string) string { return strings.ReplaceAll(s, ".", "-") }
	tag := func(n names) string { return strings.SplitN(n.domain(), ".", 2)[0] }

	rule("", old.module, "", to.module)
	rule("", lower(old.kind)+"."+old.group, "", lower(to.kind)+"."+to.group)
	rule("", old.plural+"."+old.group, "", to.plural+"."+to.group)
	rule("", old.group, "", to.group)
	rule("", regexp.QuoteMeta(old.group), "", regexp.QuoteMeta(to.group))
	rule("", dashed(old.group), "", dashed(to.group))
	rule("", old.domain(), "", to.domain())
	rules = append(rules, kept)
	// The names of the domain and the group on their own.
	rule("kube_", tag(old), "_", strings.ReplaceAll(tag(to), "-", "_"))
	rule(`["/]`, tag(old), "-", tag(to))
	rule(`(?:apis|controllers|webhook)/`, old.label(), `\b`, to.label())
	rule(`(?:[Pp]ackage |group: )`, old.label(), `\b`, to.label())
	rule(`\b`, old.label(), `_[v{"]`, to.label())
	rule(`\b`, old.label(), `\.[A-Z]`, to.label())
	// The kind, also within identifiers.
	rule("", old.kinds(), "", to.kinds())
	rule("", old.kind, "", to.kind)
	rule("", lowerFirst(old.kinds()), "", lowerFirst(to.kinds()))
	rule("", lowerFirst(old.kind), "", lowerFirst(to.kind))
	rule("", old.plural, "", to.plural)
	rule("", lower(old.kind), "", lower(to.kind))
	rule("", strings.ToUpper(old.kind), "", strings.ToUpper(to.kind))
	rule(`\b`, old.short, `\b`, to.short)
	// The name of the project, which is also a common word.
	rule(`\b`, old.project, "-", to.project)
	rule(`(?:[nN]ame: |job: |(?:install|upgrade) )`, old.project, `\b`, to.project)
	rule("[\"'`-]", old.project, `["'\\.`+"`]", to.project)

	r.rules = regexp.MustCompile(strings.Join(rules, "|"))
	return r
}

func (r replacer) replace(text string) string {
	var b strings.Builder
	end := 0
	for _, match := range r.rules.FindAllStringSubmatchIndex(text, -1) {
		for i, by := range r.with {
			if from, to := match[2*i+2], match[2*i+3]; from >= 0 {
				b.WriteString(text[end:from] + by)
				end = to
			}
		}
	}
	return b.String() + text[end:]
}

func tracked() ([]string, error) {
	out, err := exec.Command("git", "ls-files", "-z").Output()
	if err != nil {
		return nil, fmt.Errorf("listing the files with git: %w", err)
	}
	return strings.FieldsFunc(string(out), func(r rune) bool { return r == 0 }), nil
}

func (r replacer) apply(files []string) error {
	for _, name := range files {
		if isOwn(name) || path.Base(name) == "go.sum" || name == "CHANGELOG.md" {
			continue
		}
		if err := r.file(name); err != nil {
			return fmt.Errorf("renaming in %s: %w", name, err)
		}
	}
	return nil
}

func (r replacer) file(name string) error {
	info, err := os.Lstat(name)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(filepath.Clean(name))
	if err != nil {
		return err
	}
	isText, renamed := !bytes.ContainsRune(data, 0), r.replace(name)
	if isText {
		data = []byte(r.replace(string(data)))
		if path.Ext(name) == ".go" {
			if data, err = format.Source(data); err != nil {
				return err
			}
		}
	}
	if err := os.MkdirAll(filepath.Dir(renamed), 0o750); err != nil {
		return err
	}
	if renamed != name {
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	return os.WriteFile(renamed, data, info.Mode().Perm())
}
