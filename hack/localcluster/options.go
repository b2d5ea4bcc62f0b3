// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	batchv1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	batchv2 "tutorial.kubebuilder.io/project/apis/batch/v2"
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

// RunsJobs returns the components that a cluster needs, beside etcd and the API server, for Jobs
// to run and complete.
func RunsJobs() []Component {
	return []Component{ControllerManager, Scheduler, Kwok}
}

// Options say what to start. The zero value is an API server with this project's CRD, without
// webhooks and with nothing that acts on objects.
type Options struct {
	// Root is the project's directory; found upwards from the working directory when empty.
	Root string

	// BinDir holds the components' binaries and kwok's stages; bin/k8s below Root when empty.
	// For etcd and the API server, KUBEBUILDER_ASSETS in the environment wins.
	BinDir string

	// Components are started beside etcd and the API server.
	Components []Component

	// ExtraArgs are flags, each "--name=value", added to a component's own.
	ExtraArgs map[Component][]string

	// CRDs are files or directories of CRDs; config/crd/bases below Root when nil.
	CRDs []string

	// Webhooks are files or directories of webhook configurations; see [DefaultWebhooks]. When
	// there are any, they and the CRDs' conversion point to a server that the caller runs on
	// WebhookPort with the certificate in WebhookCertDir; until it does, writes of CronJobs fail.
	// When there are none, CRDs have no conversion either: use their storage version.
	Webhooks []string

	// Scheme tells which CRDs have a conversion and what Client understands; [NewScheme] when nil.
	Scheme *runtime.Scheme

	// Logf, if set, is told what was started.
	Logf func(format string, args ...any)
}

// DefaultWebhooks returns where this project's webhook configurations are.
func DefaultWebhooks() []string {
	return []string{filepath.Join("config", "webhook", "manifests.yaml")}
}

// NewScheme returns a scheme with Kubernetes' own types and every version of this project's.
func NewScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	adders := runtime.NewSchemeBuilder(clientgoscheme.AddToScheme, batchv1.AddToScheme, batchv2.AddToScheme)
	if err := adders.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("filling the scheme: %w", err)
	}
	return scheme, nil
}

// withDefaults fills in what the caller left out and makes paths absolute.
func (o Options) withDefaults() (Options, error) {
	var err error
	if o.Root == "" {
		if o.Root, err = FindRoot(); err != nil {
			return o, err
		}
	}
	if o.BinDir == "" {
		o.BinDir = filepath.Join("bin", "k8s")
	}
	if o.CRDs == nil {
		o.CRDs = []string{filepath.Join("config", "crd", "bases")}
	}
	if o.Scheme == nil {
		if o.Scheme, err = NewScheme(); err != nil {
			return o, err
		}
	}
	if o.Logf == nil {
		o.Logf = func(string, ...any) {}
	}
	o.BinDir = o.absolute(o.BinDir)
	o.CRDs = o.allAbsolute(o.CRDs)
	o.Webhooks = o.allAbsolute(o.Webhooks)
	return o, o.checkBinaries()
}

// absolute resolves a path below Root.
func (o Options) absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(o.Root, path)
}

func (o Options) allAbsolute(paths []string) []string {
	out := make([]string, 0, len(paths))
	for _, path := range paths {
		out = append(out, o.absolute(path))
	}
	return out
}

// runs tells whether a component was asked for.
func (o Options) runs(c Component) bool {
	return slices.Contains(o.Components, c)
}

// binary returns the path of a component's binary.
func (o Options) binary(c Component) string {
	dir := o.BinDir
	if assets := os.Getenv("KUBEBUILDER_ASSETS"); assets != "" && (c == Etcd || c == APIServer) {
		dir = assets
	}
	return filepath.Join(dir, string(c))
}

// checkBinaries reports every binary that is missing, rather than the first at its start.
func (o Options) checkBinaries() error {
	var missing []string
	for _, c := range append([]Component{Etcd, APIServer}, o.Components...) {
		if _, err := os.Stat(o.binary(c)); err != nil {
			missing = append(missing, o.binary(c))
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("%w: %s", ErrNoBinaries, strings.Join(missing, ", "))
	}
	return nil
}

// ErrNoBinaries is returned by Start when the control plane's binaries were not built.
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
