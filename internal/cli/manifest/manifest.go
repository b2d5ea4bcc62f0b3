// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package manifest reads the CronJobs of manifests, tells the positions of their fields, and edits
// them in place. It knows no field of a CronJob, and of its versions only the names.
//
// An edit replaces the lines of the members that change, and no other byte: positions come from the
// nodes of the YAML parser. Libraries that keep the layout did not do: of our single-document test
// manifests, encoding without any edit reproduces a third with go.yaml.in/yaml/v3 and two thirds
// with goccy/go-yaml, which keeps a syntax tree for that; sigs.k8s.io/kustomize/kyaml changes the
// indentation and drops blank lines. An edited text is decoded again, to check that it has the
// wanted content.
//
// The package reads and writes no files: it takes bytes, and returns bytes and findings.
package manifest

import (
	"bytes"
	"errors"
	"fmt"
)

// Version is a version of our API, such as v1.
type Version string

// Finding is a message about a line of a file.
type Finding struct {
	// Line is the line number, from 1.
	Line int

	// IsError is whether the file can't be converted because of the finding. Other findings are
	// notes.
	IsError bool

	Message string
}

// String formats the finding like a compiler message, to be printed after the name of the file.
func (f Finding) String() string {
	if f.IsError {
		return fmt.Sprintf("%d: left alone: %s", f.Line, f.Message)
	}
	return fmt.Sprintf("%d: note: %s", f.Line, f.Message)
}

// Error returns the message, so that a finding can be returned as an error.
func (f Finding) Error() string { return f.Message }

// Objects returns the CronJobs in a file of YAML or JSON documents, in their order: ours and those
// of batch/v1. It also returns findings about what can't be read: of ours, and with builtIn of
// both.
func Objects(text []byte, builtIn bool) ([]Object, []Finding) {
	if finding, ok := FindUTF16(text); ok {
		return nil, []Finding{finding}
	}
	var objects []Object
	var findings []Finding
	for _, d := range Split(text) {
		found, err := d.cronJobs(builtIn)
		if finding := (Finding{}); errors.As(err, &finding) {
			findings = append(findings, finding)
		}
		objects = append(objects, found...)
	}
	return objects, findings
}

// cronJobs returns the CronJobs in a document. An item of a list has its own apiVersion and kind
// set.
func (d *Document) cronJobs(builtIn bool) ([]Object, error) {
	var found []Object
	concerns := func(apiVersion string) bool { return isOurs(apiVersion) || builtIn && isBuiltIn(apiVersion) }
	err := d.Visit(concerns, func(o *Object) error {
		switch {
		case !o.IsOurs() && !o.IsBuiltIn() || o.isList() || o.Kind == "":
			return nil
		case !o.IsOne():
			return o.Errorf("", "kind %s is not known in %s: want %s", o.Kind, o.APIVersion, o.one())
		case o.IsOurs():
			if err := o.CheckVersion(); err != nil {
				return err
			}
		}
		o.Value["apiVersion"], o.Value["kind"] = o.APIVersion, o.Kind
		found = append(found, *o)
		return nil
	})
	if at := templateAction.FindIndex(d.Text); err != nil && d.root == nil && at != nil {
		return nil, errorf(d.LineAt(at[0]), "it is a template: check what it renders")
	}
	return found, err
}

// FindUTF16 finds a manifest in UTF-16, which PowerShell writes by default.
func FindUTF16(text []byte) (Finding, bool) {
	isWide := bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff"))
	if !isWide || !bytes.Contains(bytes.ReplaceAll(text, []byte{0}, nil), []byte(Kind)) {
		return Finding{}, false
	}
	return Finding{Line: 1, IsError: true, Message: "the file is UTF-16: save it as UTF-8"}, true
}
