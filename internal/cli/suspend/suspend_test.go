// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package suspend

import (
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	clocktesting "k8s.io/utils/clock/testing"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/env"
	"tutorial.kubebuilder.io/project/internal/cli/handover"
)

func TestASuspensionChangesWhatItHasToAndNoMore(t *testing.T) {
	soon, later := "2099-01-01T00:00:00Z", "2099-01-02T00:00:00Z"
	until := func(text string) time.Time {
		at, err := parseUntil(text, time.Now())
		require.NoError(t, err)
		return at
	}
	for name, tc := range map[string]struct {
		command    command
		spec, want map[string]any
	}{
		"suspended":                         {command{suspend: true}, map[string]any{}, map[string]any{"suspend": true}},
		"suspended, and is":                 {command{suspend: true}, map[string]any{"suspend": true}, map[string]any{"suspend": true}},
		"until":                             {command{suspend: true, until: until(soon)}, map[string]any{}, map[string]any{"suspendUntil": soon}},
		"until later":                       {command{suspend: true, until: until(later)}, map[string]any{"suspendUntil": soon}, map[string]any{"suspendUntil": later}},
		"until, and is for longer":          {command{suspend: true, until: until(soon)}, map[string]any{"suspendUntil": later}, map[string]any{"suspendUntil": later}},
		"until, and is for good":            {command{suspend: true, until: until(soon)}, map[string]any{"suspend": true}, map[string]any{"suspend": true}},
		"for good, and is until":            {command{suspend: true}, map[string]any{"suspendUntil": soon}, map[string]any{"suspend": true, "suspendUntil": soon}},
		"resumed":                           {command{}, map[string]any{"suspend": true}, map[string]any{"suspend": false}},
		"resumed before its time":           {command{}, map[string]any{"suspendUntil": soon}, map[string]any{}},
		"resumed, and is not suspended":     {command{}, map[string]any{"schedule": "@daily"}, map[string]any{"schedule": "@daily"}},
		"resumed, and says it is not so":    {command{}, map[string]any{"suspend": false}, map[string]any{"suspend": false}},
		"resumed, suspended in both ways":   {command{}, map[string]any{"suspend": true, "suspendUntil": soon}, map[string]any{"suspend": false}},
		"resumed, with a garbage of a time": {command{}, map[string]any{"suspendUntil": int64(3)}, map[string]any{}},
	} {
		t.Run(name, func(t *testing.T) {
			object := &unstructured.Unstructured{Object: map[string]any{"spec": tc.spec}}
			require.NoError(t, tc.command.change(object))
			assert.Equal(t, tc.want, object.Object["spec"])
		})
	}
}

func TestABulkSuspensionTakesBackWhatItHasDoneAndNoMore(t *testing.T) {
	const soon, later = "2099-01-01T00:00:00Z", "2099-01-02T00:00:00Z"
	until, err := parseUntil(soon, time.Now())
	require.NoError(t, err)
	byBulk := func(value string) map[string]any {
		return map[string]any{BulkSuspensionAnnotation: value, SuspendedByAnnotation: "me", SuspendReasonAnnotation: "why", "mine": "stays"}
	}
	mine := map[string]any{"mine": "stays"}
	for name, tc := range map[string]struct {
		suspend                    bool
		until                      time.Time
		annotations, wantAnnotated map[string]any
		spec, want                 map[string]any
	}{
		"suspended":                         {true, time.Time{}, mine, byBulk("suspend=true"), map[string]any{}, map[string]any{"suspend": true}},
		"suspended until":                   {true, until, mine, byBulk("suspendUntil=" + soon), map[string]any{}, map[string]any{"suspendUntil": soon}},
		"suspended until, and was before":   {true, until, mine, byBulk("suspendUntil=" + soon), map[string]any{"suspendUntil": "2001-01-01T00:00:00Z"}, map[string]any{"suspendUntil": soon}},
		"suspended by others":               {true, until, mine, mine, map[string]any{"suspend": true}, map[string]any{"suspend": true}},
		"suspended by others for longer":    {true, until, mine, mine, map[string]any{"suspendUntil": later}, map[string]any{"suspendUntil": later}},
		"suspended by others for shorter":   {true, time.Time{}, mine, mine, map[string]any{"suspendUntil": soon}, map[string]any{"suspendUntil": soon}},
		"resumed":                           {false, time.Time{}, byBulk("suspend=true"), mine, map[string]any{"suspend": true}, map[string]any{"suspend": false}},
		"resumed before its time":           {false, time.Time{}, byBulk("suspendUntil=" + soon), mine, map[string]any{"suspendUntil": soon}, map[string]any{}},
		"resumed after its time":            {false, time.Time{}, byBulk("suspendUntil=2001-01-01T00:00:00Z"), mine, map[string]any{"suspendUntil": "2001-01-01T00:00:00Z"}, map[string]any{}},
		"resumed, suspended by others":      {false, time.Time{}, mine, mine, map[string]any{"suspend": true}, map[string]any{"suspend": true}},
		"resumed, edited since":             {false, time.Time{}, byBulk("suspendUntil=" + soon), byBulk("suspendUntil=" + soon), map[string]any{"suspendUntil": later}, map[string]any{"suspendUntil": later}},
		"resumed, resumed by others":        {false, time.Time{}, byBulk("suspend=true"), byBulk("suspend=true"), map[string]any{"suspend": false}, map[string]any{"suspend": false}},
		"resumed, suspended for good since": {false, time.Time{}, byBulk("suspendUntil=" + soon), mine, map[string]any{"suspendUntil": soon, "suspend": true}, map[string]any{"suspend": true}},
		"resumed, with a garbage of a note": {false, time.Time{}, byBulk("nothing"), byBulk("nothing"), map[string]any{"suspend": true}, map[string]any{"suspend": true}},
	} {
		t.Run(name, func(t *testing.T) {
			c := &command{Env: env.New(genericiooptions.NewTestIOStreamsDiscard()), suspend: tc.suspend, until: tc.until, all: true, user: "me", reason: "why"}
			object := &unstructured.Unstructured{Object: map[string]any{
				"spec": tc.spec, "metadata": map[string]any{"annotations": maps.Clone(tc.annotations)},
			}}
			require.NoError(t, c.change(object))
			assert.Equal(t, tc.want, object.Object["spec"])
			assert.Equal(t, tc.wantAnnotated, object.Object["metadata"].(map[string]any)["annotations"])
		})
	}
}

