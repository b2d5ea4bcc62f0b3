// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A file of docs/pictures that is stale fails hack/verify-generated.

func TestEachPictureIsXMLThatReadersOfScreensUnderstand(t *testing.T) {
	directory := t.TempDir()
	require.NoError(t, drawAll(directory))
	files, err := filepath.Glob(filepath.Join(directory, "*.svg"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		svg, err := os.Open(file)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, svg.Close()) })
		decoder, elements := xml.NewDecoder(svg), map[string]int{}
		for {
			token, err := decoder.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err, file)
			if start, ok := token.(xml.StartElement); ok {
				elements[start.Name.Local]++
			}
		}
		assert.Equal(t, 1, elements["title"], file)
		assert.Equal(t, 1, elements["desc"], file)
		assert.Greater(t, elements["text"], 5, file)
	}
}

func TestDescriptionsSayWhatBecomesOfTicks(t *testing.T) {
	for name, tc := range map[string]struct {
		draw func() (*picture, error)
		want []string
	}{
		"S6, concurrency policies": {concurrency, []string{
			"Allow: 10:00 runs from 10:00 until 10:05; 10:10 runs from 10:10 until 10:35; 10:20 runs from 10:20 until 10:25;",
			"the tick of 10:20 is missed at 10:30 (Forbidden); 10:30 runs from 10:35 until 10:40;",
			"10:10 runs from 10:10 and is deleted at 10:20 (Replaced); 10:20 runs from 10:20 until 10:25;",
		}},
		"S2 and S23, an outage": {outage, []string{
			"no deadline: 10:00 runs from 10:00 until 10:05; the tick of 10:10 is missed at 10:27 (Superseded); 10:20 runs from 10:27",
			"the tick of 10:20 is missed at 10:27 (Deadline)",
			"concurrencyPolicy: Forbid: 10:00 runs from 10:00 until 10:05; 10:10 runs from 10:27 until 10:32; 10:20 runs from 10:32",
		}},
		"daylight saving time": {daylightSaving, []string{
			"30 2 * * * fires at 03:00 CEST.", "30 2 * * * fires at 02:30 CEST.",
			"30 * * * * fires at 00:30 CET, 01:30 CET, 03:30 CEST,", "30 * * * * fires at 01:30 CEST, 02:30 CEST, 02:30 CET,",
		}},
		"C2, C3 and C8, manifests in both versions": {conversion, []string{
			"annotations: batch.tutorial.kubebuilder.io/schedule-v1: '@hourly' name: report spec: schedule: minute: \"0\"",
			"schedule-v2: '{\"minute\":\"0\",\"hour\":\"*\"}' name: report spec: schedule: 0 * * * *",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := tc.draw()
			require.NoError(t, err)
			for _, want := range tc.want {
				assert.Contains(t, p.Desc(), want)
			}
		})
	}
}
