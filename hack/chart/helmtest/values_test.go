// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package helmtest

import (
	"encoding/base64"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"
)

// ownCertificate has a certificate without cert-manager.
const ownCertificate = `{certManager: {enabled: false}, webhook: {existingSecret: mine, caBundle: "-----BEGIN CERTIFICATE-----\nAAAA\n"}}`

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

// container returns the manager's container.
func container(t *testing.T, values string) *corev1.Container {
	t.Helper()
	return &deployment(t, values).Spec.Template.Spec.Containers[0]
}

func TestValuesAddAndRemoveObjects(t *testing.T) {
	certificates := []string{"Certificate/ca", "Certificate/serving-cert", "Issuer/ca-issuer", "Issuer/selfsigned-issuer"}
	metrics := []string{"ClusterRole/metrics-auth-role", "ClusterRole/metrics-reader", "ClusterRoleBinding/metrics-auth-rolebinding",
		"Service/controller-manager-metrics-service"}
	tests := map[string]struct {
		values               string
		wantRemoved, wantNew []string
	}{
		"your own certificate": {values: ownCertificate, wantRemoved: certificates},
		"no metrics":           {values: "{prometheus: {enabled: false}}", wantRemoved: metrics},
		"no CRD": {
			values: "{crds: {enabled: false}}", wantRemoved: []string{"CustomResourceDefinition/cronjobs.batch.tutorial.kubebuilder.io"}},
		"no disruption budget": {
			values: "{podDisruptionBudget: {enabled: false}}", wantRemoved: []string{"PodDisruptionBudget/controller-manager"}},
		"no election": {values: "{replicaCount: 1, leaderElection: {enabled: false}}", wantRemoved: []string{
			"Role/leader-election-role", "RoleBinding/leader-election-rolebinding"}},
		"no account": {values: "{serviceAccount: {create: false}}", wantRemoved: []string{"ServiceAccount/controller-manager"}},
		"namespaces": {values: "{namespaces: [a, b]}", wantNew: []string{
			"Role/manager-role", "Role/manager-role", "RoleBinding/manager-rolebinding", "RoleBinding/manager-rolebinding"}},
		"network policies": {values: "{networkPolicy: {enabled: true}}", wantNew: []string{
			"NetworkPolicy/allow-metrics-traffic", "NetworkPolicy/allow-webhook-traffic"}},
		"network policies without metrics": {
			values:      "{networkPolicy: {enabled: true}, prometheus: {enabled: false}}",
			wantRemoved: metrics, wantNew: []string{"NetworkPolicy/allow-webhook-traffic"}},
		"a monitor": {values: "{prometheus: {servicemonitor: {enabled: true}}}", wantNew: []string{
			"ServiceMonitor/controller-manager-metrics-monitor",
			"ServiceAccount/metrics-reader", "Secret/metrics-reader-token", "ClusterRoleBinding/metrics-reader-rolebinding"}},
		"rules":      {values: "{prometheus: {rules: {enabled: true}}}", wantNew: []string{"PrometheusRule/controller-manager-rules"}},
		"dashboards": {values: "{grafana: {dashboards: {enabled: true}}}", wantNew: []string{"ConfigMap/dashboards"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			want := append(asInConfig.render(t).ids("project-"), tt.wantNew...)
			want = slices.DeleteFunc(want, func(id string) bool { return slices.Contains(tt.wantRemoved, id) })
			assert.ElementsMatch(t, want, asInConfig.with(tt.values).render(t).ids("project-"))
		})
	}
}

