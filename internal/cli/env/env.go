// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package env is what the commands of the plugin share: streams, a clock, the cluster that
// kubectl's flags name, and how a command returns its exit code.
package env

import (
	"context"
	"errors"
	"fmt"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/kubernetes"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tutorial.kubebuilder.io/project/apis/batch"
)

// FieldManager is the name under which the plugin writes.
const FieldManager = "kubectl-cronjob"

// Env is where a command runs.
type Env struct {
	genericiooptions.IOStreams

	// Flags are kubectl's: --kubeconfig, --context, --namespace and so on.
	Flags *genericclioptions.ConfigFlags

	// Clock tells the time.
	Clock clock.Clock
}

// New returns the surroundings of a program that was started from a shell.
func New(streams genericiooptions.IOStreams) *Env {
	return &Env{
		IOStreams: streams,
		Flags:     genericclioptions.NewConfigFlags(true),
		Clock:     clock.RealClock{},
	}
}

// Namespace is the namespace that the flags or the kubeconfig name, or else default.
func (e *Env) Namespace() (string, error) {
	namespace, _, err := e.Flags.ToRawKubeConfigLoader().Namespace()
	return namespace, e.nameFlag(err)
}

// RESTConfig says where the cluster is; that nothing names one is an error. Requests are not
// limited but by the API server's priority and fairness. Its warnings are printed, as by kubectl.
func (e *Env) RESTConfig() (*rest.Config, error) {
	config, err := e.Flags.ToRESTConfig()
	if err != nil {
		return nil, e.nameFlag(err)
	}
	if err := e.checkNamed(config); err != nil {
		return nil, err
	}
	config.QPS = -1
	config.WarningHandler = rest.NewWarningWriter(e.ErrOut, rest.WarningWriterOptions{Deduplicate: true})
	return config, nil
}

// Client returns a client of the cluster, which knows both versions of ours, the built-in kinds and
// CustomResourceDefinitions. It writes as FieldManager.
func (e *Env) Client() (client.WithWatch, error) {
	config, err := e.RESTConfig()
	if err != nil {
		return nil, err
	}
	c, err := client.NewWithWatch(config, client.Options{Scheme: newScheme(), FieldOwner: FieldManager})
	if err != nil {
		return nil, fmt.Errorf("no cluster answers at %s: %w", config.Host, err)
	}
	return c, nil
}

// Clientset returns a client that watches lists and reads logs, which Client's does not.
func (e *Env) Clientset() (*kubernetes.Clientset, error) {
	config, err := e.RESTConfig()
	if err != nil {
		return nil, err
	}
	return kubernetes.NewForConfig(config)
}

// Sleep waits, and returns an error if the context ends before.
func (e *Env) Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-e.Clock.After(d):
		return nil
	}
}

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(apiextensionsv1.AddToScheme(scheme))
	utilruntime.Must(batch.AddToScheme(scheme))
	return scheme
}

// Interrupted is the exit code after an interrupt, as shells have it.
const Interrupted = 130

// ExitError ends the program with a code other than 1.
type ExitError struct {
	// Code is the exit code.
	Code int

	// Err is what to print; nil if all has been printed.
	Err error
}

// Error is the message to print, which may be empty.
func (e *ExitError) Error() string {
	if e.Err == nil {
		return ""
	}
	return e.Err.Error()
}

// Unwrap returns what is wrapped.
func (e *ExitError) Unwrap() error { return e.Err }

// ExitCode is the code to exit with after an error: 0 for none, 1 if it does not say otherwise.
func ExitCode(err error) int {
	var exit *ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.Code
	default:
		return 1
	}
}
