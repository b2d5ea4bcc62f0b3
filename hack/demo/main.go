// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Demo shows on this machine, without a cluster, what the operator does: it starts a control plane
// and the manager, creates a CronJob in each API version, reads both in both versions and waits
// until a Job of each has completed. Then it stays up until Ctrl-C; with CI=true it ends.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"sigs.k8s.io/controller-runtime/pkg/log"
)

func main() {
	log.SetLogger(log.Log.WithSink(nil)) // the show is on stdout, errors are returned
	// SIGPIPE too: stdout may be a pipe whose reader goes away, and that calls for a clean end.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	defer stop()
	if err := run(ctx); err != nil {
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
