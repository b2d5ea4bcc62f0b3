// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"tutorial.kubebuilder.io/project/test/chaos/storm"
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
		if refusals[step.Kind].target != "" {
			continue
		}
		if requests[step.Kind] == nil {
			assert.GreaterOrEqual(t, step.At, until, "one fault of the machines at a time: %s", step)
			until = step.At + step.Hold
			continue
		}
		assert.Contains(t, requests[step.Kind], step.Target, "%s", step)
		assert.Positive(t, step.Count, "%s", step)
	}
	isOutage := func(step Step) bool { return step.Kind == DownWebhooks && step.Hold == outage }
	assert.True(t, slices.ContainsFunc(Plan(7, 10*time.Minute, Kinds()), isOutage), "the webhooks are down for many ticks of a minute")
	for _, kind := range Kinds() {
		want := 2
		if refusals[kind].target != "" {
			want = 1
		}
		assert.GreaterOrEqual(t, struck[kind], want, "%s", kind)
	}
	assert.Equal(t, map[Kind]int{KillEtcd: struck[KillEtcd]}, kindsOf(Plan(7, 10*time.Minute, []Kind{KillEtcd}), struck))
	assert.Empty(t, Plan(7, 10*time.Minute, nil))
}

func TestARefusalLastsAndIsOverBeforeTheStormIs(t *testing.T) {
	const duration = 10 * time.Minute
	namespaces := map[string]time.Duration{} // until when one is in force
	longest := time.Duration(0)
	for _, step := range Plan(7, duration, Kinds()) {
		if refusals[step.Kind].target == "" {
			continue
		}
		assert.Contains(t, storm.Namespaces, step.Namespace, "%s", step)
		assert.GreaterOrEqual(t, step.At, namespaces[step.Namespace], "one at a time in a namespace: %s", step)
		namespaces[step.Namespace] = step.At + step.Hold
		assert.GreaterOrEqual(t, step.Hold, shortestRefusal, "%s", step)
		assert.LessOrEqual(t, step.At+step.Hold, duration-overBefore, "%s", step)
		longest = max(longest, step.Hold)
	}
	assert.Len(t, namespaces, len(storm.Namespaces), "each namespace has its turn")
	assert.Greater(t, longest, 2*time.Minute, "some outlast several ticks of a minute")
	assert.NotEmpty(t, Plan(7, 40*time.Second, []Kind{DenyStatuses}), "there is one in a short storm too")
}

func TestRefusalsChangeNoOtherFault(t *testing.T) {
	others := slices.DeleteFunc(Kinds(), func(kind Kind) bool { return refusals[kind].target != "" })
	with := slices.DeleteFunc(Plan(7, 10*time.Minute, Kinds()), func(step Step) bool { return step.Namespace != "" })
	assert.Equal(t, Plan(7, 10*time.Minute, others), with)
}

func TestAWebhookThatRefusesPassesOnWhatItWasTold(t *testing.T) {
	const namespace = "chaos-1"
	for kind, refusal := range refusals {
		if refusal.manifest != "" {
			continue
		}
		t.Run(string(kind), func(t *testing.T) {
			l := &live{}
			step := Step{Kind: kind, Namespace: namespace}
			assert.Nil(t, l.refused(namespace, refusal.target), "before it begins")
			l.begin(step)
			err := l.refused(namespace, refusal.target)
			require.NotNil(t, err)
			assert.Equal(t, refusal.code == http.StatusNotFound, apierrors.IsNotFound(err))
			assert.Equal(t, refusal.code == http.StatusConflict, apierrors.IsConflict(err))
			assert.Nil(t, l.refused("chaos-2", refusal.target), "elsewhere")
			assert.Nil(t, l.refused(namespace, Trials), "anything else")
			l.note(namespace, refusal.target, refusal.code)
			l.note(namespace, refusal.target, http.StatusCreated)
			l.note(namespace, Trials, refusal.code)
			assert.Equal(t, 1, l.end(step))
			assert.Nil(t, l.refused(namespace, refusal.target), "after its end")
		})
	}
}

// kindsOf returns which of the kinds a plan has, with the counts of another.
func kindsOf(plan []Step, counts map[Kind]int) map[Kind]int {
	kinds := map[Kind]int{}
	for _, step := range plan {
		kinds[step.Kind] = counts[step.Kind]
	}
	return kinds
}

func TestABurstStrikesSoManyRequestsOfItsTarget(t *testing.T) {
	l := &live{}
	l.begin(Step{Kind: Conflict, Target: Statuses, Count: 2})
	assert.Empty(t, l.strike(Creates))
	assert.Empty(t, l.strike(""))
	assert.Equal(t, []Kind{Conflict, Conflict, ""}, []Kind{l.strike(Statuses), l.strike(Statuses), l.strike(Statuses)})
	l.begin(Step{Kind: Fail, Target: Events, Count: 2})
	assert.Equal(t, Fail, l.strike(Events))
	l.endAll()
	assert.Empty(t, l.strike(Events))
}
