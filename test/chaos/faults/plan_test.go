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

package faults

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestThePlanIsMadeFromTheSeedAlone(t *testing.T) {
	plan := Plan(7, 10*time.Minute, Kinds())
	assert.Equal(t, plan, Plan(7, 10*time.Minute, Kinds()))
	assert.NotEqual(t, plan, Plan(8, 10*time.Minute, Kinds()))
}

func TestEachKindOfFaultHasItsTurn(t *testing.T) {
	struck := map[Kind]int{}
	var until time.Duration // when the fault of the machines before is over
	for _, step := range Plan(7, 10*time.Minute, Kinds()) {
		struck[step.Kind]++
		assert.LessOrEqual(t, step.At+step.Hold, 10*time.Minute, "%s", step)
		if requests[step.Kind] == nil {
			assert.GreaterOrEqual(t, step.At, until, "one fault of the machines at a time: %s", step)
			until = step.At + step.Hold
			continue
		}
		assert.Contains(t, requests[step.Kind], step.Target, "%s", step)
		assert.Positive(t, step.Count, "%s", step)
	}
	for _, kind := range Kinds() {
		assert.GreaterOrEqual(t, struck[kind], 2, "%s", kind)
	}
	assert.Equal(t, map[Kind]int{KillEtcd: struck[KillEtcd]}, kindsOf(Plan(7, 10*time.Minute, []Kind{KillEtcd}), struck))
	assert.Empty(t, Plan(7, 10*time.Minute, nil))
}

// kindsOf returns which of the kinds a plan has, with the counts of another.
func kindsOf(plan []Step, counts map[Kind]int) map[Kind]int {
	kinds := map[Kind]int{}
	for _, step := range plan {
		kinds[step.Kind] = counts[step.Kind]
	}
	return kinds
}

func TestKindsAreNamed(t *testing.T) {
	tests := map[string]struct {
		text    string
		want    []Kind
		wantErr string
	}{
		"all":     {text: "all", want: Kinds()},
		"none":    {text: "none"},
		"two":     {text: "kill-etcd,answer-409", want: []Kind{KillEtcd, Conflict}},
		"unknown": {text: "kill-etcd,rain", wantErr: `there is no fault "rain": want all, none, or some of [answer-409 `},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := ParseKinds(test.text)
			if test.wantErr != "" {
				require.ErrorContains(t, err, test.wantErr)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, test.want, got)
		})
	}
}
