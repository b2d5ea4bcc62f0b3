// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v2

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestC4NoV1ScheduleThatIsAnObjectIsOneInV2(t *testing.T) {
	for _, schedule := range []string{`{"hour":"?"}`, `{"every":"1h"}`, `{"minute":"0","x":1}`, `{"minute":"0","hour":null}`, `{}`} {
		got := convertJSON(t, hubJSON(`"name":"c"`, `"schedule":`+schedule), spokeVersion)
		assert.JSONEq(t, spokeJSON(`"name":"c","annotations":{"`+ScheduleV1Annotation+`":`+encode(schedule)+`}`, ``), got, "none, which v2 refuses")
		again := convertJSON(t, got, hubVersion)
		assert.JSONEq(t, hubJSON(`"name":"c"`, `"schedule":`+schedule), again, "C2: which comes back as that object")
	}
}

func TestC4NoKeptScheduleTurnsValidWhenTheAPIServerDropsItsUnknownFields(t *testing.T) {
	for _, kept := range []string{`{"minute":"0","x":1}`, `{"minute":"0","hour":null}`, `{"Minute":"5","hour":"9"}`} {
		got := convertJSON(t, hubJSON(`"annotations":{"`+ScheduleV2Annotation+`":`+encode(kept)+`}`, ``), spokeVersion)
		assert.JSONEq(t, spokeJSON(``, ``), got, kept)
	}
}
