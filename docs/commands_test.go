// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	"tutorial.kubebuilder.io/project/internal/cli"
	"tutorial.kubebuilder.io/project/internal/cli/env"
	"tutorial.kubebuilder.io/project/internal/manager"
	"tutorial.kubebuilder.io/project/test/localcluster"
)

// The commands of the pages that lead a reader are run as they stand there: each ```sh block in a
// shell, in a namespace of the page. A ```text block behind it is what is printed, a ```yaml block
// is a file if its first line is its name in a comment. An HTML comment before a ```sh block may
// say
//
//	not run: WHY             it needs what is not on this machine
//	printed here: PATTERN    what it prints with Pods that are simulated, and so have no log
//
// Testscript (github.com/rogpeppe/go-internal) was considered: it has a language of its own, in
// which a reader's shell commands would have to be written a second time.
func TestTheCommandsOfThePathPrintWhatThePagesSay(t *testing.T) {
	if testing.Short() {
		t.Skip("-short, and this test starts a control plane")
	}
	if os.Getenv("K8S") != "" {
		t.Skip("K8S asks for an older Kubernetes, and the pages show what the newest prints")
	}
	cluster := startOperator(t)
	paths, err := filepath.Glob("tasks/*.md")
	require.NoError(t, err)
	for _, path := range append(paths, "start.md") {
		p := read(t, path)
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			newReader(t, cluster, p).follow(p.blocks())
		})
	}
}

// What the test above can't install, it knows by name.
func TestWhatTheStartInstallsHasTheNamesOfItsCommands(t *testing.T) {
	installed, err := exec.CommandContext(t.Context(), "go", "tool", "kustomize", "build", "../config/default").Output()
	require.NoError(t, err)
	rollout := regexp.MustCompile(`(?m)^kubectl -n (\S+) rollout status deployment/(\S+)$`)
	found := 0
	for _, b := range read(t, "start.md").blocks() {
		for _, names := range rollout.FindAllStringSubmatch(b.text, -1) {
			found++
			assert.Contains(t, string(installed), "\n  name: "+names[2]+"\n  namespace: "+names[1]+"\n")
		}
	}
	assert.Equal(t, 1, found)
}

const (
	// patience is how long a command may take, and how long a page may wait for what is printed.
	patience = 90 * time.Second
	glance   = 200 * time.Millisecond
)

// The names by which this program is the plugin and the manager: to build them takes longer than
// the test.
const (
	pluginName  = "kubectl-cronjob"
	managerName = "manager"
)

func TestMain(m *testing.M) {
	switch filepath.Base(os.Args[0]) {
	case pluginName:
		plugin := env.New(genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr})
		err := cli.NewCommand(plugin, "test").ExecuteContext(context.Background())
		if err != nil && err.Error() != "" {
			fmt.Fprintln(os.Stderr, "error:", err)
		}
		os.Exit(env.ExitCode(err))
	case managerName:
		os.Exit(manager.Main(os.Args[1:], os.Getenv, "test", clock.RealClock{}))
	}
	_ = flag.Set("test.parallel", "12") // they wait most of the time
	os.Exit(m.Run())
}

// startOperator starts a control plane that runs Jobs, and the manager. Kubectl and the plugin are
// in the directory bin of the cluster.
func startOperator(t *testing.T) *localcluster.Cluster {
	t.Helper()
	ctrl.SetLogger(logr.Discard())
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	cluster, err := localcluster.Start(ctx, localcluster.Options{
		RunsJobs: true, Webhooks: true,
		ExtraArgs: map[localcluster.Component][]string{
			localcluster.ControllerManager: {"--controllers=clusterrole-aggregation-controller,resourcequota-controller"}, // two more
		},
	})
	if errors.Is(err, localcluster.ErrNoBinaries) {
		t.Skip(err)
	}
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, cluster.Stop()) })
	self, err := os.Executable()
	require.NoError(t, err)
	bin := filepath.Join(cluster.Dir, "bin")
	for name, program := range map[string]string{"kubectl": cluster.Kubectl(ctx).Path, pluginName: self, managerName: self} {
		require.NoError(t, os.Symlink(program, filepath.Join(bin, name)))
	}
	kubeconfig, err := cluster.AddManager(ctx)
	require.NoError(t, err)
	command, err := cluster.Manager(filepath.Join(bin, managerName), kubeconfig)
	require.NoError(t, err)
	command.Env = append(command.Env, "GOCOVERDIR="+cluster.Dir)
	_, err = cluster.Run(ctx, command)
	require.NoError(t, err)
	return cluster
}

// reader follows a page, in a directory and a namespace of its own.
type reader struct {
	*testing.T
	page     *page
	dir      string
	env      []string
	commands int
}

func newReader(t *testing.T, cluster *localcluster.Cluster, p *page) *reader {
	t.Helper()
	r, namespace := &reader{T: t, page: p, dir: t.TempDir()}, strings.TrimSuffix(filepath.Base(p.path), ".md")
	kubeconfig := filepath.Join(r.dir, ".kubeconfig")
	content, err := os.ReadFile(cluster.Kubeconfig)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(kubeconfig, content, 0o600))
	r.env = slices.Concat(cluster.Kubectl(t.Context()).Env, []string{
		"KUBECONFIG=" + kubeconfig, "HOME=" + r.dir, "TZ=UTC", "GOCOVERDIR=" + cluster.Dir,
		"PATH=" + filepath.Join(cluster.Dir, "bin") + string(filepath.ListSeparator) + os.Getenv("PATH"),
	})
	out, failed := r.run("kubectl create namespace " + namespace + "\nkubectl config set-context --current --namespace=" + namespace +
		"\nkubectl wait --for=create serviceaccount/default --timeout=60s")
	require.False(t, failed, out)
	return r
}

