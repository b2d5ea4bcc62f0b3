// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"tutorial.kubebuilder.io/project/internal/cli/env"
)

// v1File is a manifest of v1 with a comment, v2File what becomes of it.
const (
	v1File = "# mine\napiVersion: batch.tutorial.kubebuilder.io/v1\nkind: CronJob\nmetadata: {name: c}\nspec:\n" +
		"  schedule: \"*/5 * * * *\"  # often\n  jobTemplate: {}\n"
	v2File = "# mine\napiVersion: batch.tutorial.kubebuilder.io/v2\nkind: CronJob\nmetadata: {name: c}\nspec:\n" +
		"  schedule:  # often\n    minute: \"*/5\"\n  jobTemplate: {}\n"
	refusedFile = "apiVersion: batch.tutorial.kubebuilder.io/v2\nkind: CronJob\nspec:\n  schedule: {minute: 0}\n  jobTemplate: {}\n"
	otherFile   = "apiVersion: v1\nkind:   ConfigMap\n"
	brokenFile  = "apiVersion: batch.tutorial.kubebuilder.io/v1\nkind: CronJob\nspec:\n  schedule: nonsense\n"
	builtInFile = "apiVersion: batch/v1\nkind: CronJob\nspec:\n  schedule: \"*/5 * * * *\"\n  timeZone: Etc/UTC\n  jobTemplate: {}\n"
)

// ran is what a command has said and how it ended.
type ran struct {
	out, errOut string
	err         error
	code        int
}

// convert runs the command with these arguments in a directory that has these files.
func convert(t testing.TB, files map[string]string, stdin string, args ...string) ran {
	t.Helper()
	if files != nil {
		t.Chdir(write(t, files))
	}
	cmd, out, errOut := newTestCommand(stdin)
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(t.Context())
	said, _, _ := strings.Cut(errOut.String(), "CronJobs to convert: ") // which is tested on its own
	return ran{out: out.String(), errOut: said, err: err, code: env.ExitCode(err)}
}

func newTestCommand(stdin string) (cmd *cobra.Command, out, errOut *bytes.Buffer) {
	streams, in, out, errOut := genericiooptions.NewTestIOStreams()
	in.WriteString(stdin)
	cmd = NewCommand(env.New(streams))
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetOut(out)
	cmd.SetErr(errOut)
	return cmd, out, errOut
}

// write writes files into a directory of their own.
func write(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o750))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return dir
}

func assertFile(t testing.TB, want, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, want, string(text), path)
}

func TestOneFileGoesToTheStandardOutputAsItIs(t *testing.T) {
	for name, tc := range map[string]struct{ text, want string }{
		"with something to convert": {v1File, v2File},
		"with nothing to convert":   {otherFile, otherFile},
		"without a newline":         {strings.TrimSpace(v1File), strings.TrimSpace(v2File)},
		"empty":                     {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := convert(t, map[string]string{"c.yaml": tc.text}, "", "-f", "c.yaml", "--to", "v2")
			assert.Equal(t, ran{out: tc.want}, got)
			assertFile(t, tc.text, "c.yaml")
			assert.Equal(t, ran{out: tc.want}, convert(t, nil, tc.text, "-f", "-", "--to=v2"), "from the standard input")
		})
	}
}

func TestHowManyCronJobsWereLeftAloneIsSaid(t *testing.T) {
	dir := write(t, map[string]string{"1.yaml": v1File, "2.yaml": v2File, "3.yaml": builtInFile, "4.yaml": otherFile, "5.yaml": brokenFile})
	for args, want := range map[string]string{
		"--to=v2 -f " + dir: "CronJobs to convert: 1; left alone: 3, of batch/v1 (see --from): 1; files: 5\n",
		"--to=v2 --from=batch/v1 -f " + filepath.Join(dir, "3.yaml"): "CronJobs to convert: 1; left alone: 0; files: 1\n",
		"--to=v2 -f " + t.TempDir():                                  "CronJobs to convert: 0; left alone: 0; files: 0\n",
	} {
		cmd, _, errOut := newTestCommand("")
		cmd.SetArgs(strings.Fields(args))
		_ = cmd.ExecuteContext(t.Context()) // one is broken
		assert.Contains(t, errOut.String(), want)
	}
}

