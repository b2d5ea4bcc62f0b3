// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// The reference of the API is written by hand. A generator was tried,
// github.com/elastic/crd-ref-docs v0.3.0: it repeats what `kubectl explain` prints, has the fields
// that both versions share three times, and knows nothing of messages, conditions, events and
// annotations, which are most of the pages.
func TestTheReferenceHasEachFieldOfTheAPI(t *testing.T) {
	source, err := os.ReadFile("../config/crd/bases/batch.tutorial.kubebuilder.io_cronjobs.yaml")
	require.NoError(t, err)
	crd := &apiextensionsv1.CustomResourceDefinition{}
	require.NoError(t, yaml.Unmarshal(source, crd))
	fields := func(version int, path ...string) []string {
		schema := crd.Spec.Versions[version].Schema.OpenAPIV3Schema
		for _, name := range path {
			next := schema.Properties[name]
			if schema = &next; schema.Items != nil {
				schema = schema.Items.Schema
			}
		}
		return slices.Collect(maps.Keys(schema.Properties))
	}
	for _, test := range []struct {
		page, heading string
		want          []string
	}{
		{"api-v1.md", "Spec", fields(0, "spec")},
		{"api-v1.md", "Status", fields(0, "status")},
		{"api-v1.md", "Runs", fields(0, "status", "recentRuns")},
		{"api-v2.md", "spec.schedule", fields(1, "spec", "schedule")},
	} {
		assert.ElementsMatch(t, test.want, read(t, test.page).firstColumn(test.heading), "%s, %s", test.page, test.heading)
	}
}

// firstColumn returns what is marked as code in the first column of the first table under a
// heading.
func (p *page) firstColumn(heading string) (cells []string) {
	current, isDone := "", false
	each(p, func(node ast.Node) {
		switch node := node.(type) {
		case *ast.Heading:
			current = p.plain(node)
		case *extast.Table:
			if current != heading || isDone {
				return
			}
			isDone = true
			for row := node.FirstChild().NextSibling(); row != nil; row = row.NextSibling() {
				for part := row.FirstChild().FirstChild(); part != nil; part = part.NextSibling() {
					if part.Kind() == ast.KindCodeSpan {
						cells = append(cells, strings.TrimSpace(p.plain(part)))
					}
				}
			}
		}
	})
	return cells
}