func TestFlagsFollowValues(t *testing.T) {
	standard := container(t, "").Args
	tests := map[string]struct {
		values               string
		wantRemoved, wantNew []string
	}{
		"no value":    {values: "{}"},
		"no election": {values: "{replicaCount: 1, leaderElection: {enabled: false}}", wantRemoved: []string{"--leader-elect"}},
		"no metrics": {
			values: "{prometheus: {enabled: false}}", wantRemoved: []string{"--metrics-bind-address=:8443", "--metrics-cert-path=/etc/manager/certs"}},
		"namespaces":             {values: "{namespaces: [a, b]}", wantNew: []string{"--namespaces=a,b"}},
		"concurrency":            {values: "{concurrency: 2000000}", wantNew: []string{"--concurrency=2000000"}},
		"limits":                 {values: "{kubeAPI: {qps: 20.5, burst: 40}}", wantNew: []string{"--kube-api-qps=20.5", "--kube-api-burst=40"}},
		"no limit":               {values: "{kubeAPI: {qps: -1}}", wantNew: []string{"--kube-api-qps=-1"}},
		"a log level":            {values: "{logLevel: debug}", wantNew: []string{"--zap-log-level=debug"}},
		"a log level's number":   {values: "{logLevel: 5}", wantNew: []string{"--zap-log-level=5"}},
		"more flags":             {values: `{extraArgs: [--enable-http2, "--a=: b"]}`, wantNew: []string{"--enable-http2", "--a=: b"}},
		"a port of the webhooks": {values: "{webhook: {port: 19443}}", wantNew: []string{"--webhook-port=19443"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			want := slices.DeleteFunc(slices.Concat(standard, tt.wantNew), func(arg string) bool { return slices.Contains(tt.wantRemoved, arg) })
			assert.Equal(t, want, container(t, tt.values).Args)
		})
	}
}

func TestThePodsOfTheNodesNetworkListenOnPortsThatCanBeChosen(t *testing.T) {
	values := "{hostNetwork: true, webhook: {port: 19443}, prometheus: {port: 18443}, healthProbe: {port: 18081}, networkPolicy: {enabled: true}}"
	rendered := asInConfig.with(values).render(t)
	manager := find[appsv1.Deployment](t, rendered, "Deployment", "project-controller-manager")
	assert.True(t, manager.Spec.Template.Spec.HostNetwork)
	assert.Equal(t, corev1.DNSClusterFirstWithHostNet, manager.Spec.Template.Spec.DNSPolicy)
	assert.Equal(t, new(intstr.FromInt32(0)), manager.Spec.Strategy.RollingUpdate.MaxSurge, "an additional Pod may find no node with free ports")
	assert.Equal(t, new(intstr.FromInt32(1)), manager.Spec.Strategy.RollingUpdate.MaxUnavailable)

	ports := map[string]int32{}
	for _, port := range manager.Spec.Template.Spec.Containers[0].Ports {
		ports[port.Name] = port.ContainerPort
	}
	assert.Equal(t, map[string]int32{"webhook-server": 19443, "metrics": 18443, "health": 18081}, ports)
	args := manager.Spec.Template.Spec.Containers[0].Args
	assert.Subset(t, args, []string{"--webhook-port=19443", "--metrics-bind-address=:18443", "--health-probe-bind-address=:18081"})
	for name, want := range map[string]int32{"allow-webhook-traffic": 19443, "allow-metrics-traffic": 18443} {
		policy := find[networkingv1.NetworkPolicy](t, rendered, "NetworkPolicy", "project-"+name)
		assert.Equal(t, new(intstr.FromInt32(want)), policy.Spec.Ingress[0].Ports[0].Port, name)
	}
}

func TestTheImageHasATagOrADigest(t *testing.T) {
	digest := "sha256:" + strings.Repeat("0123456789abcdef", 4)
	for want, values := range map[string]string{
		"cronjob-operator:v0.1.0":      "{}", // the chart's appVersion
		"registry:5000/manager:v1.2.3": "{image: {repository: 'registry:5000/manager', tag: v1.2.3}}",
		"cronjob-operator:1.10":        "{image: {tag: '1.10'}}",
		"cronjob-operator@" + digest:   "{image: {tag: v1, digest: '" + digest + "'}}",
	} {
		manager := find[appsv1.Deployment](t, release{"cronjob-operator", "a", values}.render(t), "Deployment", "cronjob-operator-controller-manager")
		assert.Equal(t, want, manager.Spec.Template.Spec.Containers[0].Image)
	}
}

