// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/test/builders"
)

// fourSucceeded has the Jobs of four ticks from 10:00 on.
func fourSucceeded(c *v1.CronJob) []*batchv1.Job {
	var jobs []*batchv1.Job
	for _, clock := range []string{"10:00:00", "10:05:00", "10:10:00", "10:15:00"} {
		jobs = append(jobs, builders.MakeJob(c, at(clock)).Succeeded(at("10:16:00")).Obj())
	}
	return jobs
}

// BenchmarkDecideAtATickWithFourJobs starts a Job, which it builds from the template.
func BenchmarkDecideAtATickWithFourJobs(b *testing.B) {
	c := cron().Obj()
	in := NewInput(c, at("09:59:00"))
	in.CronJob.Status = Decide(in).Status
	in.CronJob.Status.LastScheduleTime = &metav1.Time{Time: at("10:15:00")}
	in.CronJob.Status.NextScheduleTime = &metav1.Time{Time: at("10:20:00")}
	in.Jobs = fourSucceeded(c)
	in.Now = at("10:20:00")
	if Decide(in).Start == nil {
		b.Fatal("no Job is started")
	}
	b.ReportAllocs()
	for b.Loop() {
		Decide(in)
	}
}

// BenchmarkReconcileAtATickWithManyFeatures starts a Job, and also parses the schedules and makes
// the status, as each reconcile does.
func BenchmarkReconcileAtATickWithManyFeatures(b *testing.B) {
	c := cron().TimeZone("Europe/Berlin").Also("7 6 * * 1-5", "13 4 1 * *").Exclude("2026-12-24/2026-12-26", "--02-28").
		NotBefore(at("00:00:00")).NotAfter(at("00:00:00").AddDate(1, 0, 0)).Jitter(60).CatchUp(3).Deadline(600).
		Policy(v1.ReplaceConcurrent).StopAfterFailures(5).History(3, 1).Obj()
	c.Status = Decide(NewInput(c, at("09:59:00"))).Status
	c.Status.LastScheduleTime = &metav1.Time{Time: at("10:15:00")}
	c.Status.NextScheduleTime = &metav1.Time{Time: at("10:20:00")}
	jobs := fourSucceeded(c)
	b.ReportAllocs()
	for b.Loop() {
		in := NewInput(c, at("10:24:50"), jobs...)
		p := Decide(in)
		if p.Start == nil {
			b.Fatal("no Job is started")
		}
		Conclude(in, p, Outcome{Job: p.Start.Job})
	}
}

// BenchmarkDecideWithManyActiveJobs starts a Job beside Jobs that never end.
func BenchmarkDecideWithManyActiveJobs(b *testing.B) {
	for _, count := range []int{1000, 4000, 8000} {
		b.Run(strconv.Itoa(count), func(b *testing.B) {
			c := builders.MakeCronJob("c").Created(at("00:00:00").AddDate(0, 0, -10)).Obj()
			in := NewInput(c, at("10:00:00"))
			in.CronJob.Status = Decide(in).Status
			in.CronJob.Status.LastScheduleTime = &metav1.Time{Time: at("09:59:00")}
			in.CronJob.Status.NextScheduleTime = &metav1.Time{Time: at("10:00:00")}
			for i := range count {
				in.Jobs = append(in.Jobs, builders.MakeJob(c, at("09:59:00").Add(time.Duration(-i)*time.Minute)).Obj())
			}
			rand.New(rand.NewPCG(1, 2)).Shuffle(count, func(i, j int) { in.Jobs[i], in.Jobs[j] = in.Jobs[j], in.Jobs[i] })
			in.CronJob.Status = Decide(in).Status
			b.ReportAllocs()
			for b.Loop() {
				p := Decide(in)
				if p.Start == nil || p.DeletedCount != 0 {
					b.Fatal("no Job is started, or some are gone")
				}
				Conclude(in, p, Outcome{Job: p.Start.Job})
			}
		})
	}
}
