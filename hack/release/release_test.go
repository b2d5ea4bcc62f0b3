// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	cr "github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	provenancev1 "github.com/in-toto/attestation/go/predicates/provenance/v1"
	intoto "github.com/in-toto/attestation/go/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"sigs.k8s.io/yaml"
)

const (
	testVersion = "v1.2.3"
	testURL     = "https://example.com/releases/v1.2.3"
)

var root, _ = filepath.Abs("../..")

// built is a signed release that was pushed to a registry.
type built struct {
	dir      string
	registry string
	files    map[string][]byte // those in dir, by name
}

// execute runs a command in a directory and returns what it prints.
func execute(dir string, env []string, command ...string) (string, error) {
	c := exec.Command(command[0], command[1:]...)
	c.Dir, c.Env = dir, append(os.Environ(), env...)
	out, err := c.CombinedOutput()
	return string(out), err
}

func mustRun(t *testing.T, dir string, env []string, command ...string) string {
	t.Helper()
	out, err := execute(dir, env, command...)
	require.NoError(t, err, "%s: %s", command, out)
	return out
}

// makeRelease makes a release of the newest commit in a clone, for two platforms of the plugin, and
// returns the directory.
func makeRelease(t *testing.T, host string, args ...string) string {
	t.Helper()
	clone := filepath.Join(t.TempDir(), "clone")
	mustRun(t, root, nil, "git", "clone", "--quiet", root, clone)
	mustRun(t, clone, []string{"PLATFORMS=linux/amd64 windows/arm64", "COSIGN_PASSWORD=secret"}, append([]string{
		"make", "release", "VERSION=" + testVersion, "REGISTRY=" + host, "RELEASE_URL=" + testURL}, args...)...)
	return clone
}

// read returns the files in a directory, by their path in it.
func read(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err == nil {
			files[name], err = os.ReadFile(filepath.Clean(path))
		}
		return err
	}))
	return files
}

// TestARelease makes one release and looks at it from all sides, because it takes most of the time.
func TestARelease(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.WithReferrersSupport(true)))
	defer server.Close()
	r := built{registry: strings.TrimPrefix(server.URL, "http://") + "/example"}
	keys := t.TempDir()
	putCosignOnPath(t)
	mustRun(t, keys, []string{"COSIGN_PASSWORD=secret"}, "cosign", "generate-key-pair")
	key := "COSIGN_KEY=" + filepath.Join(keys, "cosign.key")

	clone := makeRelease(t, r.registry, key)
	r.dir = filepath.Join(clone, "dist")
	r.files = read(t, r.dir)
	mustRun(t, clone, []string{"COSIGN_PASSWORD=secret"}, "make", "release-push", "REGISTRY="+r.registry, key)

	t.Run("two clones make the same bytes", func(t *testing.T) {
		signed := maps.Clone(r.files)
		maps.DeleteFunc(signed, func(name string, _ []byte) bool {
			return strings.HasSuffix(name, ".sigstore.json") || name == "cosign.pub"
		})
		second := read(t, filepath.Join(makeRelease(t, r.registry), "dist"))
		assert.ElementsMatch(t, slices.Collect(maps.Keys(signed)), slices.Collect(maps.Keys(second)))
		for name := range signed {
			assert.True(t, bytes.Equal(signed[name], second[name]), name)
		}
	})
	t.Run("the commands of the page verify it", r.testThePage)
	t.Run("what was changed or signed by another is refused", r.testForgeries)
	t.Run("the image has what the Dockerfile puts into it", r.testImage)
	t.Run("the installer names the image", r.testInstaller)
	t.Run("the chart names the image, and Helm finds it in the registry", r.testChart)
	t.Run("krew finds the plugin", r.testPlugin)
	t.Run("the provenance names each file and the commit", r.testProvenance)
}

// putCosignOnPath lets the test call it as users do.
func putCosignOnPath(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	mustRun(t, ".", []string{"CGO_ENABLED=0"}, "go", "build", "-o", filepath.Join(dir, "cosign"), "github.com/sigstore/cosign/v3/cmd/cosign")
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

// commands are those of a section of docs/releases.md.
func commands(t *testing.T, section string) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(root, "docs", "releases.md"))
	require.NoError(t, err)
	found := regexp.MustCompile("(?s)\n## " + section + "\n.*?```sh\n(.*?)```").FindSubmatch(page)
	require.NotNil(t, found)
	return string(found[1])
}

