// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package manifest reads the CronJobs in the text of manifests, says where their fields are, and
// changes them where they are. It knows no field of a CronJob, and of its versions only the names.
//
// A change replaces the lines of the members that change, and no other byte: positions come from
// the YAML parser's nodes. Of the test manifests of one document, before any edit,
// go.yaml.in/yaml/v3 writes a third anew as they were, and goccy/go-yaml, which keeps a syntax tree
// for that, two thirds; sigs.k8s.io/kustomize/kyaml indents anew and drops blank lines. A text that
// is changed is read again, and has to say what was wanted.
//
// The package reads and writes no files: bytes in, bytes and findings out.
package manifest

import (
	"bytes"
	"errors"
	"fmt"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// Version is a version of our API, such as v1.
type Version string

// Finding is a message about a line of a file.
type Finding struct {
	// Line is counted from 1.
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

// Error is what leaves a file alone, if the finding is trouble.
func (f Finding) Error() string { return f.Message }

// Objects returns the CronJobs of ours in a file of YAML or JSON documents, in their order, and
// what can't be read.
func Objects(text []byte) ([]Object, []Finding) {
	if finding, ok := FindUTF16(text); ok {
		return nil, []Finding{finding}
	}
	var objects []Object
	var findings []Finding
	for _, d := range Split(text) {
		found, err := d.ours()
		if finding := (Finding{}); errors.As(err, &finding) {
			findings = append(findings, finding)
		}
		objects = append(objects, found...)
	}
	return objects, findings
}

// ours returns the CronJobs of ours in a document. Each says itself of which version it is.
func (d *Document) ours() ([]Object, error) {
	if !bytes.Contains(d.Text, []byte(v1.GroupVersion.Group)) {
		return nil, nil
	}
	var found []Object
	err := d.Visit(isOurs, func(o *Object) error {
		switch {
		case !o.IsOurs() || o.isList() || o.Kind == "":
			return nil
		case o.Kind != Kind:
			return o.Troublef("", "kind %s is not known in %s: want %s", o.Kind, o.APIVersion, Kind)
		}
		if err := o.CheckVersion(); err != nil {
			return err
		}
		o.Value["apiVersion"], o.Value["kind"] = o.APIVersion, o.Kind
		found = append(found, *o)
		return nil
	})
	if at := templateAction.FindIndex(d.Text); err != nil && d.root == nil && at != nil {
		return nil, troublef(d.LineAt(at[0]), "it is a template: check what it renders")
	}
	return found, err
}

// Count returns how many CronJobs a file has: of ours, and of the built-in ones. What can't be read
// has none.
func Count(text []byte) (ours, builtIn int) {
	for _, d := range Split(text) {
		none := func(string) bool { return false }
		_ = d.Visit(none, func(o *Object) error {
			switch {
			case !o.IsOne():
			case o.IsOurs():
				ours++
			case o.IsBuiltIn():
				builtIn++
			}
			return nil
		})
	}
	return ours, builtIn
}

// FindUTF16 finds a manifest that is written in UTF-16, as PowerShell does.
func FindUTF16(text []byte) (Finding, bool) {
	isWide := bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff"))
	if !isWide || !bytes.Contains(bytes.ReplaceAll(text, []byte{0}, nil), []byte(Kind)) {
		return Finding{}, false
	}
	return Finding{Line: 1, Trouble: true, Message: "the file is UTF-16: save it as UTF-8"}, true
}
