// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/test/builders"
)

var update = flag.Bool("update", false, "write the golden files anew")

// world carries out plans without an API server, and records what happens.
type world struct {
	t      *testing.T
	c      *v1.CronJob
	jobs   []*batchv1.Job
	ends   map[string]time.Time // of Jobs that run, by name
	now    time.Time
	wake   time.Time
	down   bool                                                   // the manager does not run
	refuse string                                                 // why Jobs can't be created, if they can't
	takes  func(tick time.Time) (last time.Duration, failed bool) // a Job's run time and result
	story  strings.Builder
}

// scene is an event from outside at a time.
type scene struct {
	at   time.Time
	what string
	do   func(*world)
}

// tell adds a line to the story.
func (w *world) tell(format string, args ...any) {
	fmt.Fprintf(&w.story, "%s  %s\n", w.now.Format("2006-01-02 15:04:05"), fmt.Sprintf(format, args...))
}

// edit changes the spec as a user would.
func edit(change func(*v1.CronJob)) func(*world) {
	return func(w *world) {
		w.c = stamped(w.c, w.now, change)
	}
}

// play runs the world through the scenes until the end.
func (w *world) play(end time.Time, scenes ...scene) {
	for {
		next, what := end, func() {}
		soonest := func(at time.Time, do func()) {
			if !at.IsZero() && at.Before(next) {
				next, what = at, do
			}
		}
		if len(scenes) > 0 {
			first := scenes[0]
			soonest(first.at, func() {
				w.tell("* %s", first.what)
				first.do(w)
				scenes = scenes[1:]
			})
		}
		for _, name := range slices.Sorted(keys(w.ends)) {
			soonest(w.ends[name], func() { w.finish(name) })
		}
		if !w.down {
			soonest(w.wake, func() {})
		}
		if !next.Before(end) {
			return
		}
		if next.After(w.now) {
			w.now = next
		}
		what()
		if !w.down {
			w.reconcile()
		}
	}
}

func keys(m map[string]time.Time) func(func(string) bool) {
	return func(yield func(string) bool) {
		for key := range m {
			if !yield(key) {
				return
			}
		}
	}
}

// finish ends a Job that runs.
func (w *world) finish(name string) {
	delete(w.ends, name)
	for i, job := range w.jobs {
		if job.Name != name {
			continue
		}
		tick := AgeFrom(job)
		result := builders.MakeJob(w.c, tick).Succeeded(w.now)
		if _, failed := w.takes(tick); failed {
			result = builders.MakeJob(w.c, tick).Failed(w.now)
		}
		w.jobs[i] = job.DeepCopy()
		w.jobs[i].Status = result.Obj().Status
	}
}

// backfill creates Jobs of ticks as a user would.
func backfill(ticks ...string) func(*world) {
	return func(w *world) {
		for _, tick := range ticks {
			job := builders.MakeJob(w.c, at(tick)).Backfilled(w.now).Obj()
			w.jobs = append(w.jobs, job)
			last, _ := w.takes(at(tick))
			w.ends[job.Name] = w.now.Add(last)
		}
	}
}

// reconcile does what the reconciler does.
func (w *world) reconcile() {
	in := NewInput(w.c, w.now, w.jobs...)
	p := Decide(in)
	for _, ended := range p.Ended {
		w.tell("%s %s", label(ended), strings.ToLower(string(ResultOf(ended))))
	}
	for _, missed := range p.Missed {
		w.tell("missed %d from %s to %s: %s", missed.Count, missed.First.Format(time.DateTime), missed.Last.Format(time.DateTime), missed.Reason)
	}
	for _, event := range p.Events {
		switch event.Reason {
		case EventJobAlreadyActive:
			w.tell("waits for %s", label(event.Related))
		case EventStoppedAfterFailures:
			w.tell("stopped after %d failures", *w.c.Spec.StopAfterFailures)
		default:
			w.tell("rejected: %s", event.Note)
		}
	}
	w.remove("prune", p.Prune)
	w.remove("replace", p.Replace)
	outcome := Outcome{Deleted: p.Replace}
	if p.Start != nil {
		w.start(p, &outcome)
	}
	done := Conclude(in, p, outcome)
	if done.Refused != nil {
		w.tell("can't start %s: %s", p.Start.Tick.Format("15:04:05"), w.refuse)
	}
	require.False(w.t, w.c.Status.LastScheduleTime != nil &&
		done.Status.LastScheduleTime.Time.Before(w.c.Status.LastScheduleTime.Time), "S5: lastScheduleTime goes back at %s", w.now)
	w.c.Status = done.Status
	w.wake = done.WakeAt
	if done.Again {
		w.wake = w.now
	}
}