func (r *built) testThePage(t *testing.T) {
	out := mustRun(t, r.dir, []string{"VERSION=1.2.3", "REGISTRY=" + r.registry}, "bash", "-euo", "pipefail", "-c", commands(t, "Verify"))
	assert.Contains(t, out, "install.yaml: OK")
	assert.GreaterOrEqual(t, strings.Count(out, "Verified OK"), 2)
}

func (r *built) testForgeries(t *testing.T) {
	forged := filepath.Join(t.TempDir(), "dist")
	require.NoError(t, os.CopyFS(forged, os.DirFS(r.dir)))
	require.NoError(t, os.WriteFile(filepath.Join(forged, "SHA256SUMS"), append(r.files["SHA256SUMS"], '\n'), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(forged, "install.yaml"), append(r.files["install.yaml"], '\n'), 0o600))
	mustRun(t, forged, []string{"COSIGN_PASSWORD="}, "cosign", "generate-key-pair", "--output-key-prefix=other")
	for name, command := range map[string][]string{
		"the checksums":   {"verify-blob", "--key=cosign.pub", "--bundle=SHA256SUMS.sigstore.json", "SHA256SUMS"},
		"a file":          {"verify-blob-attestation", "--key=cosign.pub", "--bundle=provenance.sigstore.json", "--type=slsaprovenance1", "install.yaml"},
		"another's key":   {"verify-blob", "--key=other.pub", "--bundle=SHA256SUMS.sigstore.json", filepath.Join(r.dir, "SHA256SUMS")},
		"another's image": {"verify", "--key=other.pub", r.registry + "/cronjob-operator:" + testVersion},
	} {
		out, err := execute(forged, nil, append([]string{"cosign", command[0], "--insecure-ignore-tlog"}, command[1:]...)...)
		assert.Error(t, err, "%s: %s", name, out)
	}
}

// instruction returns the last instruction of that name in the Dockerfile.
func instruction(t *testing.T, name string) string {
	t.Helper()
	dockerfile, err := os.ReadFile(filepath.Join(root, "Dockerfile"))
	require.NoError(t, err)
	found := regexp.MustCompile(`(?m)^`+name+` (.*)$`).FindAllSubmatch(dockerfile, -1)
	require.NotEmpty(t, found, name)
	return string(found[len(found)-1][1])
}

func (r *built) testImage(t *testing.T) {
	index, err := remote.Index(r.reference(t, "cronjob-operator:"+testVersion))
	require.NoError(t, err)
	manifest, err := index.IndexManifest()
	require.NoError(t, err)
	require.Len(t, manifest.Manifests, 2)
	for i, architecture := range []string{"amd64", "arm64"} {
		assert.Equal(t, &v1.Platform{OS: "linux", Architecture: architecture}, manifest.Manifests[i].Platform)
		image, err := index.Image(manifest.Manifests[i].Digest)
		require.NoError(t, err)
		about, err := image.ConfigFile()
		require.NoError(t, err)
		assert.Equal(t, architecture, about.Architecture)
		assert.Equal(t, instruction(t, "USER"), about.Config.User)
		assert.Equal(t, instruction(t, "WORKDIR"), about.Config.WorkingDir)
		var entrypoint []string
		require.NoError(t, json.Unmarshal([]byte(instruction(t, "ENTRYPOINT")), &entrypoint))
		assert.Equal(t, entrypoint, about.Config.Entrypoint)
		assert.Equal(t, testVersion, about.Config.Labels["org.opencontainers.image.version"])
		for label := range about.Config.Labels {
			assert.Contains(t, instruction(t, "LABEL")+" org.opencontainers.image.created", label)
		}

		layers, err := image.Layers()
		require.NoError(t, err)
		require.Len(t, layers, 1)
		content, err := layers[0].Uncompressed()
		require.NoError(t, err)
		files := untar(t, content)
		names := slices.Sorted(maps.Keys(files))
		assert.Subset(t, names, []string{"etc/passwd", "licenses/LICENSE", "licenses/go/LICENSE", "manager"})
		for _, name := range names {
			assert.Regexp(t, `^(manager|etc/passwd|licenses/.*)$`, name)
		}
		assert.Equal(t, sum(files["manager"]), sbomSum(t, r.files["manager-linux-"+architecture+".cdx.json"]))
	}
}