func TestPodsFollowValues(t *testing.T) {
	const values = `
image: {pullPolicy: Always}
imagePullSecrets: [{name: registry}]
replicaCount: 3
resources: {limits: {memory: 1Gi}}
nodeSelector: {disk: ssd, kubernetes.io/os: null}
tolerations: [{key: dedicated, operator: Exists}]
affinity: {podAntiAffinity: {}}
topologySpreadConstraints:
- {maxSkew: 2, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}
- {maxSkew: 1, topologyKey: host, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {a: b}}}
priorityClassName: high
podAnnotations: {a: "1"}
podLabels: {team: "true", control-plane: other}
serviceAccount: {name: robot}
`
	want := deployment(t, "")
	want.Spec.Replicas = new(int32(3))
	template := &want.Spec.Template
	template.Annotations["a"], template.Labels["team"] = "1", "true"
	template.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{}}
	template.Spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "registry"}}
	template.Spec.NodeSelector = map[string]string{"disk": "ssd"}
	template.Spec.PriorityClassName = "high"
	template.Spec.ServiceAccountName = "robot"
	template.Spec.Tolerations = []corev1.Toleration{{Key: "dedicated", Operator: corev1.TolerationOpExists}}
	template.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{
		{MaxSkew: 2, TopologyKey: "zone", WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: want.Spec.Selector},
		{MaxSkew: 1, TopologyKey: "host", WhenUnsatisfiable: corev1.ScheduleAnyway,
			LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"a": "b"}}},
	}
	template.Spec.Containers[0].ImagePullPolicy = corev1.PullAlways
	template.Spec.Containers[0].Resources.Limits[corev1.ResourceMemory] = resource.MustParse("1Gi")
	assert.Equal(t, asYAML(t, want), asYAML(t, deployment(t, values)))
}

func TestTheRightsGoToTheServiceAccountOfTheManager(t *testing.T) {
	for values, want := range map[string]string{
		"{}":                              "project-controller-manager",
		"{serviceAccount: {name: robot}}": "robot",
		"{serviceAccount: {create: false, name: robot}}": "robot",
		"{serviceAccount: {create: false}}":              "default",
	} {
		rendered := asInConfig.with(values).with("{namespaces: [a]}").render(t)
		manager := find[appsv1.Deployment](t, rendered, "Deployment", "project-controller-manager")
		assert.Equal(t, want, manager.Spec.Template.Spec.ServiceAccountName, values)
		var bindings int
		for key, o := range rendered {
			subjects, _, err := unstructured.NestedSlice(o.Object, "subjects")
			require.NoError(t, err)
			for _, subject := range subjects {
				bindings++
				assert.Equal(t, want, subject.(map[string]any)["name"], key)
			}
		}
		assert.Equal(t, 4, bindings, "of the manager twice, the election and the metrics")
	}
}

func TestTheRolesOfUsersAreAggregatedUnlessSwitchedOff(t *testing.T) {
	for _, user := range []string{"admin", "editor", "viewer"} {
		name, label := "project-cronjob-"+user+"-role", "rbac.authorization.k8s.io/aggregate-to-"+strings.TrimSuffix(strings.TrimSuffix(user, "or"), "er")
		role := find[rbacv1.ClusterRole](t, asInConfig.render(t), "ClusterRole", name)
		assert.Equal(t, "true", role.Labels[label])
		rendered := asInConfig.with("{rbac: {aggregateClusterRoles: false}}").render(t)
		alone := find[rbacv1.ClusterRole](t, rendered, "ClusterRole", name)
		assert.NotContains(t, alone.Labels, label)
		assert.Equal(t, role.Rules, alone.Rules)
	}
}

func TestProbesWaitLongEnoughOnABusyNode(t *testing.T) {
	manager := container(t, "")
	assert.EqualValues(t, 5, manager.LivenessProbe.TimeoutSeconds)
	assert.EqualValues(t, 5, manager.ReadinessProbe.TimeoutSeconds)
}

