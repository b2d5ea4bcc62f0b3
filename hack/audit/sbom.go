// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"strings"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"
)

const mainPath = "tutorial.kubebuilder.io/project"

// writeSBOM writes an SBOM of a binary with its checksum. It is reproducible: it has no time and no
// serial number.
func writeSBOM(file, version, binary string, modules []*module) error {
	content, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(content)
	root := component(cyclonedx.ComponentTypeApplication, mainPath, version)
	root.Hashes = &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: hex.EncodeToString(sum[:])}}

	components, refs := []cyclonedx.Component{}, []string{}
	for _, m := range modules {
		c := component(cyclonedx.ComponentTypeLibrary, m.path, m.version)
		if m.path == toolchain {
			c = component(cyclonedx.ComponentTypeLibrary, "stdlib", strings.TrimPrefix(m.version, toolchain))
		}
		c.Licenses = &cyclonedx.Licenses{}
		for _, id := range m.licences {
			*c.Licenses = append(*c.Licenses, cyclonedx.LicenseChoice{License: &cyclonedx.License{ID: id}})
		}
		if m.sum != "" {
			c.Properties = &[]cyclonedx.Property{{Name: "go.sum", Value: m.sum}}
		}
		components, refs = append(components, c), append(refs, c.BOMRef)
	}
	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{Component: &root}
	bom.Components = &components
	// A binary does not have the dependencies between its modules.
	bom.Dependencies = &[]cyclonedx.Dependency{{Ref: root.BOMRef, Dependencies: &refs}}

	text := &bytes.Buffer{}
	if err := cyclonedx.NewBOMEncoder(text, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bom); err != nil {
		return fmt.Errorf("encoding the SBOM: %w", err)
	}
	return os.WriteFile(file, text.Bytes(), 0o644) //nolint:gosec // for all to read
}

// component identifies a module by its package URL.
func component(kind cyclonedx.ComponentType, path, version string) cyclonedx.Component {
	url := "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")
	return cyclonedx.Component{Type: kind, BOMRef: url, Name: path, Version: version, PackageURL: url}
}
