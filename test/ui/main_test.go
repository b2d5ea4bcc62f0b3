//go:build ui

// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package ui holds the tests of kubectl cronjob ui in a real browser, against a real API server with
// the manager and what runs Jobs. `make test-ui` runs them.
package ui

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"tutorial.kubebuilder.io/project/test/localcluster"
)

// patience is how long a test waits for what has to come.
const patience = 60 * time.Second

// pollInterval is the time between two looks at the page.
const pollInterval = 50 * time.Millisecond

// The command line.
var (
	axeFile     = flag.String("axe", "", "The file axe.min.js of the npm package axe-core.")
	screenshots = flag.String("screenshots", "", "The directory to write the screenshots of the docs to.")
)

// The surroundings of the tests, made by TestMain.
var (
	root    string
	cluster *localcluster.Cluster

	// browser is the context of the browser, in which each test opens a tab.
	browser context.Context

	// axe is the source of axe-core.
	axe string
)

func TestMain(m *testing.M) {
	flag.Parse()
	ctrl.SetLogger(logr.Discard())
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "FAIL:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// runTests runs the tests, and returns the exit code.
func runTests(m *testing.M) (code int, err error) {
	source, err := os.ReadFile(*axeFile)
	if err != nil {
		return 1, fmt.Errorf("-axe: %w: run make test-ui", err)
	}
	axe = string(source)
	if err := os.MkdirAll(*screenshots, 0o750); err != nil {
		return 1, fmt.Errorf("-screenshots: %w", err)
	}
	if root, err = localcluster.FindRoot(); err != nil {
		return 1, err
	}
	ctx := context.Background()
	if cluster, err = localcluster.Start(ctx, localcluster.Options{RunsJobs: true, Webhooks: true}); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, cluster.Stop()) }()
	if err := startManager(ctx); err != nil {
		return 1, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, // which a container does not let it have
		chromedp.Flag("host-resolver-rules", "MAP evil.example 127.0.0.1"))
	allocator, endAllocator := chromedp.NewExecAllocator(ctx, options...)
	defer endAllocator()
	started, end := chromedp.NewContext(allocator)
	defer end()
	browser = started //nolint:fatcontext // each test opens a tab in it
	if err := chromedp.Do(browser); err != nil {
		return 1, fmt.Errorf("starting the browser: %w: hack/ui-tools says what to install", err)
	}
	return m.Run(), nil
}

// startManager starts the manager, with no more rights than its role gives it.
func startManager(ctx context.Context) error {
	kubeconfig, err := cluster.AddManager(ctx)
	if err != nil {
		return err
	}
	command, err := cluster.Manager(filepath.Join(root, "bin", "manager"), kubeconfig)
	if err != nil {
		return err
	}
	_, err = cluster.Run(ctx, command)
	return err
}
