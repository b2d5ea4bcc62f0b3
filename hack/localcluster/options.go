// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"tutorial.kubebuilder.io/project/apis/batch"
)

// Component is a program of the control plane, named like its binary.
type Component string

// The components. The first two always run.
const (
	Etcd              Component = "etcd"
	APIServer         Component = "kube-apiserver"
	ControllerManager Component = "kube-controller-manager"
	Scheduler         Component = "kube-scheduler"
	Kwok              Component = "kwok"
)

// jobRunners are the components that a cluster needs, beside etcd and the API server, for Jobs to
// run and complete.
var jobRunners = []Component{ControllerManager, Scheduler, Kwok}

// Options say what to start. The zero value is an API server with this project's CRD, without
// webhooks and with nothing that acts on objects.
type Options struct {
	// RunsJobs says that Jobs run and complete, and that garbage is collected.
	RunsJobs bool

	// ExtraArgs are flags, each "--name=value", added to a component's own.
	ExtraArgs map[Component][]string

	// Webhooks says that the webhooks are installed: they and the CRD's conversion point to a
	// server that the caller runs on WebhookPort with the certificate in WebhookCertDir. Until it
	// does, writes of CronJobs fail. Without webhooks the CRD has no conversion either: use its
	// storage version.
	Webhooks bool

	// WithoutCRD says that the caller installs the CRD itself.
	WithoutCRD bool

	// Logf, if set, is told what was started.
	Logf func(format string, args ...any)

	root string // the project's directory
}

// NewScheme returns a scheme with Kubernetes' own types and every version of this project's.
func NewScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	adders := runtime.NewSchemeBuilder(clientgoscheme.AddToScheme, batch.AddToScheme)
	if err := adders.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("filling the scheme: %w", err)
	}
	return scheme, nil
}

func (o Options) withDefaults() (_ Options, err error) {
	if o.root, err = FindRoot(); err != nil {
		return o, err
	}
	if o.Logf == nil {
		o.Logf = func(string, ...any) {}
	}
	return o, o.checkBinaries()
}

// BinDir returns the directory with the binaries of the components, kubectl and kwok's stages:
// KUBEBUILDER_ASSETS, which make sets, or bin/k8s of the project.
func BinDir(root string) string {
	return cmp.Or(os.Getenv("KUBEBUILDER_ASSETS"), filepath.Join(root, "bin", "k8s"))
}

func (o Options) binary(c Component) string { return filepath.Join(BinDir(o.root), string(c)) }

// checkBinaries reports every binary that is missing, rather than the first at its start.
func (o Options) checkBinaries() error {
	wanted := []Component{Etcd, APIServer}
	if o.RunsJobs {
		wanted = append(wanted, jobRunners...)
	}
	var missing []string
	for _, c := range wanted {
		if _, err := os.Stat(o.binary(c)); err != nil {
			missing = append(missing, o.binary(c))
		}
	}
	if len(missing) > 0 {
		return notBuilt(strings.Join(missing, ", "))
	}
	return nil
}

// notBuilt returns ErrNoBinaries, unless KUBEBUILDER_ASSETS says that there are binaries.
func notBuilt(files string) error {
	if assets := os.Getenv("KUBEBUILDER_ASSETS"); assets != "" {
		return fmt.Errorf("KUBEBUILDER_ASSETS is %s, which lacks %s", assets, files)
	}
	return fmt.Errorf("%w: %s", ErrNoBinaries, files)
}

// ErrNoBinaries is returned by Start when the control plane's binaries were not built and
// KUBEBUILDER_ASSETS does not name others. Tests are skipped then.
var ErrNoBinaries = errors.New("the control plane is not built, run \"make control-plane\"; missing")

// modulePath is how the go.mod of the project's root begins, and no nested module's.
const modulePath = "module tutorial.kubebuilder.io/project\n"

// FindRoot returns the project's directory: the working directory or the nearest one above that
// holds the project's go.mod.
func FindRoot() (string, error) {
	start, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("finding the project's directory: %w", err)
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		content, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(content), modulePath) {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("finding the project's directory: no go.mod of it in %s or above", start)
		}
	}
}
