// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Command demo shows the operator at work: it starts a Kubernetes control plane and the manager on
// this machine, creates a CronJob in each API version and waits until a Job of each has completed.
// Then it stays up until Ctrl-C; with CI=true in the environment it ends instead.
//
// Run it by "make demo", which builds what it needs. It leaves no process and no file behind.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"
)

func main() {
	log.SetLogger(log.Log.WithSink(nil)) // the show is on stdout, errors are returned
	// SIGPIPE too: stdout may be a pipe whose reader goes away, and that calls for a clean end.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	defer stop()
	if err := run(endWithParent(ctx)); err != nil {
		fmt.Fprintf(os.Stderr, "\ndemo: %v\n", err)
		os.Exit(1) //nolint:gocritic // nothing that stop would do matters any more
	}
}

// run gives the demo and cleans up, whatever happened.
func run(ctx context.Context) (err error) {
	d := &demo{out: os.Stdout}
	defer func() { err = errors.Join(err, d.stop()) }()
	if err := d.perform(ctx); err != nil {
		return err
	}
	if os.Getenv("CI") == "true" {
		return nil
	}
	return d.stayUp(ctx)
}

// parentPoll is how soon the end of the parent is noticed.
const parentPoll = time.Second

// endWithParent returns a context that ends when the process that started this one does. "go run"
// does not pass on a SIGTERM: it ends and leaves its child alone.
func endWithParent(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancelCause(ctx)
	parent := os.Getppid()
	go func() {
		ticker := time.NewTicker(parentPoll)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				if os.Getppid() != parent {
					cancel(errParentEnded)
					return
				}
			}
		}
	}()
	return ctx
}

var errParentEnded = errors.New("the process that started the demo has ended")
