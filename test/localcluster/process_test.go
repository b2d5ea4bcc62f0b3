// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func shell(t *testing.T, script string) *Process {
	t.Helper()
	process, err := Launch(Command{Name: "shell", Path: "/bin/sh", Args: []string{"-c", script}}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = process.Stop(0) })
	return process
}

// awaitLog waits until the process has written a text.
func awaitLog(t *testing.T, process *Process, text string) {
	t.Helper()
	require.Eventually(t, func() bool { return strings.Contains(process.LogTail(), text) }, 30*time.Second, 10*time.Millisecond,
		"%q is not in the log", text)
}

func TestStop(t *testing.T) {
	const chatter = "while sleep 0.02; do echo up; done"
	tests := map[string]struct {
		script  string
		wantErr string
	}{
		"ends on SIGTERM":                     {script: chatter},
		"ends with its children":              {script: "(" + chatter + ") & wait"},
		"children that outlive it are killed": {script: "(trap '' TERM; " + chatter + ") & wait"},
		"is killed when SIGTERM does nothing": {
			script:  "trap '' TERM; " + chatter,
			wantErr: "still running 200ms after SIGTERM",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			process := shell(t, tt.script)
			awaitLog(t, process, "up")
			err := process.Stop(200 * time.Millisecond)
			if got := errorText(err); !strings.Contains(got, tt.wantErr) || (got != "") != (tt.wantErr != "") {
				t.Errorf("Stop() = %q, want %q", got, tt.wantErr)
			}
			wantSilence(t, process)
		})
	}
}

// wantSilence checks that nothing writes to the log any more. That a process still has an id says
// nothing: it keeps it until its parent, by then init, has asked how it ended.
func wantSilence(t *testing.T, process *Process) {
	t.Helper()
	before := logSize(t, process)
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for range 10 {
		<-ticker.C
		require.Equal(t, before, logSize(t, process), "the log grew after the stop")
	}
}

func logSize(t *testing.T, process *Process) int64 {
	t.Helper()
	info, err := os.Stat(process.LogPath)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

func TestAProcessCanEndBeforeItsCluster(t *testing.T) {
	c := &Cluster{Dir: t.TempDir()}
	require.NoError(t, c.makeDirs("log"))
	var processes []*Process
	for _, name := range []string{"first", "second"} {
		process, err := c.Run(t.Context(), Command{Name: name, Path: "/bin/sleep", Args: []string{"60"}})
		require.NoError(t, err)
		require.NoError(t, syscall.Kill(process.PID(), 0), "it runs")
		processes = append(processes, process)
	}
	require.NoError(t, c.End(processes[0]))
	assert.Error(t, processes[0].Err())
	assert.NoError(t, processes[1].Err(), "the other goes on")
	require.NoError(t, c.Stop())
	assert.Error(t, processes[1].Err())
}

func TestAwaitReadyShowsTheLogOfAProcessThatEnds(t *testing.T) {
	process := shell(t, "echo no such flag; exit 3")
	process.command.HealthURL = "http://127.0.0.1:1/"
	err := process.AwaitReady(t.Context())
	for _, want := range []string{"starting shell", "exit status 3", "no such flag"} {
		if !strings.Contains(errorText(err), want) {
			t.Errorf("AwaitReady() = %v, want it to contain %q", err, want)
		}
	}
}

func TestAwaitReadyEndsWithItsContext(t *testing.T) {
	process := shell(t, "sleep 60")
	process.command.HealthURL = "http://127.0.0.1:1/"
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := process.AwaitReady(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("AwaitReady() = %v, want %v", err, context.Canceled)
	}
}

func TestTailShowsTheLastLines(t *testing.T) {
	process := shell(t, "seq 1 100")
	<-process.Done()
	got := process.LogTail()
	if !strings.HasSuffix(got, "\n99\n100") || strings.Contains(got, "\n80\n") || !strings.Contains(got, "\n81\n") {
		t.Errorf("LogTail() = %q, want the lines 81 to 100", got)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
