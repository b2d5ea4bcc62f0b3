// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package manager is the program that runs the CronJob operator: it parses the flags, and sets up
// the reconciler and the webhooks.
package manager

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"maps"
	"net"
	"os"
	"runtime/debug"
	"strconv"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/discovery"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	api "tutorial.kubebuilder.io/project/apis/batch"
	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	controllers "tutorial.kubebuilder.io/project/controllers/batch"
	"tutorial.kubebuilder.io/project/internal/eventrecorder"
	"tutorial.kubebuilder.io/project/internal/informer"
	"tutorial.kubebuilder.io/project/internal/lease"
	webhookv1 "tutorial.kubebuilder.io/project/internal/webhook/batch/v1"
	"tutorial.kubebuilder.io/project/internal/webhook/conversion"
	"tutorial.kubebuilder.io/project/internal/webhook/drain"
	"tutorial.kubebuilder.io/project/internal/webhook/limit"
	"tutorial.kubebuilder.io/project/internal/webhook/trust"
)

// Main runs the manager until SIGTERM or SIGINT, and returns the program's exit code: 2 if the
// arguments are wrong, and 1 for any other error. It writes an error as one line to standard error.
// The version is what --version prints. The reconciler reads the time from now.
func Main(args []string, getenv func(string) string, version string, now clock.PassiveClock) int {
	opts, err := parseFlags(args, getenv)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return fail(2, err)
	case opts.printVersion:
		fmt.Println(version)
		return 0
	}
	limitMemory(opts.memoryLimit)
	config, err := clusterConfig(opts) // before the logger is set, so that nothing else logs its errors
	if err != nil {
		return fail(1, err)
	}
	logger := newLogger(opts.zap)
	ctrl.SetLogger(logger)
	klog.SetLogger(logger)
	if err := run(ctrl.SetupSignalHandler(), config, opts, version, now); err != nil {
		return fail(1, err)
	}
	return 0
}

// fail prints why the program ends, and returns its exit code.
func fail(code int, err error) int {
	fmt.Fprintln(os.Stderr, "manager:", err)
	return code
}

// leaderElectionID is the name of the Lease that the leader holds.
const leaderElectionID = "cronjob-controller.tutorial.kubebuilder.io"

// limitMemory lets the Go runtime use nine tenths of the container's memory, in bytes. The rest is
// for what the runtime does not count, such as the program's code and the kernel's socket buffers.
// Without it, the kernel evicts pages of the code that are needed again at once, and the manager
// stalls without being killed.
func limitMemory(container int64) {
	if container > 0 {
		debug.SetMemoryLimit(container / 10 * 9)
	}
}

func run(ctx context.Context, config *rest.Config, opts *options, version string, now clock.PassiveClock) error {
	server := drain.NewServer(limit.NewServer(webhook.Options{
		Host: opts.webhookHost, Port: opts.webhookPort, CertDir: opts.webhookCertPath, TLSOpts: tlsOptions(opts),
	}))
	fence := lease.NewFence(renewDeadline, clock.RealClock{})
	mgrOpts := managerOptions(opts, server)
	mgrOpts.LeaderElectionConfig = fence.Renewals(config)
	mgr, err := ctrl.NewManager(config, mgrOpts)
	if err != nil {
		return fmt.Errorf("setting up the manager: %w", err)
	}
	writer := mgr.GetClient()
	if opts.leaderElect {
		if writer, err = fencedClient(mgr, fence); err != nil {
			return fmt.Errorf("setting up the leader's client: %w", err)
		}
	}
	reconciler := &controllers.CronJobReconciler{
		Client:       writer,
		APIReader:    mgr.GetAPIReader(),
		Clock:        now,
		Concurrency:  opts.concurrency,
		IsHubMissing: isHubMissing,
	}
	recorder, err := eventrecorder.New(config, mgr.GetHTTPClient(), mgr.GetScheme(), clock.RealClock{},
		eventrecorder.PreferVersion(mgr.GetRESTMapper(), v1.GroupVersion.WithKind("CronJob").GroupKind()),
		eventrecorder.YieldTo(reconciler.HasDeferredStatuses))
	if err != nil {
		return fmt.Errorf("setting up the events: %w", err)
	}
	recorder.Start()
	defer recorder.Stop()
	reconciler.Recorder = recorder
	if err := errors.Join(reconciler.SetupWithManager(mgr), mgr.Add(memoryRelease{mgr.GetCache()})); err != nil {
		return fmt.Errorf("setting up the controller: %w", err)
	}
	discoverer, err := discovery.NewDiscoveryClientForConfigAndClient(config, mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("setting up the discovery: %w", err)
	}
	if err := errors.Join(mgr.AddHealthzCheck("healthz", healthz.Ping), mgr.AddHealthzCheck("leader", fence.HealthCheck(stuckAfter)),
		mgr.AddReadyzCheck("readyz", healthz.Ping), mgr.AddReadyzCheck("hub", hubIsServed(discoverer))); err != nil {
		return fmt.Errorf("setting up the health checks: %w", err)
	}
	if opts.enableWebhooks {
		if err := errors.Join(setUpWebhooks(mgr, opts), watchHub(ctx, mgr.GetCache())); err != nil {
			return fmt.Errorf("setting up the webhooks: %w", err)
		}
	}
	ctrl.Log.Info("Starting", "version", version, "webhooks", opts.enableWebhooks)
	if err := mgr.Start(server.DrainAfter(ctx, opts.shutdownDelay)); err != nil {
		return fmt.Errorf("running the manager: %w", err)
	}
	return nil
}

