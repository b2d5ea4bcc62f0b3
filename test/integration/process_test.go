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
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tutorial.kubebuilder.io/project/test/localcluster"
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

// process is a manager.
type process struct {
	path      string
	args, env []string

	// health is where it says that it is ready; startReady sets it.
	health string

	*localcluster.Process // nil before the start
}

// startedProcesses numbers them, for the names of their logs.
var startedProcesses atomic.Int32

// start starts the process.
func (p *process) start() (err error) {
	command := localcluster.Command{
		Name: fmt.Sprintf("%s-%d", filepath.Base(p.path), startedProcesses.Add(1)), Path: p.path, Args: p.args, Env: p.env,
	}
	if p.health != "" {
		command.HealthURL = p.health + "/readyz"
	}
	p.Process, err = localcluster.Launch(command, filepath.Join(shared.Dir, "log"))
	return err
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
	if err := p.AwaitReady(ctx); err != nil {
		p.kill()
		return err
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
func (p *process) hasEnded() bool { return p.Err() != nil }

// wait waits until the process has ended by itself and returns its exit code.
func (p *process) wait(t *testing.T) int {
	t.Helper()
	select {
	case <-p.Done():
	case <-time.After(patience):
		require.FailNow(t, "it has not ended", p.LogTail())
	}
	return p.exitCode()
}

// exitCode is that of a process that has ended.
func (p *process) exitCode() int {
	if exit, ok := errors.AsType[*exec.ExitError](p.Err()); ok {
		return exit.ExitCode()
	}
	return 0
}

// terminate asks the process to end, as the kubelet does, and kills it if it does not.
func (p *process) terminate() error {
	if p.Process == nil {
		return nil
	}
	return p.Stop(patience)
}

// kill ends the process without asking.
func (p *process) kill() {
	_ = syscall.Kill(p.PID(), syscall.SIGKILL) // one that is gone needs no signal
	<-p.Done()
}

// log returns what the process has said.
func (p *process) log() string {
	text, err := os.ReadFile(p.LogPath)
	if err != nil {
		return err.Error()
	}
	return string(text)
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
	for line := range strings.Lines(p.log()) {
		if strings.Contains(line, `"level":"error"`) && strings.Contains(line, what) {
			found.WriteString(line)
		}
	}
	return found.String()
}
