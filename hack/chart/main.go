// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Command chart writes the Helm chart from what kustomize builds, so that the operator's objects are
// written once, in config. It reads the objects from its standard input: those of config/default, and
// of the overlays whose objects a value switches on; one that comes again is taken once.
//
//	for overlay in prometheus network-policy; do echo ---; kustomize build config/overlays/$overlay; done |
//		go run ./hack/chart charts/project
//
// The objects are changed as what they are, and never as text:
//
//	read ──► rename ──► edit ──► write
//	         │          │        └ template.go: objects with template actions in them, as text
//	         │          └ recipes.go, deployment.go: which values go where, and what depends on which
//	         └ rename.go: the name prefix and the namespace become those of the release
//
// What it expects of config it checks: an object that lost the field for a value is an error here, and
// not a value without effect. New objects need nothing but, if they depend on a value, a line in recipes.go.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// chartName is the chart's name, and with a dash behind it the prefix of the names in config/default.
const chartName = "project"

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: kustomize build <directory in config> | chart <directory of the chart>")
		os.Exit(2)
	}
	if err := run(os.Stdin, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "chart:", err)
		os.Exit(1)
	}
}

// run writes the chart of the objects that in has to a directory.
func run(in io.Reader, dir string) error {
	objects, err := read(bufio.NewReader(in))
	if err != nil {
		return err
	}
	files, err := chart(objects)
	if err != nil {
		return err
	}
	return write(dir, files)
}

// chart returns the chart's files by their paths.
func chart(objects []object) (map[string]string, error) {
	source, err := newSource(objects)
	if err != nil {
		return nil, err
	}
	values, err := source.values()
	if err != nil {
		return nil, err
	}
	files, err := source.templates()
	if err != nil {
		return nil, err
	}
	schema, err := valuesSchema(values)
	if err != nil {
		return nil, err
	}
	table, err := valuesTable(values)
	if err != nil {
		return nil, err
	}
	files["Chart.yaml"] = strings.ReplaceAll(chartFile, "<image tag>", source.appVersion)
	files["values.yaml"] = valuesYAML(values)
	files["values.schema.json"] = schema
	files["README.md"] = strings.ReplaceAll(readme, "<!-- values -->\n", table)
	files["templates/_helpers.tpl"] = helpers
	files["templates/NOTES.txt"] = notes
	return files, nil
}

// write makes the directory have these files, and no templates but these.
func write(dir string, files map[string]string) error {
	for path, content := range files {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // for all to read
			return err
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil { //nolint:gosec // for all to read
			return err
		}
	}
	present, err := filepath.Glob(filepath.Join(dir, "templates", "*"))
	if err != nil {
		return err
	}
	for _, path := range present {
		if _, ours := files["templates/"+filepath.Base(path)]; ours {
			continue
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
