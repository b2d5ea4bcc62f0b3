// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/content/oci"
	"sigs.k8s.io/yaml"
)

const (
	name = "cronjob-operator" // of the image and of the chart

	// https://helm.sh/docs/topics/registries/#helm-chart-manifest
	chartConfigType  = "application/vnd.cncf.helm.config.v1+json"
	chartContentType = "application/vnd.cncf.helm.chart.content.v1.tar+gzip"
)

// annotations are shown by registries. The Dockerfile has them as labels, too.
func (r *release) annotations() map[string]string {
	return map[string]string{
		ocispec.AnnotationTitle:    name,
		ocispec.AnnotationVersion:  r.version,
		ocispec.AnnotationRevision: r.commit,
		ocispec.AnnotationLicenses: "Apache-2.0",
		ocispec.AnnotationCreated:  r.created.Format(time.RFC3339),
	}
}

// writeImage writes a layout with an image for each root file system, which is named
// <os>-<architecture>.tar, and an index of them.
func writeImage(ctx context.Context, dir string, r *release, roots []string) error {
	blobs, err := oci.NewStorage(dir)
	if err != nil {
		return err
	}
	index := ocispec.Index{Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageIndex, Annotations: r.annotations()}
	for _, root := range roots {
		manifest, err := addImage(ctx, blobs, r, root)
		if err != nil {
			return fmt.Errorf("%s: %w", root, err)
		}
		index.Manifests = append(index.Manifests, manifest)
	}
	pushed, err := pushJSON(ctx, blobs, index.MediaType, index)
	if err != nil {
		return err
	}
	return writeIndex(dir, pushed, r.version)
}

// addImage adds an image without a base. The manager needs none: it is linked statically, has the
// time zones, and verifies the API server by the CA of its service account.
func addImage(ctx context.Context, blobs *oci.Storage, r *release, root string) (ocispec.Descriptor, error) {
	system, architecture, ok := strings.Cut(strings.TrimSuffix(filepath.Base(root), ".tar"), "-")
	if !ok {
		return ocispec.Descriptor{}, fmt.Errorf("want a name such as linux-amd64.tar")
	}
	platform := ocispec.Platform{OS: system, Architecture: architecture}
	files, err := os.ReadFile(filepath.Clean(root))
	if err != nil {
		return ocispec.Descriptor{}, err
	}
	zipped := &bytes.Buffer{}
	zipper := gzip.NewWriter(zipped)
	if _, err := zipper.Write(files); err != nil {
		return ocispec.Descriptor{}, err
	}
	if err := zipper.Close(); err != nil {
		return ocispec.Descriptor{}, err
	}
	layer, err := oras.PushBytes(ctx, blobs, ocispec.MediaTypeImageLayerGzip, zipped.Bytes())
	if err != nil {
		return ocispec.Descriptor{}, err
	}
	config, err := pushJSON(ctx, blobs, ocispec.MediaTypeImageConfig, ocispec.Image{
		Created:  &r.created,
		Platform: platform,
		Config:   ocispec.ImageConfig{User: "65532:65532", WorkingDir: "/", Entrypoint: []string{"/manager"}, Labels: r.annotations()},
		RootFS:   ocispec.RootFS{Type: "layers", DiffIDs: []digest.Digest{digest.FromBytes(files)}},
		History:  []ocispec.History{{Created: &r.created, CreatedBy: "make release"}},
	})
	if err != nil {
		return ocispec.Descriptor{}, err
	}
	manifest, err := pushManifest(ctx, blobs, config, layer, r.annotations())
	manifest.Platform = &platform
	return manifest, err
}

// writeChart writes a layout with the same content as helm push for a packed chart.
func writeChart(ctx context.Context, dir string, r *release, file string) error {
	blobs, err := oci.NewStorage(dir)
	if err != nil {
		return err
	}
	packed, err := os.ReadFile(filepath.Clean(file))
	if err != nil {
		return err
	}
	metadata, err := chartMetadata(packed)
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	config, err := oras.PushBytes(ctx, blobs, chartConfigType, metadata)
	if err != nil {
		return err
	}
	layer, err := oras.PushBytes(ctx, blobs, chartContentType, packed)
	if err != nil {
		return err
	}
	chart := *r
	chart.version = strings.TrimPrefix(r.version, "v") // Helm requires it without the v
	pushed, err := pushManifest(ctx, blobs, config, layer, chart.annotations())
	if err != nil {
		return err
	}
	return writeIndex(dir, pushed, chart.version)
}

// chartMetadata returns the Chart.yaml of a packed chart, as JSON.
func chartMetadata(packed []byte) ([]byte, error) {
	unzipped, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	files := tar.NewReader(unzipped)
	for {
		header, err := files.Next()
		if err != nil {
			return nil, fmt.Errorf("reading %s/Chart.yaml: %w", name, err)
		}
		if header.Name == name+"/Chart.yaml" {
			break
		}
	}
	text, err := io.ReadAll(files)
	if err != nil {
		return nil, err
	}
	return yaml.YAMLToJSON(text)
}

func pushManifest(
	ctx context.Context, blobs *oci.Storage, config, layer ocispec.Descriptor, annotations map[string]string,
) (ocispec.Descriptor, error) {
	return pushJSON(ctx, blobs, ocispec.MediaTypeImageManifest, ocispec.Manifest{
		Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageManifest,
		Config: config, Layers: []ocispec.Descriptor{layer}, Annotations: annotations,
	})
}

func pushJSON(ctx context.Context, blobs *oci.Storage, mediaType string, value any) (ocispec.Descriptor, error) {
	content, err := json.Marshal(value)
	if err != nil {
		return ocispec.Descriptor{}, err
	}
	return oras.PushBytes(ctx, blobs, mediaType, content)
}

// writeIndex writes a layout with blobs and one tagged artifact, and prints its digest. oras's
// store would list the manifests of all platforms too, in random order.
func writeIndex(dir string, artifact ocispec.Descriptor, tag string) error {
	artifact.Annotations = map[string]string{ocispec.AnnotationRefName: tag}
	for file, value := range map[string]any{
		ocispec.ImageLayoutFile: ocispec.ImageLayout{Version: ocispec.ImageLayoutVersion},
		ocispec.ImageIndexFile: ocispec.Index{
			Versioned: specs.Versioned{SchemaVersion: 2}, MediaType: ocispec.MediaTypeImageIndex, Manifests: []ocispec.Descriptor{artifact},
		},
	} {
		content, err := json.Marshal(value)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, file), content, 0o644); err != nil { //nolint:gosec // for all to read
			return err
		}
	}
	fmt.Println(artifact.Digest)
	return nil
}
