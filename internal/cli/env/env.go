// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package env is the environment of the commands: streams, a clock, the cluster of kubectl's flags,
// and exit codes.
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

// FieldManager is the field manager of the plugin's writes.
const FieldManager = "kubectl-cronjob"

// Env is the environment of a command.
type Env struct {
	genericiooptions.IOStreams

	// Flags are kubectl's flags, such as --kubeconfig, --context and --namespace.
	Flags *genericclioptions.ConfigFlags

	Clock clock.Clock

	// Source is what In reads from.
	Source Source

	// Columns is the width of the terminal that Out writes to; 0 if it writes to something else.
	Columns int
}

// New returns the environment of a program with these streams.
func New(streams genericiooptions.IOStreams) *Env {
	return &Env{
		IOStreams: streams,
		Flags:     genericclioptions.NewConfigFlags(true),
		Clock:     clock.RealClock{},
	}
}

// Namespace returns the namespace of the flags or the kubeconfig, or else default.
func (e *Env) Namespace() (string, error) {
	namespace, _, err := e.Flags.ToRawKubeConfigLoader().Namespace()
	return namespace, e.nameFlag(err)
}

// RESTConfig returns the configuration of the cluster; an error if nothing names one. The client
// does not limit its requests: the API server's priority and fairness does. It prints warnings, as
// kubectl does.
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

// Client returns a client for the cluster. Its scheme has all versions of ours, the built-in kinds
// and CustomResourceDefinitions. It writes as FieldManager.
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

// Clientset returns a client that can watch and read logs, which Client's can't.
func (e *Env) Clientset() (*kubernetes.Clientset, error) {
	config, err := e.RESTConfig()
	if err != nil {
		return nil, err
	}
	return kubernetes.NewForConfig(config)
}

// Sleep waits. It returns an error if the context ends before.
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

// Interrupted is the exit code after an interrupt, as in shells.
const Interrupted = 130

// ExitError is an error with an exit code.
type ExitError struct {
	// Code is the exit code.
	Code int

	// Err is the error to print; nil for none.
	Err error
}

// Error returns the message of Err; "" for none.
func (e *ExitError) Error() string {
	if e.Err == nil {
		return ""
	}
	return e.Err.Error()
}

// Unwrap returns Err.
func (e *ExitError) Unwrap() error { return e.Err }

// ExitCode returns the exit code for an error: 0 for nil, 1 unless it is an ExitError.
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
