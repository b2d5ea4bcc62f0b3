// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Command audit says whether the modules that are linked into binaries may be: by their licences and by the
// versions that are known to be bad. It also writes down what is linked, as a software bill of materials
// (SBOM), and copies the terms under which it is.
//
//	audit [-policy=FILE] BINARY...
//	audit [-policy=FILE] -sbom=FILE [-version=VERSION] BINARY
//	audit -licenses=DIR BINARY
//
// It asks no server: all it knows are the binaries, the modules in Go's cache, and the policy.
//
// go-licenses (v1.6.0) copies terms, too, but one file for a package and not Go's own: it left out
// go.yaml.in/yaml/v2's LICENSE.libyaml and each grant of patents. It goes by packages, and says nothing of a
// binary.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
)

// options are those of the command line.
type options struct {
	policy   string
	sbom     string
	version  string
	licenses string
	binaries []string
}

func main() {
	o := options{}
	flag.StringVar(&o.policy, "policy", "policy.yaml", "`file` of what is allowed and what is known to be bad")
	flag.StringVar(&o.sbom, "sbom", "", "`file` to write the SBOM of one binary to, in CycloneDX's JSON")
	flag.StringVar(&o.version, "version", "dev", "`version` of the binary, for the SBOM")
	flag.StringVar(&o.licenses, "licenses", "", "`directory` to make, and to copy the terms of one binary to")
	flag.Parse()
	o.binaries = flag.Args()
	if err := run(&o); err != nil {
		fmt.Fprintln(os.Stderr, "audit:", err)
		os.Exit(1)
	}
}

func run(o *options) error {
	switch {
	case o.sbom != "" && o.licenses != "":
		return errors.New("-sbom and -licenses exclude each other")
	case len(o.binaries) == 0 || (o.sbom != "" || o.licenses != "") && len(o.binaries) > 1:
		return errors.New("want the path of a binary; -sbom and -licenses take one, a check takes more")
	}
	linked, err := readAllModules(o.binaries)
	if err != nil {
		return err
	}
	if o.licenses != "" {
		return writeTerms(o.licenses, linked)
	}
	policy, err := readPolicy(o.policy)
	if err != nil {
		return err
	}
	if err := findLicences(linked, policy); err != nil {
		return err
	}
	if o.sbom != "" {
		return writeSBOM(o.sbom, o.version, o.binaries[0], linked)
	}
	if problems := policy.check(linked); len(problems) > 0 {
		return errors.Join(append(problems, fmt.Errorf("%d problems; %s has the rules", len(problems), o.policy))...)
	}
	fmt.Printf("audit: %d modules, and their licences and versions are as they should be\n", len(linked))
	return nil
}
