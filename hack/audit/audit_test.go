/*
Copyright 2026 The project authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package main

import (
	"debug/buildinfo"
	"os"
	"path/filepath"
	"strings"
	"testing"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// write writes a file and returns its path.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// self is this test's own binary: it has the modules that audit and its tests use.
func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	require.NoError(t, err)
	return path
}

func TestWhatIsLinkedMayBeOrIsNamed(t *testing.T) {
	const (
		licences = "licences: {allowed: [BSD-3-Clause, MIT, Apache-2.0, ISC], known: {go: BSD-3-Clause, gopkg.in/yaml.v3: MIT}}\n"
		module   = "github.com/google/licensecheck"
	)
	tests := map[string]struct {
		policy string
		want   []string // of the message; none if there is to be none
	}{
		"all is well":          {policy: licences},
		"bad, but mended here": {policy: licences + "knownBad: [{module: " + module + ", fixed: v0.3.0, why: w}]"},
		"bad in later ones":    {policy: licences + "knownBad: [{module: " + module + ", since: v0.4.0, fixed: v0.5.0, why: w}]"},
		"a bad version": {
			policy: licences + "knownBad: [{module: " + module + ", since: v0.3.1, fixed: v0.3.2, why: it leaks}]",
			want:   []string{module + "@v0.3.1: known to be bad before v0.3.2: it leaks", "1 problem"},
		},
		"a bad toolchain": {
			policy: licences + "knownBad: [{module: go, fixed: go99.1, why: it leaks}]",
			want:   []string{"go@go1.", "known to be bad before go99.1: it leaks"},
		},
		"a licence that is not allowed": {
			policy: strings.Replace(licences, "BSD-3-Clause, MIT", "MIT", 1),
			want:   []string{module + "@v0.3.1: its licence, BSD-3-Clause, is not one of those allowed"},
		},
		"no version":      {policy: licences + "knownBad: [{module: m, fixed: '1', why: w}]", want: []string{`knownBad of "m": want a fixed version`}},
		"no reason":       {policy: licences + "knownBad: [{module: m, fixed: v1.0.0}]", want: []string{`knownBad of "m"`, "why"}},
		"a field unknown": {policy: "allowed: []", want: []string{`unknown field "allowed"`}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			err := run(write(t, "policy.yaml", test.policy), "", "", []string{self(t)})
			if test.want == nil {
				require.NoError(t, err)
			}
			for _, want := range test.want {
				require.ErrorContains(t, err, want)
			}
		})
	}
}

func TestALicenceIsToldByItsText(t *testing.T) {
	mit, err := os.ReadFile(filepath.Join("testdata", "MIT"))
	require.NoError(t, err)
	tests := map[string]struct {
		files map[string]string
		want  []string
	}{
		"one":                  {files: map[string]string{"LICENSE": string(mit)}, want: []string{"MIT"}},
		"in a file of any end": {files: map[string]string{"COPYING.md": string(mit)}, want: []string{"MIT"}},
		"none":                 {files: map[string]string{"README": string(mit), "license.go": string(mit)}},
		"one that nobody knows": {
			files: map[string]string{"LICENSE": "You may use it on Sundays.", "LICENSE-MIT": string(mit)},
			want:  []string{"MIT", "unknown"},
		},
		"one with a condition added": {
			files: map[string]string{"LICENSE": string(mit) + strings.Repeat("You may use it on Sundays alone. ", 30)},
			want:  []string{"MIT", "unknown"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range test.files {
				require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
			}
			found, err := licencesIn(dir)
			require.NoError(t, err)
			assert.Equal(t, test.want, found)
		})
	}
	p := &policy{}
	assert.ErrorContains(t, p.check([]module{{path: "example.com/m", version: "v1.0.0"}})[0], "example.com/m@v1.0.0: no file of it says")
}

func TestTheSBOMNamesAllThatIsLinkedAndIsTheSameEachTime(t *testing.T) {
	policyFile := "policy.yaml"
	texts := make([]string, 2)
	for i := range texts {
		file := filepath.Join(t.TempDir(), "sbom.json")
		require.NoError(t, run(policyFile, file, "v1.2.3", []string{self(t)}))
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		texts[i] = string(text)
	}
	assert.Equal(t, texts[0], texts[1])

	bom := &cyclonedx.BOM{}
	require.NoError(t, cyclonedx.NewBOMDecoder(strings.NewReader(texts[0]), cyclonedx.BOMFileFormatJSON).Decode(bom))
	assert.Equal(t, "pkg:golang/tutorial.kubebuilder.io/project@v1.2.3", bom.Metadata.Component.PackageURL)
	var got []string
	for _, c := range *bom.Components {
		got = append(got, c.PackageURL)
		assert.NotEmpty(t, *c.Licenses, c.Name)
	}
	info, err := buildinfo.ReadFile(self(t))
	require.NoError(t, err)
	want := []string{"pkg:golang/stdlib@" + strings.TrimPrefix(info.GoVersion, "go")}
	for _, dep := range info.Deps {
		want = append(want, "pkg:golang/"+dep.Path+"@"+dep.Version)
	}
	assert.ElementsMatch(t, want, got)
	assert.ElementsMatch(t, want, *(*bom.Dependencies)[0].Dependencies)
}
