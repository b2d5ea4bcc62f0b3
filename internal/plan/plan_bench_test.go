// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tutorial.kubebuilder.io/project/test/builders"
)

// BenchmarkDecideAtATickWithFourJobs starts a Job, which it builds from the template.
func BenchmarkDecideAtATickWithFourJobs(b *testing.B) {
	c := cron().Obj()
	in := NewInput(c, at("09:59:00"))
	in.CronJob.Status = Decide(in).Status
	in.CronJob.Status.LastScheduleTime = &metav1.Time{Time: at("10:15:00")}
	in.CronJob.Status.NextScheduleTime = &metav1.Time{Time: at("10:20:00")}
	for _, clock := range []string{"10:00:00", "10:05:00", "10:10:00", "10:15:00"} {
		in.Jobs = append(in.Jobs, builders.MakeJob(c, at(clock)).Succeeded(at("10:16:00")).Obj())
	}
	in.Now = at("10:20:00")
	if Decide(in).Start == nil {
		b.Fatal("no Job is started")
	}
	b.ReportAllocs()
	for b.Loop() {
		Decide(in)
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
