// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Command manager runs the CronJob operator: the reconciler, the admission webhooks and the
// conversion webhook.
package main

import (
	"os"

	"k8s.io/utils/clock"

	"tutorial.kubebuilder.io/project/internal/manager"
)

// version is stamped by the build.
var version = "dev"

func main() {
	os.Exit(manager.Main(os.Args[1:], os.Getenv, version, clock.RealClock{}))
}
