// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Command manager is the manager with a clock that a storm can step, and with the mutation that the
// environment names.
package main

import (
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"tutorial.kubebuilder.io/project/internal/manager"
	"tutorial.kubebuilder.io/project/test/chaos/mutation"
)

func main() {
	clock, args := steppedClock{file: os.Getenv("CHAOS_CLOCK")}, os.Args[1:]
	if name := os.Getenv(mutation.Environment); name != "" {
		if clock.mutation = mutation.Named(name); clock.mutation == nil {
			fail(fmt.Errorf("%s: there is no mutation %q", mutation.Environment, name))
		}
		kubeconfig, err := mutate(clock.mutation, args)
		if err != nil {
			fail(err)
		}
		args = append(args, "--kubeconfig="+kubeconfig)
	}
	os.Exit(manager.Main(args, os.Getenv, "chaos", clock))
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "manager:", err)
	os.Exit(1)
}

// mutate starts a mutation between the manager and its API server, and returns the kubeconfig file
// with which the manager talks to that.
func mutate(m *mutation.Mutation, args []string) (string, error) {
	var original string
	for _, arg := range args {
		if path, ok := strings.CutPrefix(arg, "--kubeconfig="); ok {
			original = path
		}
	}
	config, err := clientcmd.BuildConfigFromFlags("", original)
	if err != nil {
		return "", err
	}
	proxy, err := m.Proxy(config)
	if err != nil {
		return "", err
	}
	mutated := clientcmdapi.NewConfig()
	mutated.Clusters["mutation"] = &clientcmdapi.Cluster{Server: httptest.NewServer(proxy).URL}
	mutated.Contexts["mutation"] = &clientcmdapi.Context{Cluster: "mutation"}
	mutated.CurrentContext = "mutation"
	path := filepath.Join(filepath.Dir(original), fmt.Sprintf("mutation-%d.kubeconfig", os.Getpid()))
	return path, clientcmd.WriteToFile(*mutated, path)
}

// steppedClock is the clock of the machine, stepped by the duration in a file: a program in Go
// takes the time from the kernel, past the libraries that are made to fake it. As when a machine's
// clock is stepped, timers that run already are not touched.
type steppedClock struct {
	file     string
	mutation *mutation.Mutation
}

// Now returns the time of the stepped clock.
func (c steppedClock) Now() time.Time { return c.mutation.Now(time.Now().Add(c.step())) }

// Since returns the time that has passed since another of the stepped clock.
func (c steppedClock) Since(past time.Time) time.Duration { return c.Now().Sub(past) }

// step reads the file. Without one there is no step.
func (c steppedClock) step() time.Duration {
	text, err := os.ReadFile(c.file)
	if err != nil {
		return 0
	}
	step, err := time.ParseDuration(strings.TrimSpace(string(text)))
	if err != nil {
		panic("CHAOS_CLOCK: " + err.Error())
	}
	return step
}
