// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/ptr"
)

// unnamedCluster is the address that client-go takes when nothing names one.
const unnamedCluster = "http://localhost:8080"

// checkNamed returns an error if nothing has named the cluster that config leads to.
func (e *Env) checkNamed(config *rest.Config) error {
	if config.Host != unnamedCluster {
		return nil
	}
	for _, flag := range []*string{e.Flags.APIServer, e.Flags.Context, e.Flags.ClusterName} {
		if ptr.Deref(flag, "") != "" {
			return nil
		}
	}
	loader := e.Flags.ToRawKubeConfigLoader()
	kubeconfig, err := loader.RawConfig()
	if err != nil {
		return err
	}
	files := strings.Join(loader.ConfigAccess().GetLoadingPrecedence(), ", ")
	switch {
	case clientcmdapi.IsConfigEmpty(&kubeconfig):
		return fmt.Errorf("nothing says where the cluster is: the kubeconfig %s is missing or empty; "+
			"name another with --kubeconfig or in KUBECONFIG", files)
	case kubeconfig.CurrentContext == "":
		return fmt.Errorf("nothing says which cluster to use: the kubeconfig %s has no current context; "+
			"choose one with --context or kubectl config use-context, or name another kubeconfig with --kubeconfig or in KUBECONFIG", files)
	}
	return nil
}

// Where names the context, the cluster and the user that config was made of; the address of the API
// server if the kubeconfig has no such context.
func (e *Env) Where(config *rest.Config) string {
	kubeconfig, err := e.Flags.ToRawKubeConfigLoader().RawConfig()
	name := cmp.Or(ptr.Deref(e.Flags.Context, ""), kubeconfig.CurrentContext)
	used := kubeconfig.Contexts[name]
	if err != nil || used == nil {
		return config.Host
	}
	return fmt.Sprintf("%s · cluster %s · user %s", name,
		cmp.Or(ptr.Deref(e.Flags.ClusterName, ""), used.Cluster), cmp.Or(ptr.Deref(e.Flags.AuthInfoName, ""), used.AuthInfo))
}

// nameFlag has an error about a kubeconfig that is not there say which flag named it. What is wrong
// inside of one is said by client-go, with the name of the file.
func (e *Env) nameFlag(err error) error {
	var missing *fs.PathError
	if errors.As(err, &missing) && missing.Path == ptr.Deref(e.Flags.KubeConfig, "") {
		return fmt.Errorf("--kubeconfig: %w", err)
	}
	return err
}