func TestTheDisruptionBudgetAlwaysLetsANodeBeDrained(t *testing.T) {
	tests := map[string]struct {
		values string
		want   policyv1.PodDisruptionBudgetSpec
	}{
		"the default":  {"{}", policyv1.PodDisruptionBudgetSpec{MaxUnavailable: new(intstr.FromInt32(1))}},
		"one replica":  {"{replicaCount: 1}", policyv1.PodDisruptionBudgetSpec{MaxUnavailable: new(intstr.FromInt32(1))}},
		"a percentage": {"{podDisruptionBudget: {maxUnavailable: 10%}}", policyv1.PodDisruptionBudgetSpec{MaxUnavailable: new(intstr.FromString("10%"))}},
		"all but one": {
			"{replicaCount: 3, podDisruptionBudget: {minAvailable: 2}}", policyv1.PodDisruptionBudgetSpec{MinAvailable: new(intstr.FromInt32(2))}},
		"half": {"{podDisruptionBudget: {minAvailable: 50%}}", policyv1.PodDisruptionBudgetSpec{MinAvailable: new(intstr.FromString("50%"))}},
		"none": {"{podDisruptionBudget: {minAvailable: 0}}", policyv1.PodDisruptionBudgetSpec{MinAvailable: new(intstr.FromInt32(0))}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := find[policyv1.PodDisruptionBudget](t, asInConfig.with(tt.values).render(t), "PodDisruptionBudget", "project-controller-manager").Spec
			assert.Equal(t, tt.want.MinAvailable, got.MinAvailable)
			assert.Equal(t, tt.want.MaxUnavailable, got.MaxUnavailable)
			assert.Equal(t, new(policyv1.AlwaysAllow), got.UnhealthyPodEvictionPolicy, "a broken replica keeps no node")
		})
	}
}

func asYAML(t *testing.T, object any) string {
	t.Helper()
	text, err := yaml.Marshal(object)
	require.NoError(t, err)
	return string(text)
}

