// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	kjson "k8s.io/apimachinery/pkg/util/json"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"tutorial.kubebuilder.io/project/apis/batch"
	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	v2 "tutorial.kubebuilder.io/project/apis/batch/v2"
)

const keptDaily = `"` + v2.ScheduleV2Annotation + `":"{\"minute\":\"0\",\"hour\":\"9\"}"`

// wellTyped are CronJobs that can be decoded.
var wellTyped = map[string]string{
	"nothing":                 `{}`,
	"no spec":                 cronJobWithoutSpec,
	"an empty spec":           cronJob(`"name":"c"`, ``),
	"a schedule":              cronJob(`"name":"c"`, `"schedule":"@hourly"`),
	"a template alone":        cronJob(`"name":"c"`, `"jobTemplate":{"spec":{"template":{"spec":{"containers":[{"name":"main"}]}}}}`),
	"a typical one":           typicalCronJob,
	"all that has a default":  cronJob(`"name":"c"`, `"concurrencyPolicy":"Forbid","suspend":true,"successfulJobsHistoryLimit":0,"failedJobsHistoryLimit":0`),
	"some of it":              cronJob(`"name":"c"`, `"suspend":false,"failedJobsHistoryLimit":7,"timeZone":"Europe/Paris","startingDeadlineSeconds":5`),
	"empty and null members":  cronJob(`"name":"c"`, `"concurrencyPolicy":"","suspend":null,"successfulJobsHistoryLimit":null,"schedule":""`),
	"no spec but null":        `{"metadata":{"name":"c"},"spec":null}`,
	"no annotations but null": cronJob(`"annotations":null`, `"schedule":"@hourly"`),
	"no annotations":          cronJob(`"annotations":{}`, `"schedule":"@hourly"`),
	"its schedule of v2":      cronJob(`"annotations":{`+keptDaily+`}`, `"schedule":"0 9 * * *"`),
	"another of v2":           cronJob(`"annotations":{`+keptDaily+`}`, `"schedule":"0 10 * * *"`),
	"another and annotations": cronJob(`"annotations":{"a/b~c":"","mine":"x",`+keptDaily+`}`, `"schedule":"0 10 * * *"`),
	"one of v2, and none":     cronJob(`"annotations":{`+keptDaily+`}`, ``),
	"garbage of v2, and none": cronJob(`"annotations":{"`+v2.ScheduleV2Annotation+`":"{\"minute\":0}"}`, ``),
	"what Go would write in another way": cronJob(`"labels":{},"finalizers":[]`, `"schedule":"@hourly","jobTemplate":{"metadata":{},"spec":{"template":{`+
		`"spec":{"volumes":[],"containers":[{"name":"main","resources":{"limits":{"cpu":"1000m","memory":"1024Mi"}}},{"resources":{}}]}}}}`),
	"what Go does not know": `{"a":1,"spec":{"b":{"c":[]},"jobTemplate":{"d":1e4}},"status":{"lastScheduleTime":"2026-01-01T00:00:00Z"}}`,
	"names in capitals":     cronJob(`"Annotations":{"a":"b"}`, `"Schedule":"@daily","SUSPEND":true,"JobTemplate":{}`),
}

const cronJobWithoutSpec = `{"apiVersion":"batch.tutorial.kubebuilder.io/v1","kind":"CronJob","metadata":{"name":"c"}}`

func TestA3ThePatchIsWhatTheDefaultsMakeOfTheWholeObject(t *testing.T) {
	mutating, _ := webhooks(t)
	for name, object := range wellTyped {
		t.Run(name, func(t *testing.T) {
			answer := ask(t, mutating, reviewOf(admissionv1.Create, object, "null"))
			require.True(t, answer.Allowed)
			assert.JSONEq(t, defaulted(t, object), patched(t, object, answer.Patch))
		})
	}
}

