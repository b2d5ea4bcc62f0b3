// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package helmtest

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

const ownSecret = "{certManager: {enabled: false}, webhook: {existingSecret: mine}}"

// find returns the one object of a kind with a name, decoded.
func find[T any](t *testing.T, o objects, kind, name string) *T {
	t.Helper()
	into := new(T)
	for _, object := range o {
		if object.GetKind() == kind && object.GetName() == name {
			require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(object.Object, into, true))
			return into
		}
	}
	require.Failf(t, "not there", "%s/%s", kind, name)
	return nil
}

// deployment returns the manager's Deployment.
func deployment(t *testing.T, values string) *appsv1.Deployment {
	t.Helper()
	return find[appsv1.Deployment](t, asInConfig.with(values).render(t), "Deployment", "project-controller-manager")
}

func TestWhatValuesTakeAwayAndAdd(t *testing.T) {
	certificates := []string{"Certificate/ca", "Certificate/serving-cert", "Issuer/ca-issuer", "Issuer/selfsigned-issuer"}
	metrics := []string{"ClusterRole/metrics-auth-role", "ClusterRole/metrics-reader", "ClusterRoleBinding/metrics-auth-rolebinding",
		"Service/controller-manager-metrics-service"}
	tests := map[string]struct {
		values            string
		wantLess, wantNew []string
	}{
		"a Secret of one's own": {values: ownSecret, wantLess: certificates},
		"no metrics":            {values: "{metrics: {enabled: false}}", wantLess: metrics},
		"no CRD":                {values: "{crds: {install: false}}", wantLess: []string{"CustomResourceDefinition/cronjobs.batch.tutorial.kubebuilder.io"}},
		"no disruption budget":  {values: "{podDisruptionBudget: {enabled: false}}", wantLess: []string{"PodDisruptionBudget/controller-manager"}},
		"one replica":           {values: "{replicas: 1}", wantLess: []string{"PodDisruptionBudget/controller-manager"}},
		"no election": {values: "{replicas: 1, leaderElection: {enabled: false}}", wantLess: []string{
			"PodDisruptionBudget/controller-manager", "Role/leader-election-role", "RoleBinding/leader-election-rolebinding"}},
		"namespaces": {values: "{namespaces: [a, b]}", wantNew: []string{
			"Role/manager-role", "Role/manager-role", "RoleBinding/manager-rolebinding", "RoleBinding/manager-rolebinding"}},
		"network policies": {values: "{networkPolicy: {enabled: true}}", wantNew: []string{
			"NetworkPolicy/allow-metrics-traffic", "NetworkPolicy/allow-webhook-traffic"}},
		"network policies without metrics": {
			values: "{networkPolicy: {enabled: true}, metrics: {enabled: false}}", wantLess: metrics, wantNew: []string{"NetworkPolicy/allow-webhook-traffic"}},
		"a monitor": {values: "{metrics: {serviceMonitor: {enabled: true}}}", wantNew: []string{
			"ServiceMonitor/controller-manager-metrics-monitor",
			"ServiceAccount/metrics-reader", "Secret/metrics-reader-token", "ClusterRoleBinding/metrics-reader-rolebinding"}},
		"rules": {values: "{metrics: {rules: {enabled: true}}}", wantNew: []string{"PrometheusRule/controller-manager-rules"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			want := append(asInConfig.render(t).ids("project-"), tt.wantNew...)
			want = slices.DeleteFunc(want, func(id string) bool { return slices.Contains(tt.wantLess, id) })
			assert.ElementsMatch(t, want, asInConfig.with(tt.values).render(t).ids("project-"))
		})
	}
}

