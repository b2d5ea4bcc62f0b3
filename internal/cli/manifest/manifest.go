// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package manifest converts the CronJobs in the text of manifests from one version to the other,
// and built-in ones to ours. It changes the bytes that have to change and no others: positions come
// from the YAML parser, and the text is spliced there rather than written anew. Of the test
// manifests of one document, before any edit, go.yaml.in/yaml/v3 writes a third anew as they were,
// and goccy/go-yaml, which keeps a syntax tree for that, two thirds.
//
// A file goes through four steps:
//
//	split    into documents; those that do not name our group are not even parsed
//	find     the CronJobs in a document, in lists too
//	splice   apiVersion and schedule, as edits of the text
//	verify   that what the new text says is what the typed conversion makes of the old one
//
// What can't be done safely is trouble: the file stays as it is, and a finding says where and why.
// The package reads and writes no files: bytes in, bytes and findings out.
package manifest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// builtInAPIVersion is the apiVersion of Kubernetes' own CronJobs.
const builtInAPIVersion = "batch/v1"

// Version is a version of our API.
type Version string

const (
	// V1 has the schedule as a text.
	V1 Version = "v1"

	// V2 has the schedule in fields.
	V2 Version = "v2"
)

// apiVersion is the version with its group, as manifests have it.
func (v Version) apiVersion() string { return v1.GroupVersion.Group + "/" + string(v) }

// other is the version that is not this one.
func (v Version) other() Version {
	if v == V1 {
		return V2
	}
	return V1
}

// Options say what is converted to what.
type Options struct {
	// BuiltIn has the CronJobs of batch/v1 converted, Kubernetes' own, instead of ours. All others
	// are left as they are.
	BuiltIn bool

	// To is the version that they are converted to.
	To Version

	// Check says that a schedule that the API server would refuse is trouble in CronJobs that are
	// of that version already, too.
	Check bool
}

// Finding is a message to the user about a file.
type Finding struct {
	// Line is where, counted from 1.
	Line int

	// Trouble says that the file is left alone for this. Otherwise it is merely worth knowing.
	Trouble bool

	// Message says what.
	Message string
}

// String is the finding as compilers write theirs, to follow the name of the file.
func (f Finding) String() string {
	if f.Trouble {
		return fmt.Sprintf("%d: left alone: %s", f.Line, f.Message)
	}
	return fmt.Sprintf("%d: note: %s", f.Line, f.Message)
}

// Result is what became of a file.
type Result struct {
	// Text is the file converted: the same bytes as before where there was nothing to convert or
	// where there is trouble.
	Text []byte

	// Converted is how many CronJobs were converted.
	Converted int

	// Findings are in the order of their lines.
	Findings []Finding
}

// LeftAlone reports whether the file was left as it is because of trouble.
func (r Result) LeftAlone() bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Trouble })
}

// Convert converts the CronJobs in a file of YAML or JSON documents. It never fails: a file that
// can't be converted safely comes back as it is, with findings that say why.
func Convert(text []byte, options Options) Result {
	if !options.mayConcern(text) {
		return Result{Text: text, Findings: findUTF16(text, options.mayConcern)}
	}
	result := Result{Text: make([]byte, 0, len(text)+len(text)/4)}
	for _, p := range split(text) {
		converted, count, findings := convertPart(p, options)
		for _, f := range findings {
			result.Findings = append(result.Findings, p.finding(text, f))
		}
		result.Converted += count
		result.Text = append(append(result.Text, p.head...), converted...)
	}
	slices.SortStableFunc(result.Findings, func(a, b Finding) int { return cmp.Compare(a.Line, b.Line) })
	if result.LeftAlone() {
		result.Text, result.Converted = text, 0
		// What would be worth knowing about a conversion does not matter without it.
		result.Findings = slices.DeleteFunc(result.Findings, func(f Finding) bool { return !f.Trouble })
	}
	return result
}

// mayConcern reports whether a text may have CronJobs to convert. It is a quick look, which makes
// going through many files fast.
func (o Options) mayConcern(text []byte) bool {
	if o.BuiltIn {
		return bytes.Contains(text, []byte("batch")) && bytes.Contains(text, []byte("CronJob"))
	}
	return namesOurs(text)
}

// namesOurs reports whether a text may have CronJobs of ours.
func namesOurs(text []byte) bool { return bytes.Contains(text, []byte(v1.GroupVersion.Group)) }

// findUTF16 finds a manifest that is written in UTF-16, as PowerShell does.
func findUTF16(text []byte, mayConcern func([]byte) bool) []Finding {
	if !bytes.HasPrefix(text, []byte("\xff\xfe")) && !bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return nil
	}
	if !mayConcern(bytes.ReplaceAll(text, []byte{0}, nil)) {
		return nil
	}
	return []Finding{{Line: 1, Trouble: true, Message: "the file is UTF-16: save it as UTF-8"}}
}

// remark is a finding by its offset in a document.
type remark struct {
	at      int
	trouble bool
	message string
}

// remarkOf returns the trouble that an error is, which is at the start if the error does not say.
func remarkOf(err error) remark {
	r := remark{trouble: true, message: err.Error()}
	errors.As(err, &r)
	return r
}

// Error is what leaves a file alone, if the remark is trouble.
func (r remark) Error() string { return r.message }

// troublef makes trouble at an offset of the document.
func troublef(at int, format string, args ...any) error {
	return remark{at: at, trouble: true, message: fmt.Sprintf(format, args...)}
}
