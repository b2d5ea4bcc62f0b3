// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package actions

import (
	"bytes"
	"context"
	"errors"
	"sync"

	"k8s.io/utils/lru"

	"tutorial.kubebuilder.io/project/internal/cli/ui/feed"
)

// maxTasks is how many tasks are kept: those that were used last.
const maxTasks = 100

// Task is a call that runs or has ended.
type Task struct {
	feed.Signal
	Call

	// ID is the ID of the form that started the task.
	ID string

	mu      sync.Mutex
	output  bytes.Buffer
	err     error
	isEnded bool
}

// Write appends output of the command.
func (t *Task) Write(text []byte) (int, error) {
	t.mu.Lock()
	defer t.Raise()
	defer t.mu.Unlock()
	return t.output.Write(text)
}

// State returns the output so far, whether the command has ended, and its error.
func (t *Task) State() (output string, isEnded bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.output.String(), t.isEnded, t.err
}

func (t *Task) end(err error) {
	t.mu.Lock()
	t.isEnded, t.err = true, err
	t.mu.Unlock()
	t.Raise()
}

// Tasks runs calls. A form that is sent twice starts one task.
type Tasks struct {
	plugin *Plugin

	mu          sync.Mutex
	all         *lru.Cache // by ID
	interrupted []error
	running     sync.WaitGroup
}

// NewTasks returns an empty Tasks.
func NewTasks(plugin *Plugin) *Tasks { return &Tasks{plugin: plugin, all: lru.New(maxTasks)} }

// Find returns a task by its ID; false if there is none.
func (t *Tasks) Find(id string) (*Task, bool) {
	known, _ := t.all.Get(id)
	task, ok := known.(*Task)
	return task, ok
}

// Start starts a task, unless there is one with this ID, and returns it. The task runs until the
// command ends or the context does.
func (t *Tasks) Start(ctx context.Context, id string, call Call) *Task {
	t.mu.Lock()
	defer t.mu.Unlock()
	if task, ok := t.Find(id); ok {
		return task
	}
	task := &Task{ID: id, Call: call}
	t.all.Add(id, task)
	t.running.Go(func() {
		err := t.plugin.Do(ctx, call, task)
		task.end(err)
		if ctx.Err() != nil {
			t.mu.Lock()
			t.interrupted = append(t.interrupted, err)
			t.mu.Unlock()
		}
	})
	return task
}

// Wait waits until all tasks have ended. It returns the errors of those that the context
// interrupted.
func (t *Tasks) Wait() error {
	t.running.Wait()
	return errors.Join(t.interrupted...)
}
