// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"tutorial.kubebuilder.io/project/internal/cli/env"
)

// mistake is a bad command line, and what the error has to say.
type mistake struct {
	args []string
	want string
}

// whole are the commands whose errors have to say that and nothing else.
var whole = []string{"convert", "storage migrate"}

// mistakes has bad command lines of each command, by its name.
var mistakes = map[string][]mistake{
	"": {
		{[]string{"foo"}, `unknown command "foo" for "kubectl cronjob"`},
		{[]string{"hist", "backup"}, "Did you mean this?\n\thistory\n"},
		{[]string{"--foo"}, "unknown flag: --foo\nSee 'kubectl cronjob --help' for usage"},
	},
	"backfill": {
		{nil, "name the CronJob\nSee 'kubectl cronjob backfill --help' for usage"},
		{[]string{"a"}, "say which ticks: --from TIME --to TIME"},
		{[]string{"a", "--from=2027-01-01"}, "say which ticks"},
		{[]string{"a", "--from=1", "--to=2", "--parallel=0"}, "--parallel must be 1 or more, not 0"},
		{[]string{"a", "--from=1", "--to=2", "--only=some"}, `invalid --only value (some): must be "missed", "failed", or "all"`},
		{[]string{"a", "--from=1", "--to=2", "--dry-run=maybe"}, `must be "none", "server", or "client"`},
	},
	"convert": {
		{[]string{"--to"}, "flag needs an argument: --to\nSee 'kubectl cronjob convert --help' for usage"},
		{[]string{"--to", "v2"}, "name files with -f"},
		{[]string{"-f", "c.yaml"}, "--to is missing: want v1 or v2"},
		{[]string{"-f", "c.yaml", "--to", "v3"}, "--to v3: want v1 or v2"},
		{
			[]string{"-f", "c.yaml", "--to", "v2", "--from", "v1"},
			"--from v1: want batch/v1; which of our versions is converted follows from --to",
		},
		{[]string{"-f", "c.yaml", "--to", "v2", "-i", "--check"}, "--check writes nothing: leave out --in-place"},
		{
			[]string{"-f", "c.yaml", "-f", "-", "--to", "v2", "-i"},
			"--in-place can't write the standard input: leave it out, or name files",
		},
		{[]string{"-f", "c.yaml", "-f", "missing", "-i", "--to", "v2"}, "-f missing: no such file or directory"},
		{
			[]string{"-f", "https://x.test/c.yaml", "--to", "v2"},
			"-f https://x.test/c.yaml: URLs are not read: download it, and pipe it into -f -",
		},
		{
			[]string{"-f", "c.yaml", "--to", "v2", "c.yaml"},
			"unexpected argument \"c.yaml\": name files with -f\nSee 'kubectl cronjob convert --help' for usage",
		},
		{[]string{"-f", "c.yaml", "--to", "v2", "--nonsense"}, "unknown flag: --nonsense\nSee 'kubectl cronjob convert --help' for usage"},
		{
			[]string{"-f", "c.yaml", "--to", "v2", "--diff=nonsense"},
			`invalid argument "nonsense" for "--diff" flag: strconv.ParseBool: parsing "nonsense": invalid syntax` +
				"\nSee 'kubectl cronjob convert --help' for usage",
		},
	},
	"export": {
		{nil, "name the CronJob, or several, or select some with -l or -A"},
		{[]string{"a", "--spec=both"}, "--spec=both: use ours or original"},
		{[]string{"a", "--grace=-1s"}, "--grace=-1s: use 0 or more"},
	},
	"history": {
		{nil, "name the CronJob, or several, or select some with -l or -A"},
		{[]string{"a", "-c", "-1"}, "--count must be from 0 to"},
		{[]string{"a", "-o", "wide"}, `unable to match a printer suitable for the output format "wide"`},
	},
	"import": {
		{[]string{"a", "-A"}, "-A goes without NAMEs"},
		{[]string{"--timeout=-1s"}, "--timeout=-1s: use 0 or more"},
		{[]string{"--dry-run=maybe"}, `must be "none", "server", or "client"`},
	},
	"lint": {
		{nil, "name files with -f"},
		{[]string{"c.yaml"}, "unexpected argument \"c.yaml\": name files with -f\nSee 'kubectl cronjob lint --help' for usage"},
		{[]string{"-f", "missing.yaml"}, "-f missing.yaml: no such file or directory"},
		{[]string{"-f", "c.yaml", "-o", "xml"}, "allowed formats are: text,json,sarif"},
		{[]string{"--foo"}, "unknown flag: --foo\nSee 'kubectl cronjob lint --help' for usage"},
		{[]string{"-f", "https://example.com/c"}, "URLs are not read"},
	},
	"list": {
		{[]string{"--sort-by=age"}, `invalid --sort-by value (age): must be "name", "state", "last", or "next"`},
		{[]string{"--sort-by=name", "-o", "json"}, "--watch and --sort-by are for the table: omit -o json"},
		{[]string{"-w", "-o", "name"}, "--watch and --sort-by are for the table: omit -o name"},
		{[]string{"a", "-A"}, "-A goes without NAMEs"},
	},
	"logs": {
		{nil, "name the CronJob, or several, or select some with -l or -A"},
		{[]string{"a", "-l", "b"}, "give NAMEs or -l SELECTOR, not both"},
		{[]string{"a", "-A"}, "-A goes without NAMEs"},
		{[]string{"pod/a"}, `"pod/a" is not a CronJob`},
		{[]string{"a", "--tick", "noon"}, `--tick "noon" is not a time`},
		{[]string{"a", "--failed", "--tick", "2027-01-15T02:00:00Z"}, "[failed tick]"},
	},
	"next": {
		{nil, `give the NAME of a CronJob, a cron EXPRESSION such as "0 9 * * 1-5", or -f FILE`},
		{[]string{"--foo"}, "unknown flag: --foo\nSee 'kubectl cronjob next --help' for usage"},
		{[]string{"0", "9", "*", "*", "1-5"}, `quote an expression, as in kubectl cronjob next "0 9 * * 1-5"`},
		{[]string{"0", "9", "1", "1", "1"}, `quote an expression`},
		{[]string{"@daily", "@hourly"}, `got 2 arguments that are no NAMEs`},
		{[]string{"@daily", "-f", "-"}, "give a NAME, an EXPRESSION or -f, not two of them"},
		{[]string{"@daily", "-A"}, "omit them with an EXPRESSION or -f"},
		{[]string{"-f", "-", "-l", "a=b"}, "omit them with an EXPRESSION or -f"},
		{[]string{"a", "b", "-l", "a=b"}, "give NAMEs or -l SELECTOR, not both"},
		{[]string{"a", "b", "-A"}, "-A goes without NAMEs"},
		{[]string{"-l", "a in ("}, `-l "a in ("`},
		{[]string{"a", "job/x"}, `"job/x" is not a CronJob`},
		{[]string{"job/x"}, `"job/x" is not a CronJob`},
		{[]string{"@daily", "-c", "0"}, "--count must be from 1 to 10000, not 0"},
		{[]string{"@daily", "--time-zone", "Local"}, `--time-zone: unknown time zone "Local"`},
		{[]string{"@daily", "--from", "tomorrow"}, `--from "tomorrow" is not a time`},
		{[]string{"@daily", "-o", "wide"}, `output format "wide", allowed formats are: json,yaml,name`},
		{[]string{"@daily", "-o", "name"}, "an expression has none: use -o json or yaml"},
		{[]string{"61 * * * *"}, `the expression "61 * * * *": not a schedule: minute "61": must be a minute from 0 to 59, a range`},
		{[]string{"0 0 * * L"}, `the expression "0 0 * * L": not a schedule: day of week "L": L alone is not a day of the week: `},
		{[]string{"@Daily"}, `the expression "@Daily": not a schedule: macros are in lower case, without further blanks: write @daily`},
		{[]string{"@every 0s"}, `the expression "@every 0s": must be an interval above 0`},
		{[]string{"@every -5m"}, `the expression "@every -5m": must be an interval above 0`},
		{[]string{"0 0 30 2 *"}, `the expression "0 0 30 2 *": never fires`},
		{[]string{""}, `the expression "": not a schedule: must not be empty: write five fields such as 0 9 * * 1-5`},
		{[]string{"CRON_TZ=UTC 0 0 * * *"}, "use timeZone"},
		{[]string{"-f", "missing.yaml"}, "-f missing.yaml: no such file or directory"},
		{[]string{"-f", "-"}, "no CronJob in it"},
	},
	"options": {
		{[]string{"a"}, `unknown command "a" for "kubectl cronjob options"`},
	},
	"resume": selected,
	"run": {
		{nil, "name the CronJob\nSee 'kubectl cronjob run --help' for usage"},
		{[]string{"a", "b"}, `one CronJob at a time: "b" is one too many`},
		{[]string{"a", "--wait", "--dry-run=client"}, "omit --dry-run"},
		{[]string{"a", "--follow", "-o", "yaml"}, "use one of them"},
		{[]string{"a", "--timeout", "5s"}, "--timeout goes with --wait or --follow"},
		{[]string{"a", "--wait", "--timeout=-5s"}, "must not be negative"},
		{[]string{"a", "b", "--", "c"}, `"b" is one too many`},
		{[]string{"a", "--again"}, "--again goes with --tick"},
		{[]string{"a", "--tick", ""}, `--tick "" is not a time`},
		{[]string{"a", "--env", "A"}, `--env "A": want NAME=VALUE`},
		{[]string{"a", "--env", "=1"}, `--env "=1": the name "": `},
		{[]string{"a", "--container", "main"}, "--container goes with --env, or with arguments behind --"},
		{[]string{"a", "--dry-run=maybe"}, `must be "none", "server", or "client"`},
		{[]string{"a", "-o", "wide"}, `unable to match a printer suitable for the output format "wide"`},
		{[]string{"pod/a"}, `"pod/a" is not a CronJob of batch.tutorial.kubebuilder.io: give its NAME, or cronjob/NAME`},
	},
	"storage": {
		{[]string{"foo"}, "unknown command \"foo\" for \"kubectl cronjob storage\"\nSee 'kubectl cronjob storage --help' for usage"},
		{[]string{"-o", "wide"}, `unable to match a printer suitable for the output format "wide"`},
	},
	"storage check": {
		{[]string{"a"}, `unknown command "a" for "kubectl cronjob storage check"`},
	},
	"storage migrate": {
		{[]string{"--timeout=-1s"}, "--timeout=-1s: use 0 or more"},
	},
	"suspend": selected,
	"ui": {
		{[]string{"a"}, `unknown command "a" for "kubectl cronjob ui"`},
		{[]string{"-l", "a in ("}, `-l "a in ("`},
		{[]string{"--port=-1"}, `invalid argument "-1" for "--port" flag`},
	},
	"version": {
		{[]string{"a"}, `unknown command "a" for "kubectl cronjob version"`},
	},
}

