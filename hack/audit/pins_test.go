// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/modfile"
)

// base is a FROM line's image in the Dockerfile, by digest.
var base = regexp.MustCompile(`(?m)^ARG (\w+)_IMAGE=(\S+):([^\s:@]+)@sha256:[0-9a-f]{64}$`)

// bases returns the tags of the Dockerfile's bases, by the name of their argument.
func bases(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../Dockerfile")
	require.NoError(t, err)
	tags := map[string]string{}
	for _, match := range base.FindAllStringSubmatch(string(text), -1) {
		tags[match[1]] = match[3]
	}
	for _, from := range regexp.MustCompile(`(?m)^FROM (.*)$`).FindAllStringSubmatch(string(text), -1) {
		name := regexp.MustCompile(`^\$\{(\w+)_IMAGE\}( AS \w+)?$`).FindStringSubmatch(from[1])
		require.NotNil(t, name, "FROM %s: want an argument, such as ${GO_IMAGE}", from[1])
		require.Contains(t, tags, name[1], "FROM %s: want an ARG above it that names an image with a tag and a digest", from[1])
	}
	return tags
}

func TestEachGoModNamesTheToolchainThatBuildsTheImage(t *testing.T) {
	want := "go" + bases(t)["GO"]
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	var seen int
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{"bin", "dist", ".cache", ".git", "testdata"}, entry.Name()):
			return fs.SkipDir
		case entry.Name() != "go.mod":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		mod, err := modfile.Parse(path, text, nil)
		if err != nil {
			return err
		}
		seen++
		if assert.NotNil(t, mod.Toolchain, path) {
			assert.Equal(t, want, mod.Toolchain.Name, path)
		}
		return nil
	}))
	assert.Greater(t, seen, 1)
}

func TestTheBasesOfTheImageArePinnedByDigest(t *testing.T) {
	assert.Len(t, bases(t), 2)
}