// reference returns that of something in the registry.
func (r *built) reference(t *testing.T, name string) cr.Reference {
	t.Helper()
	reference, err := cr.ParseReference(r.registry + "/" + name)
	require.NoError(t, err)
	return reference
}

// digest returns the digest of something in the registry.
func (r *built) digest(t *testing.T, name string) string {
	t.Helper()
	found, err := remote.Head(r.reference(t, name))
	require.NoError(t, err)
	return found.Digest.String()
}

// sbomSum returns the checksum of the binary that an SBOM describes.
func sbomSum(t *testing.T, sbom []byte) string {
	t.Helper()
	var parsed struct {
		Metadata struct {
			Component struct {
				Hashes []struct {
					Content string `json:"content"`
				} `json:"hashes"`
			} `json:"component"`
		} `json:"metadata"`
	}
	require.NoError(t, json.Unmarshal(sbom, &parsed))
	require.Len(t, parsed.Metadata.Component.Hashes, 1)
	return parsed.Metadata.Component.Hashes[0].Content
}

func sum(content []byte) string {
	digest := sha256.Sum256(content)
	return hex.EncodeToString(digest[:])
}

// untar returns the files in an archive, and checks that it says nothing of who made it.
func untar(t *testing.T, archive io.Reader) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for reader := tar.NewReader(archive); ; {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		require.NoError(t, err)
		assert.Zero(t, header.Uid, header.Name)
		assert.Empty(t, header.Uname, header.Name)
		if header.Typeflag == tar.TypeReg {
			files[header.Name], err = io.ReadAll(reader)
			require.NoError(t, err)
		}
	}
}

func unzip(t *testing.T, archive []byte) map[string][]byte {
	t.Helper()
	unzipped, err := gzip.NewReader(bytes.NewReader(archive))
	require.NoError(t, err)
	assert.Zero(t, unzipped.ModTime)
	return untar(t, unzipped)
}

func (r *built) testInstaller(t *testing.T) {
	image := r.registry + "/cronjob-operator:" + testVersion
	assert.Contains(t, string(r.files["install.yaml"]), "image: "+image+"@"+r.digest(t, "cronjob-operator:"+testVersion)+"\n")
}

func (r *built) testChart(t *testing.T) {
	packed := r.files["cronjob-operator-1.2.3.tgz"]
	files := unzip(t, packed)
	var chart, values map[string]any
	require.NoError(t, yaml.Unmarshal(files["cronjob-operator/Chart.yaml"], &chart))
	require.NoError(t, yaml.Unmarshal(files["cronjob-operator/values.yaml"], &values))
	assert.Equal(t, "1.2.3", chart["version"])
	assert.Equal(t, testVersion, chart["appVersion"])
	assert.Equal(t, r.registry+"/cronjob-operator", values["image"].(map[string]any)["repository"])

	image, err := remote.Image(r.reference(t, "charts/cronjob-operator:1.2.3"))
	require.NoError(t, err)
	manifest, err := image.Manifest()
	require.NoError(t, err)
	assert.EqualValues(t, chartConfigType, manifest.Config.MediaType)
	require.Len(t, manifest.Layers, 1)
	assert.EqualValues(t, chartContentType, manifest.Layers[0].MediaType)
	assert.Equal(t, sum(packed), manifest.Layers[0].Digest.Hex)
	config, err := image.RawConfigFile()
	require.NoError(t, err)
	var metadata map[string]any
	require.NoError(t, json.Unmarshal(config, &metadata))
	assert.Equal(t, chart, metadata)
}

// https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest/
type plugin struct {
	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		Version          string `json:"version"`
		ShortDescription string `json:"shortDescription"`
		Caveats          string `json:"caveats"`
		Platforms        []struct {
			Selector struct {
				MatchLabels map[string]string `json:"matchLabels"`
			} `json:"selector"`
			URI    string `json:"uri"`
			SHA256 string `json:"sha256"`
			Bin    string `json:"bin"`
		} `json:"platforms"`
	} `json:"spec"`
}

