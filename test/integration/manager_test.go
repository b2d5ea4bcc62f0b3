// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/plan"
	"tutorial.kubebuilder.io/project/test/localcluster"
)

// runToEnd runs a manager that can't run for long and returns its exit code and what it said.
func runToEnd(t *testing.T, env, args []string) (code int, stdout, stderr string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var out, errOut strings.Builder
	manager := exec.CommandContext(ctx, managerBinary, args...)
	manager.Env, manager.Stdout, manager.Stderr = append(append(os.Environ(), env...), "HOME="+t.TempDir()), &out, &errOut
	_ = manager.Run() // the exit code tells
	return manager.ProcessState.ExitCode(), out.String(), errOut.String()
}

func TestTheManagerAnswersABadCommandLineWithOneLine(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ arg, want string }{
		"an unknown flag":       {"--no-such-flag", "manager: flag provided but not defined: -no-such-flag (--help lists the flags)"},
		"a value of no use":     {"--webhook-port=many", `manager: invalid value "many" for flag -webhook-port: parse error (--help lists the flags)`},
		"a port there is not":   {"--webhook-port=70000", "manager: --webhook-port=70000: want a port from 1 to 65535"},
		"nobody to reconcile":   {"--concurrency=0", "manager: --concurrency=0: want 1 or more"},
		"less than no memory":   {"--memory-limit=-1", "manager: --memory-limit=-1: want 0 or more"},
		"no name of namespaces": {"--namespaces=a,B", `manager: --namespaces: "B" is not a valid name: `},
		"an argument":           {"start", `manager: unexpected argument "start": there are only flags (--help lists them)`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := runToEnd(t, nil, []string{test.arg})
			assert.Equal(t, 2, code)
			assert.Empty(t, stdout)
			assert.True(t, strings.HasPrefix(stderr, test.want), "got %q, want %q", stderr, test.want)
			assert.Equal(t, 1, strings.Count(stderr, "\n"), "one line, not %q", stderr)
		})
	}
}

func TestTheManagerTellsItsVersionAndItsFlags(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := runToEnd(t, nil, []string{"--version"})
	assert.Zero(t, code)
	assert.Equal(t, version+"\n", stdout)
	assert.Empty(t, stderr)

	code, stdout, stderr = runToEnd(t, nil, []string{"--help"})
	assert.Zero(t, code)
	assert.Contains(t, stdout, "-webhook-cert-path directory")
	assert.Empty(t, stderr)
}

func TestTheManagerSaysInOneLineWhatItLacks(t *testing.T) {
	t.Parallel()
	nothing, err := localcluster.FreePort()
	require.NoError(t, err)
	nobody := fmt.Sprintf("https://127.0.0.1:%d", nothing)
	noCerts := t.TempDir()
	tests := map[string]struct {
		env, args, want []string
	}{
		"a configuration": {
			env:  []string{"KUBECONFIG=" + filepath.Join(noCerts, "none")},
			args: []string{"--enable-webhooks=false"},
			want: []string{"manager: no cluster is configured: "},
		},
		"a cluster": {
			env:  []string{"KUBECONFIG=" + kubeconfigOf(t, nobody)},
			args: []string{"--enable-webhooks=false"},
			want: []string{"manager: no cluster answers at " + nobody, "connection refused"},
		},
		"a certificate": {
			env:  []string{"KUBECONFIG=" + shared.managerKubeconfig},
			args: []string{"--webhook-cert-path=" + noCerts},
			want: []string{filepath.Join(noCerts, "tls.crt"), "no such file or directory", "--webhook-cert-path"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := runToEnd(t, test.env, append(test.args, "--health-probe-bind-address=0"))
			assert.Equal(t, 1, code)
			assert.Empty(t, stdout)
			for _, want := range test.want {
				assert.Contains(t, stderr, want)
			}
			assert.Equal(t, 1, strings.Count(stderr, "\n"), "one line, not %q", stderr)
		})
	}
}

