// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package importing

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"tutorial.kubebuilder.io/project/internal/cli/env"
)

var update = flag.Bool("update", false, "write what import makes of testdata as what is wanted")

// importCrontab runs the command where there is no cluster.
func importCrontab(t *testing.T, stdin string, args ...string) (out, errOut string, err error) {
	t.Helper()
	streams, in, outBuffer, errBuffer := genericiooptions.NewTestIOStreams()
	in.WriteString(stdin)
	cmd := NewCommand(env.New(streams))
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args)
	err = cmd.ExecuteContext(t.Context())
	return outBuffer.String(), errBuffer.String(), err
}

// TestGolden holds what is printed of testdata/crontab: the manifests, and what is said of its
// lines.
func TestGolden(t *testing.T) {
	for suffix, flags := range map[string][]string{".v1": nil, ".v2": {"--v2"}} {
		t.Run(suffix, func(t *testing.T) {
			out, errOut, err := importCrontab(t, "", append([]string{"--crontab=testdata/crontab", "--image=debian:13"}, flags...)...)
			require.EqualError(t, err, "5 of 11 commands were not imported")
			for path, got := range map[string]string{"testdata/crontab" + suffix + ".yaml": out, "testdata/crontab.txt": errOut} {
				if *update {
					require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
				}
				want, err := os.ReadFile(path)
				require.NoError(t, err)
				assert.Equal(t, string(want), got)
			}
		})
	}
}

func TestTheNameIsThatOfTheProgram(t *testing.T) {
	for command, want := range map[string]string{
		"/usr/local/bin/Backup_Shop.sh --full":       "backup-shop",
		"cd / && FOO=1 nice -n 10 ionice -c3 ./a.py": "a",
		"test -x /x || exit 0; /x/clean-up":          "clean-up",
		"[ -d /x ] && rm -rf /x/tmp":                 "rm",
		"sh -c 'run parts'":                          "run",
		"(flock -n 9; go)":                           "flock",
		"/1st":                                       "1st",
		"${TOOL} x":                                  "tool",
		"-":                                          "job",
		strings.Repeat("long", 20):                   strings.Repeat("long", 20)[:38],
	} {
		e := parseCrontab("* * * * * "+command, "", false).entries[0]
		assert.Equal(t, want, e.name, command)
	}
}

func TestANameStaysWhenOtherLinesComeAndGo(t *testing.T) {
	names := func(text string) map[string]string {
		byCommand := map[string]string{}
		for _, e := range parseCrontab(text, "", false).entries {
			byCommand[e.command] = e.name
		}
		return byCommand
	}
	before := names("0 1 * * * report a\n0 2 * * * report b\n0 3 * * * clean\n")
	after := names("0 4 * * * report c\n0 3 * * * clean\n0 2 * * * report b\n0 1 * * * report a\n")
	assert.Equal(t, "clean", before["clean"])
	for command, name := range before {
		assert.Equal(t, name, after[command])
	}
	assert.Len(t, map[string]bool{after["report a"]: true, after["report b"]: true, after["report c"]: true}, 3)
}

func TestASystemCrontabHasAUser(t *testing.T) {
	table := parseCrontab("17 * * * *\troot    cd / && run-parts /etc/cron.hourly\n@daily www-data backup\n", "UTC", true)
	require.Len(t, table.entries, 2)
	assert.Equal(t, "cd / && run-parts /etc/cron.hourly", table.entries[0].command)
	assert.Equal(t, "run-parts", table.entries[0].name)
	assert.Equal(t, "backup", table.entries[1].command)
	assert.Equal(t, "user www-data is not carried over: set runAsUser in the Pod's securityContext", table.remarks[1].text)
}

func TestWhatMayBeReadInAnotherWayIsNamed(t *testing.T) {
	for line, want := range map[string]string{
		"* * * * * root run":  "if root is a user here, and not a command, add --system",
		`* * * * * echo '\\'`: `of \\ in a command, \ is left, as Debian's cron does it`,
	} {
		table := parseCrontab(line, "", false)
		require.Len(t, table.entries, 1, line)
		require.Len(t, table.remarks, 1, line)
		assert.Contains(t, table.remarks[0].text, want)
	}
}

func TestACommandStartsInTheHomeThatTheCrontabSets(t *testing.T) {
	out, _, err := importCrontab(t, "0 1 * * * a\nHOME=/srv/shop\nMY-MODE = fast\n0 2 * * * b\n", "--crontab=-", "--image=i")
	require.NoError(t, err)
	a, b, _ := strings.Cut(out, "---\n")
	assert.NotContains(t, a, "workingDir")
	assert.Contains(t, b, "        - name: HOME\n              value: /srv/shop\n            - name: MY-MODE\n              value: fast\n")
	assert.Contains(t, b, "workingDir: /srv/shop\n")
}

