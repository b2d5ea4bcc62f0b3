// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"

	"sigs.k8s.io/yaml"

	"tutorial.kubebuilder.io/project/apis/batch"
	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	v2 "tutorial.kubebuilder.io/project/apis/batch/v2"
)

const lineHeight = 17.0

// convert returns a manifest in another version.
func convert(manifest, to string) (string, error) {
	object, err := yaml.YAMLToJSON([]byte(manifest))
	if err != nil {
		return "", err
	}
	if object, err = batch.Versions.ConvertJSON(object, to); err != nil {
		return "", err
	}
	converted, err := yaml.JSONToYAML(object)
	return string(converted), err
}

// manifestOf returns a manifest as conversions print it.
func manifestOf(apiVersion, spec string) string {
	return "apiVersion: " + apiVersion + "\nkind: CronJob\nmetadata:\n  name: report\nspec:\n" + spec
}

const boxWidth, boxHeight = 130.0, 60.0

func (p *picture) box(class string, x, y float64, first, second string) {
	p.rect(class, x, y, boxWidth, boxHeight)
	p.text("middle", x+boxWidth/2, y+26, first)
	p.text("middle", x+boxWidth/2, y+44, second)
}

// manifest draws a manifest under a heading and returns where it ends.
func (p *picture) manifest(class string, x, y, w float64, heading, manifest string) float64 {
	lines := wrapValues(manifest)
	h := 40 + float64(len(lines))*lineHeight
	p.rect(class, x, y, w, h)
	p.text("head", x+14, y+23, heading)
	for i, line := range lines {
		// SVG drops leading blanks.
		p.text("mono", x+14+7*float64(indentOf(line)), y+46+float64(i)*lineHeight, strings.TrimLeft(line, " "))
	}
	p.say("%s: %s", heading, strings.Join(strings.Fields(manifest), " "))
	return y + h
}

// maxLine is how many characters a line of a manifest has at most.
const maxLine = 52

// wrapValues returns the lines of a manifest. A value that is too long stands below its key, which
// is the same YAML.
func wrapValues(manifest string) []string {
	var lines []string
	for line := range strings.Lines(strings.TrimSuffix(manifest, "\n")) {
		line = strings.TrimSuffix(line, "\n")
		key, value, ok := strings.Cut(line, ": ")
		if len(line) <= maxLine || !ok {
			lines = append(lines, line)
			continue
		}
		lines = append(lines, key+":", strings.Repeat(" ", indentOf(line)+2)+value)
	}
	return lines
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }

// overview draws a CronJob in both versions, and who reads and writes them.
func overview() (*picture, error) {
	hub := manifestOf(v1.GroupVersion.String(), "  schedule: '*/5 9-17 * * 1-5'\n")
	spoke, err := convert(hub, v2.GroupVersion.String())
	if err != nil {
		return nil, err
	}
	p := &picture{Title: "Two versions, one stored object, one reconciler"}
	p.say("Users write and read v1 or v2. The conversion webhook converts v2 to v1, the hub, and back. " +
		"The API server stores v1. One reconciler reads v1, creates Jobs and writes the status.")
	const left = 350.0
	middle := p.manifest("hub", margin, margin, left, "v1, the hub: what is stored", hub)
	bottom := p.manifest("box", margin, middle+margin, left, "v2, a spoke", spoke)
	p.Height = bottom + margin

	server := 560.0
	reconciler := width - margin - boxWidth
	y := margin + 20
	p.box("hub", server-boxWidth/2, y, "API server", "stores v1")
	p.box("box", reconciler, y, "one reconciler", "knows v1 alone")
	p.box("box", reconciler, y+boxHeight+60, "Jobs", "one for each tick")
	webhook := (middle + margin + bottom) / 2
	p.box("box", server-boxWidth/2, webhook-boxHeight/2, "conversion", "webhook")

	p.path("arrows", "M%g %gH%g", margin+left, y+boxHeight/2, server-boxWidth/2)
	p.path("arrows", "M%g %gH%g", margin+left, webhook, server-boxWidth/2)
	p.path("arrows", "M%g %gV%g", server, webhook-boxHeight/2, y+boxHeight)
	p.path("arrow", "M%g %gH%g", server+boxWidth/2, y+20, reconciler)
	p.text("soft middle", (server+boxWidth/2+reconciler)/2, y+14, "reads")
	p.path("arrow", "M%g %gH%g", reconciler, y+boxHeight-16, server+boxWidth/2)
	p.text("soft middle", (server+boxWidth/2+reconciler)/2, y+boxHeight, "status")
	p.path("arrow", "M%g %gV%g", reconciler+boxWidth/2, y+boxHeight, y+boxHeight+60)
	p.text("soft", reconciler+boxWidth/2+8, y+boxHeight+34, "creates")
	return p, nil
}

// conversion draws schedules that the field of the other version can't carry alone.
func conversion() (*picture, error) {
	p := &picture{Title: "What is written in one version, and what it is in the other", Height: margin}
	hub, spoke := v1.GroupVersion.String(), v2.GroupVersion.String()
	const half = 390.0
	for _, written := range []struct{ version, spec string }{
		{hub, "  schedule: '@hourly'\n"},
		{spoke, "  schedule:\n    hour: '*'\n    minute: \"0\"\n"},
	} {
		other := map[string]string{hub: spoke, spoke: hub}[written.version]
		shown := map[string]string{written.version: manifestOf(written.version, written.spec)}
		converted, err := convert(shown[written.version], other)
		if err != nil {
			return nil, err
		}
		shown[other] = converted
		note := map[string]string{written.version: ", as it was written", other: ", converted"}
		top := p.Height
		p.Height = max(
			p.manifest("box", margin, top, half, "v2"+note[spoke], shown[spoke]),
			p.manifest("hub", width-margin-half, top, half, "v1, the hub: stored"+note[hub], shown[hub]),
		) + margin
		p.path("arrows", "M%g %gH%g", margin+half, top+60, width-margin-half)
	}
	return p, nil
}
