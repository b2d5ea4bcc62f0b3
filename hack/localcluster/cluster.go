// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// Cluster is a control plane that runs.
type Cluster struct {
	// Dir holds its data, certificates and logs, and whatever the caller wants to go away with it.
	Dir string

	// Config and Client act as an administrator.
	Config *rest.Config
	Client client.WithWatch

	// Kubeconfig is the administrator's kubeconfig file.
	Kubeconfig string

	// WebhookPort and WebhookCertDir are where the API server expects the webhooks.
	WebhookPort    int
	WebhookCertDir string

	// EtcdURL is where etcd serves its clients, in the clear.
	EtcdURL string

	options   Options
	env       *envtest.Environment
	logs      []*os.File
	processes []*Process // in the order of their start
}

// Start starts a cluster and returns when it can be used. A start that fails leaves nothing behind.
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
	c.options.Logf("etcd, kube-apiserver, %s (%s)", c.installed(), since(begin))
	if err := context.Cause(ctx); err != nil {
		return fmt.Errorf("starting the cluster: %w", err)
	}
	if len(c.options.Components) == 0 {
		return nil
	}
	begin = time.Now()
	if err := c.startComponents(ctx); err != nil {
		return err
	}
	c.options.Logf("%s (%s)", names(c.options.Components), since(begin))
	return nil
}

// startControlPlane starts etcd and the API server and installs the CRDs and webhooks.
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
	c.EtcdURL = env.ControlPlane.Etcd.URL.String()
	c.WebhookPort = env.WebhookInstallOptions.LocalServingPort
	c.WebhookCertDir = env.WebhookInstallOptions.LocalServingCertDir
	if err := c.checkConversion(env.CRDs); err != nil {
		return err
	}
	if c.Client, err = client.NewWithWatch(c.Config, client.Options{Scheme: c.options.Scheme}); err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	c.Kubeconfig, err = c.AddAdmin("admin")
	return err
}

// environment describes etcd and the API server to envtest.
func (c *Cluster) environment() (*envtest.Environment, error) {
	etcdLog, err := c.openLog(Etcd)
	if err != nil {
		return nil, err
	}
	apiServerLog, err := c.openLog(APIServer)
	if err != nil {
		return nil, err
	}
	etcd := &envtest.Etcd{DataDir: filepath.Join(c.Dir, "etcd"), Out: etcdLog, Err: etcdLog}
	apiServer := &envtest.APIServer{CertDir: filepath.Join(c.Dir, "pki"), Out: apiServerLog, Err: apiServerLog}
	if etcd.Path, err = dyingWithParent(c.options.binary(Etcd), filepath.Join(c.Dir, "bin")); err != nil {
		return nil, err
	}
	if apiServer.Path, err = dyingWithParent(c.options.binary(APIServer), filepath.Join(c.Dir, "bin")); err != nil {
		return nil, err
	}
	if c.options.runs(ControllerManager) {
		// Instead of envtest's choice, which does without service accounts. New Nodes get a taint
		// that only the node controllers take away, which are not run.
		apiServer.Configure().Set("disable-admission-plugins", "TaintNodesByCondition")
	}
	appendArgs(etcd.Configure(), c.options.ExtraArgs[Etcd])
	appendArgs(apiServer.Configure(), c.options.ExtraArgs[APIServer])

	return &envtest.Environment{
		ControlPlane:             envtest.ControlPlane{Etcd: etcd, APIServer: apiServer},
		Scheme:                   c.options.Scheme,
		CRDDirectoryPaths:        c.options.CRDs,
		CRDInstallOptions:        envtest.CRDInstallOptions{Scheme: c.conversionScheme()},
		ErrorIfCRDPathMissing:    true,
		WebhookInstallOptions:    envtest.WebhookInstallOptions{Paths: c.options.Webhooks},
		UseExistingCluster:       new(bool), // whatever the environment says
		ControlPlaneStartTimeout: startTimeout,
		ControlPlaneStopTimeout:  stopTimeout,
	}, nil
}

// conversionScheme is where envtest looks which types are convertible, to point their CRD's
// conversion to the webhook server. Without webhooks nothing shall be converted.
func (c *Cluster) conversionScheme() *runtime.Scheme {
	if len(c.options.Webhooks) == 0 {
		return runtime.NewScheme()
	}
	return c.options.Scheme
}

