{{- /* Made by `make chart`: change hack/chart/files. */ -}}

{{/* What the objects' names begin with. */}}
{{- define "project.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride -}}
{{- else -}}
{{- $release := .Release.Name | replace "." "-" -}}
{{- if contains .Chart.Name $release -}}
{{- $release -}}
{{- else -}}
{{- printf "%s-%s" $release .Chart.Name -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/*
The name of an object: (list $ "webhook-service"). One that would have more than the 63 characters of a
label is cut in the middle, and told from others like it by a checksum.
*/}}
{{- define "project.nameOf" -}}
{{- $fullname := include "project.fullname" (index . 0) -}}
{{- $name := printf "%s-%s" $fullname (index . 1) -}}
{{- if gt (len $name) 63 -}}
{{- $room := int (sub 53 (len (index . 1))) -}}
{{- $name = printf "%s-%s-%s" ($fullname | trunc $room | trimSuffix "-") ($fullname | sha256sum | trunc 8) (index . 1) -}}
{{- end -}}
{{- $name -}}
{{- end -}}

{{- define "project.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end -}}

{{- define "project.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) -}}
{{- end -}}
{{- end -}}

{{/* Says what of the values does not go together. */}}
{{- define "project.check" -}}
{{- if and .Values.certManager.enabled .Values.webhook.existingSecret -}}
{{- fail "webhook.existingSecret goes with certManager.enabled=false: one of both brings the certificate" -}}
{{- end -}}
{{- if not (or .Values.certManager.enabled .Values.webhook.existingSecret) -}}
{{- fail "the webhooks need a certificate: set certManager.enabled=true, or name a Secret with one in webhook.existingSecret" -}}
{{- end -}}
{{- if and (or .Values.metrics.serviceMonitor.enabled .Values.metrics.rules.enabled) (not .Values.metrics.enabled) -}}
{{- fail "metrics.serviceMonitor and metrics.rules need metrics.enabled=true" -}}
{{- end -}}
{{- if and (gt (int .Values.replicas) 1) (not .Values.leaderElection.enabled) -}}
{{- fail "more than one of replicas needs leaderElection.enabled=true" -}}
{{- end -}}
{{- if and (gt (float64 (.Values.kubeAPI.qps | default 0)) 0.0) (not .Values.kubeAPI.burst) -}}
{{- fail "kubeAPI.qps needs a kubeAPI.burst" -}}
{{- end -}}
{{- end -}}
