// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package localcluster runs a Kubernetes control plane on this machine's loopback interface, for
// the demo, integration tests, the bench and the storms. It needs no container runtime and no root.
//
//	etcd ◄── kube-apiserver                      by envtest: its certificates and credentials
//	              ▲  ▲  ▲  ▲
//	              │  │  │  └── kube-controller-manager   Jobs, garbage collection, namespaces, …
//	              │  │  └───── kube-scheduler            gives Pods a Node
//	              │  └──────── kwok                      pretends to be the Nodes: Pods of Jobs complete
//	              └─────────── the manager, kubectl      what the caller adds
//
// Etcd, the API server, their certificates and users are controller-runtime's pkg/envtest. It knows
// no other component: those are child processes of our own.
//
// Everything it starts ends with it: [Cluster.Stop] ends each process, the last one first, and
// removes the directory with data, certificates and logs. When the caller is killed, the kernel
// kills the processes, where there is setpriv(1).
package localcluster

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/renameio/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// Cluster is a running control plane.
type Cluster struct {
	// Dir has its data, certificates and logs. Files that the caller adds are removed with it.
	Dir string

	// Config and Client are those of an administrator.
	Config *rest.Config
	Client client.WithWatch

	// Kubeconfig is the administrator's kubeconfig file.
	Kubeconfig string

	// WebhookPort and WebhookCertDir are where the API server expects the webhooks.
	WebhookPort    int
	WebhookCertDir string

	// EtcdURL is the address of etcd, without TLS.
	EtcdURL string

	options Options
	env     *envtest.Environment
	logs    []*os.File

	mu        sync.Mutex // guards what follows
	processes []*Process // in the order of their start
}

// Start starts a cluster and returns when it is usable. After an error nothing is left.
func Start(ctx context.Context, options Options) (*Cluster, error) {
	options, err := options.withDefaults()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "localcluster-")
	if err != nil {
		return nil, fmt.Errorf("making the cluster's directory: %w", err)
	}
	c := &Cluster{Dir: dir, options: options}
	if err := c.start(ctx); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

func (c *Cluster) start(ctx context.Context) error {
	if err := c.makeDirs("bin", "etcd", "log", "pki", "users"); err != nil {
		return err
	}
	begin := time.Now()
	if err := c.startControlPlane(); err != nil {
		return err
	}
	c.options.Logf("etcd and kube-apiserver run (%.1fs)", time.Since(begin).Seconds())
	if err := context.Cause(ctx); err != nil {
		return fmt.Errorf("starting the cluster: %w", err)
	}
	if !c.options.RunsJobs {
		return nil
	}
	begin = time.Now()
	if err := c.runJobs(ctx); err != nil {
		return err
	}
	c.options.Logf("kube-controller-manager, kube-scheduler and kwok run (%.1fs)", time.Since(begin).Seconds())
	return nil
}

func (c *Cluster) makeDirs(names ...string) error {
	for _, name := range names {
		if err := os.Mkdir(filepath.Join(c.Dir, name), 0o700); err != nil {
			return fmt.Errorf("making the cluster's directory: %w", err)
		}
	}
	return nil
}

func (c *Cluster) startControlPlane() error {
	env, err := c.environment()
	if err != nil {
		return err
	}
	c.env = env
	if c.Config, err = env.Start(); err != nil {
		err = fmt.Errorf("starting etcd and kube-apiserver: %w", err)
		return c.describe(APIServer, c.describe(Etcd, err))
	}
	c.Config.QPS = -1 // no client-side rate limit
	c.EtcdURL = env.ControlPlane.Etcd.URL.String()
	c.WebhookPort = env.WebhookInstallOptions.LocalServingPort
	c.WebhookCertDir = env.WebhookInstallOptions.LocalServingCertDir
	if c.Client, err = client.NewWithWatch(c.Config, client.Options{Scheme: env.Scheme}); err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	c.Kubeconfig, err = c.AddAdmin("admin")
	return err
}