// memoryRelease runs once, in a new leader. Its first lists leave more garbage than what is kept of
// them, and then it allocates so little that the Go runtime would keep that memory for two minutes.
type memoryRelease struct{ informers cache.Informers }

// releaseDelay is how long after the first list of CronJobs the memory is released: what is due
// goes before it.
const releaseDelay = 10 * time.Second

// Start implements manager.Runnable.
func (m memoryRelease) Start(ctx context.Context) error {
	if _, err := m.informers.GetInformer(ctx, &v1.CronJob{}); err != nil {
		return nil //nolint:nilerr // the controller returns it too
	}
	select {
	case <-ctx.Done():
	case <-time.After(releaseDelay):
		debug.FreeOSMemory()
	}
	return nil
}

// fencedClient returns the manager's client behind a fence: it writes only while the manager surely
// is the leader.
func fencedClient(mgr ctrl.Manager, fence *lease.Fence) (client.Client, error) {
	fenced := *mgr.GetHTTPClient()
	fenced.Transport = fence.Writes(fenced.Transport)
	return client.New(mgr.GetConfig(), client.Options{
		HTTPClient: &fenced, Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(), Cache: &client.CacheOptions{Reader: mgr.GetCache()},
	})
}

// setUpWebhooks registers the webhooks. A replica is ready when the API server can call them.
// Readiness does not depend on leadership, because all replicas serve webhooks.
func setUpWebhooks(mgr ctrl.Manager, opts *options) error {
	server := mgr.GetWebhookServer()
	server.Register(conversion.Path, conversion.Handler{Convert: api.Versions.ConvertJSON})
	address := net.JoinHostPort(cmp.Or(opts.webhookHost, "localhost"), strconv.Itoa(opts.webhookPort))
	return errors.Join(
		webhookv1.SetupWebhookWithManager(mgr, opts.namespaces),
		mgr.AddReadyzCheck("webhooks", server.StartedChecker()),
		mgr.AddReadyzCheck("trust", trust.Check(mgr.GetClient(), address)),
	)
}

func tlsOptions(opts *options) []func(*tls.Config) {
	return []func(*tls.Config){func(c *tls.Config) {
		c.MinVersion, c.CipherSuites = opts.tlsMinVersion, opts.tlsCipherSuites
		if !opts.enableHTTP2 { // off by default: rapid-reset attacks (CVE-2023-44487, CVE-2023-39325)
			c.NextProtos = []string{"http/1.1"}
		}
	}}
}

func managerOptions(opts *options, server webhook.Server) ctrl.Options {
	cached := controllers.Cached()
	if opts.enableWebhooks {
		maps.Copy(cached, trust.CacheByObject())
	}
	return ctrl.Options{
		Scheme: newScheme(),
		Metrics: metricsserver.Options{
			BindAddress:    opts.metricsAddress,
			SecureServing:  true,
			FilterProvider: filters.WithAuthenticationAndAuthorization,
			CertDir:        opts.metricsCertPath,
			TLSOpts:        tlsOptions(opts),
		},
		WebhookServer:                 server,
		HealthProbeBindAddress:        opts.probeAddress,
		PprofBindAddress:              opts.pprofAddress,
		LeaderElection:                opts.leaderElect,
		LeaderElectionID:              leaderElectionID,
		LeaderElectionNamespace:       opts.leaderElectionNamespace,
		LeaderElectionReleaseOnCancel: true, // safe, because the program ends with the manager
		LeaseDuration:                 new(leaseDuration),
		RenewDeadline:                 new(renewDeadline),
		NewCache:                      informer.NewCache,
		Cache: cache.Options{
			DefaultNamespaces: namespaces(opts.namespaces),
			ByObject:          cached,
		},
	}
}

const (
	// leaseDuration is how long after a renewal other replicas wait: the usual time.
	leaseDuration = 15 * time.Second

	// renewDeadline is how long the leader continues without a renewal: the usual time.
	renewDeadline = 10 * time.Second

	// stuckAfter is the age of the lease at which the liveness probe fails. A leader that can't
	// renew its lease ends by itself long before.
	stuckAfter = leaseDuration + 20*time.Second
)

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(apiextensionsv1.AddToScheme(scheme))
	utilruntime.Must(api.AddToScheme(scheme))
	return scheme
}

// namespaces returns the namespaces to watch; nil for all.
func namespaces(names []string) map[string]cache.Config {
	if len(names) == 0 {
		return nil
	}
	configs := make(map[string]cache.Config, len(names))
	for _, name := range names {
		configs[name] = cache.Config{}
	}
	return configs
}