func TestSundayIsAlso7(t *testing.T) {
	for text, want := range map[string]string{"7": "0", "5-7": "5-6,0", "1,7": "1,0", "0-7": "0-6,0", "mon-fri": "mon-fri", "*/7": "*/7"} {
		table := parseCrontab("0 0 * * "+text+" run", "", false)
		require.Len(t, table.entries, 1, text)
		assert.Equal(t, "0 0 * * "+want, table.entries[0].schedule)
	}
}

func TestALineIsNotImportedThatWouldRunOnOtherDays(t *testing.T) {
	for days, want := range map[string]string{
		"*/2 * 1":   "on days that match both, and a CronJob on those that match either",
		"1 * */2":   "on days that match both, and a CronJob on those that match either",
		"*/2 * */2": "on days that match both, and a CronJob on those that match either",
		"1,* * 1":   "on days that match either, and a CronJob on those that match both",

		"1 * 1": "", "*/2 * *": "", "* * */2": "", "*/1 * 1": "", "*,1 * 1": "", "1-31/2 * 1": "", "? * 1": "",
	} {
		table := parseCrontab("0 0 "+days+" run", "", false)
		if want == "" {
			assert.Len(t, table.entries, 1, days)
			continue
		}
		assert.Empty(t, table.entries, days)
		require.Len(t, table.remarks, 1, days)
		assert.Contains(t, table.remarks[0].text, want, days)
	}
}

// TestTheShellReadsWhatCronGivesIt runs what the container would run, after Kubernetes has put in
// variables, which leaves of two dollars one.
func TestTheShellReadsWhatCronGivesIt(t *testing.T) {
	for line, want := range map[string]string{
		`* * * * * cat; echo "$0"%one%two 5\%`:     "one\ntwo 5%\n/bin/sh\n",
		`* * * * * printf '\%s' "$(echo a)$$"`:     "a[0-9]+",
		`* * * * * cat%`:                           "",
		`* * * * * cat%one%`:                       "one\n",
		`* * * * * cat%%`:                          "\n",
		`* * * * * cat | tr a-z A-Z%it's "$HOME"`:  `IT'S "\$HOME"\n`,
		`* * * * * printf \%s '\\'; cat #\\%\\\%x`: `\\\\\\%x\n`,
	} {
		table := parseCrontab(line, "", false)
		require.Len(t, table.entries, 1, line)
		args := table.entries[0].container()
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "$$", "$")
		}
		out, err := exec.CommandContext(t.Context(), args[0], args[1:]...).Output()
		require.NoError(t, err, line)
		assert.Regexp(t, `\A`+want+`\z`, string(out), line)
	}
}

func TestABadCommandLineIsAnsweredWithWhatWouldBeRight(t *testing.T) {
	latin1 := filepath.Join(t.TempDir(), "latin1")
	require.NoError(t, os.WriteFile(latin1, []byte("0 1 * * * echo gr\xfc\xdfe\n"), 0o600))
	for line, want := range map[string]string{
		"--crontab=" + latin1 + " --image=i":       "is not UTF-8: convert it, such as with iconv -f ISO-8859-1 -t UTF-8",
		"--crontab=-":                              "--image is missing",
		"--image=i":                                "--system, --image, --time-zone and --v2 go with --crontab",
		"backup --v2":                              "go with --crontab",
		"backup --crontab=- --image=i":             "--crontab goes without names",
		"--crontab=- --image=i --time-zone=Mars":   `--time-zone "Mars": unknown time zone`,
		"--crontab=missing --image=i":              "--crontab missing: no such file or directory",
		"--crontab=- --image=i -o wide":            "--output=wide: use yaml or json",
		"--crontab=- --image=i -A":                 "[all-namespaces crontab]",
		"--crontab=- --image=i --suspend-original": "[crontab suspend-original]",
		"--crontab=- --image=i --dry-run":          "[crontab dry-run]",
	} {
		_, _, err := importCrontab(t, "", strings.Fields(line)...)
		assert.ErrorContains(t, err, want, line)
	}
}

func TestTheTimeZoneIsThatOfTheFlagUntilTheCrontabSaysAnother(t *testing.T) {
	table := parseCrontab("0 1 * * * a\nCRON_TZ=Asia/Tokyo\n0 2 * * * b\nCRON_TZ=Mars\n0 3 * * * c\n", "Europe/Paris", false)
	require.Len(t, table.entries, 2)
	assert.Equal(t, "Europe/Paris", table.entries[0].zone)
	assert.Equal(t, "Asia/Tokyo", table.entries[1].zone)
	require.Len(t, table.remarks, 1)
	assert.Equal(t, 5, table.remarks[0].line)
	assert.Contains(t, table.remarks[0].text, `not imported: unknown time zone "Mars"`)
	assert.Equal(t, 1, table.lost)

	out, errOut, err := importCrontab(t, "0 1 * * * a\n", "--crontab=-", "--image=i", "-o", "json")
	require.NoError(t, err)
	assert.Contains(t, out, `"kind": "CronJob"`)
	assert.Equal(t, "-:1: without CRON_TZ and --time-zone the schedule is in UTC; for cron it was in the machine's time zone\n", errOut)
}
