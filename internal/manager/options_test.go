// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestThePageOfTheFlagsHasThemAsTheyAre(t *testing.T) {
	t.Setenv("TMPDIR", "/tmp")
	table := "| flag | default | |\n|---|---|---|\n"
	flags := (&options{}).flagSet(func(string) string { return "" })
	flags.VisitAll(func(f *flag.Flag) {
		value, usage := flag.UnquoteUsage(f)
		name, byDefault := "--"+f.Name, f.DefValue
		if value != "" {
			name += "=" + value
		}
		if byDefault != "" {
			byDefault = "`" + byDefault + "`"
		}
		table += "| `" + name + "` | " + byDefault + " | " + strings.NewReplacer("|", `\|`, "\n", " ").Replace(usage) + " |\n"
	})
	page, err := os.ReadFile("../../docs/flags.md")
	require.NoError(t, err)
	_, got, _ := strings.Cut(string(page), "\n\n|")
	assert.Equal(t, table, "|"+got, "docs/flags.md ends with this table:\n%s", table)
}