// kubeconfigOf writes a kubeconfig for a server.
func kubeconfigOf(t *testing.T, server string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	content := fmt.Sprintf(`{apiVersion: v1, kind: Config, current-context: c,
		clusters: [{name: c, cluster: {server: %q}}], contexts: [{name: c, context: {cluster: c}}]}`, server)
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// ownManager is a manager for a test's namespace alone, on the control plane without webhooks.
func (s *space) ownManager(args ...string) *process {
	s.t.Helper()
	p := &process{
		path: managerBinary,
		env:  []string{"KUBECONFIG=" + s.managerKubeconfig, "ENABLE_WEBHOOKS=false"},
		args: append([]string{"--namespaces=" + s.ns, "--metrics-bind-address=0"}, args...),
	}
	s.t.Cleanup(func() {
		if p.Process == nil {
			return
		}
		p.kill()
		assert.NotContains(s.t, p.log(), "DATA RACE")
		if s.t.Failed() {
			s.t.Log(p.LogTail())
		}
	})
	return p
}

// startOwnManager starts one.
func (s *space) startOwnManager(args ...string) *process {
	s.t.Helper()
	p := s.ownManager(args...)
	require.NoError(s.t, p.startReady(s.t.Context()))
	return p
}

// startMeteredManager starts one and returns where it serves its metrics.
func (s *space) startMeteredManager() (url string) {
	s.t.Helper()
	port, err := localcluster.FreePort()
	require.NoError(s.t, err)
	s.awaitMetrics(s.startOwnManager(fmt.Sprintf("--metrics-bind-address=127.0.0.1:%d", port)), port)
	return fmt.Sprintf("https://127.0.0.1:%d/metrics", port)
}

// awaitMetrics waits until a manager serves its metrics. Ready says nothing of them: the
// certificate that it makes for them takes seconds on a busy machine.
func (s *space) awaitMetrics(p *process, port int) {
	s.t.Helper()
	s.eventually(func() bool { return p.hasEnded() || answersTCP(port) }, "metrics are not served")
	require.False(s.t, p.hasEnded(), p.LogTail())
}

func TestTheManagerNamesThePortThatIsTaken(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", ":0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	port := listener.Addr().(*net.TCPAddr).Port
	tests := map[string][]string{
		"for the webhooks": {"--enable-webhooks", "--webhook-cert-path=" + shared.WebhookCertDir, fmt.Sprintf("--webhook-port=%d", port),
			"--health-probe-bind-address=0"},
		"for the probes":  {fmt.Sprintf("--health-probe-bind-address=:%d", port)},
		"for the metrics": {fmt.Sprintf("--metrics-bind-address=:%d", port), "--health-probe-bind-address=0"},
	}
	for name, args := range tests {
		t.Run(name, func(t *testing.T) {
			s := newSpaceOn(t, plainControlPlane(t), nil)
			p := s.ownManager(args...)
			require.NoError(t, p.start())
			assert.Equal(t, 1, p.wait(t))
			lines := strings.Split(strings.TrimSpace(p.log()), "\n")
			last := lines[len(lines)-1]
			assert.True(t, strings.HasPrefix(last, "manager: "), "got %q", last)
			assert.Contains(t, last, fmt.Sprintf(":%d", port))
			assert.Contains(t, last, "address already in use")
		})
	}
}

func TestTheManagerIsReadyOnlyWhenItsWebhooksAreServed(t *testing.T) {
	t.Parallel()
	s := newSpaceOn(t, plainControlPlane(t), nil)
	health, err := localcluster.FreePort()
	require.NoError(t, err)
	webhooks, err := localcluster.FreePort()
	require.NoError(t, err)
	p := s.ownManager("--enable-webhooks", "--webhook-cert-path="+shared.WebhookCertDir, fmt.Sprintf("--webhook-port=%d", webhooks),
		fmt.Sprintf("--health-probe-bind-address=127.0.0.1:%d", health))
	require.NoError(t, p.start())

	url := fmt.Sprintf("http://127.0.0.1:%d/readyz", health)
	require.Eventually(t, func() bool {
		ready := answersOK(t.Context(), url)
		if ready {
			require.True(t, servesTLS(webhooks), "ready, but the webhooks are not served")
		}
		return ready
	}, patience, time.Millisecond, "never ready: %s", p.LogTail())
	assert.True(t, answersOK(t.Context(), fmt.Sprintf("http://127.0.0.1:%d/healthz", health)))

	require.NoError(t, p.terminate())
	assert.Zero(t, p.exitCode(), "SIGTERM is no failure: %s", p.LogTail())
}

// servesTLS reports whether something serves TLS, by HTTP/1.1 alone, on a port.
func servesTLS(port int) bool {
	dialer := &tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2", "http/1.1"}}}
	connection, err := dialer.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return false
	}
	defer func() { _ = connection.Close() }()
	return connection.(*tls.Conn).ConnectionState().NegotiatedProtocol == "http/1.1"
}