func TestResumeAllLeavesWhatWasSuspendedByNameAfterSuspendAll(t *testing.T) {
	const soon, later = "2099-01-01T00:00:00Z", "2099-01-02T00:00:00Z"
	for name, tc := range map[string]struct {
		bulk, named string // until when; "" for good
		want        map[string]any
	}{
		"for good, and for good":   {"", "", map[string]any{"suspend": true}},
		"for good, and until":      {"", soon, map[string]any{"suspend": false, "suspendUntil": soon}},
		"until, and for good":      {soon, "", map[string]any{"suspend": true, "suspendUntil": soon}},
		"until, and until later":   {soon, later, map[string]any{"suspendUntil": later}},
		"until, and until earlier": {later, soon, map[string]any{"suspendUntil": later}},
	} {
		t.Run(name, func(t *testing.T) {
			object := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{}}}
			change := func(until string, c command) {
				if c.Env = env.New(genericiooptions.NewTestIOStreamsDiscard()); until != "" {
					var err error
					c.until, err = parseUntil(until, time.Now())
					require.NoError(t, err)
				}
				require.NoError(t, c.change(object))
			}
			change(tc.bulk, command{suspend: true, all: true, user: "me", reason: "why"})
			change(tc.named, command{suspend: true})
			change("", command{all: true})
			assert.Equal(t, tc.want, object.Object["spec"])
			assert.Empty(t, object.GetAnnotations())
		})
	}
}

func TestWhoIsNamedWithAReasonIsRecordedAndForgotten(t *testing.T) {
	object := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{}}}
	require.NoError(t, (&command{suspend: true, user: "me", reason: "why"}).change(object))
	assert.Equal(t, map[string]string{SuspendedByAnnotation: "me", SuspendReasonAnnotation: "why"}, object.GetAnnotations())
	require.NoError(t, (&command{}).change(object))
	assert.Empty(t, object.GetAnnotations())
}

func TestUntilIsATimeOrADurationFromNow(t *testing.T) {
	for text, want := range map[string]string{
		"tomorrow": `--until "tomorrow" is not a time`, "": "is not a time", "now": "must be in the future", "-1h": "must be in the future", "2001-01-01T00:00:00Z": "must be in the future",
	} {
		_, err := parseUntil(text, time.Now())
		assert.ErrorContains(t, err, want, text)
	}
	now := time.Now()
	until, err := parseUntil("6h", now)
	require.NoError(t, err)
	assert.WithinDuration(t, now.Add(6*time.Hour), until, 0)
	until, err = parseUntil("2126-12-24T18:00", now)
	require.NoError(t, err)
	assert.Equal(t, time.Date(2126, 12, 24, 18, 0, 0, 0, now.Location()), until, "in the zone of who types it")
}

func TestASuspensionThatEndsIsToldWithItsEndInTheUsersZone(t *testing.T) {
	c := &command{Env: env.New(genericiooptions.NewTestIOStreamsDiscard()), words: suspending, suspend: true}
	c.Clock = clocktesting.NewFakeClock(time.Date(2027, 1, 15, 12, 0, 0, 0, time.FixedZone("", 3600)))
	object := unstructuredOf(t, &v1.CronJob{})
	assert.Equal(t, "suspended", c.operation(object, true), "for good")
	object.Object["spec"] = map[string]any{"suspendUntil": "2027-01-15T17:00:00Z"}
	assert.Equal(t, "suspended until 2027-01-15T18:00:00+01:00", c.operation(object, true))
	assert.Equal(t, "already suspended", c.operation(object, false))
	object.Object["spec"] = map[string]any{"suspendUntil": "2027-01-15T17:00:00Z", "suspend": true}
	assert.Equal(t, "suspended", c.operation(object, true), "for good")
}

