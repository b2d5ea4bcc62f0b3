// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package plane is shared by the bench and the storms: the start and the end of such a program, its
// control plane, waiting and retrying, requests to any path of the API server and to etcd, and
// reading metrics.
package plane

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"tutorial.kubebuilder.io/project/test/localcluster"
)

// Main runs a program until a signal, and exits. It prints an error once, and silences libraries.
func Main(name string, run func(ctx context.Context, args []string) error) {
	ctrl.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}

// Pick returns the elements of all whose names are in a comma-separated list, in the order of all.
func Pick[T any](option, list string, all []T, name func(T) string) (picked []T, err error) {
	wanted, known := strings.Split(list, ","), []string(nil)
	for _, item := range all {
		known = append(known, name(item))
		if slices.Contains(wanted, name(item)) {
			picked = append(picked, item)
		}
	}
	if len(picked) != len(wanted) {
		return nil, fmt.Errorf("-%s=%s: want some of %s, each once", option, list, strings.Join(known, ","))
	}
	return picked, nil
}

// started is when the program started.
var started = time.Now()

// Logf writes a line to standard error, with the seconds since the start of the program.
func Logf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "%6.1fs  %s\n", time.Since(started).Seconds(), fmt.Sprintf(format, args...))
}

// Sleep sleeps. It returns false if the context ends before.
func Sleep(ctx context.Context, d time.Duration) bool {
	return SleepUntil(ctx, time.Now().Add(d)) == nil
}

// SleepUntil sleeps until an instant. It returns an error if the context ends before.
func SleepUntil(ctx context.Context, at time.Time) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(time.Until(at)):
		return nil
	}
}

// How long one try of Insist may take, and the pause between two.
const (
	tryTimeout = 8 * time.Second
	tryPause   = 200 * time.Millisecond
)

// Insist retries until it works or the context ends, and returns the last error. The API server may
// be down, or not answer.
func Insist(ctx context.Context, try func(ctx context.Context) error) error {
	for {
		attempt, cancel := context.WithTimeout(ctx, tryTimeout)
		err := try(attempt)
		cancel()
		if err == nil || !Sleep(ctx, tryPause) {
			return err
		}
	}
}

// Plane is a local cluster with the operator's CRD and webhooks, and without a manager.
type Plane struct {
	*localcluster.Cluster

	REST    *rest.RESTClient // takes absolute paths, has no rate limit, and uses JSON
	Metrics *MetricsReader
}

// etcdQuota is etcd's limit for its data, in bytes: the maximum that it recommends. Its default, 2
// GiB, may be too little for 100,000 CronJobs with their Jobs.
const etcdQuota = 8 << 30

// Start starts a control plane with some namespaces, and with flags of the API server in the form
// "--name=value". After an error nothing is left.
func Start(ctx context.Context, namespaces []string, flags ...string) (*Plane, error) {
	cluster, err := localcluster.Start(ctx, localcluster.Options{
		Webhooks: true, Logf: Logf, ExtraArgs: map[localcluster.Component][]string{
			localcluster.APIServer: flags, localcluster.Etcd: {fmt.Sprintf("--quota-backend-bytes=%d", etcdQuota)},
		},
	})
	if err != nil {
		return nil, err
	}
	p := &Plane{Cluster: cluster}
	if err := p.prepare(ctx, namespaces); err != nil {
		return nil, errors.Join(err, p.Stop())
	}
	return p, nil
}

func (p *Plane) prepare(ctx context.Context, namespaces []string) (err error) {
	if p.REST, err = restClient(p.Config); err != nil {
		return err
	}
	for _, name := range namespaces {
		if err := p.Client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
			return fmt.Errorf("creating namespace %s: %w", name, err)
		}
	}
	p.Metrics, err = newMetricsReader(ctx, p.Client)
	return err
}

func restClient(config *rest.Config) (*rest.RESTClient, error) {
	config = rest.CopyConfig(config)
	config.WarningHandler = rest.NoWarnings{}
	config.APIPath, config.GroupVersion = "/", &corev1.SchemeGroupVersion // required, but unused: paths are absolute
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	return rest.RESTClientFor(config)
}

// EtcdClient returns a client for an etcd that may be down for some time. It then reconnects soon.
func EtcdClient(url string) (*clientv3.Client, error) {
	const pause = 200 * time.Millisecond
	reconnect := grpc.ConnectParams{
		Backoff:           backoff.Config{BaseDelay: pause, Multiplier: 1, MaxDelay: pause},
		MinConnectTimeout: tryTimeout,
	}
	client, err := clientv3.New(clientv3.Config{
		Endpoints: []string{url}, Logger: zap.NewNop(), DialOptions: []grpc.DialOption{grpc.WithConnectParams(reconnect)},
	})
	if err != nil {
		return nil, fmt.Errorf("making a client of etcd: %w", err)
	}
	return client, nil
}
