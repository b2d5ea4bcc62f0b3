/*
Copyright 2026 The project authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

// Command manager runs the CronJob operator: the reconciler, the admission webhooks and the
// conversion webhook.
package main

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/client-go/discovery"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	v2 "tutorial.kubebuilder.io/project/apis/batch/v2"
	"tutorial.kubebuilder.io/project/controllers/batch"
	"tutorial.kubebuilder.io/project/internal/eventrecorder"
	"tutorial.kubebuilder.io/project/internal/informer"
	"tutorial.kubebuilder.io/project/internal/lease"
	webhookv1 "tutorial.kubebuilder.io/project/internal/webhook/batch/v1"
	"tutorial.kubebuilder.io/project/internal/webhook/certs"
	"tutorial.kubebuilder.io/project/internal/webhook/conversion"
	"tutorial.kubebuilder.io/project/internal/webhook/drain"
	"tutorial.kubebuilder.io/project/internal/webhook/limit"
)

// version is stamped by the build.
var version = "dev"

// leaderElectionID is the name of the Lease that the leader holds.
const leaderElectionID = "cronjob-controller.tutorial.kubebuilder.io"

func main() {
	opts, err := parseFlags(os.Args[1:], os.Getenv)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		fail(2, err)
	case opts.printVersion:
		fmt.Println(version)
		return
	}
	limitMemory(opts.memoryLimit)
	config, err := clusterConfig(opts) // before there is a logger: what is missing is said once, by us
	if err != nil {
		fail(1, err)
	}
	logger := newLogger(opts.zap)
	ctrl.SetLogger(logger)
	klog.SetLogger(logger)
	if err := run(ctrl.SetupSignalHandler(), config, opts); err != nil {
		fail(1, err)
	}
}

// fail ends the program with one line that says why.
func fail(code int, err error) {
	fmt.Fprintln(os.Stderr, "manager:", err)
	os.Exit(code)
}

// limitMemory lets the Go runtime use nine tenths of the container's memory, in bytes. The rest is for what the runtime
// does not count, such as the program itself and what the kernel keeps for its sockets. Without it, the kernel takes the
// program's pages away, each of which is needed again at once, and the manager stands still without being killed.
func limitMemory(container int64) {
	if container > 0 {
		debug.SetMemoryLimit(container / 10 * 9)
	}
}

// run runs the manager until the context ends.
func run(ctx context.Context, config *rest.Config, opts *options) error {
	keeper, err := newKeeper(opts)
	if err != nil {
		return err
	}
	server := drain.NewServer(limit.NewServer(webhookOptions(opts, keeper)))
	fence := lease.NewFence(renewDeadline, clock.RealClock{})
	mgrOpts := managerOptions(opts, keeper, server)
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
	recorder, err := eventrecorder.New(config, mgr.GetHTTPClient(), mgr.GetScheme(), clock.RealClock{},
		eventrecorder.PreferVersion(mgr.GetRESTMapper(), v1.GroupVersion.WithKind("CronJob").GroupKind()))
	if err != nil {
		return fmt.Errorf("setting up the events: %w", err)
	}
	recorder.Start()
	defer recorder.Stop()
	reconciler := &batch.CronJobReconciler{
		Client:      writer,
		APIReader:   mgr.GetAPIReader(),
		Recorder:    recorder,
		Clock:       wallClock(),
		Concurrency: opts.concurrency,
	}
	if err := reconciler.SetupWithManager(mgr); err != nil {
		return fmt.Errorf("setting up the controller: %w", err)
	}
	if err := errors.Join(mgr.AddHealthzCheck("healthz", healthz.Ping), mgr.AddHealthzCheck("leader", fence.HealthCheck(stuckAfter)),
		mgr.AddReadyzCheck("readyz", healthz.Ping)); err != nil {
		return fmt.Errorf("setting up the health checks: %w", err)
	}
	if opts.enableWebhooks {
		if err := setUpWebhooks(mgr, keeper, opts); err != nil {
			return fmt.Errorf("setting up the webhooks: %w", err)
		}
	}
	ctrl.Log.Info("Starting", "version", version, "webhooks", opts.enableWebhooks)
	if err := mgr.Start(server.DrainAfter(ctx, opts.shutdownDelay)); err != nil {
		return fmt.Errorf("running the manager: %w", err)
	}
	return nil
}

// fencedClient reads and writes as the manager's own, but writes only while the manager is sure to lead.
func fencedClient(mgr ctrl.Manager, fence *lease.Fence) (client.Client, error) {
	fenced := *mgr.GetHTTPClient()
	fenced.Transport = fence.Writes(fenced.Transport)
	return client.New(mgr.GetConfig(), client.Options{
		HTTPClient: &fenced, Scheme: mgr.GetScheme(), Mapper: mgr.GetRESTMapper(), Cache: &client.CacheOptions{Reader: mgr.GetCache()},
	})
}

// setUpWebhooks registers the webhooks. A replica is ready when the API server can call them: it is not
// about caches, as one that does not lead serves webhooks as well.
func setUpWebhooks(mgr ctrl.Manager, keeper *certs.Keeper, opts *options) error {
	server := mgr.GetWebhookServer()
	server.Register(conversion.Path, conversion.Handler{Convert: v2.ConvertJSON})
	admission := webhookv1.SetupWebhookWithManager(mgr, opts.namespaces)
	if err := errors.Join(admission, mgr.AddReadyzCheck("webhooks", server.StartedChecker())); err != nil {
		return err
	}
	if keeper == nil {
		return nil
	}
	return keeper.SetupWithManager(mgr)
}

// newKeeper returns what keeps the API server's trust in the webhooks' certificate; nil if that is not
// the manager's to do.
func newKeeper(opts *options) (*certs.Keeper, error) {
	if !opts.keepsTrust() {
		return nil, nil //nolint:nilnil // there is none
	}
	return certs.NewKeeper(opts.webhookCertPath, opts.trustedIn, clock.RealClock{})
}

// tlsOptions is how the manager serves TLS.
func tlsOptions(opts *options) []func(*tls.Config) {
	return []func(*tls.Config){func(c *tls.Config) {
		c.MinVersion, c.CipherSuites = opts.tlsMinVersion, opts.tlsCipherSuites
		if !opts.enableHTTP2 { // because of its rapid-reset attacks (CVE-2023-44487, CVE-2023-39325)
			c.NextProtos = []string{"http/1.1"}
		}
	}}
}

// webhookOptions makes the webhook server's options of ours.
func webhookOptions(opts *options, keeper *certs.Keeper) webhook.Options {
	webhooks := webhook.Options{Host: opts.webhookHost, Port: opts.webhookPort, CertDir: opts.webhookCertPath, TLSOpts: tlsOptions(opts)}
	if keeper != nil {
		webhooks.TLSOpts = append(webhooks.TLSOpts, func(c *tls.Config) { c.GetCertificate = keeper.GetCertificate })
	}
	return webhooks
}

// managerOptions makes the manager's options of ours.
func managerOptions(opts *options, keeper *certs.Keeper, server webhook.Server) ctrl.Options {
	cached := batch.Cached()
	if keeper != nil {
		maps.Copy(cached, opts.trustedIn.ByObject())
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
		LeaderElectionReleaseOnCancel: true, // safe, as the program ends when the manager does
		LeaseDuration:                 new(leaseDuration),
		RenewDeadline:                 new(renewDeadline),
		NewCache:                      informer.NewCache,
		Cache: cache.Options{
			DefaultNamespaces: namespaces(opts.namespaces),
			ByObject:          cached,
			NewInformer:       batch.NewInformer,
		},
	}
}

// How long a lease is others' to respect after it was renewed, and how long the leader goes on without: the usual times.
const (
	leaseDuration = 15 * time.Second
	renewDeadline = 10 * time.Second

	// stuckAfter is the age of the lease at which the liveness probe fails: a leader that can't
	// renew it ends by itself long before.
	stuckAfter = leaseDuration + 20*time.Second
)

// newScheme has the types that the manager works with.
func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(apiextensionsv1.AddToScheme(scheme))
	utilruntime.Must(v1.AddToScheme(scheme))
	utilruntime.Must(v2.AddToScheme(scheme))
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

// options is what the flags say.
type options struct {
	metricsAddress          string
	metricsCertPath         string
	probeAddress            string
	pprofAddress            string
	leaderElect             bool
	leaderElectionNamespace string
	enableWebhooks          bool
	webhookHost             string
	webhookPort             int
	webhookCertPath         string
	trustedIn               certs.Objects
	enableHTTP2             bool
	tlsMinVersion           uint16
	tlsCipherSuites         []uint16
	shutdownDelay           time.Duration
	memoryLimit             int64
	concurrency             int
	qps                     float64
	burst                   int
	namespaces              []string
	printVersion            bool
	zap                     zap.Options
}

// parseFlags reads the command line. Some defaults come from the environment.
func parseFlags(args []string, getenv func(string) string) (*options, error) {
	opts := &options{trustedIn: certs.Objects{CRD: "cronjobs." + v1.GroupVersion.Group}}
	flags := flag.NewFlagSet("manager", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // an error is one line, and not the whole usage
	flags.StringVar(&opts.metricsAddress, "metrics-bind-address", "0", "`address` of the metrics, such as :8443; 0 for none. "+
		"They are served over HTTPS, to those whom the API server knows and lets GET /metrics")
	flags.StringVar(&opts.metricsCertPath, "metrics-cert-path", "",
		"`directory` of the metrics' tls.crt and tls.key; without it, the certificate is self-signed")
	flags.StringVar(&opts.probeAddress, "health-probe-bind-address", ":8081", "`address` of /healthz and /readyz; 0 for none")
	flags.StringVar(&opts.pprofAddress, "pprof-bind-address", "0", "`address` of /debug/pprof, such as localhost:6060; 0 for none. "+
		"Whoever reaches it can read the manager's memory")
	flags.BoolVar(&opts.leaderElect, "leader-elect", false, "run beside other replicas, of which one at a time schedules")
	flags.StringVar(&opts.leaderElectionNamespace, "leader-election-namespace", "",
		"`namespace` of the Lease that the leader holds; the manager's own when empty, which it knows only in a Pod")
	flags.BoolVar(&opts.enableWebhooks, "enable-webhooks", getenv("ENABLE_WEBHOOKS") != "false",
		"serve the admission and conversion webhooks; the default is false if the environment has ENABLE_WEBHOOKS=false")
	flags.StringVar(&opts.webhookHost, "webhook-host", "", "`host` name or IP address that the webhooks are served on; all when empty")
	flags.IntVar(&opts.webhookPort, "webhook-port", 9443, "`port` of the webhooks")
	flags.StringVar(&opts.webhookCertPath, "webhook-cert-path", filepath.Join(os.TempDir(), "k8s-webhook-server", "serving-certs"),
		"`directory` of the webhooks' tls.crt and tls.key; they are read again when they change")
	flags.StringVar(&opts.trustedIn.Mutating, "mutating-webhook-configuration", "",
		"`name` of the MutatingWebhookConfiguration, in which, and in the CRD, the manager keeps the caBundle by ca.crt beside tls.crt; "+
			"the next flag goes with it")
	flags.StringVar(&opts.trustedIn.Validating, "validating-webhook-configuration", "",
		"`name` of the ValidatingWebhookConfiguration, likewise; without both, the caBundle is somebody else's to keep")
	opts.bindTLS(flags)
	flags.DurationVar(&opts.shutdownDelay, "shutdown-delay-duration", 0,
		"how long, a `duration` such as 3s, the manager goes on after it is told to end: "+
			"it answers, and closes each connection to a webhook after the next answer, so that no request is lost when it shuts down")
	flags.Int64Var(&opts.memoryLimit, "memory-limit", 0, "`bytes` that the container may use; the Go runtime stays below nine tenths "+
		"of them. 0 leaves it to GOMEMLIMIT")
	flags.IntVar(&opts.concurrency, "concurrency", 20, "`number` of CronJobs that are reconciled at once")
	flags.Float64Var(&opts.qps, "kube-api-qps", -1,
		"requests a second to the API server, a `number`; negative for no limit but the API server's own priority and fairness")
	flags.IntVar(&opts.burst, "kube-api-burst", 0, "requests that may exceed --kube-api-qps for a moment, a `number`")
	namespaces := flags.String("namespaces", "", "`names` of the namespaces to watch, with commas between; all when empty")
	flags.BoolVar(&opts.printVersion, "version", false, "print the version and exit")
	ctrlconfig.RegisterFlags(flags)
	opts.zap.BindFlags(flags)

	err := flags.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		flags.SetOutput(os.Stdout)
		fmt.Println("Runs the CronJob operator. Flags:")
		flags.PrintDefaults()
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("%w (--help lists the flags)", err)
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q: there are only flags (--help lists them)", flags.Arg(0))
	}
	opts.namespaces = strings.FieldsFunc(*namespaces, func(r rune) bool { return r == ',' || r == ' ' })
	return opts, opts.validate()
}

// bindTLS adds the flags of how metrics and webhooks are served.
func (o *options) bindTLS(flags *flag.FlagSet) {
	flags.BoolVar(&o.enableHTTP2, "enable-http2", false, "let metrics and webhooks speak HTTP/2")
	o.tlsMinVersion = tls.VersionTLS13
	flags.Func("tls-min-version",
		"least `version` of TLS that metrics and webhooks speak, VersionTLS12 or VersionTLS13 (default VersionTLS13)",
		func(name string) error {
			var err error
			if o.tlsMinVersion, err = cliflag.TLSVersion(name); err != nil || name == "" || o.tlsMinVersion < tls.VersionTLS12 {
				return errors.New("want VersionTLS12 or VersionTLS13")
			}
			return nil
		})
	flags.Func("tls-cipher-suites", "`names` of the cipher suites of TLS 1.2, with commas between, such as "+
		"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384; those that Go prefers when not set. TLS 1.3 has no choice of them",
		func(names string) error {
			suites := strings.Split(names, ",")
			for _, name := range suites {
				if slices.Contains(cliflag.InsecureTLSCipherNames(), name) {
					return fmt.Errorf("%s is not secure", name)
				}
			}
			var err error
			o.tlsCipherSuites, err = cliflag.TLSCipherSuites(suites)
			return err
		})
}

// keepsTrust reports whether the manager has the API server trust the webhooks' certificate.
func (o *options) keepsTrust() bool { return o.enableWebhooks && o.trustedIn.Mutating != "" }

// validate checks what the types of the flags can't.
func (o *options) validate() error {
	switch {
	case o.webhookPort < 1 || o.webhookPort > 65535:
		return fmt.Errorf("--webhook-port=%d: want a port from 1 to 65535", o.webhookPort)
	case o.shutdownDelay < 0:
		return fmt.Errorf("--shutdown-delay-duration=%s: want 0 or more", o.shutdownDelay)
	case o.memoryLimit < 0:
		return fmt.Errorf("--memory-limit=%d: want 0 or more", o.memoryLimit)
	case o.concurrency < 1:
		return fmt.Errorf("--concurrency=%d: want 1 or more", o.concurrency)
	case o.qps == 0:
		return errors.New("--kube-api-qps=0: want more than 0, or less for no limit")
	case o.qps > 0 && o.burst < 1:
		return fmt.Errorf("--kube-api-burst=%d: want 1 or more beside --kube-api-qps=%v", o.burst, o.qps)
	}
	if o.tlsCipherSuites != nil && o.tlsMinVersion == tls.VersionTLS13 {
		return errors.New("--tls-cipher-suites: TLS 1.3 has no choice of them: want --tls-min-version=VersionTLS12 beside it")
	}
	if (o.trustedIn.Mutating == "") != (o.trustedIn.Validating == "") {
		return errors.New("--mutating-webhook-configuration and --validating-webhook-configuration go together: set both or none")
	}
	for _, name := range o.namespaces {
		if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
			return fmt.Errorf("--namespaces: %q is no name of a namespace: %s", name, problems[0])
		}
	}
	return nil
}

// clusterConfig finds the cluster, and checks that it answers and that the files the manager can't
// start without are there: a line that names what is missing says more than a failing manager.
func clusterConfig(opts *options) (*rest.Config, error) {
	if opts.enableWebhooks {
		for _, name := range []string{"tls.crt", "tls.key"} {
			//nolint:gosec // the path is the operator's to choose
			if _, err := os.Stat(filepath.Join(opts.webhookCertPath, name)); err != nil {
				return nil, fmt.Errorf("the webhooks' certificate: %w (set --webhook-cert-path, or --enable-webhooks=false)", err)
			}
		}
	}
	config, err := ctrlconfig.GetConfig()
	if err != nil {
		return nil, fmt.Errorf("no cluster is configured: %w", err)
	}
	config.QPS, config.Burst = float32(opts.qps), opts.burst
	config.DisableCompression = true // the API server is near: to compress a list takes longer than to send it
	probe := rest.CopyConfig(config)
	probe.Timeout = 10 * time.Second
	discoverer, err := discovery.NewDiscoveryClientForConfig(probe)
	if err != nil {
		return nil, fmt.Errorf("the configuration of the cluster: %w", err)
	}
	if _, err := discoverer.ServerVersion(); err != nil {
		return nil, fmt.Errorf("no cluster answers at %s: %w", config.Host, err)
	}
	return config, nil
}
