// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	v2 "tutorial.kubebuilder.io/project/apis/batch/v2"
	"tutorial.kubebuilder.io/project/internal/plan"
)

// While the conversion webhook does not answer, an API server before 1.37 drops the managed fields
// of each object that is written and has some in v2. The tests here are not parallel: no other test
// can use v2 meanwhile.

// stopConversion has the API server look for the conversion webhook where nothing listens. It
// returns the function that ends this; the end of the test does so too.
func (s *space) stopConversion(name string) (resume func()) {
	s.t.Helper()
	admin, crd := direct(s.t), &apiextensionsv1.CustomResourceDefinition{}
	require.NoError(s.t, admin.Get(s.t.Context(), client.ObjectKey{Name: crdName}, crd))
	convertAt := func(url string, isAnswered bool) {
		s.t.Helper()
		patch := fmt.Sprintf(`{"spec":{"conversion":{"webhook":{"clientConfig":{"url":%q}}}}}`, url)
		ctx := context.WithoutCancel(s.t.Context()) // it is over when the test cleans up
		require.NoError(s.t, admin.Patch(ctx, crd, client.RawPatch(types.MergePatchType, []byte(patch))))
		s.eventually(func() bool {
			return (s.Client.Get(ctx, s.key(name), &v2.CronJob{}) == nil) == isAnswered
		}, "the API server does not convert as it is told")
	}
	working := *crd.Spec.Conversion.Webhook.ClientConfig.URL
	resume = func() { convertAt(working, true) }
	s.t.Cleanup(resume)
	convertAt("https://127.0.0.1:1/convert", false)
	return resume
}

func TestS7AnEditIsWrittenDownWhileTheConversionWebhookDoesNotAnswer(t *testing.T) {
	s := newSpace(t)
	require.NoError(t, s.apply("one", "v2", "schedule: {every: 1s}\nsuspend: true\n"+jobTemplate))
	s.awaitReady("c", metav1.ConditionTrue, v1.ReasonSuspended)
	s.stopConversion("c")

	s.edit("c", func(c *v1.CronJob) { c.Spec.Suspend = new(false) })
	generation, stamp := s.edited("c")
	assert.EqualValues(t, 1, generation)
	made := struct{ RescheduledAt time.Time }{}
	require.NoError(t, json.Unmarshal([]byte(stamp), &made))
	assert.True(t, tickOf(t, &s.awaitJobs("c", 1)[0]).After(made.RescheduledAt))
}

func TestS2S4S11EachTickRunsOnceAndWritesStayWhileTheConversionWebhookDoesNotAnswer(t *testing.T) {
	s := newSpace(t)
	// All, so that each tick runs on a machine that is late too.
	const spec = "schedule: {every: 1s}\ncatchUpPolicy: All\ncatchUpLimit: 100\n" + jobTemplate
	require.NoError(t, s.apply("one", "v2", spec))
	s.awaitRuns("c", 2)
	require.Contains(t, s.ownersOf("spec", "schedule"), "one in v2")
	resume := s.stopConversion("c")

	s.awaitRuns("c", 3)
	isDropped := len(s.ownersOf("spec", "schedule")) == 0
	assert.Equal(t, s.isOlderThan(t, "1.37"), isDropped, "only an older API server drops the managed fields")
	s.edit("c", func(c *v1.CronJob) {
		c.Labels = map[string]string{"written": "in-v1"}
		c.Spec.FailedJobsHistoryLimit = new(int32(7))
	})
	zoned := spec + "\ntimeZone: Europe/Paris"
	assert.ErrorContains(t, s.apply("one", "v2", zoned), "conversion webhook for batch.tutorial.kubebuilder.io/v")
	s.awaitRuns("c", 3)
	assert.Nil(t, s.get("c").Spec.TimeZone, "what was refused is not stored")

	resume()
	c := s.getV2("c")
	assert.Equal(t, map[string]string{"written": "in-v1"}, c.Labels)
	assert.Equal(t, new(int32(7)), c.Spec.FailedJobsHistoryLimit)
	require.NoError(t, s.apply("one", "v2", spec+"\nstartingDeadlineSeconds: 3600"))
	c = s.getV2("c")
	assert.Equal(t, new(int32(7)), c.Spec.FailedJobsHistoryLimit, "of what others have written, an apply changes nothing")
	assert.Equal(t, new(int64(3600)), c.Spec.StartingDeadlineSeconds)
	s.awaitRuns("c", 3)
	s.requireEachSecondRanOnce("c")
}

// requireEachSecondRanOnce requires that from the first tick of a CronJob to the last each second
// has had one Job, and none before its time.
func (s *space) requireEachSecondRanOnce(name string) {
	s.t.Helper()
	jobs := s.jobs(name)
	first := tickOf(s.t, &jobs[0])
	for i := range jobs {
		require.Equal(s.t, first.Add(time.Duration(i)*time.Second), tickOf(s.t, &jobs[i]), "Job %d of %d", i+1, len(jobs))
	}
	assert.Empty(s.t, s.events(name, plan.EventMissSchedule))
	s.requireNoJobWasAskedForEarly()
}
