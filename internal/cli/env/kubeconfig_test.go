// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package env

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// writeKubeconfig writes a kubeconfig with one context, named proxy, to a cluster at
// localhost:8080.
func writeKubeconfig(t *testing.T, currentContext string) string {
	t.Helper()
	kubeconfig := clientcmdapi.NewConfig()
	kubeconfig.CurrentContext = currentContext
	kubeconfig.Clusters["proxy"] = &clientcmdapi.Cluster{Server: unnamedCluster}
	kubeconfig.Contexts["proxy"] = &clientcmdapi.Context{Cluster: "proxy", Namespace: "here"}
	path := filepath.Join(t.TempDir(), "config")
	require.NoError(t, clientcmd.WriteToFile(*kubeconfig, path))
	return path
}

func TestAnErrorSaysWhereTheClusterShouldHaveBeenNamed(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	empty := filepath.Join(t.TempDir(), "empty")
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	garbage := filepath.Join(t.TempDir(), "garbage")
	require.NoError(t, os.WriteFile(garbage, []byte("clusters: 1\n"), 0o600))
	noContext := writeKubeconfig(t, "")

	for name, tc := range map[string]struct {
		kubeconfig string // the environment's KUBECONFIG
		flags      []string
		wantErrors []string // nothing: the cluster is found
	}{
		"no kubeconfig": {
			kubeconfig: missing,
			wantErrors: []string{"where the cluster is", missing + " is missing or empty", "--kubeconfig", "KUBECONFIG"},
		},
		"several, none of which is there": {
			kubeconfig: missing + string(filepath.ListSeparator) + missing + "2",
			wantErrors: []string{missing + ", " + missing + "2 is missing"},
		},
		"an empty one":             {kubeconfig: empty, wantErrors: []string{empty + " is missing or empty"}},
		"an empty one, by flag":    {kubeconfig: missing, flags: []string{"--kubeconfig=" + empty}, wantErrors: []string{empty + " is missing or empty"}},
		"a missing one, by flag":   {kubeconfig: missing, flags: []string{"--kubeconfig=" + missing}, wantErrors: []string{"--kubeconfig: ", missing}},
		"one that is none":         {kubeconfig: garbage, wantErrors: []string{garbage}},
		"no current context":       {kubeconfig: noContext, wantErrors: []string{noContext + " has no current context", "--context"}},
		"a context that is none":   {kubeconfig: noContext, flags: []string{"--context=other"}, wantErrors: []string{`other`}},
		"a cluster on that port":   {kubeconfig: writeKubeconfig(t, "proxy")},
		"a context, by flag":       {kubeconfig: noContext, flags: []string{"--context=proxy"}},
		"a cluster, by flag":       {kubeconfig: noContext, flags: []string{"--cluster=proxy"}},
		"a server, by flag":        {kubeconfig: missing, flags: []string{"--server=" + unnamedCluster}},
		"another server, by flag":  {kubeconfig: missing, flags: []string{"--server=https://10.0.0.1", "--token=t"}},
		"a kubeconfig, by flag":    {kubeconfig: missing, flags: []string{"--kubeconfig=" + writeKubeconfig(t, "proxy")}},
		"one of several, in there": {kubeconfig: missing + string(filepath.ListSeparator) + writeKubeconfig(t, "proxy")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("KUBECONFIG", tc.kubeconfig)
			t.Setenv("KUBERNETES_SERVICE_HOST", "")
			e := New(genericiooptions.NewTestIOStreamsDiscard())
			cmd := &cobra.Command{}
			e.Flags.AddFlags(cmd.Flags())
			require.NoError(t, cmd.ParseFlags(tc.flags))

			_, err := e.RESTConfig()
			if len(tc.wantErrors) == 0 {
				assert.NoError(t, err)
				return
			}
			for _, want := range tc.wantErrors {
				assert.ErrorContains(t, err, want)
			}
			_, err = e.Client()
			assert.ErrorContains(t, err, tc.wantErrors[0], "the client says the same")
		})
	}
}

func TestTheNamespaceIsTheContextsOrDefault(t *testing.T) {
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	missing := filepath.Join(t.TempDir(), "missing")
	for kubeconfig, want := range map[string]string{writeKubeconfig(t, "proxy"): "here", missing: "default"} {
		t.Setenv("KUBECONFIG", kubeconfig)
		namespace, err := New(genericiooptions.NewTestIOStreamsDiscard()).Namespace()
		assert.NoError(t, err)
		assert.Equal(t, want, namespace)
	}
	e := New(genericiooptions.NewTestIOStreamsDiscard())
	e.Flags.KubeConfig = &missing
	_, err := e.Namespace()
	assert.ErrorContains(t, err, "--kubeconfig: ")
}

func TestWhereNamesTheContextAndWhatFlagsChange(t *testing.T) {
	t.Setenv("KUBECONFIG", writeKubeconfig(t, "proxy"))
	for want, flags := range map[string][]string{
		"proxy · cluster proxy · user ":    nil,
		"proxy · cluster proxy · user ann": {"--user=ann"},
		"https://10.0.0.1":                 {"--context=other"},
	} {
		e, cmd := New(genericiooptions.NewTestIOStreamsDiscard()), &cobra.Command{}
		e.Flags.AddFlags(cmd.Flags())
		require.NoError(t, cmd.ParseFlags(flags))
		assert.Equal(t, want, e.Where(&rest.Config{Host: "https://10.0.0.1"}))
	}
}