func (r *built) testPlugin(t *testing.T) {
	p := plugin{}
	require.NoError(t, yaml.Unmarshal(r.files["cronjob.yaml"], &p))
	assert.Equal(t, "cronjob", p.Metadata.Name, "krew wants the name of the file")
	assert.Equal(t, testVersion, p.Spec.Version)
	assert.NotContains(t, p.Spec.ShortDescription, "\n", "krew wants a single line")
	assert.Contains(t, p.Spec.Caveats, "/store/cronjob/v1.2.3/kubectl_complete-cronjob")
	executables := map[string]string{}
	for _, platform := range p.Spec.Platforms {
		name, isBelow := strings.CutPrefix(platform.URI, testURL+"/")
		assert.True(t, isBelow, platform.URI)
		require.Contains(t, r.files, name)
		assert.Equal(t, sum(r.files[name]), platform.SHA256)
		files := unzip(t, r.files[name])
		assert.Subset(t, slices.Collect(maps.Keys(files)), []string{platform.Bin, "kubectl_complete-cronjob", "LICENSE", "licenses/go/LICENSE"})
		system, architecture := platform.Selector.MatchLabels["os"], platform.Selector.MatchLabels["arch"]
		assert.Equal(t, sum(files[platform.Bin]), sbomSum(t, r.files["kubectl-cronjob-"+system+"-"+architecture+".cdx.json"]))
		executables[system+"/"+architecture] = platform.Bin
	}
	assert.Equal(t, map[string]string{"linux/amd64": "kubectl-cronjob", "windows/arm64": "kubectl-cronjob.exe"}, executables)
}

func (r *built) testProvenance(t *testing.T) {
	statement, provenance := &intoto.Statement{}, &provenancev1.Provenance{}
	require.NoError(t, protojson.Unmarshal(r.files["provenance.json"], statement))
	require.NoError(t, statement.Validate())
	assert.Equal(t, "https://slsa.dev/provenance/v1", statement.GetPredicateType())
	predicate, err := statement.GetPredicate().MarshalJSON()
	require.NoError(t, err)
	require.NoError(t, protojson.Unmarshal(predicate, provenance))
	require.NoError(t, provenance.Validate())
	commit := strings.TrimSpace(mustRun(t, root, nil, "git", "rev-parse", "HEAD"))
	assert.Equal(t, commit, provenance.GetBuildDefinition().GetResolvedDependencies()[0].GetDigest()["gitCommit"])

	want := map[string]string{
		r.registry + "/cronjob-operator":        strings.TrimPrefix(r.digest(t, "cronjob-operator:"+testVersion), "sha256:"),
		r.registry + "/charts/cronjob-operator": strings.TrimPrefix(r.digest(t, "charts/cronjob-operator:1.2.3"), "sha256:"),
	}
	for name, content := range r.files {
		isAbout := strings.HasPrefix(name, "provenance.") || strings.HasPrefix(name, "SHA256SUMS") || name == "cosign.pub"
		if !isAbout && !strings.HasPrefix(name, "oci/") {
			want[name] = sum(content)
		}
	}
	got := map[string]string{}
	for _, subject := range statement.GetSubject() {
		got[subject.GetName()] = subject.GetDigest()["sha256"]
	}
	assert.Equal(t, want, got)
}

func TestAReleaseThatNobodyCouldInstallIsRefused(t *testing.T) {
	for name, tc := range map[string]struct{ version, registry, url, want string }{
		"no version":          {"", "example.com", testURL, "VERSION=: want a semantic version"},
		"a commit":            {"fb10570-dirty", "example.com", testURL, "VERSION=fb10570-dirty: want a semantic version"},
		"a version without v": {"1.2.3", "example.com", testURL, "such as v1.2.3"},
		"no registry":         {testVersion, "", testURL, "REGISTRY=: want a registry"},
		"a registry's URL":    {testVersion, "oci://example.com", testURL, "REGISTRY=oci://example.com: want a registry"},
		"no URL":              {testVersion, "example.com", "", "RELEASE_URL=: want the https URL"},
		"a path":              {testVersion, "example.com", "dist", "RELEASE_URL=dist: want the https URL"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "dist")
			out, err := execute(root, []string{"VERSION=" + tc.version, "REGISTRY=" + tc.registry, "RELEASE_URL=" + tc.url}, "hack/release/build", dir)
			require.Error(t, err)
			assert.Contains(t, out, tc.want)
			assert.NoDirExists(t, dir)
		})
	}
}