func TestSeveralFilesGoToTheStandardOutputAsDocuments(t *testing.T) {
	files := map[string]string{
		"1.yaml": v1File,
		"2.yml":  "---\n" + strings.TrimSpace(otherFile),
		"3.json": "{\"kind\": \"Pod\"}",
		"4.yaml": "\ufeff" + otherFile,
		"5.yaml": "%YAML 1.1\n---\n" + otherFile,
		"6.yaml": brokenFile,
		"x.txt":  "not a manifest",
	}
	got := convert(t, files, "", "-f", ".", "--to", "v2")
	assert.Equal(t, v2File+"---\n"+otherFile+"---\n{\"kind\": \"Pod\"}\n---\n"+otherFile+"...\n%YAML 1.1\n---\n"+otherFile+
		"---\n"+brokenFile, got.out, "what is left alone is there too")
	assert.Equal(t, "6.yaml:4: left alone: spec.schedule: Invalid value: \"nonsense\": not a schedule: found 1 field, want 5: minute, hour, "+
		"day of month, month, day of week, such as 0 9 * * 1-5; or a macro such as @daily, or @every 90m\n", got.errOut)
	assert.EqualError(t, got.err, "1 of 6 files were not converted")
	assert.Equal(t, 2, got.code)
}

func TestInPlaceWritesWhatChangesAndNothingElse(t *testing.T) {
	dir := write(t, map[string]string{"a.yaml": v1File, "b.yaml": otherFile, "c.yaml": brokenFile, "sub/target": v1File})
	t.Chdir(dir)
	require.NoError(t, os.Chmod("a.yaml", 0o640))
	require.NoError(t, os.Symlink(filepath.Join("sub", "target"), "link.yaml"))
	long := time.Date(2020, time.January, 1, 0, 0, 0, 0, time.UTC)
	require.NoError(t, os.Chtimes("b.yaml", long, long))

	got := convert(t, nil, "", "-f", ".", "--to", "v2", "--in-place")
	assert.Equal(t, "a.yaml converted to v2\nlink.yaml converted to v2\n", got.out)
	assert.Contains(t, got.errOut, "c.yaml:4: left alone: ")
	assert.Equal(t, 2, got.code, "one was left alone")

	assertFile(t, v2File, "a.yaml")
	info, err := os.Stat("a.yaml")
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o640), info.Mode(), "the mode stays")
	info, err = os.Stat("b.yaml")
	require.NoError(t, err)
	assert.True(t, info.ModTime().Equal(long), "what does not change is not written")
	assertFile(t, brokenFile, "c.yaml")
	info, err = os.Lstat("link.yaml")
	require.NoError(t, err)
	assert.NotZero(t, info.Mode()&os.ModeSymlink, "a link stays one")
	assertFile(t, v2File, filepath.Join("sub", "target"))
	entries, err := os.ReadDir(".")
	require.NoError(t, err)
	assert.Len(t, entries, 5, "no temporary files are left")

	again := convert(t, nil, "", "-f", "a.yaml", "--to", "v2", "-i")
	assert.Equal(t, ran{}, again, "converting twice is converting once")
}

func TestCheckAndDiffTellWithTheExitCode(t *testing.T) {
	const diff = "--- a/c.yaml\n+++ b/c.yaml\n@@ -1,7 +1,8 @@\n # mine\n" +
		"-apiVersion: batch.tutorial.kubebuilder.io/v1\n+apiVersion: batch.tutorial.kubebuilder.io/v2\n" +
		" kind: CronJob\n metadata: {name: c}\n spec:\n" +
		"-  schedule: \"*/5 * * * *\"  # often\n+  schedule:  # often\n+    minute: \"*/5\"\n   jobTemplate: {}\n"
	for name, tc := range map[string]struct {
		text, flag, wantOut string
		wantCode            int
		wantText            string
	}{
		"check, with something to convert":             {v1File, "--check", "c.yaml\n", 1, v1File},
		"check, with nothing to convert":               {v2File, "--check", "", 0, v2File},
		"check, with an error":                         {brokenFile, "--check", "", 2, brokenFile},
		"check, of what the API server would refuse":   {refusedFile, "--check", "", 2, refusedFile},
		"diff, with something to convert":              {v1File, "--diff", diff, 1, v1File},
		"diff, with nothing to convert":                {v2File, "--diff", "", 0, v2File},
		"diff of what is converted in place meanwhile": {v1File, "--diff=true --in-place", diff, 0, v2File},
	} {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"-f", "c.yaml", "--to", "v2"}, strings.Fields(tc.flag)...)
			got := convert(t, map[string]string{"c.yaml": tc.text}, "", args...)
			assert.Equal(t, tc.wantOut, got.out)
			assert.Equal(t, tc.wantCode, got.code)
			assertFile(t, tc.wantText, "c.yaml")
		})
	}
}