// environment returns envtest's configuration of etcd and the API server.
func (c *Cluster) environment() (*envtest.Environment, error) {
	scheme, err := NewScheme()
	if err != nil {
		return nil, err
	}
	// Envtest sets a conversion webhook for all types of a scheme. Without webhooks there must be
	// none.
	conversions, config := runtime.NewScheme(), filepath.Join(c.options.root, "config")
	var crds, webhooks []string
	if c.options.Webhooks {
		conversions, webhooks = scheme, []string{filepath.Join(config, "webhook", "manifests.yaml")}
	}
	if !c.options.WithoutCRD {
		crds = []string{filepath.Join(config, "crd", "bases")}
	}
	etcd := &envtest.Etcd{DataDir: filepath.Join(c.Dir, "etcd")}
	apiServer := &envtest.APIServer{CertDir: filepath.Join(c.Dir, "pki")}
	if etcd.Path, etcd.Out, err = c.prepare(Etcd); err != nil {
		return nil, err
	}
	if apiServer.Path, apiServer.Out, err = c.prepare(APIServer); err != nil {
		return nil, err
	}
	etcd.Err, apiServer.Err = etcd.Out, apiServer.Out
	if err := setPorts(etcd, apiServer); err != nil {
		return nil, err
	}
	if c.options.RunsJobs {
		// Replaces envtest's choice, which disables service accounts. New Nodes get a taint that
		// only the node controllers remove, which do not run.
		apiServer.Configure().Set("disable-admission-plugins", "TaintNodesByCondition")
	}
	appendArgs(etcd.Configure(), c.options.ExtraArgs[Etcd])
	appendArgs(apiServer.Configure(), c.options.ExtraArgs[APIServer])
	return &envtest.Environment{
		ControlPlane:             envtest.ControlPlane{Etcd: etcd, APIServer: apiServer},
		Scheme:                   scheme,
		CRDDirectoryPaths:        crds,
		CRDInstallOptions:        envtest.CRDInstallOptions{Scheme: conversions},
		ErrorIfCRDPathMissing:    true,
		WebhookInstallOptions:    envtest.WebhookInstallOptions{Paths: webhooks},
		UseExistingCluster:       new(bool), // whatever the environment variable says
		ControlPlaneStartTimeout: startTimeout,
		ControlPlaneStopTimeout:  time.Minute, // an API server with 100,000 CronJobs needs more than stopTimeout
	}, nil
}

// setPorts replaces envtest's choice: ports of outgoing connections. One of these might take the
// port of a component that is killed and started again, which would end at once.
func setPorts(etcd *envtest.Etcd, apiServer *envtest.APIServer) error {
	etcdPort, err := FreePort()
	if err != nil {
		return err
	}
	port, err := FreePort()
	if err != nil {
		return err
	}
	etcd.URL = &url.URL{Scheme: "http", Host: fmt.Sprintf("%s:%d", loopback, etcdPort)}
	etcd.Configure().Set("listen-peer-urls", "http://"+loopback+":0")
	apiServer.Address, apiServer.Port = loopback, strconv.Itoa(port)
	return nil
}

// prepare returns the program of a component that envtest starts, and its log file.
func (c *Cluster) prepare(component Component) (string, *os.File, error) {
	log, err := os.Create(c.logPath(component))
	if err != nil {
		return "", nil, fmt.Errorf("opening the log of %s: %w", component, err)
	}
	c.logs = append(c.logs, log)
	path, err := dyingWithParent(c.options.binary(component), filepath.Join(c.Dir, "bin"))
	return path, log, err
}

func (c *Cluster) logPath(component Component) string {
	return filepath.Join(c.Dir, "log", string(component)+".log")
}

func (c *Cluster) describe(component Component, err error) error {
	return withLog(err, c.logPath(component))
}

// appendArgs adds flags in the form "--name=value".
func appendArgs(to *envtest.Arguments, flags []string) {
	for _, flag := range flags {
		name, value, _ := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
		to.Append(name, value)
	}
}

// AddAdmin adds a user with all rights, whose name is in the audit log, and returns its kubeconfig
// file.
func (c *Cluster) AddAdmin(name string) (string, error) {
	return c.AddUser(name, "system:masters")
}

// AddUser adds a user in groups, and returns its kubeconfig file.
func (c *Cluster) AddUser(name string, groups ...string) (string, error) {
	user, err := c.env.AddUser(envtest.User{Name: name, Groups: groups}, nil)
	if err != nil {
		return "", fmt.Errorf("adding user %s: %w", name, err)
	}
	kubeconfig, err := user.KubeConfig()
	if err != nil {
		return "", fmt.Errorf("adding user %s: %w", name, err)
	}
	path := filepath.Join(c.Dir, "users", strings.ReplaceAll(name, ":", "-")+".kubeconfig")
	if err := renameio.WriteFile(path, kubeconfig, 0o600); err != nil { // atomic: a process may be reading an earlier one
		return "", fmt.Errorf("adding user %s: %w", name, err)
	}
	return path, nil
}

