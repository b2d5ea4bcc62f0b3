// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package storm

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/validate"
)

// begin is that of the storms here.
var begin = time.Now()

func TestThePlanIsMadeFromTheSeedAlone(t *testing.T) {
	plan := Plan(7, begin, 10*time.Minute, 50)
	assert.Len(t, plan, 50)
	assert.Equal(t, plan, Plan(7, begin, 10*time.Minute, 50))
	assert.NotEqual(t, plan, Plan(8, begin, 10*time.Minute, 50))
}

func TestUsersAskForNothingThatIsRefused(t *testing.T) {
	rare := map[string]int{}
	for _, c := range Plan(7, begin, 10*time.Minute, 200) {
		for _, act := range c.Acts {
			object := Act{Verb: Create, Spec: act.Spec}.object(c.Namespace, c.Name)
			cronJob := &v1.CronJob{}
			require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, cronJob))
			assert.Empty(t, validate.Spec(&cronJob.Spec, validate.Form{}), "%+v", act.Spec)
			for field := range act.Spec.Fields {
				rare[field]++
			}
		}
	}
	for _, verb := range []Verb{Reschedule, Edit} {
		for _, field := range verb.fields() {
			assert.Greater(t, rare[field], 100, field)
		}
	}
}

func TestUsersDoOnlyWhatCanBeDone(t *testing.T) {
	verbs := map[Verb]int{}
	versions := map[bool]int{}
	for _, c := range Plan(7, begin, 10*time.Minute, 200) {
		exists := false
		at := time.Duration(-1)
		for _, act := range c.Acts {
			verbs[act.Verb]++
			versions[act.V2]++
			assert.Equal(t, !exists, act.Verb == Create, "%s: %s at %v", c.Name, act.Verb, act.At)
			assert.Greater(t, act.At, at)
			at, exists = act.At, act.Verb != Delete
		}
		assert.Equal(t, exists, c.exists())
	}
	for _, verb := range []Verb{Create, Reschedule, Edit, Label, Suspend, Resume, Delete, DeleteJob} {
		assert.Greater(t, verbs[verb], 20, "%s", verb)
	}
	assert.InDelta(t, versions[true], versions[false], 0.2*float64(versions[true]), "in both versions alike")
}
