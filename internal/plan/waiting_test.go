/*
Copyright 2026 The project authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package plan

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/test/builders"
)

// heldStatus is the status of a CronJob whose tick of 10:05 waits for the Job of 10:00.
const heldStatus = `{
  "active": [{"kind": "Job", "namespace": "default", "name": "c-1767261600", "uid": "uid-of-c-1767261600", "apiVersion": "batch/v1"}],
  "lastScheduleTime": "2026-01-01T10:00:00Z",
  "nextScheduleTime": "2026-01-01T10:05:00Z",
  "observedSchedule": "*/5 * * * *",
  "observedGeneration": 1,
  "conditions": [{
    "type": "Ready",
    "status": "True",
    "observedGeneration": 1,
    "lastTransitionTime": "2026-01-01T09:59:00Z",
    "reason": "REASON",
    "message": "MESSAGE"
  }]
}`

// held is a CronJob as it is stored while a tick waits.
func held(t *testing.T, reason, message string, deadline int64) *v1.CronJob {
	t.Helper()
	b := cron().Policy(v1.ForbidConcurrent)
	if deadline > 0 {
		b = b.Deadline(deadline)
	}
	c := b.Obj()
	require.NoError(t, json.Unmarshal([]byte(heldStatus), &c.Status))
	c.Status.Conditions[0].Reason, c.Status.Conditions[0].Message = reason, message
	return c
}

// A manager that does not know the reason Waiting says in the message alone that a tick waits.
func TestS6AnUpgradeLosesNoTickThatWaits(t *testing.T) {
	const message = "The tick of 2026-01-01T10:05:00Z waits, as concurrencyPolicy is Forbid, for Job c-1767261600 to end."
	running := builders.MakeJob(cron().Obj(), at("10:00:00")).Obj()
	ended := builders.MakeJob(cron().Obj(), at("10:00:00")).Succeeded(at("10:04:00")).Obj()
	for name, tc := range map[string]struct {
		deadline   int64
		job        *batchv1.Job
		now        time.Time
		wantTick   time.Time // zero for none
		wantReason string
		wantMissed []Missed
	}{
		"it waits on while the Job runs": {
			job: running, now: at("10:07:00"), wantReason: v1.ReasonWaiting,
		},
		"it runs when the Job has ended": {
			job: ended, now: at("10:07:00"), wantTick: at("10:05:00"), wantReason: v1.ReasonScheduled,
		},
		"it is missed when a newer one is due, which waits then": {
			job: running, now: at("10:10:00"), wantReason: v1.ReasonWaiting,
			wantMissed: []Missed{{MissedSuperseded, at("10:05:00"), at("10:05:00"), 1}},
		},
		"it is missed when a newer one is due, which runs then": {
			job: ended, now: at("10:10:00"), wantTick: at("10:10:00"), wantReason: v1.ReasonScheduled,
			wantMissed: []Missed{{MissedSuperseded, at("10:05:00"), at("10:05:00"), 1}},
		},
		"it is missed when its deadline is over": {
			deadline: 60, job: running, now: at("10:07:00"), wantReason: v1.ReasonScheduled,
			wantMissed: []Missed{{MissedDeadline, at("10:05:00"), at("10:05:00"), 1}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := held(t, v1.ReasonScheduled, message, tc.deadline)
			in := inputOf(c, tc.now, tc.job)
			p := Decide(in)
			assert.Equal(t, tc.wantMissed, p.Missed)
			jobs := in.Jobs
			if tc.wantTick.IsZero() {
				assert.Nil(t, p.Start)
			} else {
				require.NotNil(t, p.Start)
				assert.Equal(t, tc.wantTick, p.Start.Tick)
				started := builders.MakeJob(c, tc.wantTick).Obj()
				p.Started(in, started)
				jobs = append(jobs, started)
			}
			condition := ready(t, p.Status)
			assert.Equal(t, tc.wantReason, condition.Reason)
			assert.Equal(t, metav1.ConditionTrue, condition.Status)
			assert.Equal(t, at("09:59:00"), condition.LastTransitionTime.UTC(), "Ready was true before")
			c.Status = p.Status

			again := Decide(inputOf(c, tc.now, jobs...))
			assert.Empty(t, again.Missed, "once")
			assert.Nil(t, again.Start, "once")
			assert.Nil(t, again.HeldBy, "once")
			assert.Equal(t, c.Status, again.Status, "W3")
		})
	}
}

func TestS6ATickThatWaitsIsKnownByTheReasonAndNotByTheMessage(t *testing.T) {
	running := builders.MakeJob(cron().Obj(), at("10:00:00")).Obj()
	c := held(t, v1.ReasonWaiting, "In other words.", 0)
	assert.Equal(t, []Missed{{MissedForbidden, at("10:05:00"), at("10:05:00"), 1}}, Decide(inputOf(c, at("10:10:00"), running)).Missed)
}