func TestBuiltInCronJobsAreConvertedWhenAskedFor(t *testing.T) {
	toV2 := strings.NewReplacer("apiVersion: batch/v1\nkind: CronJob", "apiVersion: batch.tutorial.kubebuilder.io/v2\nkind: CronJob",
		`schedule: "*/5 * * * *"`, "schedule:\n    minute: \"*/5\"").Replace(builtInFile)
	for name, tc := range map[string]struct {
		flags, want string
	}{
		"not":              {"", builtInFile + "---\n" + v2File},
		"and nothing else": {"--from=batch/v1", toV2 + "---\n" + v1File},
	} {
		t.Run(name, func(t *testing.T) {
			args := append([]string{"-f", "-", "--to", "v2"}, strings.Fields(tc.flags)...)
			assert.Equal(t, ran{out: tc.want}, convert(t, nil, builtInFile+"---\n"+v1File, args...))
		})
	}
}

func TestDirectoriesAreReadAsKubectlReadsThem(t *testing.T) {
	files := map[string]string{
		"a.yaml": v1File, "b.yml": v1File, "c.json": "{}", "d.txt": v1File, "sub/e.yaml": v1File,
		"sub/.hidden/f.yaml": v1File, ".git/g.yaml": v1File, "sub/.git/h.yaml": v1File,
	}
	dir := write(t, files)
	t.Chdir(dir)
	require.NoError(t, os.Symlink("a.yaml", "z.yaml"))
	require.NoError(t, os.Symlink("sub", "linked.yaml"))
	for name, tc := range map[string]struct{ args, want string }{
		"a directory":            {"-f .", "a.yaml b.yml"},
		"a link to a directory":  {"-f linked.yaml", "linked.yaml/e.yaml"},
		"with those below":       {"-f . -R", "a.yaml b.yml sub/.hidden/f.yaml sub/e.yaml"},
		"files of any name":      {"-f d.txt", "d.txt"},
		"one file by many names": {"-f z.yaml -f a.yaml -f .", "z.yaml b.yml"},
		"a pattern":              {"-f s*/*.yaml,*.yml", "sub/e.yaml b.yml"},
		".git if it is named":    {"-f .git", ".git/g.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			got := convert(t, nil, "", append(strings.Fields(tc.args), "--to=v2", "--check")...)
			assert.Equal(t, strings.Fields(tc.want), strings.Fields(got.out))
			assert.Empty(t, got.errOut)
		})
	}
}

func TestAFileThatCanNotBeReadDoesNotKeepTheOthersFromIt(t *testing.T) {
	dir := write(t, map[string]string{"b.yaml": v1File})
	t.Chdir(dir)
	require.NoError(t, os.Symlink("nowhere", "a.yaml"))
	got := convert(t, nil, "", "-f", ".", "--to", "v2", "-i")
	assert.Equal(t, "b.yaml converted to v2\n", got.out)
	assert.Equal(t, "a.yaml: no such file or directory\n", got.errOut)
	assert.Equal(t, 2, got.code)
}

func TestAnInterruptEndsItWithAFailure(t *testing.T) {
	t.Chdir(write(t, map[string]string{"c.yaml": v1File}))
	cmd, _, _ := newTestCommand("")
	cmd.SetArgs([]string{"-f", "c.yaml", "--to", "v2", "--check"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	assert.Equal(t, 2, env.ExitCode(cmd.ExecuteContext(ctx)))
}

func TestFlagsAreCompleted(t *testing.T) {
	for args, want := range map[string]string{
		"--to=":   "v1\nv2\n:4\n",
		"--from=": "batch/v1\tthe built-in CronJobs\n:4\n",
		"-f=":     "yaml\nyml\njson\n:8\n",
	} {
		got := convert(t, nil, "", "__complete", args)
		lines, _, _ := strings.Cut(got.out, "Completion ended")
		assert.ElementsMatch(t, strings.Split(want, "\n"), strings.Split(lines, "\n"), args)
	}
}

// BenchmarkThousandFiles converts a thousand files.
func BenchmarkThousandFiles(b *testing.B) {
	files := map[string]string{}
	for i := range 1000 {
		files[fmt.Sprintf("d%d/c%d.yaml", i%10, i)] = v1File
	}
	b.Chdir(write(b, files))
	for _, flag := range []string{"--check", "--diff"} {
		b.Run(flag, func(b *testing.B) {
			for b.Loop() {
				if got := convert(b, nil, "", "-f", ".", "-R", "--to", "v2", flag); got.code != 1 {
					b.Fatal(got.err)
				}
			}
		})
	}
	b.Run("--in-place", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			to := []string{"v2", "v1"}[i%2]
			if got := convert(b, nil, "", "-f", ".", "-R", "--to", to, "-i"); got.code != 0 {
				b.Fatal(got.err)
			}
		}
	})
}
