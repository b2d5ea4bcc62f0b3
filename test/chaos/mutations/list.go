// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package mutations

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/test/chaos/checker"
	"tutorial.kubebuilder.io/project/test/plane"
)

// All has all mutations, at least one for each law.
var All = []Mutation{
	{
		Name: "a Job is created twice, under two names", Law: checker.Doubled,
		createJob: func(e *exchange, job *batchv1.Job) (*http.Response, error) {
			again := job.DeepCopy()
			again.Name += "x"
			discard(e.sendObject(again))
			return e.send()
		},
	},
	{
		Name: "one Job in three is said to be created, and is not", Law: checker.Lost,
		createJob: func(e *exchange, job *batchv1.Job) (*http.Response, error) {
			if job.Name[len(job.Name)-1]%3 > 0 {
				return e.send()
			}
			job.UID = "lost"
			return plane.Reply(e.Request, http.StatusCreated, job)
		},
	},
	{
		Name: "a Job is created without the owner", Law: checker.Unasked,
		createJob: func(e *exchange, job *batchv1.Job) (*http.Response, error) {
			job.OwnerReferences = nil
			return e.sendObject(job)
		},
	},
	{
		Name: "the Pods do not carry the tick", Law: checker.Unlabelled,
		createJob: func(e *exchange, job *batchv1.Job) (*http.Response, error) {
			delete(job.Spec.Template.Annotations, v1.ScheduledAtAnnotation)
			return e.sendObject(job)
		},
	},
	{
		Name: "a Job is deleted while it runs", Law: checker.DeletedWhileRunning,
		createJob: func(e *exchange, job *batchv1.Job) (*http.Response, error) {
			time.AfterFunc(300*time.Millisecond, func() { discard(e.deleteJob(job.Name)) })
			return e.send()
		},
	},
	{
		Name: "a Job is asked for eight seconds late", Law: checker.PastDeadline,
		createJob: func(e *exchange, _ *batchv1.Job) (*http.Response, error) {
			time.Sleep(8 * time.Second)
			return e.send()
		},
	},
	{
		Name: "a creation that is refused is tried again late", Law: checker.RetriedLate,
		Flags: []string{"-faults=creates-denied,quota-full", "-duration=60s"},
		createJob: func(e *exchange, _ *batchv1.Job) (*http.Response, error) {
			response, err := e.send()
			if err == nil && response.StatusCode == http.StatusForbidden {
				time.Sleep(4 * time.Second)
			}
			return response, err
		},
	},
	{
		Name: "a creation that is refused once is not tried for newer ticks", Law: checker.NotTried,
		Flags: []string{"-faults=creates-denied,quota-full", "-duration=60s"},
		createJob: func(e *exchange, job *batchv1.Job) (*http.Response, error) {
			owner := job.Namespace + "/" + job.OwnerReferences[0].Name
			if _, isRefused := e.refused.Load(owner); isRefused {
				return plane.Refuse(e.Request, apierrors.NewForbidden(schema.GroupResource{Resource: "jobs"}, job.Name, errors.New("mutated")))
			}
			response, err := e.send()
			if err == nil && response.StatusCode == http.StatusForbidden {
				e.refused.Store(owner, true)
			}
			return response, err
		},
	},
	{
		Name: "a creation that is invalid is tried again", Law: checker.RetriedInvalid,
		Flags: []string{"-faults=creates-invalid", "-duration=60s"},
		createJob: func(e *exchange, _ *batchv1.Job) (*http.Response, error) {
			response, err := e.send()
			if err == nil && response.StatusCode == http.StatusUnprocessableEntity {
				discard(response, err)
				return e.send()
			}
			return response, err
		},
	},
	{
		Name: "missed ticks are not reported", Law: checker.Untold,
		createEvent: func(e *exchange, event *eventsv1.Event) (*http.Response, error) {
			if event.Reason != missed {
				return e.send()
			}
			return plane.Reply(e.Request, http.StatusCreated, event)
		},
	},
	{
		Name: "missed ticks are reported twice", Law: checker.ReportedTwice,
		createEvent: func(e *exchange, event *eventsv1.Event) (*http.Response, error) {
			if event.Reason == missed {
				again := event.DeepCopy()
				again.Name += "x"
				discard(e.sendObject(again))
			}
			return e.send()
		},
	},
	{
		Name: "a tick that has run is reported as missed", Law: checker.RunAndReported,
		createEvent: func(e *exchange, event *eventsv1.Event) (*http.Response, error) {
			if seconds := tickOfJob.FindStringSubmatch(event.Note); event.Reason == "SuccessfulCreate" && seconds != nil {
				unix, _ := strconv.ParseInt(seconds[1], 10, 64)
				event.Reason = missed
				event.Note = fmt.Sprintf("Missed scheduled time %s: mutated", time.Unix(unix, 0).UTC().Format(time.RFC3339))
				return e.sendObject(event)
			}
			return e.send()
		},
	},
	{
		Name: "the ends of Jobs are counted, and not reported", Law: checker.WrongMetrics,
		createEvent: func(e *exchange, event *eventsv1.Event) (*http.Response, error) {
			if event.Reason != "SawCompletedJob" {
				return e.send()
			}
			return plane.Reply(e.Request, http.StatusCreated, event)
		},
	},
	{
		Name: "lastScheduleTime is written an hour too early at times", Law: checker.WentBack,
		patchStatus: func(status map[string]any) {
			if last, err := time.Parse(time.RFC3339, fmt.Sprint(status["lastScheduleTime"])); err == nil && last.Second()%3 == 0 {
				status["lastScheduleTime"] = last.Add(-time.Hour).Format(time.RFC3339)
			}
		},
	},
	{
		Name: "the last Job that has ended stays active", Law: checker.WrongStatus,
		patchStatus: func(status map[string]any) {
			if active, isList := status["active"].([]any); !isList || len(active) == 0 {
				delete(status, "active")
			}
		},
	},
	{
		Name: "the clock is two seconds ahead", Law: checker.Early, ClockStep: 2 * time.Second,
	},
	{
		Name: "the clock is seven seconds behind", Law: checker.NotNewest, ClockStep: -7 * time.Second,
	},
	{
		Name: "the clock is ten seconds behind that of edits", Law: checker.AfterEdit, ClockStep: -10 * time.Second,
	},
	reading("each edit is taken for one of long ago", checker.AfterEdit, `(rescheduledAt\\":\\")\d{4}`, "${1}2020"),
	reading("CronJobs are taken for suspended", checker.Stuck, `"suspend":false`, `"suspend":true`, "-calm=25s"),
	reading("Forbid is taken for Allow", checker.ForbidOverlaps, `"concurrencyPolicy":"Forbid"`, `"concurrencyPolicy":"Allow"`),
	reading("Replace is taken for Allow", checker.ReplaceLeavesOne, `"concurrencyPolicy":"Replace"`, `"concurrencyPolicy":"Allow"`),
	reading("ten more Jobs run at once than may", checker.TooMany,
		`"maxConcurrency":(\d)`, `"maxConcurrency":1$1`, "-duration=90s"),
	reading("no failures stop anything", checker.AfterFailures, `"stopAfterFailures":(\d)`, `"stopAfterFailures":1$1`, "-duration=2m"),
	reading("the jitter is taken for none", checker.Early, `"jitterSeconds":\d+`, `"jitterSeconds":0`),
	reading("ten more ticks catch up than may", checker.BeyondLimit,
		`"catchUpLimit":(\d)`, `"catchUpLimit":1$1`, "-faults=creates-denied,quota-full", "-duration=60s"),
	reading("excluded days are taken for others", checker.Excluded, `"exclude":\[[^]]*\]`, `"exclude":[]`),
	reading("suspend is ignored", checker.AfterSuspend, `"suspend":true`, `"suspend":false`),
	reading("an interval is taken for a longer one", checker.NoTick, `"@every (\d)s"`, `"@every 1${1}s"`),
	reading("a history limit is ten more", checker.HistoryTooLong, `JobsHistoryLimit":(\d)`, `JobsHistoryLimit":1$1`),
	reading("a history limit is taken for zero", checker.PrunedTooMuch, `JobsHistoryLimit":\d+`, `JobsHistoryLimit":0`),
	{
		Name: "the deletion of a CronJob is not noticed", Law: checker.AfterDelete,
		Flags: []string{"-duration=2m"},
		read: func(line []byte) []byte {
			if bytes.HasPrefix(line, []byte(`{"type":"DELETED"`)) {
				return nil
			}
			return line
		},
	},
}

// missed is the reason of events about missed ticks.
const missed = "MissSchedule"

// tickOfJob matches the end of a Job's name, which is its tick.
var tickOfJob = regexp.MustCompile(`-(\d{10})\b`)

// reading returns a mutation that replaces a pattern in what the manager reads of CronJobs.
func reading(name string, law checker.Law, pattern, by string, flags ...string) Mutation {
	compiled := regexp.MustCompile(pattern)
	read := func(line []byte) []byte { return compiled.ReplaceAll(line, []byte(by)) }
	return Mutation{Name: name, Law: law, Flags: flags, read: read}
}
