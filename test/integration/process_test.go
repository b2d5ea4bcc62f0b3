// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tutorial.kubebuilder.io/project/hack/localcluster"
)

// version is stamped into the manager.
const version = "v0.0.0-integration"

// buildManager builds the manager as the Makefile does; with the race detector if the tests have
// it.
func buildManager(ctx context.Context, output string) error {
	args, env := []string{"build", "-ldflags", "-X main.version=" + version, "-o", output}, "CGO_ENABLED=0"
	if withRaceDetector() {
		args, env = append(args, "-race"), "CGO_ENABLED=1"
	}
	build := exec.CommandContext(ctx, "go", append(args, ".")...)
	build.Dir = root
	build.Env = append(os.Environ(), env)
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building the manager: %w: %s", err, out)
	}
	return nil
}

// withRaceDetector reports whether the tests have the race detector, and so the manager has it.
func withRaceDetector() bool {
	info, _ := debug.ReadBuildInfo()
	return slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// process is a manager: a child process that ends with this one, however this one ends.
type process struct {
	name, path string
	args, env  []string

	// health is where it says that it is ready; startReady sets it.
	health string

	cmd      *exec.Cmd
	out, err lockedBuffer
	ended    chan struct{} // closed when it has ended
}

// start starts the process.
func (p *process) start() error {
	p.ended = make(chan struct{})
	p.cmd = exec.Command(p.path, p.args...)
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.err
	p.cmd.Env = append(withoutManagerSettings(os.Environ()), p.env...)
	p.cmd.SysProcAttr = childAttributes()
	started := make(chan error)
	go func() {
		// The kernel tells the child of the end of the thread that started it, not of the process:
		// keep the thread.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			_ = p.cmd.Wait()
		}
		close(p.ended)
	}()
	if err := <-started; err != nil {
		return fmt.Errorf("starting %s: %w", p.name, err)
	}
	return nil
}

// withoutManagerSettings takes from an environment what the manager would listen to.
func withoutManagerSettings(environ []string) []string {
	var rest []string
	for _, entry := range environ {
		if !strings.HasPrefix(entry, "ENABLE_WEBHOOKS=") && !strings.HasPrefix(entry, "KUBECONFIG=") {
			rest = append(rest, entry)
		}
	}
	return rest
}

// startReady starts the process with its health probes on a free port and waits until it is ready.
func (p *process) startReady(ctx context.Context) error {
	port, err := localcluster.FreePort()
	if err != nil {
		return err
	}
	p.health = fmt.Sprintf("http://127.0.0.1:%d", port)
	p.args = append(p.args, fmt.Sprintf("--health-probe-bind-address=127.0.0.1:%d", port))
	if err := p.start(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	ticker := time.NewTicker(glance)
	defer ticker.Stop()
	for !p.isReady(ctx) {
		select {
		case <-p.ended:
			return fmt.Errorf("%s ended before it was ready: %s", p.name, p.tail())
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("%s is not ready: %w: %s", p.name, ctx.Err(), p.tail()), p.kill())
		case <-ticker.C:
		}
	}
	return nil
}

// isReady asks the process.
func (p *process) isReady(ctx context.Context) bool {
	return answersOK(ctx, p.health+"/readyz")
}

// readiness returns what the process says of each check of its readiness; nothing if it does not
// answer.
func (p *process) readiness(ctx context.Context) string {
	_, said := ask(ctx, p.health+"/readyz?verbose=true")
	return said
}

// answersOK reports whether a URL answers with status 200.
func answersOK(ctx context.Context, url string) bool {
	status, _ := ask(ctx, url)
	return status == http.StatusOK
}

// ask returns what a URL answers; zero if it does not.
func ask(ctx context.Context, url string) (status int, said string) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return 0, ""
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, ""
	}
	defer func() { _ = response.Body.Close() }()
	answer, _ := io.ReadAll(response.Body)
	return response.StatusCode, string(answer)
}

// hasEnded reports whether the process has ended.
func (p *process) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}

// wait waits until the process has ended by itself and returns its exit code.
func (p *process) wait(t *testing.T) int {
	t.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		require.FailNow(t, p.name+" has not ended", p.tail())
	}
	return p.cmd.ProcessState.ExitCode()
}

// terminate asks the process to end, as the kubelet does, and kills it if it does not.
func (p *process) terminate() error {
	if p.cmd == nil || p.hasEnded() {
		return nil
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
		return nil
	case <-time.After(patience):
		return errors.Join(fmt.Errorf("%s goes on after SIGTERM: %s", p.name, p.tail()), p.kill())
	}
}

// kill ends the process without asking.
func (p *process) kill() error {
	if p.hasEnded() {
		return nil
	}
	if err := p.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-p.ended
	return nil
}

func (p *process) stdout() string { return p.out.String() }
func (p *process) stderr() string { return p.err.String() }

// tail returns the end of what the process has said.
func (p *process) tail() string {
	const lines = 40
	all := strings.Split(strings.TrimRight(p.stderr(), "\n"), "\n")
	return fmt.Sprintf("the end of its log:\n%s", strings.Join(all[max(0, len(all)-lines):], "\n"))
}

// lockedBuffer is a buffer that one writes and another reads.
type lockedBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}

// errorsAbout returns the errors in the log that mention something.
func (p *process) errorsAbout(what string) string {
	var found strings.Builder
	for line := range strings.Lines(p.stderr()) {
		if strings.Contains(line, `"level":"error"`) && strings.Contains(line, what) {
			found.WriteString(line)
		}
	}
	return found.String()
}
