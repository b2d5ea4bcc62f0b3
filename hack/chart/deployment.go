// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"strings"
)

const (
	pod       = "spec.template.spec"
	container = pod + ".containers.0"
)

// editDeployment puts the values into the manager's Deployment.
func editDeployment(o object) error {
	return errors.Join(
		set(o, "spec.replicas", expr("{{ .Values.replicas }}")),
		merge(o, "spec.template.metadata.annotations", eachOf(".Values.podAnnotations")),
		merge(o, "spec.template.metadata.labels", eachOf(".Values.podLabels")),
		add(o, pod+".imagePullSecrets", optional(".Values.image.pullSecrets")),
		add(o, pod+".affinity", optional(".Values.affinity")),
		add(o, pod+".tolerations", optional(".Values.tolerations")),
		add(o, pod+".priorityClassName", when(".Values.priorityClassName", expr("{{ .Values.priorityClassName | quote }}"))),
		set(o, pod+".nodeSelector", optional(".Values.nodeSelector")),
		set(o, container+".image", expr(`{{ include "project.image" . | quote }}`)),
		set(o, container+".imagePullPolicy", expr("{{ .Values.image.pullPolicy }}")),
		set(o, container+".resources", optional(".Values.resources")),
		depend(o, container+".ports", ".Values.metrics.enabled", func(port any) bool {
			name, err := textAt(port, "name")
			return err == nil && name == "metrics"
		}),
		editArgs(o),
	)
}

// editArgs makes flags depend on values, and adds those that config leaves at the manager's defaults.
func editArgs(o object) error {
	path := container + ".args"
	flag := func(name string) func(any) bool {
		return func(arg any) bool {
			text, ok := arg.(string)
			return ok && (text == name || strings.HasPrefix(text, name+"="))
		}
	}
	if err := errors.Join(
		depend(o, path, ".Values.leaderElection.enabled", flag("--leader-elect")),
		depend(o, path, ".Values.metrics.enabled", flag("--metrics-bind-address")),
		depend(o, path, ".Values.metrics.enabled", flag("--metrics-cert-path")),
	); err != nil {
		return err
	}
	found, err := at(o, path)
	if err != nil {
		return err
	}
	args := found.([]any)
	for _, more := range []struct{ name, value, written string }{
		{"--namespaces", ".Values.namespaces", `join "," .Values.namespaces`},
		{"--concurrency", ".Values.concurrency", "int .Values.concurrency"},
		{"--kube-api-qps", ".Values.kubeAPI.qps", ".Values.kubeAPI.qps"},
		{"--kube-api-burst", ".Values.kubeAPI.burst", "int .Values.kubeAPI.burst"},
		{"--zap-log-level", ".Values.logLevel", ".Values.logLevel"},
	} {
		for _, arg := range args {
			if flag(more.name)(arg) {
				return fmt.Errorf("%s has a %s, which is to be added", path, more.name)
			}
		}
		args = append(args, when(more.value, expr(more.name+"={{ "+more.written+" }}")))
	}
	return put(o, path, append(args, eachOf(".Values.extraArgs")))
}
