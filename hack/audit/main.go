// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Command audit checks the modules that are linked into binaries: their licences, and that their
// versions are not older than the policy allows. It also writes what is linked as a software bill
// of materials (SBOM), and copies the licences of all of it.
//
//	audit [-policy=FILE] BINARY...
//	audit [-policy=FILE] -sbom=FILE [-version=VERSION] BINARY
//	audit -licenses=DIR BINARY
//
// It works offline. It reads the binary, the modules in Go's cache, and the policy. It runs in the
// directory of the module that the binary is built from.
//
// Two tools were considered in its place:
//
//   - go-licenses (v2.0.1) leaves out the licence of Go itself, takes one licence file for each
//     package (so not LICENSE.libyaml of go.yaml.in/yaml/v2), and copies no grants of patents. It
//     reads source, so it does not say what a binary contains.
//   - cyclonedx-gomod (v1.10.0) names a single licence for each module, the most likely one,
//     where a module may have several. The library for the format, by the same authors, is used here.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
)

type options struct {
	policy   string
	sbom     string
	version  string
	licenses string
	binaries []string
}

func main() {
	o := options{}
	flag.StringVar(&o.policy, "policy", "policy.yaml", "`file` with the allowed licences and the oldest allowed versions")
	flag.StringVar(&o.sbom, "sbom", "", "`file` to write the SBOM of the binary to, in CycloneDX's JSON")
	flag.StringVar(&o.version, "version", "dev", "`version` of the binary, for the SBOM")
	flag.StringVar(&o.licenses, "licenses", "", "`directory` to create, and to copy the licences in the binary to")
	flag.Parse()
	o.binaries = flag.Args()
	if err := run(&o); err != nil {
		fmt.Fprintln(os.Stderr, "audit:", err)
		os.Exit(1)
	}
}

func run(o *options) error {
	if writes := o.sbom != "" || o.licenses != ""; len(o.binaries) == 0 || writes && len(o.binaries) > 1 {
		return errors.New("want the path of a binary; -sbom and -licenses take one, a check takes more")
	}
	var errs []error
	for _, binary := range o.binaries {
		if err := runFor(o, binary); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", binary, err))
		}
	}
	return errors.Join(errs...)
}

func runFor(o *options, binary string) error {
	modules, err := linkedModules(binary)
	if err != nil {
		return err
	}
	if o.licenses != "" {
		return copyTerms(o.licenses, modules)
	}
	policy, err := readPolicy(o.policy)
	if err != nil {
		return err
	}
	if err := policy.findLicences(modules); err != nil {
		return err
	}
	if o.sbom != "" {
		return writeSBOM(o.sbom, o.version, binary, modules)
	}
	if err := policy.check(modules); err != nil {
		return fmt.Errorf("%w\n%s has the rules", err, o.policy)
	}
	fmt.Printf("audit: %s: the licences and versions of %d modules are allowed\n", binary, len(modules))
	return nil
}