func TestWithoutMetricsNothingListensForThem(t *testing.T) {
	o := asInConfig.with("{prometheus: {enabled: false}}").render(t)
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

func TestTheWebhooksTrustYourOwnCertificate(t *testing.T) {
	rendered := asInConfig.with(ownCertificate).with("{webhook: {timeoutSeconds: 5}}").render(t)
	const want = "-----BEGIN CERTIFICATE-----\nAAAA\n"
	for _, kind := range []string{"Mutating", "Validating"} {
		// Both kinds have the same fields here.
		name := "project-" + strings.ToLower(kind) + "-webhook-configuration"
		configuration := find[admissionregistrationv1.ValidatingWebhookConfiguration](t, rendered, kind+"WebhookConfiguration", name)
		assert.NotContains(t, configuration.Annotations, injectCA)
		for _, webhook := range configuration.Webhooks {
			assert.Equal(t, want, string(webhook.ClientConfig.CABundle))
			assert.Equal(t, new(int32(5)), webhook.TimeoutSeconds)
		}
	}
	crd := rendered[crdKey]
	assert.NotContains(t, crd.GetAnnotations(), injectCA)
	bundle, _, err := unstructured.NestedString(crd.Object, "spec", "conversion", "webhook", "clientConfig", "caBundle")
	require.NoError(t, err)
	assert.Equal(t, base64.StdEncoding.EncodeToString([]byte(want)), bundle)
	manager := find[appsv1.Deployment](t, rendered, "Deployment", "project-controller-manager")
	assert.Equal(t, "mine", manager.Spec.Template.Spec.Volumes[0].Secret.SecretName)
}

// injectCA is the annotation by which cert-manager injects the CA of a certificate.
const injectCA = "cert-manager.io/inject-ca-from"

func TestCertManagerInjectsTheCAOfTheServingCertificate(t *testing.T) {
	rendered := release{"other", "elsewhere", "{}"}.render(t)
	require.Contains(t, rendered, "Certificate/elsewhere/other-cronjob-operator-serving-cert")
	for _, key := range []string{
		crdKey,
		"MutatingWebhookConfiguration//other-cronjob-operator-mutating-webhook-configuration",
		"ValidatingWebhookConfiguration//other-cronjob-operator-validating-webhook-configuration",
	} {
		require.Contains(t, rendered, key)
		assert.Equal(t, "elsewhere/other-cronjob-operator-serving-cert", rendered[key].GetAnnotations()[injectCA], key)
	}
}

func TestPrometheusVerifiesByYourOwnSecret(t *testing.T) {
	o := asInConfig.with(ownCertificate).with(`
prometheus: {servicemonitor: {enabled: true, labels: {release: prometheus}}, rules: {enabled: true, labels: {release: prometheus}}}
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
		"{prometheus: {rules: {enabled: true}}}":                                "https://tutorial.kubebuilder.io/project/docs/operations.md",
		"{prometheus: {rules: {enabled: true, runbookURL: '" + address + "'}}}": address,
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
	o := release{"other", "elsewhere", "{prometheus: {servicemonitor: {enabled: true}}}"}.render(t)
	monitor := o["ServiceMonitor/elsewhere/other-cronjob-operator-controller-manager-metrics-monitor"]
	endpoints, _, err := unstructured.NestedSlice(monitor.Object, "spec", "endpoints")
	require.NoError(t, err)
	require.Len(t, endpoints, 1)
	endpoint := endpoints[0].(map[string]any)
	assert.NotContains(t, endpoint, "bearerTokenFile", "it is deprecated, and refused where Prometheus is shared")
	assert.Equal(t, map[string]any{
		"type": "Bearer", "credentials": map[string]any{"name": "other-cronjob-operator-metrics-reader-token", "key": corev1.ServiceAccountTokenKey},
	}, endpoint["authorization"])

	token := find[corev1.Secret](t, o, "Secret", "other-cronjob-operator-metrics-reader-token")
	assert.Equal(t, corev1.SecretTypeServiceAccountToken, token.Type)
	assert.Equal(t, map[string]string{corev1.ServiceAccountNameKey: "other-cronjob-operator-metrics-reader"}, token.Annotations)
	require.Contains(t, o, "ServiceAccount/elsewhere/other-cronjob-operator-metrics-reader")
	binding := find[rbacv1.ClusterRoleBinding](t, o, "ClusterRoleBinding", "other-cronjob-operator-metrics-reader-rolebinding")
	assert.Equal(t, []rbacv1.Subject{{Kind: "ServiceAccount", Name: "other-cronjob-operator-metrics-reader", Namespace: "elsewhere"}}, binding.Subjects)
	assert.Equal(t, rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "other-cronjob-operator-metrics-reader"}, binding.RoleRef)
	require.Contains(t, o, "ClusterRole//other-cronjob-operator-metrics-reader")
}

func TestInNamespacesTheManagerHasNoMoreRightsThanItNeeds(t *testing.T) {
	everywhere := find[rbacv1.ClusterRole](t, asInConfig.render(t), "ClusterRole", "project-manager-role")
	o := asInConfig.with("{namespaces: [a, b]}").render(t)
	clusterwide := find[rbacv1.ClusterRole](t, o, "ClusterRole", "project-manager-role")
	for _, rule := range clusterwide.Rules {
		assert.NotEmpty(t, rule.ResourceNames, "in the whole cluster it may only look at its own CRD")
	}
	overlay := find[rbacv1.Role](t, build(t, "overlays/namespaces"), "Role", "project-namespaces-manager-role")
	for _, namespace := range []string{"a", "b"} {
		var role rbacv1.Role
		require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(o["Role/"+namespace+"/project-manager-role"].Object, &role))
		assert.Equal(t, everywhere.Rules, append(slices.Clone(clusterwide.Rules), role.Rules...))
		assert.Equal(t, overlay.Rules, role.Rules)
		var binding rbacv1.RoleBinding
		require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(o["RoleBinding/"+namespace+"/project-manager-rolebinding"].Object, &binding))
		assert.Equal(t, rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "project-manager-role"}, binding.RoleRef)
		assert.Equal(t, []rbacv1.Subject{{Kind: "ServiceAccount", Name: "project-controller-manager", Namespace: "project-system"}}, binding.Subjects)
	}
}

// crdKey is the key of the CRD.
const crdKey = "CustomResourceDefinition//cronjobs.batch.tutorial.kubebuilder.io"

func TestTheCRDIsKeptUnlessToldOtherwise(t *testing.T) {
	assert.Equal(t, "keep", asInConfig.render(t)[crdKey].GetAnnotations()["helm.sh/resource-policy"])
	assert.NotContains(t, asInConfig.with("{crds: {keep: false}}").render(t)[crdKey].GetAnnotations(), "helm.sh/resource-policy")
}

func TestValuesThatCanNotWorkAreRefused(t *testing.T) {
	tests := map[string]struct{ values, wantError string }{
		"no certificate":              {"{certManager: {enabled: false}}", "the webhooks need a certificate"},
		"a certificate without a CA":  {"{certManager: {enabled: false}, webhook: {existingSecret: mine}}", "webhook.caBundle"},
		"two certificates":            {"{webhook: {existingSecret: mine}}", "certManager.enabled=false"},
		"a CA that is not PEM":        {ownCertificate + "\n---\n{webhook: {caBundle: TUlJ}}", "webhook.caBundle: want certificates in PEM"},
		"a monitor of no metrics":     {"{prometheus: {enabled: false, servicemonitor: {enabled: true}}}", "prometheus.enabled=true"},
		"rules on no metrics":         {"{prometheus: {enabled: false, rules: {enabled: true}}}", "prometheus.enabled=true"},
		"two replicas, no election":   {"{leaderElection: {enabled: false}}", "leaderElection.enabled=true"},
		"a limit without a burst":     {"{kubeAPI: {qps: 20}}", "kubeAPI.burst"},
		"all replicas must stay":      {"{podDisruptionBudget: {minAvailable: 2}}", "podDisruptionBudget.minAvailable 2: want less than replicaCount (2)"},
		"more replicas must stay":     {"{podDisruptionBudget: {minAvailable: 3}}", "want less than replicaCount (2)"},
		"a rounded percentage":        {"{podDisruptionBudget: {minAvailable: 51%}}", "podDisruptionBudget.minAvailable 51%"},
		"no replica may be missing":   {"{podDisruptionBudget: {maxUnavailable: 0}}", "podDisruptionBudget.maxUnavailable: want at least 1"},
		"no percent may be missing":   {"{podDisruptionBudget: {maxUnavailable: 0%}}", "podDisruptionBudget.maxUnavailable: want at least 1"},
		"an unknown value":            {"{metric: {enabled: false}}", "metric"},
		"an unknown value further in": {"{prometheus: {servicemonitor: {enable: true}}}", "enable"},
		"a word for a number":         {"{replicaCount: two}", "replicaCount"},
		"a fraction of a replica":     {"{podDisruptionBudget: {maxUnavailable: '1.5'}}", "maxUnavailable"},
		"a timeout of a minute":       {"{webhook: {timeoutSeconds: 60}}", "timeoutSeconds"},
		"a port that does not exist":  {"{webhook: {port: 70000}}", "port"},
		"no concurrency":              {"{concurrency: 0}", "concurrency"},
		"no name of a namespace":      {"{namespaces: [a_b]}", "namespaces"},
		"no address of runbooks":      {"{prometheus: {rules: {runbookURL: operations.md}}}", "runbookURL"},
		"no log level":                {"{logLevel: loud}", "logLevel"},
		"no digest":                   {"{image: {digest: abc}}", "digest"},
		"no name":                     {"{fullnameOverride: A.B}", "fullnameOverride"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, _, err := asInConfig.with(tt.values).tryRender(t)
			assert.ErrorContains(t, err, tt.wantError)
		})
	}
	_, _, err := asInConfig.with("{global: {anything: true}, enabled: true}").tryRender(t)
	assert.NoError(t, err, "a parent chart may set these")
}

func TestEachValueHasASchemaADefaultAndAnEffect(t *testing.T) {
	var templates strings.Builder
	paths, err := filepath.Glob(chartDir + "/templates/*")
	require.NoError(t, err)
	for _, path := range paths {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		templates.Write(text)
	}
	read := func(name string) map[string]any {
		text, err := os.ReadFile(filepath.Join(chartDir, name))
		require.NoError(t, err)
		content := map[string]any{}
		require.NoError(t, yaml.UnmarshalStrict(text, &content))
		return content
	}
	schema := read("values.schema.json")["properties"].(map[string]any)
	delete(schema, "global")  // Helm passes it to every chart.
	delete(schema, "enabled") // It is for the parent chart.
	var compare func(path string, schema, values map[string]any)
	compare = func(path string, schema, values map[string]any) {
		assert.ElementsMatch(t, slices.Collect(maps.Keys(schema)), slices.Collect(maps.Keys(values)), path)
		for name, of := range schema {
			properties, hasProperties := of.(map[string]any)["properties"].(map[string]any)
			if hasProperties {
				compare(path+"."+name, properties, values[name].(map[string]any))
				continue
			}
			assert.Contains(t, templates.String(), name, "%s.%s has no effect", path, name)
		}
	}
	compare(".Values", schema, read("values.yaml"))
}
