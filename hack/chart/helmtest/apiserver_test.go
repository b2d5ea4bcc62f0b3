// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package helmtest

import (
	"os"
	"slices"
	"testing"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// foreign are the API groups of other operators, whose kinds this API server does not know.
var foreign = []string{"cert-manager.io", "monitoring.coreos.com", "grafana.integreatly.org"}

// startAPIServer returns a client of a new API server with some namespaces, and the server's CA.
func startAPIServer(t *testing.T) (c client.Client, ca []byte) {
	t.Helper()
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		t.Skip("KUBEBUILDER_ASSETS does not say where etcd and kube-apiserver are; `make test` does")
	}
	ctrl.SetLogger(logr.Discard())
	environment := &envtest.Environment{}
	config, err := environment.Start()
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, environment.Stop()) })
	c, err = client.New(config, client.Options{})
	require.NoError(t, err)
	for _, name := range []string{"elsewhere", "project-system", "a", "b"} {
		require.NoError(t, c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}))
	}
	return c, config.CAData
}

func TestAnAPIServerTakesTheObjects(t *testing.T) {
	c, _ := startAPIServer(t)
	strict := client.WithFieldValidation(client.NewDryRunClient(c), metav1.FieldValidationStrict)

	for name, values := range map[string]string{
		"the defaults":          "{}",
		"everything":            everything,
		"your own certificate":  ownCertificate,
		"no metrics":            "{prometheus: {enabled: false}, networkPolicy: {enabled: true}}",
		"metrics for everybody": "{networkPolicy: {enabled: true, metricsFrom: []}}",
		"webhooks for few":      "{networkPolicy: {enabled: true, webhooksFrom: [{ipBlock: {cidr: 10.0.0.0/24}}]}}",
		"namespaces":            "{namespaces: [a, b]}",
		"no CRD":                "{crds: {enabled: false}}",
		"one replica":           "{replicaCount: 1, leaderElection: {enabled: false}}",
		"a percentage":          "{podDisruptionBudget: {minAvailable: 50%}}",
		"the nodes' network":    "{hostNetwork: true, webhook: {port: 19443}, prometheus: {port: 18443}, healthProbe: {port: 18081}}",
		"another account":       "{serviceAccount: {create: false, name: robot}}",
		"empty values":          "{resources: {}, nodeSelector: {}, topologySpreadConstraints: [], image: {pullPolicy: Always}}",
		"many values": `{serviceAccount: {annotations: {a: "1"}}, podAnnotations: {a: "1"}, podLabels: {b: "2"}, priorityClassName: high,
			tolerations: [{operator: Exists}], affinity: {podAntiAffinity: {}}, imagePullSecrets: [{name: registry}], commonLabels: {c: "3"},
			topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}],
			concurrency: 5, kubeAPI: {qps: 5, burst: 10}, logLevel: 3, extraArgs: [--enable-http2]}`,
	} {
		t.Run(name, func(t *testing.T) {
			for key, o := range (release{"other", "elsewhere", values}).render(t) {
				err := strict.Create(t.Context(), o)
				if meta.IsNoMatchError(err) && slices.Contains(foreign, o.GroupVersionKind().Group) {
					continue
				}
				assert.NoError(t, err, key)
			}
		})
	}
}