// checkConversion catches a type that envtest did not find convertible: its CRD would be served
// without conversion, silently.
func (c *Cluster) checkConversion(crds []*apiextensionsv1.CustomResourceDefinition) error {
	if len(c.options.Webhooks) == 0 {
		return nil
	}
	for _, crd := range crds {
		if len(crd.Spec.Versions) > 1 && crd.Spec.Conversion == nil {
			return fmt.Errorf("installing %s: it has %d versions, but no conversion between them is in the scheme",
				crd.Name, len(crd.Spec.Versions))
		}
	}
	return nil
}

// appendArgs adds flags of the form "--name=value".
func appendArgs(to *envtest.Arguments, flags []string) {
	for _, flag := range flags {
		name, value, _ := strings.Cut(strings.TrimPrefix(flag, "--"), "=")
		to.Append(name, value)
	}
}

// AddAdmin makes a user with all rights, known to the audit log by its name, and returns its
// kubeconfig file.
func (c *Cluster) AddAdmin(name string) (string, error) {
	return c.AddUser(name, "system:masters")
}

// AddUser makes a user in groups and returns its kubeconfig file.
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
	if err := os.WriteFile(path, kubeconfig, 0o600); err != nil {
		return "", fmt.Errorf("adding user %s: %w", name, err)
	}
	return path, nil
}

// Run starts a child process that ends with the cluster, before its components do, and waits until
// it is ready.
func (c *Cluster) Run(ctx context.Context, command Command) (*Process, error) {
	process, err := c.launch(command)
	if err != nil {
		return nil, err
	}
	return process, process.awaitReady(ctx)
}

// End ends a process that [Cluster.Run] has started, before the cluster does.
func (c *Cluster) End(process *Process) error {
	c.processes = slices.DeleteFunc(c.processes, func(p *Process) bool { return p == process })
	return process.stop(stopTimeout)
}

func (c *Cluster) launch(command Command) (*Process, error) {
	process, err := launch(command, filepath.Join(c.Dir, "log"))
	if err != nil {
		return nil, err
	}
	c.processes = append(c.processes, process)
	return process, nil
}

// Kubectl returns kubectl with arguments, to be run in the project's directory as administrator. It
// reads no configuration of the user's and keeps its cache in the cluster's directory.
func (c *Cluster) Kubectl(ctx context.Context, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, filepath.Join(c.options.BinDir, "kubectl"), args...) //nolint:gosec // our own binary
	command.Dir = c.options.Root
	command.Env = append(os.Environ(),
		"KUBECONFIG="+c.Kubeconfig,
		"KUBECACHEDIR="+filepath.Join(c.Dir, "kubectl-cache"),
		"KUBERC=off",
	)
	return command
}

// Stop ends everything and removes the cluster's directory. Further calls do nothing.
func (c *Cluster) Stop() error {
	err := c.stopAll()
	if c.env != nil {
		if stopErr := c.env.Stop(); stopErr != nil {
			err = errors.Join(err, fmt.Errorf("stopping etcd and kube-apiserver: %w", stopErr))
		}
		c.env = nil
	}
	for _, log := range c.logs {
		_ = log.Close()
	}
	c.logs = nil
	if removeErr := os.RemoveAll(c.Dir); removeErr != nil {
		err = errors.Join(err, fmt.Errorf("removing the cluster's directory: %w", removeErr))
	}
	return err
}

// Binary returns the path of a component's program.
func (c *Cluster) Binary(component Component) string {
	return c.options.binary(component)
}

func (c *Cluster) logPath(component Component) string {
	return filepath.Join(c.Dir, "log", string(component)+".log")
}

func (c *Cluster) openLog(component Component) (*os.File, error) {
	file, err := os.Create(c.logPath(component))
	if err != nil {
		return nil, fmt.Errorf("opening the log of %s: %w", component, err)
	}
	c.logs = append(c.logs, file)
	return file, nil
}

// installed says what was installed beside the binaries.
func (c *Cluster) installed() string {
	if len(c.options.Webhooks) == 0 {
		return "CRDs"
	}
	return "CRDs, webhooks"
}

func names(components []Component) string {
	out := make([]string, 0, len(components))
	for _, component := range components {
		out = append(out, string(component))
	}
	return strings.Join(out, ", ")
}
