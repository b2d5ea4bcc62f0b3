// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"

	intoto "github.com/in-toto/in-toto-golang/in_toto"
	"github.com/in-toto/in-toto-golang/in_toto/slsa_provenance/common"
	slsa "github.com/in-toto/in-toto-golang/in_toto/slsa_provenance/v1"
)

// buildType is the address of the page that describes the parameters.
const buildType = "https://tutorial.kubebuilder.io/project/docs/releases.md#provenance"

// build is what only the provenance tells.
type build struct {
	source, builder, registry string
}

// writeProvenance writes an in-toto statement in SLSA's format: what the artifacts whose checksums
// are listed were made from, and by whom.
func writeProvenance(out io.Writer, sums io.Reader, r *release, b *build) error {
	statement := intoto.ProvenanceStatementSLSA1{
		StatementHeader: intoto.StatementHeader{Type: intoto.StatementInTotoV1, PredicateType: slsa.PredicateSLSAProvenance},
		Predicate: slsa.ProvenancePredicate{
			BuildDefinition: slsa.ProvenanceBuildDefinition{
				BuildType:          buildType,
				ExternalParameters: map[string]string{"VERSION": r.version, "REGISTRY": b.registry},
				ResolvedDependencies: []slsa.ResourceDescriptor{
					{URI: b.source, Digest: common.DigestSet{"gitCommit": r.commit}},
					{URI: "pkg:golang/stdlib@" + strings.TrimPrefix(runtime.Version(), "go")},
				},
			},
			RunDetails: slsa.ProvenanceRunDetails{Builder: slsa.Builder{ID: b.builder}},
		},
	}
	lines := bufio.NewScanner(sums)
	for lines.Scan() {
		sum, artifact, ok := strings.Cut(lines.Text(), "  ")
		if !ok {
			return fmt.Errorf("%q: want a line of sha256sum: a checksum, two blanks, a name", lines.Text())
		}
		statement.Subject = append(statement.Subject, intoto.Subject{Name: artifact, Digest: common.DigestSet{"sha256": sum}})
	}
	if err := lines.Err(); err != nil {
		return err
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(statement)
}
