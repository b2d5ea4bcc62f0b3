// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"regexp"
	"strings"
)

// source is what the chart is made of.
type source struct {
	objects    []object
	namespace  string // of config/default; the chart has that of the release
	secret     string // the name of the Secret with the serving certificate
	manager    object // the Deployment
	image      string // without the tag
	appVersion string // the image's tag
	runbooks   string // where the alerts' runbooks are
}

// newSource finds in the objects what the chart has to know of them.
func newSource(objects []object) (*source, error) {
	s := &source{}
	for _, o := range objects {
		var err error
		switch o.id() {
		case "Namespace/system":
			// Not for the chart: Helm makes it, with --create-namespace.
			s.namespace = o.name()
			continue
		case "Deployment/controller-manager":
			s.manager = o
		case "Certificate/serving-cert":
			s.secret, err = textAt(o, "spec.secretName")
		case "PrometheusRule/controller-manager-rules":
			s.runbooks, err = textAt(o, "spec.groups.0.rules.0.annotations.runbook_url")
			s.runbooks, _, _ = strings.Cut(s.runbooks, "#")
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", o.id(), err)
		}
		s.objects = append(s.objects, o)
	}
	if s.namespace == "" || s.manager == nil || s.secret == "" {
		return nil, fmt.Errorf("want the Namespace %s-system, the Deployment %[1]s-controller-manager "+
			"and the Certificate %[1]s-serving-cert among the objects", chartName)
	}
	image, err := textAt(s.manager, "spec.template.spec.containers.0.image")
	if err != nil {
		return nil, err
	}
	colon := strings.LastIndexByte(image, ':')
	if colon < strings.LastIndexByte(image, '/') || strings.Contains(image, "@") || colon < 0 {
		return nil, fmt.Errorf("the image %s: want one with a tag and no digest", image)
	}
	s.image, s.appVersion = image[:colon], image[colon+1:]
	return s, nil
}

// dotted is what a string looks like that is a name, a namespace, or made of such, as a Service's address is.
var dotted = regexp.MustCompile(`^[a-z0-9-]+(\.[a-z0-9-]+)*$`)

// rename makes the name prefix and the namespace those of the release, wherever the object has them.
func (s *source) rename(o object) (object, error) {
	var left string
	renamed := eachString(o, func(text string) any {
		switch {
		case text == s.namespace:
			return expr("{{ $.Release.Namespace | quote }}")
		case text == s.secret && o.kind() != "Certificate":
			return s.secretName()
		case dotted.MatchString(text):
			return s.renameDotted(text)
		case strings.Contains(text, s.namespace) || strings.Contains(text, chartName+"-"):
			left = text
		}
		return text
	}).(object)
	if left != "" && o.kind() != "CustomResourceDefinition" { // the schema's descriptions have many words
		return nil, fmt.Errorf("%s: the name of an object, or of its namespace, is somewhere in %q, where it can't be replaced", o.id(), left)
	}
	return renamed, nil
}

func (s *source) renameDotted(text string) any {
	parts, changed := strings.Split(text, "."), false
	for i, part := range parts {
		name, prefixed := strings.CutPrefix(part, chartName+"-")
		switch {
		case part == s.namespace:
			parts[i], changed = "{{ $.Release.Namespace }}", true
		case prefixed:
			parts[i], changed = "{{ "+nameOf(name)+" }}", true
		}
	}
	if !changed {
		return text
	}
	return expr(strings.Join(parts, "."))
}

// nameOf is the expression for an object's name, by what follows the prefix.
func nameOf(name string) string {
	return fmt.Sprintf(`include "project.nameOf" (list $ %q)`, name)
}

// secretName is the Secret with the serving certificate: cert-manager's or one's own.
func (s *source) secretName() expr {
	made := fmt.Sprintf("%q", s.secret)
	if name, prefixed := strings.CutPrefix(s.secret, chartName+"-"); prefixed {
		made = "(" + nameOf(name) + ")"
	}
	return expr("{{ $.Values.webhook.existingSecret | default " + made + " | quote }}")
}
