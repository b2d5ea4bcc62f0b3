// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// testRelease is a release whose executables only say what they were built for.
func testRelease() *release {
	return &release{
		version: "v1.2.3",
		url:     "https://example.com/releases/v1.2.3/",
		common:  []file{{name: "LICENSE", content: []byte("terms")}},
		unix:    []file{{name: "kubectl_complete-cronjob", executable: true, content: []byte("#!/bin/sh")}},
		build: func(_ context.Context, p platform, version string) ([]file, error) {
			executable := fmt.Appendf(nil, "%s for %s on %s", version, p.os, p.arch)
			return []file{{name: p.executable(), executable: true, content: executable}}, nil
		},
	}
}

// written writes a release, and returns its files by name.
func written(t *testing.T, r *release) map[string][]byte {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, r.write(t.Context(), dir))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	files := map[string][]byte{}
	for _, entry := range entries {
		files[entry.Name()], err = os.ReadFile(filepath.Join(dir, entry.Name()))
		require.NoError(t, err)
	}
	return files
}

// content is what a test looks at of a file in an archive.
type content struct {
	mode fs.FileMode
	text string
}

// untar unpacks a tar.gz, and checks that nothing in it tells when or by whom it was made.
func untar(t *testing.T, archive []byte) map[string]content {
	t.Helper()
	unpacked, err := gzip.NewReader(bytes.NewReader(archive))
	require.NoError(t, err)
	assert.Zero(t, unpacked.ModTime)
	files := map[string]content{}
	for reader := tar.NewReader(unpacked); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		require.NoError(t, err)
		assert.True(t, header.ModTime.Equal(packed), header.Name)
		assert.Zero(t, header.Uid)
		assert.Empty(t, header.Uname)
		text, err := io.ReadAll(reader)
		require.NoError(t, err)
		files[header.Name] = content{header.FileInfo().Mode(), string(text)}
	}
}

// unzip unpacks a zip file, and checks that nothing in it tells when it was made.
func unzip(t *testing.T, archive []byte) map[string]content {
	t.Helper()
	reader, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	require.NoError(t, err)
	files := map[string]content{}
	for _, entry := range reader.File {
		assert.True(t, entry.Modified.Equal(packed), entry.Name)
		open, err := entry.Open()
		require.NoError(t, err)
		text, err := io.ReadAll(open)
		require.NoError(t, err)
		files[entry.Name] = content{entry.Mode(), string(text)}
	}
	return files
}

func TestTheSameSourceMakesTheSameBytes(t *testing.T) {
	first, second := written(t, testRelease()), written(t, testRelease())
	assert.Len(t, first, len(platforms)+2)
	for name := range first {
		assert.True(t, bytes.Equal(first[name], second[name]), name)
	}
}

func TestAnArchiveHasTheExecutableTheLicenceAndTheCompletion(t *testing.T) {
	files := written(t, testRelease())
	assert.Equal(t, map[string]content{
		"kubectl-cronjob":          {0o755, "v1.2.3 for darwin on arm64"},
		"kubectl_complete-cronjob": {0o755, "#!/bin/sh"},
		"LICENSE":                  {0o644, "terms"},
	}, untar(t, files["kubectl-cronjob-darwin-arm64.tar.gz"]))
	assert.Equal(t, map[string]content{
		"kubectl-cronjob.exe": {0o755, "v1.2.3 for windows on amd64"},
		"LICENSE":             {0o644, "terms"},
	}, unzip(t, files["kubectl-cronjob-windows-amd64.zip"]))
}

