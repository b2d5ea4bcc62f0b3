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
	"github.com/yuin/goldmark/ast"
)

// allPages returns the paths of all pages of the project.
func allPages(t *testing.T) (paths []string) {
	t.Helper()
	for _, pattern := range []string{"*.md", "tasks/*.md", "../*.md", "../charts/*/README.md"} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		require.NotEmpty(t, found, pattern)
		paths = append(paths, found...)
	}
	return paths
}

func TestEachLinkWithinTheProjectLeadsSomewhere(t *testing.T) {
	for _, path := range allPages(t) {
		for _, link := range read(t, path).links() {
			if strings.Contains(link, "://") {
				continue
			}
			file, anchor, _ := strings.Cut(link, "#")
			target := filepath.Join(filepath.Dir(path), file)
			if file == "" {
				target = path
			}
			if _, err := os.Stat(target); assert.NoError(t, err, path) && anchor != "" {
				assert.Contains(t, read(t, target).anchors(), anchor, "%s links to %s", path, target)
			}
		}
	}
}

func TestEachPageNamesTheVersionsOfKubernetesThatAreTested(t *testing.T) {
	versions := regexp.MustCompile(`k8s\.io/kubernetes (v\S+)`).FindStringSubmatch(contents(t, "../hack/controlplane/go.mod"))[1:]
	versions = append(versions, strings.Fields(contents(t, "../hack/controlplane/releases"))...)
	var minors []string
	for _, version := range versions {
		minors = append(minors, strings.TrimPrefix(version[:strings.LastIndex(version, ".")], "v"))
	}
	var rows []string
	for _, row := range regexp.MustCompile(`(?m)^\| (v1\.\d+\.\d+) \|`).FindAllStringSubmatch(contents(t, "operations.md"), -1) {
		rows = append(rows, row[1])
	}
	assert.Equal(t, versions, rows, "the table in operations.md")
	assert.Contains(t, contents(t, "../.github/workflows/ci.yml"), `k8s: ["`+strings.Join(minors[1:], `", "`)+`"]`)

	oldest := minors[len(minors)-1]
	assert.Contains(t, contents(t, "../charts/cronjob-operator/Chart.yaml"), `kubeVersion: ">=`+oldest+`.0-0"`)
	for _, page := range []string{"../README.md", "../charts/cronjob-operator/README.md", "operations.md"} {
		words := strings.Join(strings.Fields(contents(t, page)), " ")
		assert.Contains(t, words, "Kubernetes "+oldest+" or later", page)
	}
}

// contents returns what a file of the project says.
func contents(t *testing.T, path string) string {
	t.Helper()
	source, err := os.ReadFile(filepath.Clean(path))
	require.NoError(t, err)
	return string(source)
}

func TestEachPageIsOnThePath(t *testing.T) {
	var linked []string
	for _, link := range read(t, "README.md").links() {
		file, _, _ := strings.Cut(link, "#")
		linked = append(linked, file)
	}
	for _, path := range allPages(t) {
		if !strings.HasPrefix(path, "..") && path != "README.md" {
			assert.Contains(t, linked, path)
		}
	}
}

var identifier = regexp.MustCompile(`^(?:[a-z]+\.|Table\.)?([A-Za-z]+[A-Z][A-Za-z0-9]*)$`)

// code returns the Go code of the project.
func code(t *testing.T) string {
	t.Helper()
	var code strings.Builder
	require.NoError(t, filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == "bin":
			return fs.SkipDir
		case filepath.Ext(path) == ".go":
			source, err := os.ReadFile(filepath.Clean(path))
			code.Write(source)
			return err
		}
		return nil
	}))
	return code.String()
}

var continued = regexp.MustCompile(`"\s*\+\s*"`)

func TestEachMessageThatSomebodyMaySearchForIsInTheCode(t *testing.T) {
	code, page := continued.ReplaceAllString(code(t), ""), read(t, "troubleshooting.md")
	for _, heading := range []string{"Nothing runs", "The plugin fails", "The manager does not start"} {
		messages := page.firstColumn(heading)
		require.NotEmpty(t, messages, heading)
		for _, message := range messages {
			for part := range strings.SplitSeq(message, "…") {
				isThere := strings.Contains(code, strings.TrimSpace(part))
				assert.True(t, isThere, "%q is not in the code", part)
			}
		}
	}
}

func TestThePageAboutVersionsIsTrueToTheCode(t *testing.T) {
	code := code(t)
	versions := read(t, "multi-version.md")
	each(versions, func(span *ast.CodeSpan) {
		if found := identifier.FindStringSubmatch(versions.plain(span)); found != nil {
			isThere := strings.Contains(code, found[1])
			assert.True(t, isThere, "%s is not in the code", found[1])
		}
	})
	lastLink := ""
	each(versions, func(node ast.Node) {
		switch node := node.(type) {
		case *ast.Link:
			lastLink = string(node.Destination)
		case *ast.FencedCodeBlock:
			if string(node.Language(versions.source)) == "go" {
				excerpt := string(node.Lines().Value(versions.source))
				source, err := os.ReadFile(filepath.Clean(lastLink))
				require.NoError(t, err)
				assert.Contains(t, string(source), excerpt, "it is from the file that is linked before it")
			}
		}
	})
}