// defaulted sets the defaults in an object, computed from the whole CronJob, and leaves the rest as
// it is written.
func defaulted(t *testing.T, object string) string {
	t.Helper()
	c := &v1.CronJob{}
	require.NoError(t, kjson.Unmarshal([]byte(object), c))
	before := c.DeepCopy()
	c.Default()
	batch.DropStaleSchedules(c)
	want := map[string]any{}
	require.NoError(t, json.Unmarshal([]byte(object), &want))
	spec, ok := want["spec"].(map[string]any)
	if !ok {
		spec = map[string]any{}
		want["spec"] = spec
	}
	spec["concurrencyPolicy"], spec["suspend"] = c.Spec.ConcurrencyPolicy, c.Spec.Suspend
	spec["successfulJobsHistoryLimit"], spec["failedJobsHistoryLimit"] = c.Spec.SuccessfulJobsHistoryLimit, c.Spec.FailedJobsHistoryLimit
	metadata, _ := want["metadata"].(map[string]any)
	switch {
	case len(before.Annotations) == len(c.Annotations):
	case len(c.Annotations) == 0:
		delete(metadata, "annotations")
	default:
		metadata["annotations"] = c.Annotations
	}
	text, err := json.Marshal(want)
	require.NoError(t, err)
	return string(text)
}

func TestOnlyTheDefaultsAreWritten(t *testing.T) {
	mutating, _ := webhooks(t)
	answer := ask(t, mutating, reviewOf(admissionv1.Create, typicalCronJob, "null"))
	var changes []struct{ Op, Path string }
	require.NoError(t, json.Unmarshal(answer.Patch, &changes))
	assert.ElementsMatch(t, []struct{ Op, Path string }{
		{"add", "/spec/concurrencyPolicy"}, {"add", "/spec/suspend"},
		{"add", "/spec/successfulJobsHistoryLimit"}, {"add", "/spec/failedJobsHistoryLimit"},
	}, changes)
}

func TestAnUpdateWithoutAnEditOfTheSpecWritesNoDefaults(t *testing.T) {
	mutating, _ := webhooks(t)
	before := cronJob(`"name":"c","finalizers":["a/b"]`, `"schedule":"0 9 * * *","notBefore":"2027-01-01T00:00:00Z"`)
	finalized := cronJob(`"name":"c"`, `"schedule":"0 9 * * *","notBefore":"2027-01-01T00:00:00Z"`)
	assert.Empty(t, ask(t, mutating, reviewOf(admissionv1.Update, finalized, before)).Patch)
	stale := cronJob(`"name":"c","annotations":{`+keptDaily+`}`, `"schedule":"0 10 * * *"`)
	answer := ask(t, mutating, reviewOf(admissionv1.Update, stale, cronJob(``, `"schedule":"0 10 * * *"`)))
	assert.JSONEq(t, cronJob(`"name":"c"`, `"schedule":"0 10 * * *"`), patched(t, stale, answer.Patch), "C6: but drops what is stale")
	edited := cronJob(`"name":"c"`, `"schedule":"0 10 * * *"`)
	answer = ask(t, mutating, reviewOf(admissionv1.Update, edited, before))
	assert.Contains(t, patched(t, edited, answer.Patch), `"concurrencyPolicy":"Allow"`, "A3: an edit writes them")
}