func TestO3MetricsTellOfRunsAndNameNoObjects(t *testing.T) {
	t.Parallel()
	s := newSpaceOn(t, plainControlPlane(t), nil)
	url := s.startMeteredManager()
	s.endJobs(batchv1.JobComplete)
	s.create(s.cronJob("c").Schedule("@every 1s").Obj())
	s.eventually(func() bool { return len(s.events("c", plan.EventSawCompletedJob)) >= 3 }, "it does not run")
	s.edit("c", suspend)
	s.awaitReady("c", metav1.ConditionTrue, v1.ReasonSuspended)
	s.audit.settle(t, s.ns)

	token := s.readerOfMetrics()
	counts := s.audit.count(t, s.ns)
	metrics := scrape(t, url, token)
	assert.Equal(t, fmt.Sprint(counts[createJob]), metrics["cronjob_controller_job_creation_skew_duration_seconds_count"])
	assert.Equal(t, fmt.Sprint(counts[createJob]), metrics[`cronjob_controller_runs_total{result="succeeded"}`])
	assert.Equal(t, fmt.Sprint(counts[createJob]), metrics[`cronjob_controller_run_duration_seconds_count{result="succeeded"}`])
	assert.Equal(t, "0", metrics[`cronjob_controller_run_duration_seconds_count{result="failed"}`])
	assert.Equal(t, "0", metrics["cronjob_controller_jobs_active"])
	for name, value := range metrics {
		assert.NotContains(t, name, s.ns, "an object's name")
		if strings.HasPrefix(name, "cronjob_controller_request_failures_total") {
			assert.Equal(t, "0", value, name)
		}
	}

	// W2, W3: each status write took a reconcile of its own, and idle there is none.
	before := reconcilesIn(t, metrics)
	assert.LessOrEqual(t, counts[writeStatus], before)
	s.audit.requireSilence(t, s.ns, 3*time.Second)
	assert.Equal(t, before, reconcilesIn(t, scrape(t, url, token)), "reconciles while idle")
}

func TestMetricsAreForThoseWhoMayReadThem(t *testing.T) {
	t.Parallel()
	s := newSpaceOn(t, plainControlPlane(t), nil)
	url := s.startMeteredManager()
	s.kubectl(t, "create", "serviceaccount", "-n", s.ns, "stranger")
	tests := map[string]struct {
		token string
		want  int
	}{
		"nobody":     {"", http.StatusUnauthorized},
		"a stranger": {strings.TrimSpace(s.kubectl(t, "create", "token", "-n", s.ns, "stranger")), http.StatusForbidden},
		"a reader":   {s.readerOfMetrics(), http.StatusOK},
	}
	for name, test := range tests {
		status, _ := getWithToken(t, url, test.token)
		assert.Equal(t, test.want, status, name)
	}
}

// readerOfMetrics makes a service account with the role metrics-reader and returns its token.
func (s *space) readerOfMetrics() string {
	s.t.Helper()
	s.kubectl(s.t, "create", "serviceaccount", "-n", s.ns, "prometheus")
	s.kubectl(s.t, "create", "clusterrolebinding", "prometheus-"+s.ns, "--clusterrole=metrics-reader", "--serviceaccount="+s.ns+":prometheus")
	return strings.TrimSpace(s.kubectl(s.t, "create", "token", "-n", s.ns, "prometheus"))
}

// getWithToken asks for a URL of a server whose certificate is its own.
func getWithToken(t *testing.T, url, token string) (status int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	require.NoError(t, err)
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	trusting := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	response, err := trusting.Do(request)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(text)
}

// scrape reads metrics: their values by name and labels.
func scrape(t *testing.T, url, token string) map[string]string {
	t.Helper()
	status, text := getWithToken(t, url, token)
	require.Equal(t, http.StatusOK, status, text)
	return parseMetrics(text)
}

// parseMetrics returns the values of metrics by name and labels.
func parseMetrics(text string) map[string]string {
	metrics := map[string]string{}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if at := strings.LastIndexByte(line, ' '); at > 0 && !strings.HasPrefix(line, "#") {
			metrics[line[:at]] = line[at+1:]
		}
	}
	return metrics
}
