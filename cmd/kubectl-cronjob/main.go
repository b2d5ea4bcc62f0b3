// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Command kubectl-cronjob is a kubectl plugin: with it on the PATH, kubectl cronjob works with the
// CronJobs of batch.tutorial.kubebuilder.io.
package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	_ "time/tzdata" // for the user's zone, on machines without zone files; schedules don't use it

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"tutorial.kubebuilder.io/project/internal/cli"
	"tutorial.kubebuilder.io/project/internal/cli/env"
)

// version is stamped by make build-plugin.
var version string

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	out := &output{Writer: os.Stdout}
	e := env.New(genericiooptions.IOStreams{In: os.Stdin, Out: out, ErrOut: os.Stderr})
	e.Source, e.Columns = env.SourceOf(os.Stdin), env.ColumnsOf(os.Stdout)
	err := cmp.Or(cli.NewCommand(e, buildVersion()).ExecuteContext(ctx), out.err)
	stop()
	if err != nil && err.Error() != "" {
		fmt.Fprintln(os.Stderr, "error:", err)
	}
	os.Exit(env.ExitCode(err))
}

// output records the first write error, which some printers do not return.
type output struct {
	io.Writer
	err error
}

// Write writes, and records the first error.
func (o *output) Write(text []byte) (int, error) {
	n, err := o.Writer.Write(text)
	o.err = cmp.Or(o.err, err)
	return n, err
}

// buildVersion returns the stamped version, or that of the module after go install.
func buildVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}
