// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	startTimeout = 60 * time.Second
	stopTimeout  = 20 * time.Second
	poll         = 100 * time.Millisecond
	tailLines    = 20
)

// Command is a program to run as a child process.
type Command struct {
	// Name is the name for messages and of its log file, <Name>.log.
	Name string
	Path string
	// Args are the arguments without the name of the program.
	Args []string
	// Env is added to the environment of this process.
	Env []string
	// HealthURL answers 200 once the program is ready; "" if it is ready at once.
	HealthURL string
}

// Process is a child process. It leads a process group, so that a Ctrl-C in the terminal does not
// reach it before this process has chosen the order of the shutdown, and so that its own children
// end with it.
type Process struct {
	// LogPath is the file with its stdout and stderr.
	LogPath string

	command Command
	cmd     *exec.Cmd
	done    chan struct{}
	err     error // set before done is closed
}

// setpriv makes the kernel kill a program when this process ends in any way. Without it, only a
// clean shutdown ends the children.
var setpriv, _ = exec.LookPath("setpriv")

// dieWithParent has setpriv's arguments before the program.
var dieWithParent = []string{"--pdeathsig", "KILL", "--"}

// dyingWithParent returns a program that runs another one, which is killed when this process ends.
// It is a script in dir, for envtest, which can't pass setpriv's arguments.
func dyingWithParent(program, dir string) (string, error) {
	if setpriv == "" {
		return program, nil
	}
	script := filepath.Join(dir, filepath.Base(program))
	content := fmt.Sprintf("#!/bin/sh\nexec %q %s %q \"$@\"\n", setpriv, strings.Join(dieWithParent, " "), program)
	if err := os.WriteFile(script, []byte(content), 0o700); err != nil { //nolint:gosec // it is a script to run
		return "", fmt.Errorf("wrapping %s: %w", program, err)
	}
	return script, nil
}

// Launch starts a command with its output in a file of logDir. It does not wait until it is ready.
func Launch(command Command, logDir string) (*Process, error) {
	p := &Process{LogPath: filepath.Join(logDir, command.Name+".log"), command: command, done: make(chan struct{})}
	log, err := os.OpenFile(p.LogPath, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", command.Name, err)
	}
	defer func() { _ = log.Close() }()
	line := append([]string{command.Path}, command.Args...)
	if setpriv != "" {
		line = append(append([]string{setpriv}, dieWithParent...), line...)
	}
	p.cmd = exec.Command(line[0], line[1:]...) //nolint:gosec // running what the caller names is the point
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.Env = append(os.Environ(), command.Env...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", command.Name, err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// AwaitReady waits until the process answers at its health URL.
func (p *Process) AwaitReady(ctx context.Context) error {
	if p.command.HealthURL == "" {
		return nil
	}
	err := wait.PollUntilContextTimeout(ctx, poll, startTimeout, true, func(ctx context.Context) (bool, error) {
		return healthy(ctx, p.command.HealthURL), p.Err()
	})
	switch {
	case err == nil:
		return nil
	case p.Err() != nil:
		return fmt.Errorf("starting %s: %w", p.command.Name, err)
	}
	return withLog(fmt.Errorf("waiting for %s to be ready: %w", p.command.Name, err), p.LogPath)
}

// healthClient does not verify certificates. Components have self-signed ones on loopback, and the
// request has no data.
var healthClient = &http.Client{
	Timeout:   5 * time.Second,
	Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}, //nolint:gosec // see above
}

func healthy(ctx context.Context, url string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return false
	}
	response, err := healthClient.Do(request)
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// PID returns the process ID.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Done returns a channel that is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err returns why the process ended, with the end of its log; nil while it runs.
func (p *Process) Err() error {
	select {
	case <-p.done:
	default:
		return nil
	}
	if p.err == nil {
		return withLog(fmt.Errorf("%s ended by itself", p.command.Name), p.LogPath)
	}
	return withLog(fmt.Errorf("%s ended: %w", p.command.Name, p.err), p.LogPath)
}

// LogTail returns the end of the process's log.
func (p *Process) LogTail() string { return tail(p.LogPath) }

// withLog adds the end of a log to an error, except after an interrupt.
func withLog(err error, path string) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return fmt.Errorf("%w\n%s", err, tail(path))
}

// tail returns the last lines of a file, after a line with its name.
func tail(path string) string {
	content, err := os.ReadFile(path)
	if err != nil {
		return fmt.Sprintf("(no log: %v)", err)
	}
	lines := strings.Split(strings.TrimRight(string(content), "\n"), "\n")
	lines = lines[max(0, len(lines)-tailLines):]
	return fmt.Sprintf("--- end of %s\n%s", filepath.Base(path), strings.Join(lines, "\n"))
}

// Stop asks the process to end, waits, and kills its group if it does not.
func (p *Process) Stop(timeout time.Duration) error {
	var err error
	signalGroup(p.PID(), syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(timeout):
		err = fmt.Errorf("stopping %s: still running %v after SIGTERM, killed", p.command.Name, timeout)
	}
	signalGroup(p.PID(), syscall.SIGKILL)
	<-p.done
	return err
}

// signalGroup signals a process group, if it still exists.
func signalGroup(pid int, signal syscall.Signal) {
	_ = syscall.Kill(-pid, signal)
}
