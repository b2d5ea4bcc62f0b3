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
)

// buildType is the address of the page that describes the parameters.
const buildType = "https://tutorial.kubebuilder.io/project/docs/releases.md#provenance"

// build has what only the provenance needs.
type build struct {
	source, builder, registry string
}

// object is one in JSON.
type object map[string]any

// writeProvenance writes an in-toto statement in SLSA's format: what the listed artifacts were made
// from, and by whom. It does not use the types of in-toto's library, which are Protobuf's, because
// their JSON is not reproducible; the test reads it with them.
func writeProvenance(out io.Writer, sums io.Reader, r *release, b *build) error {
	subjects := []object{}
	lines := bufio.NewScanner(sums)
	for lines.Scan() {
		sum, artifact, ok := strings.Cut(lines.Text(), "  ")
		if !ok {
			return fmt.Errorf("%q: want a line of sha256sum: a checksum, two blanks, a name", lines.Text())
		}
		subjects = append(subjects, object{"name": artifact, "digest": object{"sha256": sum}})
	}
	if err := lines.Err(); err != nil {
		return err
	}
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(object{
		"_type":         "https://in-toto.io/Statement/v1",
		"predicateType": "https://slsa.dev/provenance/v1",
		"subject":       subjects,
		"predicate": object{
			"buildDefinition": object{
				"buildType":          buildType,
				"externalParameters": object{"VERSION": r.version, "REGISTRY": b.registry},
				"resolvedDependencies": []object{
					{"uri": b.source, "digest": object{"gitCommit": r.commit}},
					{"uri": "pkg:golang/stdlib@" + strings.TrimPrefix(runtime.Version(), "go")},
				},
			},
			"runDetails": object{"builder": object{"id": b.builder}},
		},
	})
}
