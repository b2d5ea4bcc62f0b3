// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// platforms are those that there is an archive for.
var platforms = []platform{
	{"linux", "amd64"},
	{"linux", "arm64"},
	{"darwin", "amd64"},
	{"darwin", "arm64"},
	{"windows", "amd64"},
	{"windows", "arm64"},
}

// platform is an operating system and a processor, as Go and krew name them.
type platform struct {
	os, arch string
}

// executable is what the plugin's executable is called.
func (p platform) executable() string {
	if p.os == "windows" {
		return "kubectl-cronjob.exe"
	}
	return "kubectl-cronjob"
}

// archive is what the archive is called.
func (p platform) archive() string {
	name := "kubectl-cronjob-" + p.os + "-" + p.arch
	if p.os == "windows" {
		return name + ".zip"
	}
	return name + ".tar.gz"
}

// release is what goes into the archives and the manifest of a release.
type release struct {
	version string // with a leading v
	url     string // below which the archives are
	common  []file // goes into each archive
	unix    []file // goes into those for Linux and macOS

	// build returns the executable for a platform, and the licences of what is linked into it.
	build func(ctx context.Context, p platform, version string) ([]file, error)
}

// write writes the archives, SHA256SUMS and the manifest to a directory, or nothing if one can't be made.
func (r *release) write(ctx context.Context, dir string) error {
	manifest := r.manifest()
	var files []file
	var sums []byte
	for _, p := range platforms {
		archive, err := r.pack(ctx, p)
		if err != nil {
			return err
		}
		digest := sha256.Sum256(archive)
		sum := hex.EncodeToString(digest[:])
		entry, err := r.entry(p, sum)
		if err != nil {
			return err
		}
		manifest.Spec.Platforms = append(manifest.Spec.Platforms, entry)
		sums = fmt.Appendf(sums, "%s  %s\n", sum, p.archive())
		files = append(files, file{name: p.archive(), content: archive})
	}
	text, err := yaml.Marshal(manifest)
	if err != nil {
		return err
	}
	files = append(files, file{name: "SHA256SUMS", content: sums}, file{name: pluginName + ".yaml", content: text})
	for i := range files {
		path := filepath.Join(dir, files[i].name)
		if err := os.WriteFile(path, files[i].content, 0o644); err != nil { //nolint:gosec // to be published
			return err
		}
	}
	return nil
}

// pack returns the archive for a platform.
func (r *release) pack(ctx context.Context, p platform) ([]byte, error) {
	built, err := r.build(ctx, p, r.version)
	if err != nil {
		return nil, err
	}
	files := slices.Concat(built, r.common)
	if p.os == "windows" {
		return zipped(files)
	}
	return tarGz(slices.Concat(files, r.unix))
}

// pluginName is what krew and kubectl call the plugin.
const pluginName = "cronjob"

// pluginManifest is krew's: https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest/
type pluginManifest struct {
	metav1.TypeMeta `json:",inline"`

	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`

	Spec pluginSpec `json:"spec"`
}

type pluginSpec struct {
	Version          string          `json:"version"`
	ShortDescription string          `json:"shortDescription"`
	Description      string          `json:"description"`
	Caveats          string          `json:"caveats"`
	Platforms        []platformEntry `json:"platforms"`
}

type platformEntry struct {
	Selector metav1.LabelSelector `json:"selector"`
	URI      string               `json:"uri"`
	SHA256   string               `json:"sha256"`
	Bin      string               `json:"bin"`
}

// manifest returns the manifest, without platforms.
func (r *release) manifest() *pluginManifest {
	m := &pluginManifest{TypeMeta: metav1.TypeMeta{APIVersion: "krew.googlecontainertools.github.com/v1alpha2", Kind: "Plugin"}}
	m.Metadata.Name = pluginName
	m.Spec = pluginSpec{
		Version:          r.version,
		ShortDescription: "Convert, import and run CronJobs of two API versions",
		Description: "Works with CronJobs of batch.tutorial.kubebuilder.io: converts manifests between the versions\n" +
			"and leaves all else in them as it is, moves from the built-in CronJob and back, tells when a\n" +
			"schedule fires, shows past and coming runs, starts a Job now, suspends and resumes, and has all\n" +
			"objects stored in one version.\n",
		// krew links the executable alone.
		Caveats: "For kubectl to complete what is typed after kubectl cronjob (Linux, macOS):\n" +
			`  cp "${KREW_ROOT:-$HOME/.krew}/store/` + pluginName + "/" + r.version +
			`/kubectl_complete-cronjob" "${KREW_ROOT:-$HOME/.krew}/bin/"` + "\n",
	}
	return m
}

// entry tells krew of an archive.
func (r *release) entry(p platform, sum string) (platformEntry, error) {
	uri, err := url.JoinPath(r.url, p.archive())
	if err != nil {
		return platformEntry{}, err
	}
	return platformEntry{
		Selector: metav1.LabelSelector{MatchLabels: map[string]string{"os": p.os, "arch": p.arch}},
		URI:      uri,
		SHA256:   sum,
		Bin:      p.executable(),
	}, nil
}