// selected has bad command lines of suspend and resume.
var selected = []mistake{
	{nil, "say which CronJobs: NAME..., -l SELECTOR or --all"},
	{[]string{"-A"}, "say which CronJobs"},
	{[]string{"a", "--all"}, "not two of them"},
	{[]string{"a", "-l", "b"}, "not two of them"},
	{[]string{"--all", "-l", "b"}, "not two of them"},
	{[]string{"a", "-A"}, "-A goes with -l or --all"},
	{[]string{"-l", "a in ("}, `-l "a in ("`},
	{[]string{"a", "--dry-run=maybe"}, `must be "none", "server", or "client"`},
	{[]string{"a", "-o", "wide"}, `unable to match a printer suitable for the output format "wide"`},
}

func TestABadCommandLineIsAnsweredWithWhatWouldBeRight(t *testing.T) {
	const manifest = "apiVersion: batch.tutorial.kubebuilder.io/v1\nkind: CronJob\nspec: {schedule: '@daily'}\n"
	for command, lines := range mistakes {
		wantCode := 1
		if command == "convert" || command == "lint" {
			wantCode = 2 // 1 is what they say of files
		}
		for _, line := range lines {
			args := slices.Concat(strings.Fields(command), line.args)
			t.Run(strings.Join(args, " "), func(t *testing.T) {
				t.Chdir(t.TempDir())
				require.NoError(t, os.WriteFile("c.yaml", []byte(manifest), 0o600))

				out, err := execute(args...)
				if slices.Contains(whole, command) {
					require.EqualError(t, err, line.want)
				} else {
					require.ErrorContains(t, err, line.want)
				}
				assert.Equal(t, wantCode, env.ExitCode(err))
				assert.Empty(t, out, "no usage, in which the error would drown")
				assert.LessOrEqual(t, strings.Count(err.Error(), "--help"), 1)

				text, err := os.ReadFile("c.yaml")
				require.NoError(t, err)
				assert.Equal(t, manifest, string(text))
				files, err := filepath.Glob("*")
				require.NoError(t, err)
				assert.Equal(t, []string{"c.yaml"}, files)
			})
		}
	}
}

func TestEachCommandHasBadCommandLines(t *testing.T) {
	seen := 0
	eachCommand(NewCommand(env.New(genericiooptions.NewTestIOStreamsDiscard()), ""), func(cmd *cobra.Command) {
		name := strings.TrimSpace(strings.TrimPrefix(cmd.CommandPath(), "kubectl cronjob"))
		assert.NotEmpty(t, mistakes[name], name)
		seen++
	})
	assert.Len(t, mistakes, seen, "each is of a command")
}
