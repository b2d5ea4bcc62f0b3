// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/plan"
)

// Requests of the manager, as the audit log counts them.
const (
	createJob   = "create jobs"
	deleteJob   = "delete jobs"
	writeStatus = "patch cronjobs/status"
	createEvent = "create events"
	patchEvent  = "patch events"
)

// assertWritesOnly checks that the manager asked for nothing but what a run may cost.
func assertWritesOnly(t *testing.T, counts map[string]int) {
	t.Helper()
	for what := range counts {
		assert.Contains(t, []string{createJob, deleteJob, writeStatus, createEvent, patchEvent}, what, "the cache answers")
	}
}

func TestW1ARunCostsNoMoreThanItsBudget(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		result             batchv1.JobConditionType
		successful, failed int32
	}{
		"successes, of which one is kept": {result: batchv1.JobComplete, successful: 1, failed: 1},
		"successes, of which none is":     {result: batchv1.JobComplete, successful: 0, failed: 1},
		"failures, of which one is kept":  {result: batchv1.JobFailed, successful: 1, failed: 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSpace(t)
			s.endJobs(test.result)
			s.create(s.cronJob("c").Schedule("@every 2s").History(test.successful, test.failed).Obj())
			s.eventually(func() bool { return len(s.events("c", plan.EventSawCompletedJob)) >= 4 }, "there are no four runs")
			// A deletion ends it, as no edit would, without a conflict that has to be counted too.
			s.delete("c")
			s.audit.settle(t, s.ns)

			counts := s.audit.count(t, s.ns)
			runs := counts[createJob]
			assertWritesOnly(t, counts)
			assert.LessOrEqual(t, counts[writeStatus], 2*runs+1, "two each, and one when it was created")
			assert.LessOrEqual(t, counts[deleteJob], runs)
			assert.LessOrEqual(t, counts[createEvent]+counts[patchEvent], 2*runs)
			for _, r := range s.audit.in(t, s.ns) {
				assert.True(t, r.Code < 300 || r.Code == http.StatusNotFound, "%s", r)
			}
			assert.Len(t, s.events("c", plan.EventSuccessfulCreate), runs, "and each run is told of")
		})
	}
}

func TestW2IdleCronJobsCostNothing(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	const many = 20
	for i := range many {
		s.create(s.cronJob(fmt.Sprintf("c%d", i)).Schedule(nextYear).Obj())
	}
	s.create(s.cronJob("suspended").Schedule("@every 1s").Suspend(true).Obj())
	for i := range many {
		s.awaitReady(fmt.Sprintf("c%d", i), metav1.ConditionTrue, v1.ReasonScheduled)
	}
	s.audit.settle(t, s.ns)
	assert.Equal(t, map[string]int{writeStatus: many + 1}, s.audit.count(t, s.ns), "one status each, when it was created")
	s.audit.requireSilence(t, s.ns, 5*time.Second)
}

func TestW3AnEditThatMeansNothingToTheScheduleIsWrittenOnceOrNotAtAll(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(s.cronJob("c").Schedule(nextYear).Obj())
	s.awaitReady("c", metav1.ConditionTrue, v1.ReasonScheduled)
	s.edit("c", func(c *v1.CronJob) { c.Labels = map[string]string{"touched": "yes"} })
	s.audit.settle(t, s.ns)
	assert.Equal(t, 1, s.audit.count(t, s.ns)[writeStatus], "labels change no generation")
	s.edit("c", func(c *v1.CronJob) { c.Spec.SuccessfulJobsHistoryLimit = new(int32(7)) })
	s.awaitReady("c", metav1.ConditionTrue, v1.ReasonScheduled)
	s.audit.settle(t, s.ns)
	assert.Equal(t, 2, s.audit.count(t, s.ns)[writeStatus], "the observed generation")
}

func TestTheManagerReadsTheAPIServerOnlyToFillItsCache(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.endJobs(batchv1.JobComplete)
	s.create(s.cronJob("c").Schedule("@every 1s").Obj())
	s.eventually(func() bool { return s.audit.count(t, s.ns)[createJob] >= 3 }, "there are no three runs")
	for _, r := range s.audit.in(t, "") {
		switch r.Resource {
		case "jobs", "cronjobs":
			assert.Contains(t, []string{"watch", "list"}, r.Verb, "%s", r)
		case "": // discovery
		default: // whether the API server trusts the certificate
			assert.Equal(t, crdName, r.Name, "%s", r)
		}
	}
	assertWritesOnly(t, s.audit.count(t, s.ns))
}

func TestO4ARunIsOneLineInTheLog(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.endJobs(batchv1.JobComplete)
	s.create(s.cronJob("c").Schedule("@every 1s").History(0, 0).Obj())
	s.eventually(func() bool { return s.audit.count(t, s.ns)[createJob] >= 3 }, "there are no three runs")
	s.edit("c", func(c *v1.CronJob) { c.Spec.Suspend = new(true) })
	s.awaitReady("c", metav1.ConditionTrue, v1.ReasonSuspended)
	s.audit.settle(t, s.ns)
	var lines []string
	for line := range strings.Lines(s.manager.log()) {
		if strings.Contains(line, s.ns) {
			lines = append(lines, line)
		}
	}
	assert.Len(t, lines, s.audit.count(t, s.ns)[createJob])
	for _, line := range lines {
		assert.Contains(t, line, `"msg":"Started a Job"`)
		assert.NotContains(t, line, "busybox", "a whole object")
	}
}
