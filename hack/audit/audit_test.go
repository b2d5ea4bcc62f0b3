// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// script builds a binary as it is released.
var script, _ = filepath.Abs("../build")

// write writes a file and returns its path.
func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// project makes the directory of a module that uses others, and returns it.
func project(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	const source = `package main

import (
	_ "net/http"

	_ "sigs.k8s.io/yaml"
)

func main() {}
`
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(source), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "LICENSE"), []byte("ours"), 0o600))
	return dir
}

// build builds the package in the working directory as binaries are released.
func build(t *testing.T, version string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "binary")
	command := exec.Command(script, ".", path)
	command.Env = append(os.Environ(), "VERSION="+version)
	out, err := command.CombinedOutput()
	require.NoError(t, err, string(out))
	return path
}

func TestThePolicyAllowsWhatIsLinkedOrNamesIt(t *testing.T) {
	const (
		licences = "licences: {allowed: [BSD-3-Clause, MIT, Apache-2.0], known: {go: BSD-3-Clause}}\n"
		module   = "github.com/google/licensecheck"
	)
	binary := build(t, "dev")
	tests := map[string]struct {
		policy string
		want   []string // of the message; none if there is to be none
	}{
		"all is well":      {policy: licences},
		"the very version": {policy: licences + "atLeast: {" + module + ": v0.3.1, go: go1.26.0}"},
		"another module":   {policy: licences + "atLeast: {example.com/not/linked: v9.0.0}"},
		"an older version": {
			policy: licences + "atLeast: {" + module + ": v0.3.2, golang.org/x/mod: v9.0.0}",
			want:   []string{module + "@v0.3.1: want at least v0.3.2", "golang.org/x/mod@", "want at least v9.0.0"},
		},
		"an older toolchain": {
			policy: licences + "atLeast: {go: go99.1}",
			want:   []string{"go@go1.", "want at least go99.1"},
		},
		"a licence that is not allowed": {
			policy: strings.Replace(licences, "BSD-3-Clause, MIT", "MIT", 1),
			want:   []string{module + "@v0.3.1: its licence, BSD-3-Clause, is not allowed"},
		},
		"no version":      {policy: licences + "atLeast: {m: '1'}", want: []string{`atLeast[m]: "1" is not a version`}},
		"a field unknown": {policy: "allowed: []", want: []string{`unknown field "allowed"`}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			err := run(&options{policy: write(t, "policy.yaml", test.policy), binaries: []string{binary}})
			if test.want == nil {
				require.NoError(t, err)
			}
			for _, want := range test.want {
				require.ErrorContains(t, err, want)
			}
		})
	}
}

func TestALicenceIsKnownByItsText(t *testing.T) {
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
		"one beside a notice": {
			files: map[string]string{"LICENSE": string(mit), "NOTICE.txt": "Made by us.", "PATENTS": "We grant them."},
			want:  []string{"MIT"},
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
			files, err := termsOf(dir, dir)
			require.NoError(t, err)
			found, err := licencesIn(dir, files)
			require.NoError(t, err)
			assert.Equal(t, test.want, found)
		})
	}
	p := &policy{}
	assert.ErrorContains(t, p.check([]*module{{path: "example.com/m", version: "v1.0.0"}}), "example.com/m@v1.0.0: none of its files is a licence")
}

