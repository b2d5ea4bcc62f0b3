// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v3_test

import (
	"testing"

	"tutorial.kubebuilder.io/project/apis/batch"
	"tutorial.kubebuilder.io/project/apis/batch/spoke/conversiontest"
)

// samples are CronJobs of all versions, with wrong values among them.
func samples() []string {
	var all []string
	for version, specs := range map[string][]string{
		"v1": {`"0 9 * * 1-5","additionalSchedules":["30 17 * * 1-5"]`, `"5 0 * * *","additionalSchedules":["0 9 * * 1"]`, `"@hourly"`, `"at 9:00"`, `5`},
		"v2": {`{"minute":"0","hour":"9"},"additionalSchedules":[{"hour":"9"}]`, `{"minute":"x"}`},
		"v3": {
			`{"times":["09:00","17:30"],"days":"mon-fri"}`, `{"times":["9:00"]}`, `{"times":["25:00"],"days":"1 2"}`, `{"times":[]}`, `{"days":""}`, `{"times":"9"}`, `{}`,
		},
	} {
		for _, spec := range specs {
			all = append(all, `{"apiVersion":"batch.tutorial.kubebuilder.io/`+version+`","kind":"CronJob","metadata":{"name":"c"},"spec":{"schedule":`+spec+`}}`)
		}
	}
	return all
}

func TestC10TheLawsHoldForV3(t *testing.T) { conversiontest.Laws(t, batch.Versions, samples()...) }

func FuzzC10TheLawsHoldForV3(f *testing.F) { conversiontest.Fuzz(f, batch.Versions, samples()...) }