// The manager's service account in the role bindings before kustomize changes names.
const (
	ManagerNamespace = "system"
	ManagerUser      = "system:serviceaccount:" + ManagerNamespace + ":controller-manager"
)

// AddManager adds the manager's user with the rights of a deployed manager, and returns its
// kubeconfig file.
func (c *Cluster) AddManager(ctx context.Context) (string, error) {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ManagerNamespace}}
	if err := c.Client.Create(ctx, namespace); err != nil {
		return "", fmt.Errorf("creating the manager's namespace: %w", err)
	}
	if err := c.kubectl(ctx, "apply", "-k", "config/rbac"); err != nil {
		return "", err
	}
	return c.AddUser(ManagerUser, "system:serviceaccounts")
}

// Manager returns the command of a build of the manager whose webhooks are where the API server
// expects them.
func (c *Cluster) Manager(binary, kubeconfig string) (Command, error) {
	port, err := FreePort()
	if err != nil {
		return Command{}, err
	}
	health := fmt.Sprintf("%s:%d", loopback, port)
	return Command{
		Name: "manager", Path: binary,
		Args: []string{
			"--kubeconfig=" + kubeconfig,
			"--enable-webhooks", // whatever the environment variable says
			"--webhook-cert-path=" + c.WebhookCertDir,
			"--webhook-host=" + loopback,
			fmt.Sprintf("--webhook-port=%d", c.WebhookPort),
			"--health-probe-bind-address=" + health,
			"--metrics-bind-address=0",
		},
		HealthURL: "http://" + health + "/readyz",
	}, nil
}

// Run starts a child process that ends with the cluster, before its components, and waits until it
// is ready. It is safe for concurrent use.
func (c *Cluster) Run(ctx context.Context, command Command) (*Process, error) {
	process, err := c.launch(command)
	if err != nil {
		return nil, err
	}
	return process, process.AwaitReady(ctx)
}

// End ends a process of [Cluster.Run] before the cluster ends.
func (c *Cluster) End(process *Process) error {
	c.mu.Lock()
	c.processes = slices.DeleteFunc(c.processes, func(p *Process) bool { return p == process })
	c.mu.Unlock()
	return process.Stop(stopTimeout)
}

func (c *Cluster) launch(command Command) (*Process, error) {
	process, err := Launch(command, filepath.Join(c.Dir, "log"))
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.processes = append(c.processes, process)
	return process, nil
}

// Kubectl returns a kubectl command to run in the project's directory as administrator. It reads no
// configuration of the user, and has its cache in the cluster's directory.
func (c *Cluster) Kubectl(ctx context.Context, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, filepath.Join(BinDir(c.options.root), "kubectl"), args...) //nolint:gosec // our own binary
	command.Dir = c.options.root
	command.Env = append(os.Environ(),
		"KUBECONFIG="+c.Kubeconfig,
		"KUBECACHEDIR="+filepath.Join(c.Dir, "kubectl-cache"),
		"KUBERC=off",
	)
	return command
}

func (c *Cluster) kubectl(ctx context.Context, args ...string) error {
	if out, err := c.Kubectl(ctx, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return nil
}

// Stop ends all processes and removes the cluster's directory. Further calls do nothing.
func (c *Cluster) Stop() error {
	var errs []error
	for _, process := range slices.Backward(c.processes) {
		errs = append(errs, process.Stop(stopTimeout))
	}
	c.processes = nil
	if c.env != nil {
		if err := c.env.Stop(); err != nil {
			errs = append(errs, fmt.Errorf("stopping etcd and kube-apiserver: %w", err))
		}
		c.env = nil
	}
	for _, log := range c.logs {
		_ = log.Close()
	}
	c.logs = nil
	if err := os.RemoveAll(c.Dir); err != nil {
		errs = append(errs, fmt.Errorf("removing the cluster's directory: %w", err))
	}
	return errors.Join(errs...)
}

// Binary returns the path of a component's program.
func (c *Cluster) Binary(component Component) string { return c.options.binary(component) }