func TestTheSBOMNamesAllThatIsLinkedAndIsTheSameEachTime(t *testing.T) {
	policyFile, err := filepath.Abs("policy.yaml")
	require.NoError(t, err)
	t.Chdir(project(t))
	binary := build(t, "v1.2.3")
	texts := make([]string, 2)
	for i := range texts {
		file := filepath.Join(t.TempDir(), "sbom.json")
		require.NoError(t, run(&options{policy: policyFile, sbom: file, version: "v1.2.3", binaries: []string{binary}}))
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		texts[i] = string(text)
	}
	assert.Equal(t, texts[0], texts[1])

	bom := &cyclonedx.BOM{}
	require.NoError(t, cyclonedx.NewBOMDecoder(strings.NewReader(texts[0]), cyclonedx.BOMFileFormatJSON).Decode(bom))
	assert.Equal(t, "pkg:golang/tutorial.kubebuilder.io/project@v1.2.3", bom.Metadata.Component.PackageURL)
	content, err := os.ReadFile(binary)
	require.NoError(t, err)
	assert.Equal(t, []cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: fmt.Sprintf("%x", sha256.Sum256(content))}},
		*bom.Metadata.Component.Hashes, "the SBOM has to say of which binary it is")
	var got []string
	for _, c := range *bom.Components {
		got = append(got, c.PackageURL)
		assert.NotEmpty(t, *c.Licenses, c.Name)
	}
	info, err := buildinfo.ReadFile(binary)
	require.NoError(t, err)
	want := []string{"pkg:golang/stdlib@" + strings.TrimPrefix(info.GoVersion, "go")}
	for _, dep := range info.Deps {
		want = append(want, "pkg:golang/"+dep.Path+"@"+dep.Version)
	}
	assert.ElementsMatch(t, want, got)
	assert.ElementsMatch(t, want, *(*bom.Dependencies)[0].Dependencies)
}

func TestTheSameSourceAndVersionMakeTheSameBinary(t *testing.T) {
	t.Setenv("CGO_ENABLED", "0")
	t.Chdir(project(t))
	first, err := os.ReadFile(build(t, "v1.2.3"))
	require.NoError(t, err)
	t.Chdir(project(t))
	t.Setenv("GOFLAGS", "-tags=other") // as on a machine with habits of its own
	t.Setenv("GOAMD64", "v3")
	t.Setenv("CGO_ENABLED", "1")
	second, err := os.ReadFile(build(t, "v1.2.3"))
	require.NoError(t, err)
	assert.Equal(t, sha256.Sum256(first), sha256.Sum256(second))
}

func TestTheLicencesOfAllThatIsLinkedAreCopied(t *testing.T) {
	t.Chdir(project(t))
	binary := build(t, "dev")
	require.NoError(t, run(&options{licenses: "licenses", binaries: []string{binary}}))

	info, err := buildinfo.ReadFile(binary)
	require.NoError(t, err)
	require.NotEmpty(t, info.Deps)
	for _, dep := range info.Deps {
		assert.FileExists(t, filepath.Join("licenses", dep.Path, "LICENSE"))
	}
	ours, err := os.ReadFile(filepath.Join("licenses", "LICENSE"))
	require.NoError(t, err)
	assert.Equal(t, "ours", string(ours))
	for _, file := range []string{
		"go/LICENSE", "go/PATENTS",
		"go.yaml.in/yaml/v2/LICENSE.libyaml", // a second licence
		"go.yaml.in/yaml/v2/NOTICE",
		"go/src/vendor/golang.org/x/net/LICENSE", // of code from elsewhere
	} {
		assert.FileExists(t, filepath.Join("licenses", file))
	}
	assert.NoDirExists(t, "licenses/github.com/stretchr", "it is in go.mod, but not linked")

	err = run(&options{licenses: "licenses", binaries: []string{binary}})
	assert.ErrorIs(t, err, fs.ErrExist, "what lay there before may be of modules that are gone")
}

func TestABinaryWithoutALicenceIsRefused(t *testing.T) {
	t.Chdir(project(t))
	binary := build(t, "dev")
	require.NoError(t, os.Remove("LICENSE"))
	assert.ErrorContains(t, run(&options{licenses: "licenses", binaries: []string{binary}}), "no file with its terms")
}

func TestABinaryOfAnotherSourceIsRefused(t *testing.T) {
	t.Chdir(project(t))
	binary := build(t, "dev")
	require.NoError(t, os.WriteFile("main.go", []byte("package main\n\nfunc main() {}\n"), 0o600))
	err := run(&options{licenses: "licenses", binaries: []string{binary}})
	assert.ErrorContains(t, err, "is linked, but the source here does not use it: build the binary again")
}
