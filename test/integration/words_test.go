// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// documented is a row of a table in docs: a line of a manifest, and what is printed about it.
type documented struct {
	line    string
	printed []string
}

var (
	tableHead = regexp.MustCompile(`^\| line of the manifest \| (.*) \|$`)
	tableRow  = regexp.MustCompile("^\\| `(schedule: .*?)` \\| (.*) \\|$")
)

// documentedRows returns the rows of the page about what is refused and warned of, which are about
// lines of a manifest, by the heading of their table.
func documentedRows(t *testing.T) map[string][]documented {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "troubleshooting.md"))
	require.NoError(t, err)
	tables, heading := map[string][]documented{}, ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		switch head, row := tableHead.FindStringSubmatch(line), tableRow.FindStringSubmatch(line); {
		case head != nil:
			heading = head[1]
		case line == "":
			heading = ""
		case row != nil && heading != "":
			cells := strings.Split(row[2], " | ")
			for i := range cells {
				cells[i] = strings.Trim(cells[i], "`")
			}
			tables[heading] = append(tables[heading], documented{row[1], cells})
		}
	}
	return tables
}

// manifest is a CronJob with a line as its schedule.
func (d documented) manifest(version, name string) string {
	return fmt.Sprintf("apiVersion: batch.tutorial.kubebuilder.io/%s\nkind: CronJob\nmetadata:\n  name: %s\nspec:\n  %s\n  %s\n---\n",
		version, name, d.line, jobTemplate)
}

// printedFor has kubectl create CronJobs in a server-side dry run, and returns what it prints.
func (s *space) printedFor(version string, rows ...documented) string {
	s.t.Helper()
	text := ""
	for i, row := range rows {
		text += row.manifest(version, fmt.Sprintf("c%d", i))
	}
	command := s.Kubectl(s.t.Context(), "create", "-n", s.ns, "--dry-run=server", "-f", "-")
	command.Stdin = strings.NewReader(text)
	out, _ := command.CombinedOutput() // it fails if anything is refused
	return string(out)
}

// refusalOf returns what kubectl printed about the CronJob of a row.
func refusalOf(t *testing.T, printed string, row int) string {
	t.Helper()
	_, refusal, _ := strings.Cut(printed, fmt.Sprintf("CronJob.batch.tutorial.kubebuilder.io \"c%d\" is invalid: ", row))
	refusal, _, _ = strings.Cut(refusal, "\n")
	return inNewWords(t, refusal)
}

func TestA5TheDocumentationTellsWhatIsPrintedAboutAWrongManifestOfV1(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	tables := documentedRows(t)
	refused := tables["printed after `spec.schedule: Invalid value: \"…\": not a schedule: `"]
	require.Len(t, refused, 13)
	printed := s.printedFor("v1", refused...)
	for i, row := range refused {
		spec := map[string]string{}
		require.NoError(t, yaml.Unmarshal([]byte(row.line), &spec))
		want := fmt.Sprintf("spec.schedule: Invalid value: %q: not a schedule: %s", spec["schedule"], row.printed[0])
		assert.Equal(t, want, refusalOf(s.t, printed, i))
	}
	assert.NotContains(t, printed, "strconv")
	s.assertRefusedAsDocumented("v1", tables["printed in v1"], 3)
	s.assertUnquotedAsDocumented("v1", tables["kubectl prints | `kubectl cronjob` adds"], 2)
	s.assertWarningsAsDocumented("v1", tables["warning in v1"], 3)
}

func TestA4TheDocumentationTellsWhatIsPrintedAboutAWrongManifestOfV2(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	tables := documentedRows(t)
	s.assertRefusedAsDocumented("v2", tables["printed in v2"], 8)
	s.assertUnquotedAsDocumented("v2", tables["kubectl prints | `kubectl cronjob next -f` says"], 2)
	s.assertWarningsAsDocumented("v2", tables["warning in v2"], 1)
}

// assertRefusedAsDocumented checks what kubectl prints about manifests that are refused.
func (s *space) assertRefusedAsDocumented(version string, rows []documented, want int) {
	s.t.Helper()
	require.Len(s.t, rows, want)
	printed := s.printedFor(version, rows...)
	for i, row := range rows {
		assert.Equal(s.t, row.printed[0], refusalOf(s.t, printed, i))
	}
}

// assertUnquotedAsDocumented checks what kubectl and the plugin say of manifests that lack quotes.
func (s *space) assertUnquotedAsDocumented(version string, rows []documented, want int) {
	s.t.Helper()
	require.Len(s.t, rows, want)
	for _, row := range rows {
		assert.Contains(s.t, s.printedFor(version, row), row.printed[0])
		file := filepath.Join(s.t.TempDir(), "c.yaml")
		require.NoError(s.t, os.WriteFile(file, []byte(row.manifest(version, "c")), 0o600))
		assert.Regexp(s.t, ": "+regexp.QuoteMeta(row.printed[1])+"$", s.plugin("next", "-f", file).fails(1))
	}
}

// assertWarningsAsDocumented checks what kubectl prints about manifests that are accepted.
func (s *space) assertWarningsAsDocumented(version string, rows []documented, want int) {
	s.t.Helper()
	require.Len(s.t, rows, want)
	for _, row := range rows {
		printed := s.printedFor(version, row)
		assert.Contains(s.t, printed, "Warning: "+row.printed[0]+"\n")
		assert.Contains(s.t, printed, "c0 created (server dry run)")
		assert.Equal(s.t, 1, strings.Count(printed, "Warning: "), printed)
	}
}

// example is a manifest in the documentation, or a spec without the template of its Jobs.
var example = regexp.MustCompile("(?s)```yaml\n(.*?)```")

func TestEachExampleOfTheDocumentationIsAccepted(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	for _, version := range []string{"v1", "v2"} {
		page, err := os.ReadFile(filepath.Join("..", "..", "docs", "api-"+version+".md"))
		require.NoError(t, err)
		found := example.FindAllStringSubmatch(string(page), -1)
		require.NotEmpty(t, found)
		for _, match := range found {
			text := match[1]
			if strings.HasPrefix(text, "spec:") {
				text = fmt.Sprintf("apiVersion: batch.tutorial.kubebuilder.io/%s\nkind: CronJob\nmetadata:\n  name: c\n%s  %s\n", version, text, jobTemplate)
			}
			command := s.Kubectl(t.Context(), "create", "-n", s.ns, "--dry-run=server", "--warnings-as-errors", "-f", "-")
			command.Stdin = strings.NewReader(text)
			out, err := command.CombinedOutput()
			assert.NoError(t, err, "%s%s", text, out)
		}
	}
}
