/*
Copyright 2026 The project authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

// Command audit says whether the modules that are linked into binaries may be: by their licences and by the
// versions that are known to be bad. It also writes down what is linked, as a software bill of materials (SBOM).
//
//	audit [-policy=FILE] BINARY...
//	audit -sbom=FILE [-version=VERSION] BINARY
//
// It asks no server: all it knows are the binaries, the modules in Go's cache, and the policy.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
)

func main() {
	policyFile := flag.String("policy", "policy.yaml", "`file` of what is allowed and what is known to be bad")
	sbomFile := flag.String("sbom", "", "`file` to write the SBOM of one binary to, in CycloneDX's JSON")
	version := flag.String("version", "dev", "`version` of the binary, for the SBOM")
	flag.Parse()
	if err := run(*policyFile, *sbomFile, *version, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "audit:", err)
		os.Exit(1)
	}
}

func run(policyFile, sbomFile, version string, binaries []string) error {
	policy, err := readPolicy(policyFile)
	if err != nil {
		return err
	}
	if len(binaries) == 0 || sbomFile != "" && len(binaries) > 1 {
		return errors.New("want the path of a binary; -sbom takes one, a check takes more")
	}
	var linked []module
	for _, binary := range binaries {
		found, err := readModules(binary)
		if err != nil {
			return err
		}
		linked = append(linked, found...)
	}
	slices.SortFunc(linked, module.compare)
	linked = slices.CompactFunc(linked, func(a, b module) bool { return a.compare(b) == 0 })
	if err := findLicences(linked, policy); err != nil {
		return err
	}
	if sbomFile != "" {
		return writeSBOM(sbomFile, version, linked)
	}
	if problems := policy.check(linked); len(problems) > 0 {
		return errors.Join(append(problems, fmt.Errorf("%d problems; %s has the rules", len(problems), policyFile))...)
	}
	fmt.Printf("audit: %d modules, and their licences and versions are as they should be\n", len(linked))
	return nil
}