func TestAnArchiveHasTheLicencesOfAllThatIsLinked(t *testing.T) {
	t.Chdir("../..")
	dir := t.TempDir()
	audit := filepath.Join(dir, "audit")
	out, err := exec.Command("go", "build", "-C", "hack/audit", "-o", audit, ".").CombinedOutput()
	require.NoError(t, err, string(out))
	r := testRelease()
	r.build = (&builder{audit: audit}).build
	archive, err := r.pack(t.Context(), platform{"linux", runtime.GOARCH})
	require.NoError(t, err)

	files := untar(t, archive)
	names := slices.Collect(maps.Keys(files))
	assert.Contains(t, names, "LICENSE")
	assert.Contains(t, names, "licenses/go/LICENSE")
	info, err := buildinfo.Read(strings.NewReader(files["kubectl-cronjob"].text))
	require.NoError(t, err)
	require.NotEmpty(t, info.Deps)
	for _, dep := range info.Deps {
		assert.True(t, slices.ContainsFunc(names, func(name string) bool {
			return strings.HasPrefix(name, "licenses/"+dep.Path+"/LICENSE")
		}), dep.Path)
	}
}

func TestTheManifestTellsKrewOfEachArchive(t *testing.T) {
	files := written(t, testRelease())
	manifest := &pluginManifest{}
	require.NoError(t, yaml.UnmarshalStrict(files["cronjob.yaml"], manifest))
	assert.Equal(t, "cronjob", manifest.Metadata.Name, "krew wants that of the file")
	assert.Equal(t, "v1.2.3", manifest.Spec.Version)
	assert.NotContains(t, manifest.Spec.ShortDescription, "\n", "krew wants a single line")

	var sums strings.Builder
	told := map[string]string{}
	for _, entry := range manifest.Spec.Platforms {
		name, below := strings.CutPrefix(entry.URI, "https://example.com/releases/v1.2.3/")
		assert.True(t, below, entry.URI)
		require.Contains(t, files, name)
		digest := sha256.Sum256(files[name])
		assert.Equal(t, hex.EncodeToString(digest[:]), entry.SHA256)
		fmt.Fprintf(&sums, "%s  %s\n", entry.SHA256, name)
		told[entry.Selector.MatchLabels["os"]+"/"+entry.Selector.MatchLabels["arch"]] = entry.Bin
	}
	assert.Equal(t, map[string]string{
		"linux/amd64": "kubectl-cronjob", "linux/arm64": "kubectl-cronjob",
		"darwin/amd64": "kubectl-cronjob", "darwin/arm64": "kubectl-cronjob",
		"windows/amd64": "kubectl-cronjob.exe", "windows/arm64": "kubectl-cronjob.exe",
	}, told)
	assert.Equal(t, sums.String(), string(files["SHA256SUMS"]))
}

func TestWhatCanNotBeReleasedIsRefused(t *testing.T) {
	for name, tc := range map[string]struct {
		version, url string
		wantError    string
	}{
		"good":                       {"v1.2.3-rc.1", "http://127.0.0.1:8000", ""},
		"no version":                 {"", "https://example.com", `-version ""`},
		"a commit":                   {"fb10570-dirty", "https://example.com", `-version "fb10570-dirty": krew wants a semantic version`},
		"a version without v":        {"1.2.3", "https://example.com", "such as v1.2.3"},
		"no URL":                     {"v1.2.3", "", `-url "": give the https URL`},
		"a URL without a host":       {"v1.2.3", "https:///releases", "-url"},
		"a path":                     {"v1.2.3", "dist/krew", "-url"},
		"a URL that krew can't load": {"v1.2.3", "ftp://example.com", "-url"},
	} {
		t.Run(name, func(t *testing.T) {
			err := (&release{version: tc.version, url: tc.url}).check()
			if tc.wantError == "" {
				assert.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, tc.wantError)
		})
	}
}

func TestNothingIsWrittenWhenABuildFails(t *testing.T) {
	r := testRelease()
	build := r.build
	r.build = func(ctx context.Context, p platform, version string) ([]file, error) {
		if p.os == "windows" {
			return nil, errors.New("no compiler")
		}
		return build(ctx, p, version)
	}
	dir := t.TempDir()
	assert.ErrorContains(t, r.write(t.Context(), dir), "no compiler")
	entries, err := os.ReadDir(dir)
	assert.NoError(t, err)
	assert.Empty(t, entries, "a new archive would not be the one that an older manifest tells of")
}
