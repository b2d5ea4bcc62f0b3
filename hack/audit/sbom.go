// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"strings"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"
)

// What the SBOM is about.
const (
	mainName = "project"
	mainPath = "tutorial.kubebuilder.io/project"
)

// writeSBOM writes what is linked into a binary to a file, with the binary's own checksum. Of the same
// binary it is the same, byte for byte: it has no time and no serial number.
func writeSBOM(file, version, binary string, modules []module) error {
	content, err := os.ReadFile(binary)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(content)
	root := cyclonedx.Component{
		BOMRef: purl(mainPath, version), Type: cyclonedx.ComponentTypeApplication,
		Name: mainName, Version: version, PackageURL: purl(mainPath, version),
		Hashes: &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: hex.EncodeToString(sum[:])}},
	}
	bom := cyclonedx.NewBOM()
	bom.Metadata = &cyclonedx.Metadata{Component: &root}
	components, refs := make([]cyclonedx.Component, 0, len(modules)), make([]string, 0, len(modules))
	for _, m := range modules {
		c, err := component(m)
		if err != nil {
			return err
		}
		components, refs = append(components, c), append(refs, c.BOMRef)
	}
	// A binary tells what is in it, and not what in it uses what.
	bom.Components, bom.Dependencies = &components, &[]cyclonedx.Dependency{{Ref: root.BOMRef, Dependencies: &refs}}

	out, err := os.Create(file)
	if err != nil {
		return err
	}
	if err := cyclonedx.NewBOMEncoder(out, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bom); err != nil {
		_ = out.Close()
		return fmt.Errorf("writing %s: %w", file, err)
	}
	return out.Close()
}

// component describes a module.
func component(m module) (cyclonedx.Component, error) {
	name, version := m.path, m.version
	if m.path == toolchain {
		name, version = "stdlib", strings.TrimPrefix(m.version, "go")
	}
	c := cyclonedx.Component{
		BOMRef: purl(name, version), Type: cyclonedx.ComponentTypeLibrary,
		Name: name, Version: version, PackageURL: purl(name, version),
	}
	licences := make(cyclonedx.Licenses, 0, len(m.licences))
	for _, id := range m.licences {
		licences = append(licences, cyclonedx.LicenseChoice{License: &cyclonedx.License{ID: id}})
	}
	c.Licenses = &licences
	if m.sum != "" {
		sum, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(m.sum, "h1:"))
		if err != nil {
			return c, fmt.Errorf("the checksum of %s: %w", m, err)
		}
		c.Hashes = &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: hex.EncodeToString(sum)}}
	}
	return c, nil
}

// purl is the URL by which databases of packages know a module.
func purl(name, version string) string {
	return "pkg:golang/" + name + "@" + strings.ReplaceAll(version, "+", "%2B")
}
