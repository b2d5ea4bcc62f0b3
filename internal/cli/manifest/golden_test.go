// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write what Convert makes of testdata as what is wanted")

// goldenDirs are the directories of testdata and how their files are converted.
var goldenDirs = map[string]Options{
	"v1-to-v2":     {To: V2},
	"v2-to-v1":     {To: V1},
	"import-to-v1": {BuiltIn: true, To: V1},
	"import-to-v2": {BuiltIn: true, To: V2},
}

// golden is a file and what becomes of it: NAME.want.EXT is the file converted, where it differs,
// and NAME.txt what is told about it, where something is.
type golden struct {
	dir, path            string
	options              Options
	text, want, messages []byte
}

// goldens reads all of testdata.
func goldens(t testing.TB) []golden {
	t.Helper()
	var all []golden
	for dir, options := range goldenDirs {
		entries, err := os.ReadDir(filepath.Join("testdata", dir))
		require.NoError(t, err)
		for _, e := range entries {
			ext := filepath.Ext(e.Name())
			if ext == ".txt" || strings.Contains(e.Name(), ".want.") {
				continue
			}
			g := golden{dir: dir, path: filepath.Join("testdata", dir, e.Name()), options: options}
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

func messagesOf(r Result) string {
	lines := ""
	for _, f := range r.Findings {
		lines += f.String() + "\n"
	}
	return lines
}

func TestGolden(t *testing.T) {
	all := goldens(t)
	assert.GreaterOrEqual(t, len(all), 40)
	for _, g := range all {
		t.Run(strings.TrimPrefix(g.path, "testdata/"), func(t *testing.T) {
			result := Convert(g.text, g.options)
			if *update {
				converted := result.Text
				if bytes.Equal(converted, g.text) {
					converted = nil
				}
				writeGolden(t, g.wantPath(), converted)
				writeGolden(t, g.messagesPath(), []byte(messagesOf(result)))
				return
			}
			assert.Equal(t, string(g.want), string(result.Text))
			assert.Equal(t, string(g.messages), messagesOf(result))
			assertLaws(t, g.text, g.options)
		})
	}
}

// assertLaws checks what holds for whatever is converted.
func assertLaws(t testing.TB, text []byte, options Options) Result {
	t.Helper()
	before := string(text)
	result := Convert(text, options)
	require.Equal(t, before, string(text), "what is given stays as it is")
	if result.LeftAlone() {
		require.Equal(t, before, string(result.Text), "a file with trouble is left alone")
		require.Zero(t, result.Converted)
		return result
	}
	if result.Converted == 0 && !strings.Contains(before, cronJobListKind) {
		require.Equal(t, before, string(result.Text), "a file with nothing to convert is left alone")
	}
	if result.Converted > 0 && isReadable(text) {
		checked := Convert(result.Text, Options{BuiltIn: options.BuiltIn, To: options.To, Check: true})
		require.False(t, checked.LeftAlone(), "what is converted passes the check: %s%s", messagesOf(checked), result.Text)
	}
	again := Convert(result.Text, options)
	require.False(t, again.LeftAlone(), "what is converted can be converted again: %s%s", messagesOf(again), result.Text)
	require.Equal(t, string(result.Text), string(again.Text), "converting twice is converting once")
	if options.BuiltIn {
		return result
	}
	back := Convert(result.Text, Options{To: options.To.other()})
	if len(result.Findings) == 0 && back.Converted == result.Converted && isReadable(text) {
		require.Equal(t, valuesOf(t, text), valuesOf(t, back.Text), "there and back is the identity, where nothing else is told")
	}
	return result
}

// isReadable reports whether all documents of a file can be read.
func isReadable(text []byte) bool {
	for _, p := range split(text) {
		if _, err := newSource(p.body).parse(p.isJSON); err != nil {
			return false
		}
	}
	return true
}

// valuesOf is what the documents of a file say.
func valuesOf(t testing.TB, text []byte) (all []any) {
	t.Helper()
	for _, p := range split(text) {
		c := &conversion{isJSON: p.isJSON}
		value, err := c.values(p.body)
		if err != nil {
			continue // kubectl does not read it either
		}
		visitCronJobs(value, typeMeta{}, normalize)
		all = append(all, value)
	}
	return all
}
