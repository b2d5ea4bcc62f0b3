// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// byKind and byID say on what an object depends: all of a kind, or one by its kind and name.
var (
	byKind = map[string]string{
		"Certificate":              ".Values.certManager.enabled",
		"CustomResourceDefinition": ".Values.crds.install",
		"Issuer":                   ".Values.certManager.enabled",
		"NetworkPolicy":            ".Values.networkPolicy.enabled",
		// With one replica it would keep the node from ever being drained.
		"PodDisruptionBudget": "and .Values.podDisruptionBudget.enabled (gt (int .Values.replicas) 1)",
		"PrometheusRule":      ".Values.metrics.rules.enabled",
		"ServiceMonitor":      ".Values.metrics.serviceMonitor.enabled",
	}
	byID = map[string]string{ //nolint:gosec // names, no credentials
		"ClusterRole/metrics-auth-role":                 ".Values.metrics.enabled",
		"ClusterRole/metrics-reader":                    ".Values.metrics.enabled",
		"ClusterRoleBinding/metrics-auth-rolebinding":   ".Values.metrics.enabled",
		"ClusterRoleBinding/metrics-reader-rolebinding": ".Values.metrics.serviceMonitor.enabled",
		"Secret/metrics-reader-token":                   ".Values.metrics.serviceMonitor.enabled",
		"ServiceAccount/metrics-reader":                 ".Values.metrics.serviceMonitor.enabled",
		"NetworkPolicy/allow-metrics-traffic":           "and .Values.networkPolicy.enabled .Values.metrics.enabled",
		"Role/leader-election-role":                     ".Values.leaderElection.enabled",
		"RoleBinding/leader-election-rolebinding":       ".Values.leaderElection.enabled",
		"Service/controller-manager-metrics-service":    ".Values.metrics.enabled",
	}
)

// edits put values into objects, by kind and name.
var edits = map[string]func(object) error{
	"Certificate/serving-cert":                                        editServingCertificate,
	"ClusterRole/manager-role":                                        editManagerRole,
	"CustomResourceDefinition/cronjobs.batch.tutorial.kubebuilder.io": editCRD,
	"Deployment/controller-manager":                                   editDeployment,
	"NetworkPolicy/allow-metrics-traffic":                             editMetricsPolicy,
	"NetworkPolicy/allow-webhook-traffic":                             editWebhookPolicy,
	"PodDisruptionBudget/controller-manager":                          editDisruptionBudget,
	"PrometheusRule/controller-manager-rules":                         editRules,
	"ServiceAccount/controller-manager":                               editServiceAccount,
	"ServiceMonitor/controller-manager-metrics-monitor":               moreLabels(".Values.metrics.serviceMonitor.labels"),
}

// headings are what the file for a kind begins with, and what all files do.
var headings = map[string]string{
	"":           "{{- /* Made from config by `make chart`: change it there. */ -}}\n",
	"Deployment": "{{- include \"project.check\" . -}}\n",
}

// templates returns the templates, one file for each kind.
func (s *source) templates() (map[string]string, error) {
	if err := s.complete(); err != nil {
		return nil, err
	}
	files := map[string]string{}
	for _, o := range s.objects {
		documents, err := s.template(o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.id(), err)
		}
		for kind, document := range documents {
			path := "templates/" + strings.ToLower(kind) + ".yaml"
			if files[path] == "" {
				files[path] = headings[""] + headings[kind]
			}
			files[path] += document
		}
	}
	return files, nil
}

// complete checks that config has every object that is named above.
func (s *source) complete() error {
	have := map[string]bool{}
	for _, o := range s.objects {
		have[o.kind()], have[o.id()] = true, true
	}
	for _, known := range [][]string{slices.Sorted(maps.Keys(byKind)), slices.Sorted(maps.Keys(byID)), slices.Sorted(maps.Keys(edits))} {
		for _, name := range known {
			if !have[name] {
				return fmt.Errorf("no %s among the objects", name)
			}
		}
	}
	return nil
}

// template returns the documents that an object becomes, by the kind of what is in them.
func (s *source) template(o object) (map[string]string, error) {
	renamed, err := s.rename(o)
	if err != nil {
		return nil, err
	}
	if err := editLabels(renamed); err != nil {
		return nil, err
	}
	documents := map[string]string{}
	if kind, ok := strings.CutPrefix(o.kind(), "Cluster"); ok && slices.Contains(namespaced, o.id()) {
		documents[kind], err = inNamespaces(kind, renamed)
		if err != nil {
			return nil, err
		}
	}
	if edit, ok := edits[o.id()]; ok {
		if err := edit(renamed); err != nil {
			return nil, err
		}
	}
	action := byKind[o.kind()]
	if special, ok := byID[o.id()]; ok {
		action = special
	}
	if action != "" {
		action = "if " + action
	}
	documents[o.kind()] = document(action, renamed)
	return documents, nil
}

// namespaced are the objects that give the manager its rights. With .Values.namespaces it has those on
// what namespaces hold in these alone.
var namespaced = []string{"ClusterRole/manager-role", "ClusterRoleBinding/manager-rolebinding"}

// groups hold what the manager works with in namespaces.
var groups = []any{"batch", "batch.tutorial.kubebuilder.io", "events.k8s.io"}

