{{/* The beginning of the objects' names. */}}
{{- define "cronjob-operator.fullname" -}}
{{- $chart := .Values.nameOverride | default .Chart.Name -}}
{{- $release := .Release.Name | replace "." "-" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride -}}
{{- else if contains $chart $release -}}
{{- $release -}}
{{- else -}}
{{- printf "%s-%s" $release $chart -}}
{{- end -}}
{{- end -}}

{{/*
The name of an object: (list $ "webhook-service"). A name longer than the 63 characters of a label is cut
in the middle; a checksum keeps it different from others that are cut there.
*/}}
{{- define "cronjob-operator.resourceName" -}}
{{- $fullname := include "cronjob-operator.fullname" (index . 0) -}}
{{- $name := printf "%s-%s" $fullname (index . 1) -}}
{{- if gt (len $name) 63 -}}
{{- $room := int (sub 53 (len (index . 1))) -}}
{{- $name = printf "%s-%s-%s" ($fullname | trunc $room | trimSuffix "-") ($fullname | sha256sum | trunc 8) (index . 1) -}}
{{- end -}}
{{- $name -}}
{{- end -}}

{{/* The labels of every object. app.kubernetes.io/name is that of config/default, whatever the chart is called: it selects
the Pods, which can't be changed, and the alerts and dashboards expect it as job. */}}
{{- define "cronjob-operator.labels" -}}
{{- $labels := dict
  "app.kubernetes.io/name" "project"
  "app.kubernetes.io/instance" .Release.Name
  "app.kubernetes.io/version" .Chart.AppVersion
  "app.kubernetes.io/managed-by" .Release.Service
  "helm.sh/chart" (printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-") -}}
{{- toYaml (merge $labels (.Values.commonLabels | default dict)) -}}
{{- end -}}

{{/* The labels that select the manager's Pods. */}}
{{- define "cronjob-operator.selectorLabels" -}}
app.kubernetes.io/name: project
control-plane: controller-manager
{{- end -}}

{{- define "cronjob-operator.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) -}}
{{- end -}}
{{- end -}}

{{- define "cronjob-operator.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "cronjob-operator.resourceName" (list . "controller-manager")) -}}
{{- else -}}
{{- .Values.serviceAccount.name | default "default" -}}
{{- end -}}
{{- end -}}

{{/* The Secret with the certificate of the webhooks and the metrics. */}}
{{- define "cronjob-operator.certificateSecret" -}}
{{- .Values.webhook.existingSecret | default "webhook-server-cert" -}}
{{- end -}}

{{/* How the API server calls a webhook: (list $ "/convert"). cert-manager injects its caBundle. */}}
{{- define "cronjob-operator.clientConfig" -}}
{{- $root := index . 0 -}}
service:
  name: {{ include "cronjob-operator.resourceName" (list $root "webhook-service") }}
  namespace: {{ $root.Release.Namespace | quote }}
  path: {{ index . 1 }}
{{- if not $root.Values.certManager.enabled }}
caBundle: {{ $root.Values.webhook.caBundle | b64enc }}
{{- end }}
{{- end -}}

{{/* Has cert-manager inject the CA of the certificate. */}}
{{- define "cronjob-operator.injectCA" -}}
cert-manager.io/inject-ca-from: {{ .Release.Namespace }}/{{ include "cronjob-operator.resourceName" (list . "serving-cert") }}
{{- end -}}

{{/* The replicas that a value of the disruption budget means: (list value replicaCount). */}}
{{- define "cronjob-operator.replicas" -}}
{{- $value := index . 0 | toString -}}
{{- if hasSuffix "%" $value -}}
{{- $percent := trimSuffix "%" $value | int -}}
{{- div (add (mul $percent (index . 1)) 99) 100 -}}
{{- else -}}
{{- int $value -}}
{{- end -}}
{{- end -}}

{{/* Refuses values that contradict each other. The schema checks each value by itself. */}}
{{- define "cronjob-operator.validate" -}}
{{- $hasOwnCertificate := or .Values.webhook.existingSecret .Values.webhook.caBundle -}}
{{- if and .Values.certManager.enabled $hasOwnCertificate -}}
{{- fail "webhook.existingSecret and webhook.caBundle need certManager.enabled=false: only one of them can provide the certificate" -}}
{{- end -}}
{{- if and (not .Values.certManager.enabled) (not (and .Values.webhook.existingSecret .Values.webhook.caBundle)) -}}
{{- fail "the webhooks need a certificate: set certManager.enabled=true, or both webhook.existingSecret and webhook.caBundle" -}}
{{- end -}}
{{- if and .Values.webhook.caBundle (not (regexMatch "^\\s*-----BEGIN CERTIFICATE-----\\s" .Values.webhook.caBundle)) -}}
{{- fail "webhook.caBundle: want certificates in PEM, which begin with -----BEGIN CERTIFICATE-----; give the file with --set-file webhook.caBundle=ca.crt" -}}
{{- end -}}
{{- if and (or .Values.prometheus.servicemonitor.enabled .Values.prometheus.rules.enabled) (not .Values.prometheus.enabled) -}}
{{- fail "prometheus.servicemonitor and prometheus.rules need prometheus.enabled=true" -}}
{{- end -}}
{{- if and (gt (int .Values.replicaCount) 1) (not .Values.leaderElection.enabled) -}}
{{- fail "replicaCount: more than one replica needs leaderElection.enabled=true" -}}
{{- end -}}
{{- if and (gt (float64 (.Values.kubeAPI.qps | default 0)) 0.0) (not .Values.kubeAPI.burst) -}}
{{- fail "kubeAPI.qps needs kubeAPI.burst" -}}
{{- end -}}
{{- if .Values.podDisruptionBudget.enabled -}}
{{- include "cronjob-operator.validateBudget" . -}}
{{- end -}}
{{- end -}}

{{/* Refuses a disruption budget under which no node with a replica could be drained. */}}
{{- define "cronjob-operator.validateBudget" -}}
{{- $budget := .Values.podDisruptionBudget -}}
{{- if kindIs "invalid" $budget.minAvailable -}}
{{- if lt (include "cronjob-operator.replicas" (list $budget.maxUnavailable 100) | int) 1 -}}
{{- fail "podDisruptionBudget.maxUnavailable: want at least 1, or no node with a replica could be drained" -}}
{{- end -}}
{{- else if ge (include "cronjob-operator.replicas" (list $budget.minAvailable .Values.replicaCount) | int) (int .Values.replicaCount) -}}
{{- fail (printf "podDisruptionBudget.minAvailable %v: want less than replicaCount (%v), or no node with a replica could be drained" $budget.minAvailable .Values.replicaCount) -}}
{{- end -}}
{{- end -}}