func TestS7TheTimeOfAnEditIsWrittenDownAndByNobodyElse(t *testing.T) {
	clock := clocktesting.NewFakePassiveClock(time.Date(2026, time.January, 1, 10, 0, 0, 1, time.UTC))
	mutating := &admission.Webhook{Handler: defaulter{clock}}
	// update returns the annotation after an update of an object with the annotation to another one.
	update := func(was, before, asked, after string) string {
		stored := cronJob(`"name":"c","generation":1,"annotations":{"a":"b"`+was+`}`, before)
		object := cronJob(`"name":"c","annotations":{"a":"b"`+asked+`}`, after)
		c := &v1.CronJob{}
		require.NoError(t, json.Unmarshal([]byte(patched(t, object, ask(t, mutating, reviewOf(admissionv1.Update, object, stored)).Patch)), c))
		return c.Annotations[v1.EditedAnnotation]
	}
	const (
		defaults = `,"concurrencyPolicy":"Allow","suspend":false,"successfulJobsHistoryLimit":3,"failedJobsHistoryLimit":1,"jobTemplate":{"spec":{}}`
		hourly   = `"schedule":"@hourly"` + defaults
		daily    = `"schedule":"@daily"` + defaults
		forged   = `,"` + v1.EditedAnnotation + `":"forged"`
	)
	created := cronJob(`"name":"c","annotations":{"a":"b"`+forged+`}`, hourly)
	assert.NotContains(t, patched(t, created, ask(t, mutating, reviewOf(admissionv1.Create, created, "null")).Patch), "forged", "a new one has none")

	first := update("", hourly, forged, daily)
	assert.Contains(t, first, `{"generation":1,"at":"2026-01-01T10:00:00.000000001Z","rescheduledAt":"2026-01-01T10:00:00.000000001Z","scheduling":"`)
	assert.Empty(t, update("", hourly, forged, hourly), "there was no edit")
	quoted, err := json.Marshal(first)
	require.NoError(t, err)
	was := `,"` + v1.EditedAnnotation + `":` + string(quoted)
	assert.Equal(t, first, update(was, daily, forged, daily), "a request can't change it")
	assert.Equal(t, first, update(was, daily, "", daily), "nor drop it")
	assert.Equal(t, first, update(was, daily, "", `"schedule":"@daily","jobTemplate":{"spec":{}}`), "what has a default may be left out")
	template := strings.Replace(daily, `{"spec":{}}`, `{"spec":{"suspend":true}}`, 1)
	assert.Contains(t, update("", daily, "", template), `{"generation":1,"at":"2026-01-01T10:00:00.000000001Z","scheduling":"`,
		"an edit of the template alone")
	assert.Contains(t, update("", `"suspend":"yes"`, "", hourly), `"rescheduledAt":"2026-01-01T10:00:00.000000001Z"`, "what could not be decoded started nothing")
}

