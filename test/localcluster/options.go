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

// Component is a program of the control plane, by the name of its binary.
type Component string

// The components. The first two always run.
const (
	Etcd              Component = "etcd"
	APIServer         Component = "kube-apiserver"
	ControllerManager Component = "kube-controller-manager"
	Scheduler         Component = "kube-scheduler"
	Kwok              Component = "kwok"
)

// jobRunners are the components besides etcd and the API server that are needed for Jobs to run and
// complete.
var jobRunners = []Component{ControllerManager, Scheduler, Kwok}

// Options are the options of Start. The zero value is an API server with this project's CRD,
// without webhooks and without controllers.
type Options struct {
	// RunsJobs is whether Jobs run and complete, and garbage is collected.
	RunsJobs bool

	// ExtraArgs has further flags of components, in the form "--name=value".
	ExtraArgs map[Component][]string

	// Webhooks is whether the webhooks are installed. They and the CRD's conversion then refer to a
	// server that the caller has to run on WebhookPort with the certificate in WebhookCertDir.
	// Until it runs, writes of CronJobs fail. Without webhooks the CRD has no conversion, and only
	// its storage version works.
	Webhooks bool

	// WithoutCRD is whether the caller installs the CRD itself.
	WithoutCRD bool

	// Logf, if set, logs what was started.
	Logf func(format string, args ...any)

	root string // the directory of the project
}

// NewScheme returns a scheme with the built-in types and all versions of this project's.
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

// checkBinaries returns an error with all missing binaries.
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

// notBuilt returns ErrNoBinaries, unless KUBEBUILDER_ASSETS names a directory.
func notBuilt(files string) error {
	if assets := os.Getenv("KUBEBUILDER_ASSETS"); assets != "" {
		return fmt.Errorf("KUBEBUILDER_ASSETS is %s, which lacks %s", assets, files)
	}
	return fmt.Errorf("%w: %s", ErrNoBinaries, files)
}

// ErrNoBinaries is the error of Start if the control plane's binaries were not built and
// KUBEBUILDER_ASSETS does not name others. Tests are skipped then.
var ErrNoBinaries = errors.New("the control plane is not built, run \"make control-plane\"; missing")

// modulePath is the first line of go.mod in the project's root, and in no nested module.
const modulePath = "module tutorial.kubebuilder.io/project\n"

// FindRoot returns the project's directory: the nearest one with the project's go.mod, from the
// working directory upwards.
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
