// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package krew tests the script that makes a release of the plugin for krew.
package krew

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
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
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// manifest has the fields of krew's plugin manifest that a release sets.
// https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest/
type manifest struct {
	metav1.TypeMeta `json:",inline"`

	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`

	Spec struct {
		Version          string `json:"version"`
		ShortDescription string `json:"shortDescription"`
		Description      string `json:"description"`
		Caveats          string `json:"caveats"`
		Platforms        []struct {
			Selector metav1.LabelSelector `json:"selector"`
			URI      string               `json:"uri"`
			SHA256   string               `json:"sha256"`
			Bin      string               `json:"bin"`
		} `json:"platforms"`
	} `json:"spec"`
}

// archived is what a test compares of a file in an archive.
type archived struct {
	mode    fs.FileMode
	content string
}

const (
	testVersion = "v1.2.3"
	testURL     = "https://example.com/releases/v1.2.3"
)

// inSmallProject makes the working directory one in which executables only say what they were built
// for.
func inSmallProject(t *testing.T) {
	t.Helper()
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	t.Chdir(t.TempDir())
	for path, content := range map[string]string{
		"LICENSE": "our terms\n",
		"cmd/kubectl-cronjob/kubectl_complete-cronjob": "#!/bin/sh\n",
		"hack/build": `#!/bin/sh
if [ "$GOOS" = plan9 ]; then exit 1; fi
echo "$VERSION for $GOOS on $GOARCH" >"$2"
chmod +x "$2"
`,
		"bin/audit/audit": `#!/bin/sh
mkdir -p "${1#-licenses=}/go"
echo "Go's terms" >"${1#-licenses=}/go/LICENSE"
`,
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o750))
		require.NoError(t, os.WriteFile(path, []byte(content), 0o700))
	}
	require.NoError(t, os.Chmod("LICENSE", 0o600))
	require.NoError(t, os.Symlink(filepath.Join(root, "hack", "krew"), "hack/krew"))
}

// release runs the script and returns the files that it makes, by name.
func release(t *testing.T, platforms string) map[string][]byte {
	t.Helper()
	dir := t.TempDir()
	out, err := run(testVersion, testURL, platforms, dir)
	require.NoError(t, err, out)
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	files := map[string][]byte{}
	for _, entry := range entries {
		files[entry.Name()], err = os.ReadFile(filepath.Join(dir, entry.Name()))
		require.NoError(t, err)
	}
	return files
}

// run runs the script and returns what it prints.
func run(version, url, platforms, dir string) (string, error) {
	command := exec.Command("hack/krew/release", dir)
	command.Env = append(os.Environ(), "VERSION="+version, "RELEASE_URL="+url, "PLATFORMS="+platforms)
	out, err := command.CombinedOutput()
	return string(out), err
}

// unpack returns the files in an archive, and checks that it says neither when nor by whom it was
// made.
func unpack(t *testing.T, archive []byte) map[string]archived {
	t.Helper()
	unpacked, err := gzip.NewReader(bytes.NewReader(archive))
	require.NoError(t, err)
	assert.Zero(t, unpacked.ModTime)
	files := map[string]archived{}
	for reader := tar.NewReader(unpacked); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		require.NoError(t, err)
		assert.True(t, header.ModTime.Equal(time.Date(1980, time.January, 1, 0, 0, 0, 0, time.UTC)), header.Name)
		assert.Zero(t, header.Uid, header.Name)
		assert.Empty(t, header.Uname, header.Name)
		content, err := io.ReadAll(reader)
		require.NoError(t, err)
		if header.Typeflag == tar.TypeReg {
			files[header.Name] = archived{header.FileInfo().Mode(), string(content)}
		}
	}
}

func TestTheSameSourceMakesTheSameBytes(t *testing.T) {
	inSmallProject(t)
	first := release(t, "linux/amd64 windows/arm64")
	require.NoError(t, os.Chtimes("LICENSE", time.Now(), time.Now()))
	require.NoError(t, os.Chmod("LICENSE", 0o400)) // as another machine's umask has it
	second := release(t, "linux/amd64 windows/arm64")
	assert.Len(t, first, 4)
	for name := range first {
		assert.True(t, bytes.Equal(first[name], second[name]), name)
	}
}

func TestAnArchiveHasTheExecutableTheLicencesAndTheCompletion(t *testing.T) {
	inSmallProject(t)
	files := release(t, "darwin/arm64 windows/amd64")
	assert.Equal(t, map[string]archived{
		"kubectl-cronjob":          {0o755, "v1.2.3 for darwin on arm64\n"},
		"kubectl_complete-cronjob": {0o755, "#!/bin/sh\n"},
		"LICENSE":                  {0o644, "our terms\n"},
		"licenses/go/LICENSE":      {0o644, "Go's terms\n"},
	}, unpack(t, files["kubectl-cronjob-darwin-arm64.tar.gz"]))
	assert.Equal(t, archived{0o755, "v1.2.3 for windows on amd64\n"},
		unpack(t, files["kubectl-cronjob-windows-amd64.tar.gz"])["kubectl-cronjob.exe"])
}

func TestAnArchiveHasTheLicencesOfAllThatIsLinked(t *testing.T) {
	t.Chdir("../..")
	out, err := exec.Command("go", "build", "-C", "hack/audit", "-o", "../../bin/audit/audit", ".").CombinedOutput()
	require.NoError(t, err, string(out))
	archive := release(t, "linux/"+runtime.GOARCH)["kubectl-cronjob-linux-"+runtime.GOARCH+".tar.gz"]
	files := unpack(t, archive)
	names := slices.Collect(maps.Keys(files))
	assert.Contains(t, names, "LICENSE")
	assert.Contains(t, names, "licenses/go/LICENSE")
	info, err := buildinfo.Read(strings.NewReader(files["kubectl-cronjob"].content))
	require.NoError(t, err)
	require.NotEmpty(t, info.Deps)
	for _, dep := range info.Deps {
		assert.True(t, slices.ContainsFunc(names, func(name string) bool {
			return strings.HasPrefix(name, "licenses/"+dep.Path+"/LICENSE")
		}), dep.Path)
	}
}

func TestTheManifestNamesEachArchive(t *testing.T) {
	inSmallProject(t)
	files := release(t, "") // all platforms
	plugin := &manifest{}
	require.NoError(t, yaml.UnmarshalStrict(files["cronjob.yaml"], plugin))
	assert.Equal(t, metav1.TypeMeta{APIVersion: "krew.googlecontainertools.github.com/v1alpha2", Kind: "Plugin"}, plugin.TypeMeta)
	assert.Equal(t, "cronjob", plugin.Metadata.Name, "krew wants the name of the file")
	assert.Equal(t, testVersion, plugin.Spec.Version)
	assert.NotContains(t, plugin.Spec.ShortDescription, "\n", "krew wants a single line")
	assert.NotEmpty(t, plugin.Spec.Description)
	assert.Contains(t, plugin.Spec.Caveats, "/store/cronjob/v1.2.3/kubectl_complete-cronjob")

	var sums strings.Builder
	executables := map[string]string{}
	for _, platform := range plugin.Spec.Platforms {
		name, isBelow := strings.CutPrefix(platform.URI, testURL+"/")
		assert.True(t, isBelow, platform.URI)
		require.Contains(t, files, name)
		digest := sha256.Sum256(files[name])
		assert.Equal(t, hex.EncodeToString(digest[:]), platform.SHA256)
		fmt.Fprintf(&sums, "%s  %s\n", platform.SHA256, name)
		executables[platform.Selector.MatchLabels["os"]+"/"+platform.Selector.MatchLabels["arch"]] = platform.Bin
		assert.Contains(t, unpack(t, files[name]), platform.Bin)
	}
	assert.Equal(t, map[string]string{
		"linux/amd64": "kubectl-cronjob", "linux/arm64": "kubectl-cronjob",
		"darwin/amd64": "kubectl-cronjob", "darwin/arm64": "kubectl-cronjob",
		"windows/amd64": "kubectl-cronjob.exe", "windows/arm64": "kubectl-cronjob.exe",
	}, executables)
	assert.Equal(t, sums.String(), string(files["SHA256SUMS"]))
}

func TestAReleaseThatKrewCanNotInstallIsRefused(t *testing.T) {
	t.Chdir("../..")
	for name, tc := range map[string]struct{ version, url, want string }{
		"no version":                {"", "https://example.com", "VERSION=: krew wants a semantic version"},
		"a commit":                  {"fb10570-dirty", "https://example.com", "VERSION=fb10570-dirty: krew wants a semantic version"},
		"a version without v":       {"1.2.3", "https://example.com", "such as v1.2.3"},
		"no URL":                    {"v1.2.3", "", "RELEASE_URL=: want the https URL"},
		"a URL without a host":      {"v1.2.3", "https:///releases", "RELEASE_URL"},
		"a path":                    {"v1.2.3", "dist/krew", "RELEASE_URL"},
		"a URL of another protocol": {"v1.2.3", "ftp://example.com", "RELEASE_URL"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "out")
			out, err := run(tc.version, tc.url, "linux/amd64", dir)
			require.Error(t, err)
			assert.Contains(t, out, tc.want)
			assert.NoDirExists(t, dir)
		})
	}
}

func TestNothingIsWrittenWhenABuildFails(t *testing.T) {
	inSmallProject(t)
	dir := filepath.Join(t.TempDir(), "out")
	_, err := run(testVersion, testURL, "linux/amd64 plan9/sparc", dir)
	require.Error(t, err)
	assert.NoDirExists(t, dir, "an archive would not be the one that an older manifest names")
}
