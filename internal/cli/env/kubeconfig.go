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

// unnamedCluster is client-go's address of the cluster if nothing names one.
const unnamedCluster = "http://localhost:8080"

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

// Where returns the names of the context, the cluster and the user; the address of the API server
// if the kubeconfig does not have the context.
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

// nameFlag adds the name of the flag to the error of a missing kubeconfig. client-go's errors about
// its content name the file.
func (e *Env) nameFlag(err error) error {
	var missing *fs.PathError
	if errors.As(err, &missing) && missing.Path == ptr.Deref(e.Flags.KubeConfig, "") {
		return fmt.Errorf("--kubeconfig: %w", err)
	}
	return err
}