func TestFlagsFollowValues(t *testing.T) {
	standard := deployment(t, "").Spec.Template.Spec.Containers[0].Args
	tests := map[string]struct {
		values            string
		wantLess, wantNew []string
	}{
		"nothing set": {values: "{}"},
		"no election": {values: "{replicas: 1, leaderElection: {enabled: false}}", wantLess: []string{"--leader-elect"}},
		"no metrics": {
			values: "{metrics: {enabled: false}}", wantLess: []string{"--metrics-bind-address=:8443", "--metrics-cert-path=/etc/manager/certs"}},
		"namespaces":           {values: "{namespaces: [a, b]}", wantNew: []string{"--namespaces=a,b"}},
		"concurrency":          {values: "{concurrency: 2000000}", wantNew: []string{"--concurrency=2000000"}},
		"limits":               {values: "{kubeAPI: {qps: 20.5, burst: 40}}", wantNew: []string{"--kube-api-qps=20.5", "--kube-api-burst=40"}},
		"no limit":             {values: "{kubeAPI: {qps: -1}}", wantNew: []string{"--kube-api-qps=-1"}},
		"a log level":          {values: "{logLevel: debug}", wantNew: []string{"--zap-log-level=debug"}},
		"a log level's number": {values: "{logLevel: 5}", wantNew: []string{"--zap-log-level=5"}},
		"more":                 {values: `{extraArgs: [--enable-http2, "--a=: b"]}`, wantNew: []string{"--enable-http2", "--a=: b"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			want := slices.DeleteFunc(append(slices.Clone(standard), tt.wantNew...), func(arg string) bool { return slices.Contains(tt.wantLess, arg) })
			assert.Equal(t, want, deployment(t, tt.values).Spec.Template.Spec.Containers[0].Args)
		})
	}
}

func TestImages(t *testing.T) {
	for want, values := range map[string]string{
		"controller:latest":              "{}",
		"registry:5000/manager:v1.2.3":   "{image: {repository: 'registry:5000/manager', tag: v1.2.3}}",
		"controller:1.10":                "{image: {tag: '1.10'}}",
		"controller@sha256:" + sixtyFour: "{image: {tag: v1, digest: 'sha256:" + sixtyFour + "'}}",
	} {
		assert.Equal(t, want, deployment(t, values).Spec.Template.Spec.Containers[0].Image)
	}
}

const sixtyFour = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

func TestPodsFollowValues(t *testing.T) {
	const values = `
image: {pullPolicy: Always, pullSecrets: [{name: registry}]}
replicas: 3
resources: {limits: {memory: 1Gi}}
nodeSelector: {disk: ssd, kubernetes.io/os: null}
tolerations: [{key: dedicated, operator: Exists}]
affinity: {podAntiAffinity: {}}
priorityClassName: high
podAnnotations: {a: "1"}
podLabels: {team: "true"}
webhook: {existingSecret: mine}
certManager: {enabled: false}
`
	want := deployment(t, "")
	want.Spec.Replicas = new(int32(3))
	template := &want.Spec.Template
	template.Annotations["a"], template.Labels["team"] = "1", "true"
	template.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{}}
	template.Spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "registry"}}
	template.Spec.NodeSelector = map[string]string{"disk": "ssd"}
	template.Spec.PriorityClassName = "high"
	template.Spec.Tolerations = []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpExists}}
	template.Spec.Containers[0].ImagePullPolicy = corev1.PullAlways
	template.Spec.Containers[0].Resources.Limits[corev1.ResourceMemory] = resource.MustParse("1Gi")
	template.Spec.Volumes[0].Secret.SecretName = "mine"
	assert.Equal(t, asYAML(t, want), asYAML(t, deployment(t, values)))
}

func TestProbesWaitLongEnoughOnABusyNode(t *testing.T) {
	manager := deployment(t, "").Spec.Template.Spec.Containers[0]
	assert.EqualValues(t, 5, manager.LivenessProbe.TimeoutSeconds)
	assert.EqualValues(t, 5, manager.ReadinessProbe.TimeoutSeconds)
}

func TestTheDisruptionBudgetLetsANodeWithABrokenReplicaBeDrained(t *testing.T) {
	budget := find[policyv1.PodDisruptionBudget](t, asInConfig.render(t), "PodDisruptionBudget", "project-controller-manager")
	assert.Equal(t, new(policyv1.AlwaysAllow), budget.Spec.UnhealthyPodEvictionPolicy)
}

func asYAML(t *testing.T, object any) string {
	t.Helper()
	text, err := yaml.Marshal(object)
	require.NoError(t, err)
	return string(text)
}

func TestWithoutMetricsNothingListensForThem(t *testing.T) {
	o := asInConfig.with("{metrics: {enabled: false}}").render(t)
	for _, port := range find[appsv1.Deployment](t, o, "Deployment", "project-controller-manager").Spec.Template.Spec.Containers[0].Ports {
		assert.NotEqual(t, "metrics", port.Name)
	}
	names, _, err := unstructured.NestedStringSlice(o["Certificate/project-system/project-serving-cert"].Object, "spec", "dnsNames")
	require.NoError(t, err)
	assert.Equal(t, []string{"project-webhook-service.project-system.svc", "project-webhook-service.project-system.svc.cluster.local"}, names)
}

