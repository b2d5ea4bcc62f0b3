// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Command kubectl-cronjob is a kubectl plugin: with it on the PATH, kubectl cronjob works with the
// CronJobs of batch.tutorial.kubebuilder.io.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"tutorial.kubebuilder.io/project/internal/cli"
	"tutorial.kubebuilder.io/project/internal/cli/env"
)

// version is stamped by make build-plugin.
var version string

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	streams := genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr}
	err := cli.NewCommand(env.New(streams), buildVersion()).ExecuteContext(ctx)
	stop()
	if err != nil && err.Error() != "" {
		fmt.Fprintln(os.Stderr, "error:", err)
	}
	os.Exit(env.ExitCode(err))
}

// buildVersion returns the version that was stamped or, after go install, that of the module.
func buildVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}
