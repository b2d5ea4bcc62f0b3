// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package integration holds the tests of the whole: the manager as it is built and started, with
// its webhooks and no more rights than its role gives it, against a real kube-apiserver and etcd.
//
// All tests share one control plane and one manager; each has a namespace of its own. Nothing runs
// Jobs there: a test that needs one to end ends it by itself. Tests wait for what they want to see,
// and never for a time of day: a schedule fires every second or two, or not before next year.
package integration

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"

	"tutorial.kubebuilder.io/project/test/localcluster"
)

const (
	// patience is how long a test waits for what has to come; it comes much sooner on most
	// machines.
	patience = 60 * time.Second

	// glance is how often it looks.
	glance = 50 * time.Millisecond

	// atOnce is how many tests run at once. They wait most of the time, so that there may be many
	// more of them than processors.
	atOnce = 8
)

// The surroundings of the tests, made by TestMain.
var (
	// root is the project's directory.
	root string

	// managerBinary is the manager, built for these tests.
	managerBinary string

	// shared is the control plane that the tests share, with the webhooks, and the manager on it.
	shared *controlPlane
)

func TestMain(m *testing.M) {
	flag.Parse()
	if testing.Short() {
		fmt.Println("skipped: -short, and these tests start control planes")
		return
	}
	os.Exit(testMain(m))
}

// testMain runs the tests and returns the exit code.
func testMain(m *testing.M) int {
	if flag.Lookup("test.list").Value.String() != "" {
		return m.Run()
	}
	ctrl.SetLogger(logr.Discard())
	tearDownWhenInterrupted()
	err := setUp()
	if errors.Is(err, localcluster.ErrNoBinaries) {
		fmt.Println("skipped:", err)
		return 0
	}
	code := 1
	if err == nil {
		runManyAtOnce()
		code = m.Run()
		if code == 0 && ranAll() {
			err = assertEveryPermissionIsUsed()
		}
	}
	if err = errors.Join(err, tearDown()); err != nil {
		fmt.Println("FAIL:", err)
		return max(code, 1)
	}
	return code
}

// setUp builds the manager and starts it on the shared control plane.
func setUp() error {
	var err error
	if root, err = localcluster.FindRoot(); err != nil {
		return err
	}
	if err := errors.Join(os.Unsetenv("ENABLE_WEBHOOKS"), os.Unsetenv("KUBECONFIG")); err != nil {
		return err // managers would go by them
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	if shared, err = startControlPlane(ctx, withWebhooks); err != nil {
		return err
	}
	managerBinary = filepath.Join(shared.Dir, "manager")
	if err := buildManager(ctx, managerBinary); err != nil {
		return err
	}
	return shared.startSharedManager(ctx)
}

// tearDown stops everything, and reports what no test has looked for but none may leave behind.
func tearDown() error {
	var err error
	if shared != nil {
		err = errors.Join(shared.verdict(), shared.stop())
	}
	return errors.Join(err, stopPlain())
}

// tearDownWhenInterrupted has an interrupt leave no files behind. A second one ends the tests at
// once; processes end with this one anyhow.
func tearDownWhenInterrupted() {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-interrupts
		signal.Stop(interrupts)
		_ = tearDown()
		os.Exit(1)
	}()
}

// ranAll reports whether the command line left no test out.
func ranAll() bool {
	chosen := false
	flag.Visit(func(f *flag.Flag) {
		chosen = chosen || f.Name == "test.run" || f.Name == "test.skip" || f.Name == "test.list"
	})
	return !chosen
}

// runManyAtOnce raises the number of parallel tests, unless the command line says how many.
func runManyAtOnce() {
	chosen := false
	flag.Visit(func(f *flag.Flag) { chosen = chosen || f.Name == "test.parallel" })
	if !chosen {
		_ = flag.Set("test.parallel", fmt.Sprint(atOnce))
	}
}
