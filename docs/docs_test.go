// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package docs checks that pages say what the code says.
package docs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	link       = regexp.MustCompile(`\]\(([^():#\s]*)(?:#([^()\s]+))?\)`)
	identifier = regexp.MustCompile("`(?:[a-z]+\\.|Table\\.)?([A-Za-z]+[A-Z][A-Za-z0-9]*)`")
	heading    = regexp.MustCompile(`(?m)^#+ (.*)$`)
	noAnchor   = regexp.MustCompile(`[^\pL\d_-]`)
)

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Clean(path))
	require.NoError(t, err)
	return string(text)
}

func TestEachLinkWithinTheProjectLeadsSomewhere(t *testing.T) {
	pages, err := filepath.Glob("*.md")
	require.NoError(t, err)
	for _, page := range append(pages, "../README.md", "../CONTRIBUTING.md") {
		for _, found := range link.FindAllStringSubmatch(read(t, page), -1) {
			target, anchor := filepath.Join(filepath.Dir(page), found[1]), found[2]
			if found[1] == "" {
				target = page
			}
			if _, err := os.Stat(target); !assert.NoError(t, err, page) || anchor == "" {
				continue
			}
			var anchors []string
			for _, title := range heading.FindAllStringSubmatch(read(t, target), -1) {
				anchors = append(anchors, noAnchor.ReplaceAllString(strings.ReplaceAll(strings.ToLower(title[1]), " ", "-"), ""))
			}
			assert.Contains(t, anchors, anchor, "%s links to %s", page, target)
		}
	}
}

func TestEachPageNamesTheVersionsOfKubernetesThatAreTested(t *testing.T) {
	versions := regexp.MustCompile(`k8s\.io/kubernetes (v\S+)`).FindStringSubmatch(read(t, "../hack/controlplane/go.mod"))[1:]
	versions = append(versions, strings.Fields(read(t, "../hack/controlplane/releases"))...)
	var minors []string
	for _, version := range versions {
		minors = append(minors, strings.TrimPrefix(version[:strings.LastIndex(version, ".")], "v"))
	}
	var rows []string
	for _, row := range regexp.MustCompile(`(?m)^\| (v1\.\d+\.\d+) \|`).FindAllStringSubmatch(read(t, "operations.md"), -1) {
		rows = append(rows, row[1])
	}
	assert.Equal(t, versions, rows, "the table in operations.md")
	assert.Contains(t, read(t, "../.github/workflows/ci.yml"), `k8s: ["`+strings.Join(minors[1:], `", "`)+`"]`)

	oldest := minors[len(minors)-1]
	assert.Contains(t, read(t, "../charts/project/Chart.yaml"), `kubeVersion: ">=`+oldest+`.0-0"`)
	for _, page := range []string{"../README.md", "../charts/project/README.md", "operations.md"} {
		words := strings.Join(strings.Fields(read(t, page)), " ")
		assert.Contains(t, words, "Kubernetes "+oldest+" or later", page)
	}
}

func TestThePageAboutVersionsIsTrueToTheCode(t *testing.T) {
	var code strings.Builder
	require.NoError(t, filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == "bin":
			return fs.SkipDir
		case filepath.Ext(path) == ".go":
			code.WriteString(read(t, path))
		}
		return nil
	}))
	text := read(t, "multi-version.md")
	for _, found := range identifier.FindAllStringSubmatch(text, -1) {
		isThere := strings.Contains(code.String(), found[1])
		assert.True(t, isThere, "%s is not in the code", found[1])
	}
	parts := strings.Split(text, "```go\n")
	for i, part := range parts[1:] {
		links := link.FindAllStringSubmatch(parts[i], -1)
		excerpt, _, _ := strings.Cut(part, "```")
		assert.Contains(t, read(t, links[len(links)-1][1]), excerpt, "it is from the file that is linked before it")
	}
}