// start creates the Job of the plan's tick.
func (w *world) start(p Plan, outcome *Outcome) {
	require.False(w.t, w.now.Before(p.Start.Tick.Add(Jitter(w.c))), "S11: %s starts at %s", p.Start.Tick, w.now)
	if w.refuse != "" {
		outcome.Refused = errors.New(w.refuse)
		return
	}
	job := builders.MakeJob(w.c, p.Start.Tick).Obj()
	for _, other := range w.jobs {
		require.NotEqual(w.t, other.Name, job.Name, "S4: exactly once")
	}
	w.jobs = append(w.jobs, job)
	last, _ := w.takes(p.Start.Tick)
	w.ends[job.Name] = w.now.Add(last)
	w.tell("start %s", label(job))
	outcome.Job = job
}

// remove deletes Jobs.
func (w *world) remove(why string, jobs []*batchv1.Job) {
	for _, job := range jobs {
		w.tell("%s %s", why, label(job))
		delete(w.ends, job.Name)
		w.jobs = slices.DeleteFunc(w.jobs, func(other *batchv1.Job) bool { return other.Name == job.Name })
	}
}

// label names a Job by its tick, if it has one.
func label(job *batchv1.Job) string {
	switch trigger, tick := TriggerOf(job); trigger {
	case v1.TriggerManual:
		return job.Name
	case v1.TriggerBackfill:
		return "the backfill of " + tick.Format("15:04:05")
	default:
		return tick.Format("15:04:05")
	}
}