// follow does what the blocks of the page say.
func (r *reader) follow(blocks []block) {
	for i, b := range blocks {
		name, isFile := strings.CutPrefix(strings.SplitN(b.text, "\n", 2)[0], "# ")
		switch {
		case b.language == "yaml" && isFile:
			require.Regexp(r, `^[a-z0-9-]+\.yaml$`, name, "the first line of a manifest is the name of its file")
			require.NoError(r, os.WriteFile(filepath.Join(r.dir, name), []byte(b.text), 0o600))
		case b.language == "sh" && !strings.HasPrefix(b.comment, "not run: "):
			want := ""
			if i+1 < len(blocks) && blocks[i+1].language == "text" {
				want = blocks[i+1].text
			}
			if !r.check(b, want) {
				return // what follows needs what this has done
			}
		}
	}
	require.NotZero(r, r.commands, "the page has no commands")
	r.Logf("%d commands", r.commands)
}

var (
	// reading commands change nothing: they may be repeated until the operator has done what they
	// show.
	reading = regexp.MustCompile(`^kubectl (get|events|describe|auth can-i|cronjob (list|history|logs)) [^>|&;]*$`)
	// failure is what kubectl and its plugin print when they fail.
	failure = regexp.MustCompile(`(?m)^(error: |Error from server|The CronJob ".*" is invalid: |no$)`)
	// comments and continued lines are not commands of their own.
	noCommand = regexp.MustCompile(`^(#.*|\s.*|EOF|)$`)
)

// check runs a script and compares what it prints with what the page says.
func (r *reader) check(script block, want string) bool {
	onlyReads := true
	for line := range strings.Lines(script.text) {
		line = strings.TrimSuffix(line, "\n")
		onlyReads = onlyReads && (noCommand.MatchString(line) || reading.MatchString(line))
		if !noCommand.MatchString(line) {
			r.commands++
		}
	}
	if onlyReads {
		return assert.EventuallyWithT(r, func(c *assert.CollectT) { r.checkOnce(c, script, want) }, patience, glance)
	}
	return r.checkOnce(r, script, want)
}

func (r *reader) checkOnce(t assert.TestingT, script block, want string) bool {
	where := fmt.Sprintf("%s:%d:\n%s", r.page.path, script.line, script.text)
	if strings.Contains(script.text, "kubectl apply ") {
		awaitRoom()
	}
	printed, failed := r.run(script.text)
	if pattern, ok := strings.CutPrefix(script.comment, "printed here: "); ok {
		return assert.Regexp(t, pattern, printed, where)
	}
	return assert.Equal(t, normal(script.text, want), normal(script.text, printed), where) &&
		assert.Equal(t, failure.MatchString(want), failed, "%s\nit has the wrong exit code", where)
}

// room is how much of a minute is left at least when a page applies its CronJob. Some are due each
// minute, and what the page shows next is before their first tick.
const room = 20 * time.Second

func awaitRoom() {
	if left := time.Until(time.Now().Truncate(time.Minute).Add(time.Minute)); left < room {
		time.Sleep(left)
	}
}

// run runs a script in a shell, and returns what it prints.
func (r *reader) run(script string) (printed string, failed bool) {
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	shell := exec.CommandContext(ctx, "bash", "-eo", "pipefail", "-c", script)
	shell.Dir, shell.Env = r.dir, slices.Clone(r.env)
	out, err := shell.CombinedOutput()
	return string(out), err != nil
}

// varying is what differs from one run to the next.
type varying struct {
	pattern *regexp.Regexp
	name    string
}

var (
	always = []varying{
		{regexp.MustCompile(`-manual-[a-z0-9]{5}\b`), "-manual-RANDOM"},
		{regexp.MustCompile(` from [a-z0-9-]+ namespace\b`), ""}, // a reader's is the default one
		{regexp.MustCompile(`(?m)^waiting for .*\n`), ""},        // it may have ended before
		{regexp.MustCompile(`[ \t]+`), " "},                      // columns are as wide as what is in them
		{regexp.MustCompile(`(?m) $`), ""},
	}
	withTheClock = []varying{
		{regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(Z| ?[+-]\d\d:?\d\d)?`), "TIME"},
		{regexp.MustCompile(`-\d{10}\b`), "-SECONDS"},
		{regexp.MustCompile(`\b(\d+[dhms]){1,2}( ago|$|\s)`), "AGE$2"},
		{regexp.MustCompile(`\bin (\d+[dhms]){1,2}\b`), "in AGE"},
	}
)

// normal returns what a script prints without what varies. Nothing varies with the clock if the
// script says from when on.
func normal(script, printed string) string {
	all := always
	if !strings.Contains(script, " --from ") {
		all = slices.Concat(withTheClock, always)
	}
	for _, v := range all {
		printed = v.pattern.ReplaceAllString(printed, v.name)
	}
	return strings.TrimSpace(printed)
}