// inNamespace reports whether a rule is about what namespaces hold.
func inNamespace(rule any) bool {
	of, err := at(rule, "apiGroups.0")
	return err == nil && slices.Contains(groups, of)
}

// inNamespaces returns the Role or RoleBinding, one in each of .Values.namespaces, for a ClusterRole or
// ClusterRoleBinding.
func inNamespaces(kind string, o object) (string, error) {
	metadata := maps.Clone(o["metadata"].(map[string]any))
	metadata["namespace"] = expr("{{ . | quote }}")
	made := maps.Clone(o)
	made["kind"], made["metadata"] = kind, metadata
	if kind == "RoleBinding" {
		roleRef, err := at(o, "roleRef")
		if err != nil {
			return "", err
		}
		roleRef = maps.Clone(roleRef.(map[string]any))
		roleRef.(map[string]any)["kind"] = "Role"
		made["roleRef"] = roleRef
	} else {
		rules, err := rulesOf(o)
		if err != nil {
			return "", err
		}
		made["rules"] = slices.DeleteFunc(slices.Clone(rules), func(rule any) bool { return !inNamespace(rule) })
	}
	return document("range .Values.namespaces", made), nil
}

func rulesOf(o object) ([]any, error) {
	rules, _ := o["rules"].([]any)
	if !slices.ContainsFunc(rules, inNamespace) {
		return nil, errors.New("no rule is about what namespaces hold")
	}
	return rules, nil
}

// editManagerRole leaves what namespaces hold to the Roles there, if there are such.
func editManagerRole(o object) error {
	rules, err := rulesOf(o)
	if err != nil {
		return err
	}
	for i, rule := range rules {
		if inNamespace(rule) {
			rules[i] = when("not .Values.namespaces", rule)
		}
	}
	return nil
}

// editLabels has Helm's labels in the place of those that are kustomize's.
func editLabels(o object) error {
	labels := map[string]any{}
	if present, err := at(o, "metadata.labels"); err == nil {
		labels = present.(map[string]any)
	}
	delete(labels, "app.kubernetes.io/name")
	delete(labels, "app.kubernetes.io/managed-by")
	return put(o, "metadata.labels", merged{[]block{`{{- include "project.labels" $ | nindent $indent }}`}, labels})
}

// moreLabels adds labels that are a value.
func moreLabels(value string) func(object) error {
	return func(o object) error { return merge(o, "metadata.labels", eachOf(value)) }
}

// editRules has the alerts' runbooks where a value says.
func editRules(o object) error {
	groups, err := at(o, "spec.groups")
	if err != nil {
		return err
	}
	for i := range groups.([]any) {
		rules, err := at(o, fmt.Sprintf("spec.groups.%d.rules", i))
		if err != nil {
			return err
		}
		for j := range rules.([]any) {
			path := fmt.Sprintf("spec.groups.%d.rules.%d.annotations.runbook_url", i, j)
			url, err := textAt(o, path)
			if err != nil {
				return err
			}
			_, anchor, _ := strings.Cut(url, "#")
			if err := set(o, path, expr("{{ printf \"%s#"+anchor+"\" $.Values.metrics.rules.runbookURL | quote }}")); err != nil {
				return err
			}
		}
	}
	return merge(o, "metadata.labels", eachOf(".Values.metrics.rules.labels"))
}

// merge adds entries to a map.
func merge(o object, path string, entries block) error {
	present, err := at(o, path)
	if err != nil {
		return err
	}
	m, ok := present.(merged)
	if !ok {
		m.rest, ok = present.(map[string]any)
	}
	if !ok {
		return fmt.Errorf("%s is no map", path)
	}
	m.blocks = append(slices.Clone(m.blocks), entries)
	return put(o, path, m)
}

func editCRD(o object) error {
	return merge(o, "metadata.annotations", "{{- if .Values.crds.keep }}\nhelm.sh/resource-policy: keep\n{{- end }}")
}

func editServiceAccount(o object) error {
	return add(o, "metadata.annotations", optional(".Values.serviceAccount.annotations"))
}

func editDisruptionBudget(o object) error {
	return set(o, "spec.minAvailable", expr("{{ .Values.podDisruptionBudget.minAvailable }}"))
}

func editMetricsPolicy(o object) error {
	return set(o, "spec.ingress.0.from", asYAML(".Values.networkPolicy.metricsFrom"))
}

func editWebhookPolicy(o object) error {
	return set(o, "spec.ingress.0.from", asYAML(".Values.networkPolicy.webhooksFrom"))
}

// editServingCertificate leaves the names of the metrics out where there are none.
func editServingCertificate(o object) error {
	return depend(o, "spec.dnsNames", ".Values.metrics.enabled", func(name any) bool {
		return strings.Contains(fmt.Sprint(name), "metrics-service")
	})
}

// depend makes the items of a list that are chosen depend on a condition.
func depend(o object, path, condition string, chosen func(any) bool) error {
	found, err := at(o, path)
	if err != nil {
		return err
	}
	items, ok := found.([]any)
	if !ok || !slices.ContainsFunc(items, chosen) {
		return fmt.Errorf("%s has no item for %s", path, condition)
	}
	for i, item := range items {
		if chosen(item) {
			items[i] = when(condition, item)
		}
	}
	return nil
}