func TestWhoMayConnectIsAsTheValuesSay(t *testing.T) {
	from := `[{ipBlock: {cidr: 10.0.0.0/24}}]`
	for name, values := range map[string]string{
		"allow-webhook-traffic": "{networkPolicy: {enabled: true, webhooksFrom: " + from + "}}",
		"allow-metrics-traffic": "{networkPolicy: {enabled: true, metricsFrom: " + from + "}}",
	} {
		policy := find[networkingv1.NetworkPolicy](t, asInConfig.with(values).render(t), "NetworkPolicy", "project-"+name)
		require.Len(t, policy.Spec.Ingress, 1)
		assert.Equal(t, []networkingv1.NetworkPolicyPeer{{IPBlock: &networkingv1.IPBlock{CIDR: "10.0.0.0/24"}}}, policy.Spec.Ingress[0].From, name)
	}
}

func TestPrometheusVerifiesByOnesOwnSecret(t *testing.T) {
	o := asInConfig.with(`
certManager: {enabled: false}
webhook: {existingSecret: mine}
metrics: {serviceMonitor: {enabled: true, labels: {release: prometheus}}, rules: {enabled: true, labels: {release: prometheus}}}
`).render(t)
	monitor := o["ServiceMonitor/project-system/project-controller-manager-metrics-monitor"]
	assert.Equal(t, "prometheus", monitor.GetLabels()["release"])
	assert.Equal(t, "prometheus", o["PrometheusRule/project-system/project-controller-manager-rules"].GetLabels()["release"])
	endpoints, _, err := unstructured.NestedSlice(monitor.Object, "spec", "endpoints")
	require.NoError(t, err)
	secret, _, err := unstructured.NestedString(endpoints[0].(map[string]any), "tlsConfig", "ca", "secret", "name")
	require.NoError(t, err)
	assert.Equal(t, "mine", secret)
}

func TestEachAlertLeadsToItsRunbookWhereverThatIsServed(t *testing.T) {
	const address = "https://docs.example.com/operations.md"
	for values, want := range map[string]string{
		"{metrics: {rules: {enabled: true}}}":                                "https://tutorial.kubebuilder.io/project/docs/operations.md",
		"{metrics: {rules: {enabled: true, runbookURL: '" + address + "'}}}": address,
	} {
		rules := asInConfig.with(values).render(t)["PrometheusRule/project-system/project-controller-manager-rules"]
		groups, _, err := unstructured.NestedSlice(rules.Object, "spec", "groups")
		require.NoError(t, err)
		alerts, _, err := unstructured.NestedSlice(groups[0].(map[string]any), "rules")
		require.NoError(t, err)
		require.NotEmpty(t, alerts)
		for _, alert := range alerts {
			name, _, err := unstructured.NestedString(alert.(map[string]any), "alert")
			require.NoError(t, err)
			url, _, err := unstructured.NestedString(alert.(map[string]any), "annotations", "runbook_url")
			require.NoError(t, err)
			assert.Equal(t, want+"#"+strings.ToLower(name), url)
		}
	}
}

func TestPrometheusReadsTheMetricsByATokenThatIsGoodForThemAlone(t *testing.T) {
	o := release{"other", "elsewhere", "{metrics: {serviceMonitor: {enabled: true}}}"}.render(t)
	monitor := o["ServiceMonitor/elsewhere/other-project-controller-manager-metrics-monitor"]
	endpoints, _, err := unstructured.NestedSlice(monitor.Object, "spec", "endpoints")
	require.NoError(t, err)
	require.Len(t, endpoints, 1)
	endpoint := endpoints[0].(map[string]any)
	assert.NotContains(t, endpoint, "bearerTokenFile", "it is deprecated, and refused where Prometheus is shared")
	assert.Equal(t, map[string]any{
		"type": "Bearer", "credentials": map[string]any{"name": "other-project-metrics-reader-token", "key": corev1.ServiceAccountTokenKey},
	}, endpoint["authorization"])

	token := find[corev1.Secret](t, o, "Secret", "other-project-metrics-reader-token")
	assert.Equal(t, corev1.SecretTypeServiceAccountToken, token.Type)
	assert.Equal(t, map[string]string{corev1.ServiceAccountNameKey: "other-project-metrics-reader"}, token.Annotations)
	require.Contains(t, o, "ServiceAccount/elsewhere/other-project-metrics-reader")
	binding := find[rbacv1.ClusterRoleBinding](t, o, "ClusterRoleBinding", "other-project-metrics-reader-rolebinding")
	assert.Equal(t, []rbacv1.Subject{{Kind: "ServiceAccount", Name: "other-project-metrics-reader", Namespace: "elsewhere"}}, binding.Subjects)
	assert.Equal(t, rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "other-project-metrics-reader"}, binding.RoleRef)
	require.Contains(t, o, "ClusterRole//other-project-metrics-reader")
}

