// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/english"
	"tutorial.kubebuilder.io/project/internal/cli/suspend"
	"tutorial.kubebuilder.io/project/internal/plan"
)

// What becomes of a tick is the result of its run or, of a tick without one:
const (
	// Waiting is of the tick that is due, but has not started: for a Job to end, or for a quota.
	Waiting v1.RunResult = "Waiting"

	// Coming is of ticks of the future.
	Coming v1.RunResult = "Coming"
)

// Queued is of a run whose Job is suspended, as a queue such as Kueue does until there is room. The
// status has Running for all runs that have not ended: to say more, it would have to be written
// again when the queue lets the Job start.
const Queued v1.RunResult = "Queued"

// IsQueued reports whether a Job that has not ended is suspended, and none of its Pods runs.
func IsQueued(job *batchv1.Job) bool {
	return ptr.Deref(job.Spec.Suspend, false) && job.Status.Active == 0 && plan.ResultOf(job) == ""
}

// History is the runs of a CronJob, and what its schedule is. It is what -o json and yaml print.
// Times are RFC 3339, in the zone of the schedule.
type History struct {
	Namespace   string `json:"namespace"`
	Name        string `json:"name"`
	Schedule    string `json:"schedule"`
	TimeZone    string `json:"timeZone"`
	Description string `json:"description,omitempty"`
	Suspended   bool   `json:"suspended,omitempty"`
	Stopped     bool   `json:"stopped,omitempty"`

	// SuspendedUntil is when a suspension ends; zero if it is for good. SuspendedBy is by whom and
	// why.
	SuspendedUntil time.Time `json:"suspendedUntil,omitzero"`
	SuspendedBy    string    `json:"suspendedBy,omitempty"`

	// Problem says why the schedule can't be followed, and nothing is to come.
	Problem string `json:"problem,omitempty"`

	// Now is the time at which all this is so.
	Now string `json:"now"`

	// Entries are the ticks and the runs that were started by hand, oldest first.
	Entries []Entry `json:"entries"`

	now time.Time

	// title names the CronJob where its name alone does not.
	title string
}

// Entry is a tick, or a run that was started by hand.
type Entry struct {
	State v1.RunResult `json:"state"`

	// Tick is the tick that it is of; zero if somebody started it by hand. Backfilled says that
	// somebody did for the tick.
	Tick       time.Time `json:"tick,omitzero"`
	Backfilled bool      `json:"backfilled,omitempty"`

	// Job is the name of the Job, Start and End when it did; Start of a queued one, when it was
	// created. JobIsGone says that it was deleted since.
	Job       string    `json:"job,omitempty"`
	JobIsGone bool      `json:"jobIsGone,omitempty"`
	Start     time.Time `json:"start,omitzero"`
	End       time.Time `json:"end,omitzero"`

	// DelaySeconds is from the tick to the start, DurationSeconds from there to the end, or to now.
	DelaySeconds    *int64 `json:"delaySeconds,omitempty"`
	DurationSeconds *int64 `json:"durationSeconds,omitempty"`

	// Message says why it failed, was missed, or waits.
	Message string `json:"message,omitempty"`

	// at is what puts entries in order: the tick, or else the start.
	at time.Time
}

// Delay is DelaySeconds; 0 if it is not known.
func (e Entry) Delay() time.Duration {
	return time.Duration(ptr.Deref(e.DelaySeconds, 0)) * time.Second
}

// Duration is DurationSeconds; 0 if it is not known.
func (e Entry) Duration() time.Duration {
	return time.Duration(ptr.Deref(e.DurationSeconds, 0)) * time.Second
}

// trigger says what has started the run; "" if there is none.
func (e Entry) trigger() v1.RunTrigger {
	switch {
	case e.Job == "":
		return ""
	case e.Tick.IsZero():
		return v1.TriggerManual
	case e.Backfilled:
		return v1.TriggerBackfill
	}
	return v1.TriggerSchedule
}

// At is the tick, or when a run that has none has started.
func (e Entry) At() time.Time { return e.at }

// New returns what is known of the runs of a CronJob at an instant, given the Jobs that it still has,
// and so many ticks to come.
func New(c *v1.CronJob, jobs []*batchv1.Job, now time.Time, coming int) History {
	entries := []Entry{}
	now = now.In(cronjobs.Zone(c))
	for _, job := range jobs {
		entries = append(entries, entryOf(job, now))
	}
	for i := range c.Status.RecentRuns {
		run := &c.Status.RecentRuns[i]
		if run.JobName != "" && !slices.ContainsFunc(jobs, func(job *batchv1.Job) bool { return job.Name == run.JobName }) {
			entries = append(entries, entryOfGone(run, now))
		}
	}
	return newHistory(c, entries, now, coming)
}

// FromStatus is New for a reader who does not know the Jobs: which of them are gone is not known.
func FromStatus(c *v1.CronJob, now time.Time, coming int) History {
	entries := []Entry{}
	now = now.In(cronjobs.Zone(c))
	for i := range c.Status.RecentRuns {
		if run := &c.Status.RecentRuns[i]; run.JobName != "" {
			entries = append(entries, entryOfRun(run, now))
		}
	}
	return newHistory(c, entries, now, coming)
}

