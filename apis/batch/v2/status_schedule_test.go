// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v2

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// storedUID marks an object as one that the API server has stored.
const storedUID = `"uid":"5bfc3ad1"`

// withStatus adds a status to an object.
func withStatus(object, status string) string {
	return strings.TrimSuffix(object, "}") + `,"status":` + status + "}"
}

// shownIn returns status.schedule of a v2 object, and whether it has one.
func shownIn(t *testing.T, object string) (schedule any, isShown bool) {
	t.Helper()
	var values struct {
		Status map[string]any `json:"status"`
	}
	require.NoError(t, json.Unmarshal([]byte(object), &values), object)
	schedule, isShown = values.Status["schedule"]
	return schedule, isShown
}

func TestTheStatusInV2ShowsTheScheduleAsTheTextThatV1Has(t *testing.T) {
	for _, text := range awkwardTexts {
		hub := hubWith(text)
		hub.UID = "5bfc3ad1"
		inJSON, isShown := shownIn(t, convertJSON(t, hubJSON(storedUID, `"schedule":`+encode(text)), spokeVersion))
		if text == "" {
			assert.False(t, isShown, "no schedule, no text")
			assert.Empty(t, toSpoke(t, hub).Status.Schedule)
			continue
		}
		want := text
		if len(text) > 1024 {
			want = text[:1024] + "…"
		}
		assert.Equal(t, want, inJSON)
		assert.Equal(t, want, toSpoke(t, hub).Status.Schedule)
	}
}

func TestTheScheduleInTheStatusIsCutBetweenCharacters(t *testing.T) {
	for count, want := range map[int]string{1024: strings.Repeat("é", 1024), 1025: strings.Repeat("é", 1024) + "…"} {
		shown, _ := shownIn(t, convertJSON(t, hubJSON(storedUID, `"schedule":"`+strings.Repeat("é", count)+`"`), spokeVersion))
		assert.Equal(t, want, shown, "v1 takes 1024 characters")
	}
}

func TestTheScheduleInTheStatusComesAndGoesWithTheVersion(t *testing.T) {
	for name, tc := range map[string]struct{ hub, spoke string }{
		"before the first reconcile": {
			hubJSON(storedUID, `"schedule":"0 3 * * *"`),
			withStatus(spokeJSON(storedUID, `"schedule":{"minute":"0","hour":"3"}`), `{"schedule":"0 3 * * *"}`),
		},
		"after it": {
			withStatus(hubJSON(storedUID, `"schedule":"@every 90m"`), `{"observedGeneration":1}`),
			withStatus(spokeJSON(storedUID, `"schedule":{"every":"90m"}`), `{"observedGeneration":1,"schedule":"@every 90m"}`),
		},
		"not in an object that was not stored, such as a manifest": {
			hubJSON(`"name":"c"`, `"schedule":"0 3 * * *"`), spokeJSON(`"name":"c"`, `"schedule":{"minute":"0","hour":"3"}`),
		},
		"not in a part of one without a schedule": {
			hubJSON(storedUID, `"suspend":true`), spokeJSON(storedUID, `"suspend":true`),
		},
		"not in one whose schedule is no text": {
			hubJSON(storedUID, `"schedule":5`), spokeJSON(storedUID+`,"annotations":{"`+ScheduleV1Annotation+`":"5"}`, ``),
		},
		"not in a status that is written out and empty, which would come back as none": {
			withStatus(hubJSON(storedUID, `"schedule":"0 * * * *"`), `{}`), withStatus(spokeJSON(storedUID, `"schedule":{"minute":"0"}`), `{}`),
		},
		"nor in a status of another type": {
			withStatus(hubJSON(storedUID, `"schedule":"0 * * * *"`), `[]`), withStatus(spokeJSON(storedUID, `"schedule":{"minute":"0"}`), `[]`),
		},
	} {
		t.Run(name, func(t *testing.T) {
			assert.JSONEq(t, tc.spoke, convertJSON(t, tc.hub, spokeVersion), "from v1 to v2")
			assert.JSONEq(t, tc.hub, convertJSON(t, tc.spoke, hubVersion), "from v2 to v1")
		})
	}
}

func TestTheScheduleInTheStatusFollowsAnEditOfTheSpec(t *testing.T) {
	edited := withStatus(spokeJSON(storedUID, `"schedule":{"minute":"30"}`), `{"schedule":"0 3 * * *","observedGeneration":1}`)
	stored := convertJSON(t, edited, hubVersion)
	assert.JSONEq(t, withStatus(hubJSON(storedUID, `"schedule":"30 * * * *"`), `{"observedGeneration":1}`), stored)
	shown, _ := shownIn(t, convertJSON(t, stored, spokeVersion))
	assert.Equal(t, "30 * * * *", shown)

	spoke := &CronJob{Status: CronJobStatus{Schedule: "0 3 * * *"}}
	spoke.UID = "5bfc3ad1"
	spoke.Spec.Schedule.Minute = field("30")
	assert.Equal(t, v1.CronJobStatus{}, toHub(t, spoke).Status)
	assert.Equal(t, "30 * * * *", toSpoke(t, toHub(t, spoke)).Status.Schedule)
}
