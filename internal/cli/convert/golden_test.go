// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"bytes"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	yamlv3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"

	"tutorial.kubebuilder.io/project/internal/cli/lint"
	"tutorial.kubebuilder.io/project/internal/cli/manifest"
)

var update = flag.Bool("update", false, "write what Convert makes of testdata as what is wanted")

// goldenDirs are the directories of testdata and how their files are converted.
var goldenDirs = map[string]options{
	"v1-to-v2":     {to: apiV2},
	"v2-to-v1":     {to: apiV1},
	"import-to-v1": {fromBuiltIn: true, to: apiV1},
	"import-to-v2": {fromBuiltIn: true, to: apiV2},
}

// golden is a file and what becomes of it: NAME.want.EXT is the file converted, where it differs,
// and NAME.txt what is told about it, where something is.
type golden struct {
	dir, path            string
	options              options
	text, want, messages []byte
}

// goldens reads all of testdata.
func goldens(t testing.TB) []golden {
	t.Helper()
	var all []golden
	for dir, o := range goldenDirs {
		entries, err := os.ReadDir(filepath.Join("testdata", dir))
		require.NoError(t, err)
		for _, e := range entries {
			ext := filepath.Ext(e.Name())
			if ext == ".txt" || strings.Contains(e.Name(), ".want.") {
				continue
			}
			g := golden{dir: dir, path: filepath.Join("testdata", dir, e.Name()), options: o}
			g.text = read(t, g.path)
			g.messages = read(t, g.messagesPath())
			if g.want = read(t, g.wantPath()); g.want == nil {
				g.want = g.text
			}
			all = append(all, g)
		}
	}
	return all
}

func (g golden) wantPath() string {
	ext := filepath.Ext(g.path)
	return strings.TrimSuffix(g.path, ext) + ".want" + ext
}

func (g golden) messagesPath() string {
	return strings.TrimSuffix(g.path, filepath.Ext(g.path)) + ".txt"
}

// read returns a file, nil if there is none.
func read(t testing.TB, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	return text
}

// write writes a file, or removes it if there is nothing to write.
func writeGolden(t testing.TB, path string, text []byte) {
	t.Helper()
	if len(text) == 0 {
		if err := os.Remove(path); err != nil {
			require.ErrorIs(t, err, fs.ErrNotExist)
		}
		return
	}
	require.NoError(t, os.WriteFile(path, text, 0o600))
}

func messagesOf(r result) string {
	lines := ""
	for _, f := range r.findings {
		lines += f.String() + "\n"
	}
	return lines
}

func TestGolden(t *testing.T) {
	all := goldens(t)
	assert.GreaterOrEqual(t, len(all), 40)
	for _, g := range all {
		t.Run(strings.TrimPrefix(g.path, "testdata/"), func(t *testing.T) {
			r := convertText(t, g.text, g.options)
			if *update {
				converted := r.text
				if bytes.Equal(converted, g.text) {
					converted = nil
				}
				writeGolden(t, g.wantPath(), converted)
				writeGolden(t, g.messagesPath(), []byte(messagesOf(r)))
				return
			}
			assert.Equal(t, string(g.want), string(r.text))
			assert.Equal(t, string(g.messages), messagesOf(r))
			assertLaws(t, g.text, g.options)
		})
	}
}

// convertText converts a text, without a command.
func convertText(t testing.TB, text []byte, o options) result {
	t.Helper()
	return convertFile(t.Context(), text, checker(), o)
}

// checker is one for all tests.
var checker = sync.OnceValue(func() *lint.Checker {
	c, err := lint.NewChecker(time.Date(2027, 1, 15, 12, 0, 0, 0, time.UTC))
	if err != nil {
		panic(err)
	}
	return c
})

const (
	apiV1 = "batch.tutorial.kubebuilder.io/v1"
	apiV2 = "batch.tutorial.kubebuilder.io/v2"
)

// other is the apiVersion that is not this one.
func other(apiVersion string) string {
	if apiVersion == apiV1 {
		return apiV2
	}
	return apiV1
}

// assertLaws checks what holds for whatever is converted.
func assertLaws(t testing.TB, text []byte, o options) result {
	t.Helper()
	before := string(text)
	r := convertText(t, text, o)
	if hasEqualKeys(text) {
		return r
	}
	require.Equal(t, before, string(text), "what is given stays as it is")
	if r.leftAlone() {
		require.Equal(t, before, string(r.text), "a file with an error is left alone")
		require.Zero(t, r.converted)
		return r
	}
	if r.converted == 0 && !strings.Contains(before, "CronJobList") {
		require.Equal(t, before, string(r.text), "a file with nothing to convert is left alone")
	}
	if r.converted > 0 && isReadable(text) {
		checked := convertText(t, r.text, options{fromBuiltIn: o.fromBuiltIn, to: o.to, check: true})
		require.False(t, checked.leftAlone(), "what is converted passes the check: %s%s", messagesOf(checked), r.text)
	}
	again := convertText(t, r.text, o)
	require.False(t, again.leftAlone(), "what is converted can be converted again: %s%s", messagesOf(again), r.text)
	require.Equal(t, string(r.text), string(again.text), "converting twice is converting once")
	if o.fromBuiltIn {
		return r
	}
	back := convertText(t, r.text, options{to: other(o.to)})
	if len(r.findings) == 0 && back.converted == r.converted && isReadable(text) && !hasListOf(text, o.to) {
		require.Equal(t, valuesOf(text), valuesOf(back.text), "there and back is the identity, where nothing else is told")
	}
	return r
}

// isReadable reports whether all documents of a file can be read.
func isReadable(text []byte) bool { return !slices.Contains(valuesOf(text), nil) }

// hasListOf reports whether a file has a list of CronJobs of a version. Its conversion does not count
// as one, as that of its items does.
func hasListOf(text []byte, apiVersion string) bool {
	return slices.ContainsFunc(valuesOf(text), func(value any) bool {
		object, _ := value.(map[string]any)
		return object["kind"] == "CronJobList" && object["apiVersion"] == apiVersion
	})
}

// valuesOf is what the documents of a file say; nil for what can't be read.
func valuesOf(text []byte) (all []any) {
	for _, d := range manifest.Split(text) {
		var value any
		if yaml.UnmarshalStrict(d.Text, &value) != nil {
			value = nil
		} else if value == nil {
			value = "empty"
		}
		all = append(all, value)
	}
	return all
}

// hasEqualKeys reports whether two keys of a mapping are the same as texts, such as 8 and 8.0.
// Which of them kubectl takes is chance.
func hasEqualKeys(text []byte) bool {
	var isIn func(value any) bool
	isIn = func(value any) bool {
		seen, below := map[string]bool{}, []any{}
		switch value := value.(type) {
		case map[any]any: // not all keys are texts
			for key, member := range value {
				if name := fmt.Sprint(key); seen[name] {
					return true
				}
				seen[fmt.Sprint(key)], below = true, append(below, member)
			}
		case map[string]any:
			below = slices.Collect(maps.Values(value))
		case []any:
			below = value
		}
		return slices.ContainsFunc(below, isIn)
	}
	return slices.ContainsFunc(manifest.Split(text), func(d *manifest.Document) bool {
		var value any
		return yamlv3.Unmarshal(d.Text, &value) == nil && isIn(value)
	})
}