// TestNarratives tells what happens over many ticks, and compares it with testdata/*.golden.
// Run with -update to write those anew, and read the difference.
func TestNarratives(t *testing.T) {
	minutes := func(n int) func(time.Time) (time.Duration, bool) {
		return func(time.Time) (time.Duration, bool) { return time.Duration(n) * time.Minute, false }
	}
	march := func(day int, clock string) time.Time { return at(clock).AddDate(0, 2, day-1) } // the 32nd is in April
	for name, tc := range map[string]struct {
		build  *builders.CronJob
		takes  func(time.Time) (time.Duration, bool)
		end    time.Time
		scenes []scene
	}{
		"a-day-of-every-five-minutes": {
			build: builders.MakeCronJob("c").Schedule("*/5 * * * *").Created(at("00:00:00")), takes: minutes(1), end: at("00:00:00").AddDate(0, 0, 1),
		},
		"an-outage-of-ten-years": {
			build: builders.MakeCronJob("c").Schedule("30 10,11,12 * * 1-5").Created(at("09:00:00")), takes: minutes(5),
			end: at("18:00:00").AddDate(10, 0, 1),
			scenes: []scene{
				{at("11:31:00"), "the manager goes down", func(w *world) { w.down = true }},
				{at("08:00:00").AddDate(10, 0, 0), "the manager comes back", func(w *world) { w.down = false }},
			},
		},
		"forbid-with-a-slow-job": {
			build: builders.MakeCronJob("c").Schedule("*/10 * * * *").Created(at("09:55:00")).Policy(v1.ForbidConcurrent), end: at("11:40:00"),
			takes: func(tick time.Time) (time.Duration, bool) {
				if tick.Equal(at("10:10:00")) {
					return 35 * time.Minute, true
				}
				return 2 * time.Minute, false
			},
			scenes: []scene{
				{at("11:01:00"), "the deadline becomes three minutes", edit(func(c *v1.CronJob) {
					c.Spec.StartingDeadlineSeconds = new(int64(180))
				})},
				{at("11:01:01"), "Jobs take sixteen minutes from now on", func(w *world) { w.takes = minutes(16) }},
			},
		},
		"no-more-than-two-at-once": {
			build: builders.MakeCronJob("c").Schedule("*/10 * * * *").Created(at("09:55:00")).MaxConcurrency(2), takes: minutes(25), end: at("12:00:00"),
			scenes: []scene{
				{at("10:45:00"), "three may run at once", edit(func(c *v1.CronJob) { c.Spec.MaxConcurrency = new(int32(3)) })},
				{at("11:15:00"), "one may run", edit(func(c *v1.CronJob) { c.Spec.MaxConcurrency = new(int32(1)) })},
			},
		},
		"stopped-after-failures": {
			build: builders.MakeCronJob("c").Schedule("0 * * * *").Created(at("08:30:00")).StopAfterFailures(3), end: at("00:00:00").AddDate(0, 0, 3),
			takes: func(tick time.Time) (time.Duration, bool) { return 10 * time.Minute, tick.Hour()%6 != 0 },
			scenes: []scene{
				{at("20:30:00"), "resumed by an annotation", func(w *world) {
					w.c.Annotations = map[string]string{v1.ResumedAtAnnotation: w.now.Format(time.RFC3339)}
				}},
				{at("12:30:00").AddDate(0, 0, 1), "the manager goes down", func(w *world) { w.down = true }},
				{at("12:40:00").AddDate(0, 0, 1), "the template is edited", edit(func(c *v1.CronJob) { c.Spec.JobTemplate.Labels = map[string]string{"a": "b"} })},
				{at("14:30:00").AddDate(0, 0, 1), "the manager comes back", func(w *world) { w.down = false }},
				{at("12:30:00").AddDate(0, 0, 2), "a manual run succeeds", func(w *world) {
					w.jobs = append(w.jobs, builders.MakeJob(w.c, w.now).Manual().Named("by-hand").Succeeded(w.now).Obj())
				}},
			},
		},
		"jitter": {
			build: builders.MakeCronJob("c").Namespace(delayed97).Schedule("*/10 * * * *").Created(at("09:55:00")).Jitter(300).Deadline(120),
			takes: minutes(1), end: at("11:40:00"),
			scenes: []scene{
				{at("10:20:30"), "edited between a tick and its start", edit(func(c *v1.CronJob) { c.Spec.Schedule = "*/20 * * * *" })},
				{at("10:40:30"), "suspended between a tick and its start", edit(func(c *v1.CronJob) { c.Spec.Suspend = new(true) })},
				{at("11:00:30"), "resumed between a tick and its start", edit(func(c *v1.CronJob) { c.Spec.Suspend = new(false) })},
				{at("11:20:05"), "the manager goes down", func(w *world) { w.down = true }},
				{at("11:23:00"), "the manager comes back", func(w *world) { w.down = false }},
				{at("11:35:00"), "no jitter from now on", edit(func(c *v1.CronJob) { c.Spec.JitterSeconds = nil })},
			},
		},
		"all-that-an-outage-owes": {
			build: builders.MakeCronJob("c").Schedule("0 * * * *").Created(at("08:30:00")).Policy(v1.ForbidConcurrent).CatchUp(4).History(1, 1),
			takes: minutes(10), end: at("00:00:00").AddDate(0, 0, 3),
			scenes: []scene{
				{at("10:30:00"), "the manager goes down", func(w *world) { w.down = true }},
				{at("18:05:00"), "the manager comes back", func(w *world) { w.down = false }},
				{at("22:30:00"), "the quota is used up", func(w *world) { w.refuse = "exceeded quota" }},
				{at("01:30:00").AddDate(0, 0, 1), "there is room again", func(w *world) { w.refuse = "" }},
				{at("06:30:00").AddDate(0, 0, 1), "Jobs take five hours from now on", func(w *world) { w.takes = minutes(300) }},
				{at("20:30:00").AddDate(0, 0, 1), "and ten minutes again", func(w *world) { w.takes = minutes(10) }},
				{at("04:30:00").AddDate(0, 0, 2), "the manager goes down", func(w *world) { w.down = true }},
				{at("06:40:00").AddDate(0, 0, 2), "edited", edit(func(c *v1.CronJob) { c.Spec.Schedule = "0,30 * * * *" })},
				{at("08:10:00").AddDate(0, 0, 2), "the manager comes back", func(w *world) { w.down = false }},
				{at("09:40:00").AddDate(0, 0, 2), "suspended", edit(func(c *v1.CronJob) { c.Spec.Suspend = new(true) })},
				{at("12:40:00").AddDate(0, 0, 2), "resumed", edit(func(c *v1.CronJob) { c.Spec.Suspend = new(false) })},
			},
		},
		"all-of-them": {
			build: builders.MakeCronJob("c").Namespace(delayed97).Schedule("*/30 * * * *").Also("45 6 * * 1-5", "45 23 LW * *").TimeZone("Europe/Paris").
				Exclude("2026-03-30", "2026-04-03/2026-04-04").NotBefore(march(24, "09:00:00")).NotAfter(march(36, "16:00:00")).
				Created(march(24, "07:40:00")).Jitter(600).Deadline(3*3600).MaxConcurrency(2).StopAfterFailures(3).CatchUp(5).History(1, 1),
			takes: func(tick time.Time) (time.Duration, bool) {
				return 50 * time.Minute, tick.Hour() == 20 || tick.Hour() == 21
			},
			end: march(38, "00:00:00"),
			scenes: []scene{
				{march(24, "12:01:00"), "the manager goes down", func(w *world) { w.down = true }},
				{march(24, "15:02:00"), "the manager comes back", func(w *world) { w.down = false }},
				{march(25, "07:45:00"), "resumed by an annotation", func(w *world) {
					w.c.Annotations = map[string]string{v1.ResumedAtAnnotation: w.now.Format(time.RFC3339)}
				}},
				{march(26, "07:45:00"), "a manual run succeeds", func(w *world) {
					w.jobs = append(w.jobs, builders.MakeJob(w.c, w.now).Manual().Named("by-hand").Succeeded(w.now).Obj())
				}},
				{march(27, "18:55:00"), "every six hours", edit(func(c *v1.CronJob) { c.Spec.Schedule = "0 */6 * * *" })},
				{march(33, "09:00:00"), "the manager goes down", func(w *world) { w.down = true }},
				{march(35, "08:00:00"), "the manager comes back, on a day that is excluded", func(w *world) { w.down = false }},
				{march(36, "16:00:30"), "suspended before the last tick has started", edit(func(c *v1.CronJob) { c.Spec.Suspend = new(true) })},
				{march(36, "17:00:00"), "resumed, when the window is over", edit(func(c *v1.CronJob) { c.Spec.Suspend = new(false) })},
			},
		},
		"replace": {
			build: builders.MakeCronJob("c").Schedule("*/10 * * * *").Created(at("09:55:00")).Policy(v1.ReplaceConcurrent), end: at("11:00:00"),
			takes: func(tick time.Time) (time.Duration, bool) {
				return time.Duration(tick.Minute()) * time.Minute, tick.Minute() == 10
			},
		},
		"suspend-and-resume": {
			build: builders.MakeCronJob("c").Schedule("*/10 * * * *").Created(at("09:55:00")).History(1, 1), takes: minutes(1), end: at("12:00:00"),
			scenes: []scene{
				{at("10:15:00"), "suspended", edit(func(c *v1.CronJob) { c.Spec.Suspend = new(true) })},
				{at("10:55:00"), "resumed", edit(func(c *v1.CronJob) { c.Spec.Suspend = new(false) })},
				{at("11:05:00"), "the manager goes down", func(w *world) { w.down = true }},
				{at("11:15:00"), "suspended", edit(func(c *v1.CronJob) { c.Spec.Suspend = new(true) })},
				{at("11:25:00"), "resumed", edit(func(c *v1.CronJob) { c.Spec.Suspend = new(false) })},
				{at("11:28:00"), "the manager comes back", func(w *world) { w.down = false }},
			},
		},
		"a-pause-that-ends-by-itself": {
			build: builders.MakeCronJob("c").Schedule("*/10 * * * *").Created(at("09:55:00")).History(1, 1), takes: minutes(1), end: at("13:00:00"),
			scenes: []scene{
				{at("10:15:00"), "suspended until 10:40", edit(func(c *v1.CronJob) { c.Spec.SuspendUntil = new(metav1.NewTime(at("10:40:00"))) })},
				{at("11:05:00"), "the manager goes down", func(w *world) { w.down = true }},
				{at("11:08:00"), "suspended until 11:35", edit(func(c *v1.CronJob) { c.Spec.SuspendUntil = new(metav1.NewTime(at("11:35:00"))) })},
				{at("11:52:00"), "the manager comes back", func(w *world) { w.down = false }},
				{at("12:05:00"), "suspended until 12:55", edit(func(c *v1.CronJob) { c.Spec.SuspendUntil = new(metav1.NewTime(at("12:55:00"))) })},
				{at("12:25:00"), "resumed", edit(func(c *v1.CronJob) { c.Spec.SuspendUntil = nil })},
			},
		},
		"excluded-days": {
			build: builders.MakeCronJob("c").Schedule("0 9,21 * * *").TimeZone("Europe/Paris").Created(at("12:00:00")).
				Exclude("2026-01-03", "2026-01-05/2026-01-07", "--01-10"),
			takes: minutes(1), end: at("12:00:00").AddDate(0, 0, 14),
			scenes: []scene{
				{at("07:00:00").AddDate(0, 0, 3), "the manager goes down", func(w *world) { w.down = true }},
				{at("09:00:00").AddDate(0, 0, 6), "the manager comes back", func(w *world) { w.down = false }},
				{at("12:00:00").AddDate(0, 0, 9), "the 10th is excluded no more", edit(func(c *v1.CronJob) { c.Spec.Exclude = c.Spec.Exclude[:2] })},
				{at("19:00:00").AddDate(0, 0, 11), "the 12th is excluded", edit(func(c *v1.CronJob) { c.Spec.Exclude = []v1.ExcludedDays{"2026-01-12"} })},
			},
		},
		"a-window": {
			build: builders.MakeCronJob("c").Schedule("0 * * * *").Created(at("08:30:00")).NotBefore(at("10:30:00")).NotAfter(at("13:00:00")),
			takes: minutes(1), end: at("23:00:00"),
			scenes: []scene{
				{at("14:40:00"), "it ends at 17:30", edit(func(c *v1.CronJob) { c.Spec.NotAfter = new(metav1.NewTime(at("17:30:00"))) })},
				{at("15:30:00"), "suspended", edit(func(c *v1.CronJob) { c.Spec.Suspend = new(true) })},
				{at("18:30:00"), "resumed, when it is over", edit(func(c *v1.CronJob) { c.Spec.Suspend = new(false) })},
				{at("18:40:00"), "the template", edit(func(c *v1.CronJob) { c.Spec.JobTemplate.Labels = map[string]string{"a": "b"} })},
				{at("19:30:00"), "it never ends", edit(func(c *v1.CronJob) { c.Spec.NotAfter = nil })},
				{at("20:30:00"), "it ends at 21:00", edit(func(c *v1.CronJob) { c.Spec.NotAfter = new(metav1.NewTime(at("21:00:00"))) })},
				{at("20:40:00"), "no Job can be created", func(w *world) { w.refuse = "exceeded quota" }},
				{at("22:00:00"), "there is room again", func(w *world) { w.refuse = "" }},
			},
		},
		"edits": {
			build: builders.MakeCronJob("c").Schedule("0 * * * *").Created(at("08:30:00")), takes: minutes(1), end: at("14:00:00"),
			scenes: []scene{
				{at("09:40:00"), "every twenty minutes from now on", edit(func(c *v1.CronJob) { c.Spec.Schedule = "*/20 * * * *" })},
				{at("10:30:00"), "in Kathmandu, 5 h 45 min ahead", edit(func(c *v1.CronJob) { c.Spec.TimeZone = new("Asia/Kathmandu") })},
				{at("11:10:00"), "a schedule that is none", edit(func(c *v1.CronJob) { c.Spec.Schedule = "every now and then" })},
				{at("12:10:00"), "every 25 minutes", edit(func(c *v1.CronJob) { c.Spec.Schedule = "@every 25m" })},
				{at("12:30:00"), "the template", edit(func(c *v1.CronJob) { c.Spec.JobTemplate.Labels = map[string]string{"a": "b"} })},
				{at("13:20:00"), "hourly again, in UTC", edit(func(c *v1.CronJob) { c.Spec.Schedule, c.Spec.TimeZone = "@hourly", nil })},
			},
		},
		"an-outage-and-its-backfill": {
			build: builders.MakeCronJob("c").Schedule("*/10 * * * *").Created(at("09:55:00")).Policy(v1.ForbidConcurrent).History(1, 1),
			takes: minutes(3), end: at("12:10:00"),
			scenes: []scene{
				{at("10:15:00"), "the manager goes down", func(w *world) { w.down = true }},
				{at("11:05:00"), "the manager comes back", func(w *world) { w.down = false }},
				{at("11:12:00"), "10:20 and 10:30 are backfilled, two at once", backfill("10:20:00", "10:30:00")},
				{at("11:16:00"), "10:40 is backfilled, and 11:20 comes meanwhile", func(w *world) {
					w.takes = minutes(6)
					backfill("10:40:00")(w)
					w.takes = minutes(3)
				}},
				{at("11:26:00"), "10:50 is backfilled", backfill("10:50:00")},
				{at("11:35:00"), "the manager goes down", func(w *world) { w.down = true }},
				{at("11:42:00"), "11:40, which it has not run, is backfilled", backfill("11:40:00")},
				{at("11:44:00"), "the manager comes back", func(w *world) { w.down = false }},
			},
		},
		"several-schedules": {
			build: builders.MakeCronJob("c").Schedule("0 9 * * 1-5").Also("0 12 * * 6", "0 9 1 * *").TimeZone("Europe/Paris").
				Created(time.Date(2026, time.March, 20, 12, 0, 0, 0, time.UTC)), takes: minutes(5),
			end: time.Date(2026, time.April, 12, 0, 0, 0, 0, time.UTC),
			scenes: []scene{
				{time.Date(2026, time.March, 27, 7, 0, 0, 0, time.UTC), "also at 07:30 in Paris, which has passed", edit(func(c *v1.CronJob) {
					c.Spec.AdditionalSchedules = append(c.Spec.AdditionalSchedules, "30 7 * * 5")
				})},
				{time.Date(2026, time.March, 28, 11, 30, 0, 0, time.UTC), "on Saturdays at 13:00 from now on", edit(func(c *v1.CronJob) {
					c.Spec.AdditionalSchedules = []string{"0 13 * * 6", "0 9 1 * *", "30 7 * * 5"}
				})},
				{time.Date(2026, time.April, 2, 12, 0, 0, 0, time.UTC), "the manager goes down", func(w *world) { w.down = true }},
				{time.Date(2026, time.April, 4, 11, 30, 0, 0, time.UTC), "the manager comes back", func(w *world) { w.down = false }},
				{time.Date(2026, time.April, 6, 12, 0, 0, 0, time.UTC), "an interval among them", edit(func(c *v1.CronJob) {
					c.Spec.AdditionalSchedules[0] = "@every 5m"
				})},
				{time.Date(2026, time.April, 8, 12, 0, 0, 0, time.UTC), "no more but the first", edit(func(c *v1.CronJob) { c.Spec.AdditionalSchedules = nil })},
			},
		},
		"jobs-that-can-not-be-created": {
			build: builders.MakeCronJob("c").Schedule("*/10 * * * *").Created(at("09:55:00")).Deadline(300), takes: minutes(1), end: at("11:00:00"),
			scenes: []scene{
				{at("10:15:00"), "the quota is used up", func(w *world) { w.refuse = "exceeded quota" }},
				{at("10:32:00"), "there is room again", func(w *world) { w.refuse = "" }},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := tc.build.Obj()
			w := &world{t: t, c: c, now: c.CreationTimestamp.Time, ends: map[string]time.Time{}, takes: tc.takes}
			w.tell("* created: %s", observedSchedule(c))
			w.reconcile()
			w.play(tc.end, tc.scenes...)
			golden := filepath.Join("testdata", name+".golden")
			if *update {
				require.NoError(t, os.MkdirAll("testdata", 0o755))
				require.NoError(t, os.WriteFile(golden, []byte(w.story.String()), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			assert.Equal(t, string(want), w.story.String())
		})
	}
}