// newHistory returns the history with these runs. The time is in the zone of the schedule.
func newHistory(c *v1.CronJob, runs []Entry, now time.Time, coming int) History {
	h := History{
		Namespace: c.Namespace, Name: c.Name, Schedule: c.Spec.Schedule, TimeZone: now.Location().String(),
		Suspended: plan.IsSuspended(c, now), Stopped: plan.IsStopped(c),
		Now: now.Format(time.RFC3339), Entries: runs, now: now,
	}
	if h.Suspended {
		h.SuspendedBy = suspend.ByWhom(c)
		if until := c.Spec.SuspendUntil; until != nil && !ptr.Deref(c.Spec.Suspend, false) {
			h.SuspendedUntil = until.In(now.Location())
		}
	}
	for _, row := range c.Status.Missed {
		h.Entries = append(h.Entries, tickEntry(v1.RunMissed, row.First.In(now.Location()), plan.MissedRow(row).Event().Note))
	}
	h.addTicks(c, coming)
	slices.SortStableFunc(h.Entries, func(a, b Entry) int { return a.at.Compare(b.at) })
	return h
}

// halts says what keeps ticks from running now.
func (h *History) halts() []Entry {
	var halts []Entry
	if h.Suspended {
		message, end := "It is suspended", "until it is resumed"
		if h.SuspendedBy != "" {
			message += " by " + h.SuspendedBy
		}
		if !h.SuspendedUntil.IsZero() {
			end = "before " + h.SuspendedUntil.Format("2006-01-02 15:04:05 -07:00")
		}
		halts = append(halts, Entry{State: "Suspended", Message: message + ": nothing starts " + end + "."})
	}
	if h.Stopped {
		halts = append(halts, Entry{State: "Stopped",
			Message: "It has stopped after failures: nothing starts until it is resumed, or a manual run succeeds."})
	}
	return halts
}

// withHalts returns the entries with what halts puts between the past and the future.
func (h *History) withHalts() []Entry {
	now := slices.IndexFunc(h.Entries, func(e Entry) bool { return e.at.After(h.now) })
	if now < 0 {
		now = len(h.Entries)
	}
	return slices.Insert(slices.Clone(h.Entries), now, h.halts()...)
}

// addTicks appends the tick that waits, if there is one, and those to come.
func (h *History) addTicks(c *v1.CronJob, coming int) {
	ticks, err := cronjobs.Schedule(c)
	if err != nil {
		h.Problem = err.Error()
		return
	}
	h.Description, _ = english.Describe(c.Spec.Schedule, c.Spec.AdditionalSchedules...) // they can be described, as they are schedules
	if cronjobs.IsIdle(c) {
		return
	}
	if waiting := c.Status.NextScheduleTime; waiting != nil && !waiting.After(h.now) && !h.has(waiting.Time) {
		message := ptr.Deref(meta.FindStatusCondition(c.Status.Conditions, v1.ConditionReady), metav1.Condition{}).Message
		if start := plan.NextStart(c); start.After(h.now) {
			message = "It starts at " + start.In(h.now.Location()).Format(time.TimeOnly) + ", as spec.jitterSeconds asks."
		}
		h.Entries = append(h.Entries, tickEntry(Waiting, waiting.In(h.now.Location()), message))
	}
	for tick := range cronjobs.Coming(c, ticks, h.now) {
		if coming == 0 {
			break
		}
		coming--
		h.Entries = append(h.Entries, tickEntry(Coming, tick.In(h.now.Location()), ""))
	}
}

// has reports whether a tick has its Job already: then the status is about to say so, too.
func (h *History) has(tick time.Time) bool {
	return slices.ContainsFunc(h.Entries, func(e Entry) bool { return e.Tick.Equal(tick) })
}

// tickEntry is of a tick without a Job.
func tickEntry(state v1.RunResult, tick time.Time, message string) Entry {
	return Entry{State: state, Tick: tick, Message: message, at: tick}
}

// entryOf returns the entry of a Job, in the zone of now.
func entryOf(job *batchv1.Job, now time.Time) Entry {
	run := plan.RunOf(job)
	if job.Status.StartTime != nil {
		run.StartTime = job.Status.StartTime
	}
	if job.Status.CompletionTime != nil {
		run.CompletionTime = job.Status.CompletionTime
	}
	if run.Trigger == v1.TriggerManual {
		run.ScheduledTime = *run.StartTime
	}
	e := entryOfRun(&run, now)
	switch e.State {
	case v1.RunFailed:
		e.Message = cronjobs.WhyFailed(job)
	case v1.RunRunning:
		switch {
		case !job.DeletionTimestamp.IsZero():
			e.Message = "It is being deleted."
		case IsQueued(job):
			e.State, e.DurationSeconds = Queued, nil
			e.Message = "Its Job is suspended, as a queue such as Kueue does: no Pod runs until the Job is resumed."
		}
	}
	return e
}

// entryOfGone returns the entry of a run whose Job is gone, in the zone of now.
func entryOfGone(run *v1.Run, now time.Time) Entry {
	e := entryOfRun(run, now)
	e.JobIsGone = true
	if e.State == v1.RunRunning { // when the status was written
		e.State, e.DurationSeconds = v1.RunDeleted, nil
	}
	return e
}

// entryOfRun returns what a run says of itself, in the zone of now.
func entryOfRun(run *v1.Run, now time.Time) Entry {
	e := Entry{State: run.Result, Job: run.JobName, Message: run.Reason, at: run.ScheduledTime.In(now.Location())}
	start := ptr.Deref(run.StartTime, run.ScheduledTime).In(now.Location())
	e.Start = start
	if run.Trigger != v1.TriggerManual {
		e.Tick, e.Backfilled = e.at, run.Trigger == v1.TriggerBackfill
		if !e.Backfilled { // a backfill is not late
			e.DelaySeconds = seconds(start.Sub(e.at))
		}
	}
	switch {
	case run.CompletionTime != nil:
		e.End = run.CompletionTime.In(now.Location())
		e.DurationSeconds = seconds(run.CompletionTime.Sub(start))
	case e.State == v1.RunRunning:
		e.DurationSeconds = seconds(now.Sub(start))
	}
	return e
}

func seconds(d time.Duration) *int64 { return new(int64(d / time.Second)) }