func TestInNamespacesTheManagerHasNoMoreRightsThanItNeeds(t *testing.T) {
	everywhere := find[rbacv1.ClusterRole](t, asInConfig.render(t), "ClusterRole", "project-manager-role")
	o := release{"project", "project-system", "{namespaces: [a, b]}"}.render(t)
	clusterwide := find[rbacv1.ClusterRole](t, o, "ClusterRole", "project-manager-role")
	for _, rule := range clusterwide.Rules {
		assert.NotEmpty(t, rule.ResourceNames, "what it may do in the whole cluster is to keep the webhooks' trust")
	}
	for _, namespace := range []string{"a", "b"} {
		var role rbacv1.Role
		require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(o["Role/"+namespace+"/project-manager-role"].Object, &role))
		assert.Equal(t, everywhere.Rules, append(slices.Clone(clusterwide.Rules), role.Rules...))
		var binding rbacv1.RoleBinding
		require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(o["RoleBinding/"+namespace+"/project-manager-rolebinding"].Object, &binding))
		assert.Equal(t, rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "project-manager-role"}, binding.RoleRef)
		assert.Equal(t, []rbacv1.Subject{{Kind: "ServiceAccount", Name: "project-controller-manager", Namespace: "project-system"}}, binding.Subjects)
	}
}

func TestTheCRDIsKeptUnlessToldOtherwise(t *testing.T) {
	const crd = "CustomResourceDefinition//cronjobs.batch.tutorial.kubebuilder.io"
	assert.Equal(t, "keep", asInConfig.render(t)[crd].GetAnnotations()["helm.sh/resource-policy"])
	assert.NotContains(t, asInConfig.with("{crds: {keep: false}}").render(t)[crd].GetAnnotations(), "helm.sh/resource-policy")
}

func TestWhatGoesNotTogetherIsRefused(t *testing.T) {
	tests := map[string]struct{ values, wantError string }{
		"no certificate":          {"{certManager: {enabled: false}}", "the webhooks need a certificate"},
		"two certificates":        {"{webhook: {existingSecret: mine}}", "certManager.enabled=false"},
		"a monitor of no metrics": {"{metrics: {enabled: false, serviceMonitor: {enabled: true}}}", "metrics.enabled=true"},
		"rules on no metrics":     {"{metrics: {enabled: false, rules: {enabled: true}}}", "metrics.enabled=true"},
		"two that don't elect":    {"{leaderElection: {enabled: false}}", "leaderElection.enabled=true"},
		"a limit without a burst": {"{kubeAPI: {qps: 20}}", "kubeAPI.burst"},
		"a misspelt value":        {"{metric: {enabled: false}}", "metric"},
		"a misspelt value deeper": {"{metrics: {serviceMonitor: {enable: true}}}", "enable"},
		"a word for a number":     {"{replicas: two}", "replicas"},
		"no concurrency":          {"{concurrency: 0}", "concurrency"},
		"no namespace's name":     {"{namespaces: [a_b]}", "namespaces"},
		"no runbooks":             {"{metrics: {rules: {runbookURL: operations.md}}}", "runbookURL"},
		"no log level":            {"{logLevel: loud}", "logLevel"},
		"no digest":               {"{image: {digest: abc}}", "digest"},
		"no beginning of names":   {"{fullnameOverride: A.B}", "fullnameOverride"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, _, err := asInConfig.with(tt.values).tryRender(t)
			assert.ErrorContains(t, err, tt.wantError)
		})
	}
	_, _, err := asInConfig.with("{global: {anything: true}, enabled: true}").tryRender(t)
	assert.NoError(t, err, "these are for the charts that have this one in them")
}
