// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"
	cliflag "k8s.io/component-base/cli/flag"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/client/config"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
)

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
	opts := &options{}
	flags := opts.flagSet(getenv)
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
	return opts, opts.validate()
}

// flagSet returns the flags, which write into the options. docs/flags.md has them too.
func (o *options) flagSet(getenv func(string) string) *flag.FlagSet {
	flags := flag.NewFlagSet("manager", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // an error prints one line, not the whole usage
	flags.StringVar(&o.metricsAddress, "metrics-bind-address", "0", "`address` of the metrics, such as :8443; 0 for none. "+
		"They are served over HTTPS, to authenticated clients that may GET /metrics")
	flags.StringVar(&o.metricsCertPath, "metrics-cert-path", "",
		"`directory` of the metrics' tls.crt and tls.key; without it, the certificate is self-signed")
	flags.StringVar(&o.probeAddress, "health-probe-bind-address", ":8081", "`address` of /healthz and /readyz; 0 for none")
	flags.StringVar(&o.pprofAddress, "pprof-bind-address", "0", "`address` of /debug/pprof, such as localhost:6060; 0 for none. "+
		"Whoever reaches it can read the manager's memory")
	flags.BoolVar(&o.leaderElect, "leader-elect", false, "elect a leader among the replicas: only the leader reconciles")
	flags.StringVar(&o.leaderElectionNamespace, "leader-election-namespace", "",
		"`namespace` of the Lease that the leader holds; when empty, the manager's own, which it knows only in a Pod")
	flags.BoolVar(&o.enableWebhooks, "enable-webhooks", getenv("ENABLE_WEBHOOKS") != "false",
		"serve the admission and conversion webhooks; the default is false if the environment has ENABLE_WEBHOOKS=false")
	flags.StringVar(&o.webhookHost, "webhook-host", "", "`host` name or IP address that the webhooks are served on; all when empty")
	flags.IntVar(&o.webhookPort, "webhook-port", 9443, "`port` of the webhooks")
	flags.StringVar(&o.webhookCertPath, "webhook-cert-path", filepath.Join(os.TempDir(), "k8s-webhook-server", "serving-certs"),
		"`directory` of the webhooks' tls.crt and tls.key; they are read again when they change")
	o.bindTLS(flags)
	flags.DurationVar(&o.shutdownDelay, "shutdown-delay-duration", 0,
		"how long, a `duration` such as 10s, the manager keeps serving after SIGTERM: it closes each connection to a webhook "+
			"after the next answer, so that hardly a request is lost when it shuts down")
	flags.Int64Var(&o.memoryLimit, "memory-limit", 0, "`bytes` that the container may use; the Go runtime stays below nine tenths "+
		"of them. 0 leaves it to GOMEMLIMIT")
	flags.IntVar(&o.concurrency, "concurrency", 20, "`number` of CronJobs that are reconciled at once")
	flags.Float64Var(&o.qps, "kube-api-qps", -1,
		"`number` of requests per second to the API server; negative for no limit but the API server's own priority and fairness")
	flags.IntVar(&o.burst, "kube-api-burst", 0, "`number` of requests in a burst above --kube-api-qps")
	flags.Func("namespaces", "comma-separated `names` of the namespaces to watch; all when empty", func(names string) error {
		o.namespaces = strings.FieldsFunc(names, func(r rune) bool { return r == ',' || r == ' ' })
		return nil
	})
	flags.BoolVar(&o.printVersion, "version", false, "print the version and exit")
	ctrlconfig.RegisterFlags(flags)
	o.zap.BindFlags(flags)
	return flags
}

func (o *options) bindTLS(flags *flag.FlagSet) {
	flags.BoolVar(&o.enableHTTP2, "enable-http2", false, "serve metrics and webhooks over HTTP/2 too")
	o.tlsMinVersion = tls.VersionTLS13
	flags.Func("tls-min-version",
		"minimum `version` of TLS for metrics and webhooks, VersionTLS12 or VersionTLS13 (default VersionTLS13)",
		func(name string) error {
			var err error
			if o.tlsMinVersion, err = cliflag.TLSVersion(name); err != nil || name == "" || o.tlsMinVersion < tls.VersionTLS12 {
				return errors.New("want VersionTLS12 or VersionTLS13")
			}
			return nil
		})
	flags.Func("tls-cipher-suites", "comma-separated `names` of cipher suites for TLS 1.2, such as "+
		"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384; Go's defaults when not set. Those of TLS 1.3 can't be chosen",
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
		return errors.New("--tls-cipher-suites: those of TLS 1.3 can't be chosen: want --tls-min-version=VersionTLS12 too")
	}
	for _, name := range o.namespaces {
		if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
			return fmt.Errorf("--namespaces: %q is not a valid name: %s", name, problems[0])
		}
	}
	return nil
}