func TestAWrongUntilNamesItsFlagOnce(t *testing.T) {
	cmd := NewSuspendCommand(env.New(genericiooptions.NewTestIOStreamsDiscard()))
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	for value, want := range map[string]string{"": `--until "" is not a time`, "tomorrow": `--until "tomorrow" is not a time: want a time as in RFC 3339`,
		"2001-01-01T00:00:00Z": "--until 2001-01-01T00:00:00Z must be in the future"} {
		cmd.SetArgs([]string{"a", "--until=" + value})
		err := cmd.ExecuteContext(t.Context())
		require.Error(t, err)
		assert.Regexp(t, "^"+want, err.Error())
	}
}

func TestResumingWhatWasHandedOverToTheBuiltInCronJobWarns(t *testing.T) {
	handedOver := &v1.CronJob{ObjectMeta: metav1.ObjectMeta{
		Name: "backup", Annotations: map[string]string{handover.SuspendBeforeAnnotation: "false"},
	}}
	for name, tc := range map[string]struct {
		suspend  bool
		object   *v1.CronJob
		wantText string
	}{
		"resumed":                    {false, handedOver, "use kubectl cronjob import backup --suspend-original\n"},
		"suspended":                  {true, handedOver, ""},
		"resumed, never handed over": {false, &v1.CronJob{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			streams, _, _, errOut := genericiooptions.NewTestIOStreams()
			c := &command{Env: env.New(streams), suspend: tc.suspend}
			c.warn(tc.object)
			assert.Contains(t, errOut.String(), tc.wantText)
			assert.Equal(t, tc.wantText == "", errOut.Len() == 0, errOut)
		})
	}
}

func TestAResumeEndsAHandOver(t *testing.T) {
	object := unstructuredOf(t, &v1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{handover.SuspendBeforeAnnotation: "false"}},
		Spec:       v1.CronJobSpec{Suspend: new(true)},
	})
	require.NoError(t, (&command{Env: env.New(genericiooptions.NewTestIOStreamsDiscard())}).change(object))
	assert.Empty(t, object.GetAnnotations(), "else it would warn each time, and an import would end the next suspension")
}

func TestResumeAllLeavesWhatWasHandedOverAfterSuspendAll(t *testing.T) {
	c := &command{Env: env.New(genericiooptions.NewTestIOStreamsDiscard()), all: true}
	object := unstructuredOf(t, &v1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{
			handover.SuspendBeforeAnnotation: "true", BulkSuspensionAnnotation: "suspend=true",
		}},
		Spec: v1.CronJobSpec{Suspend: new(true)},
	})
	before := object.DeepCopy()
	require.NoError(t, c.change(object))
	assert.Equal(t, before, object)
	assert.Equal(t, "left suspended", c.operation(object, false))
}

func unstructuredOf(t *testing.T, c *v1.CronJob) *unstructured.Unstructured {
	t.Helper()
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(c)
	require.NoError(t, err)
	return &unstructured.Unstructured{Object: object}
}

func TestABulkSuspensionLeavesWhatHasStoppedAfterFailures(t *testing.T) {
	stopped := &v1.CronJob{}
	stopped.Status.Conditions = []metav1.Condition{{Type: v1.ConditionReady, Reason: v1.ReasonStoppedAfterFailures}}
	object := unstructuredOf(t, stopped)
	before := object.DeepCopy()
	for _, suspend := range []bool{true, false} {
		c := &command{Env: env.New(genericiooptions.NewTestIOStreamsDiscard()), suspend: suspend, all: true, user: "me"}
		require.NoError(t, c.change(object))
		assert.Equal(t, before, object, "an edit of the spec would start it again")
		assert.Equal(t, "left stopped after failures", c.operation(object, false))
	}
}

func TestAResumeOfOneThatHasStoppedAfterFailuresLeavesItsSpec(t *testing.T) {
	now := time.Date(2026, time.January, 1, 11, 5, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		reason string
		failed time.Time
		want   string
	}{
		"at the time":                      {v1.ReasonStoppedAfterFailures, now.Add(-time.Hour), "2026-01-01T11:05:00Z"},
		"not before the last failure":      {v1.ReasonStoppedAfterFailures, now.Add(time.Minute), "2026-01-01T11:06:00Z"},
		"of one that has not stopped":      {v1.ReasonScheduled, now.Add(-time.Hour), ""},
		"of one whose status says nothing": {"", now, ""},
	} {
		t.Run(name, func(t *testing.T) {
			stopped := &v1.CronJob{}
			stopped.Spec.Schedule = "@daily"
			stopped.Status.LastFailureTime = new(metav1.NewTime(tc.failed))
			stopped.Status.Conditions = []metav1.Condition{{Type: v1.ConditionReady, Reason: tc.reason}}
			object := unstructuredOf(t, stopped)
			before := object.DeepCopy()
			c := &command{Env: env.New(genericiooptions.NewTestIOStreamsDiscard())}
			c.Clock = clocktesting.NewFakeClock(now)
			require.NoError(t, c.change(object))
			assert.Equal(t, tc.want, object.GetAnnotations()[v1.ResumedAtAnnotation])
			assert.Equal(t, before.Object["spec"], object.Object["spec"])
		})
	}
}