func TestS7NoRequestForgesOrDropsTheTimeOfAnEdit(t *testing.T) {
	const (
		stamp    = `"` + v1.EditedAnnotation + `":`
		stored   = `"name":"c","generation":3,"annotations":{"a":"b",` + stamp + `"stored"}`
		defaults = `,"concurrencyPolicy":"Allow","suspend":false,"successfulJobsHistoryLimit":3,"failedJobsHistoryLimit":1,"jobTemplate":{"spec":{}}`
		hourly   = `"schedule":"@hourly"` + defaults
		daily    = `"schedule":"@daily"` + defaults
		kept     = "stored"
		none     = ""
		fresh    = `{"generation":3,"at":"2026-01-01T10:00:00Z","rescheduledAt":"2026-01-01T10:00:00Z","scheduling":"`
	)
	full := `"annotations":{"a":"` + strings.Repeat("x", apivalidation.TotalAnnotationSizeLimitB-1) + `"}`
	clock := clocktesting.NewFakePassiveClock(time.Date(2026, time.January, 1, 10, 0, 0, 0, time.UTC))
	mutating := serve(defaulter{clock})
	for name, tc := range map[string]struct{ before, after, want string }{
		"a new one, with annotations that are null": {"null", cronJob(`"annotations":null`, hourly), none},
		"a new one, forged":                         {"null", cronJob(`"annotations":{`+stamp+`"forged"}`, hourly), none},
		"a manifest without annotations":            {cronJob(stored, hourly), cronJob(`"name":"c"`, hourly), kept},
		"a manifest without defaults":               {cronJob(stored, hourly), cronJob(`"name":"c"`, `"schedule":"@hourly","jobTemplate":{"spec":{}}`), kept},
		"annotations that are null":                 {cronJob(stored, hourly), cronJob(`"annotations":null`, hourly), kept},
		"annotations that were removed":             {cronJob(stored, hourly), cronJob(`"annotations":{}`, hourly), kept},
		"a forged one":                              {cronJob(stored, hourly), cronJob(`"annotations":{`+stamp+`"forged"}`, hourly), kept},
		"a forged one, and a generation":            {cronJob(stored, hourly), cronJob(`"generation":9,"annotations":{`+stamp+`"forged"}`, daily), fresh},
		"an empty one":                              {cronJob(stored, hourly), cronJob(`"annotations":{`+stamp+`""}`, hourly), kept},
		"a null one":                                {cronJob(stored, hourly), cronJob(`"annotations":{`+stamp+`null}`, hourly), kept},
		"labels and finalizers":                     {cronJob(stored, hourly), cronJob(stored+`,"labels":{"a":"b"},"finalizers":["a/b"]`, hourly), kept},
		"a status": {cronJob(stored, hourly), strings.Replace(cronJob(stored, hourly), `"spec"`,
			`"status":{"lastScheduleTime":"2026-01-01T00:00:00Z"},"spec"`, 1), kept},
		"an edit, with annotations that are null":   {cronJob(stored, hourly), cronJob(`"annotations":null`, daily), fresh},
		"an edit, with the stored one":              {cronJob(stored, hourly), cronJob(stored, daily), fresh},
		"an edit, and no room for an annotation":    {cronJob(stored, hourly), cronJob(full, daily), none},
		"an edit of what has no spec":               {`{"metadata":{` + stored + `}}`, cronJob(stored, hourly), fresh},
		"an edit of what has a null as spec":        {`{"metadata":{` + stored + `},"spec":null}`, cronJob(stored, hourly), fresh},
		"an edit of a field that has a wrong type":  {cronJob(stored, `"suspend":"yes"`), cronJob(stored, hourly), fresh},
		"an edit of what is no time":                {cronJob(stored, `"notBefore":"yesterday","schedule":"@hourly"`), cronJob(stored, hourly), fresh},
		"an edit of a spec that is no object":       {`{"metadata":{` + stored + `},"spec":5}`, cronJob(stored, hourly), fresh},
		"an edit of a template that has wrong type": {cronJob(stored, hourly+`,"jobTemplate":5`), cronJob(stored, daily), fresh},
	} {
		t.Run(name, func(t *testing.T) {
			operation := admissionv1.Update
			if tc.before == "null" {
				operation = admissionv1.Create
			}
			answer := ask(t, mutating, reviewOf(operation, tc.after, tc.before))
			require.True(t, answer.Allowed)
			c := &v1.CronJob{}
			require.NoError(t, json.Unmarshal([]byte(patched(t, tc.after, answer.Patch)), c))
			got, ok := c.Annotations[v1.EditedAnnotation]
			assert.Equal(t, tc.want != none, ok)
			if !strings.HasPrefix(got, tc.want) {
				assert.Equal(t, tc.want, got)
			}
			require.NoError(t, apivalidation.ValidateAnnotationsSize(c.Annotations))
		})
	}
}

func TestWhatHasTheWrongTypeIsLeftToTheSchema(t *testing.T) {
	mutating, _ := webhooks(t)
	for _, object := range []string{
		cronJob(``, `"suspend":"yes"`),
		cronJob(``, `"schedule":{"minute":"0"}`),
		cronJob(`"annotations":{"a":5}`, ``),
		`{"spec":[]}`,
		`[]`,
		cronJob(``, `"jobTemplate":5`),
		cronJob(``, `"jobTemplate":{"spec":{"suspend":5}}`),
		cronJob(`"name":5`, ``),
	} {
		t.Run(object, func(t *testing.T) {
			assert.True(t, ask(t, mutating, reviewOf(admissionv1.Create, object, "null")).Allowed)
		})
	}
}

// patched applies a patch, if there is one.
func patched(t *testing.T, object string, patch []byte) string {
	t.Helper()
	if len(patch) == 0 {
		return object
	}
	decoded, err := jsonpatch.DecodePatch(patch)
	require.NoError(t, err)
	after, err := decoded.Apply([]byte(object))
	require.NoError(t, err)
	return string(after)
}
