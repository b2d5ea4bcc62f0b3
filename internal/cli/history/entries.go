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

// The states of a tick without a run. A tick with a run has the result of the run.
const (
	// Waiting is the state of a tick that is due but has not started, because of a running Job or a
	// quota.
	Waiting v1.RunResult = "Waiting"

	// Coming is the state of a tick in the future.
	Coming v1.RunResult = "Coming"
)

// Queued is the state of a run whose Job is suspended, as by Kueue until there is room. The status
// of a CronJob has Running for it: to tell them apart, it would have to be written again when the
// queue resumes the Job.
const Queued v1.RunResult = "Queued"

// IsQueued reports whether an unfinished Job is suspended and none of its Pods runs.
func IsQueued(job *batchv1.Job) bool {
	return ptr.Deref(job.Spec.Suspend, false) && job.Status.Active == 0 && plan.ResultOf(job) == ""
}

// History is the history of a CronJob, as -o json and yaml print it. Times are RFC 3339, in the
// time zone of the schedule.
type History struct {
	Namespace   string `json:"namespace"`
	Name        string `json:"name"`
	Schedule    string `json:"schedule"`
	TimeZone    string `json:"timeZone"`
	Description string `json:"description,omitempty"`
	Suspended   bool   `json:"suspended,omitempty"`
	Stopped     bool   `json:"stopped,omitempty"`

	// SuspendedUntil is when the suspension ends; zero for never. SuspendedBy is the user and the
	// reason.
	SuspendedUntil time.Time `json:"suspendedUntil,omitzero"`
	SuspendedBy    string    `json:"suspendedBy,omitempty"`

	// Problem is why the schedule is invalid; there are no ticks to come then.
	Problem string `json:"problem,omitempty"`

	// Now is the time of the history.
	Now string `json:"now"`

	// Entries are the ticks and the manual runs, oldest first.
	Entries []Entry `json:"entries"`

	now time.Time

	// title names the CronJob, with its namespace if there are several; "" for just the name.
	title string
}

// Entry is a tick or a manual run.
type Entry struct {
	State v1.RunResult `json:"state"`

	// Tick is zero for a manual run. Backfilled is whether the tick was run by a backfill.
	Tick       time.Time `json:"tick,omitzero"`
	Backfilled bool      `json:"backfilled,omitempty"`

	// Start and End are those of the Job; the Start of a queued Job is its creation. JobIsGone is
	// whether the Job was deleted.
	Job       string    `json:"job,omitempty"`
	JobIsGone bool      `json:"jobIsGone,omitempty"`
	Start     time.Time `json:"start,omitzero"`
	End       time.Time `json:"end,omitzero"`

	// DelaySeconds is from the tick to the start, DurationSeconds from the start to the end or to
	// now.
	DelaySeconds    *int64 `json:"delaySeconds,omitempty"`
	DurationSeconds *int64 `json:"durationSeconds,omitempty"`

	// Message is why the run failed, or why the tick was missed or waits.
	Message string `json:"message,omitempty"`

	// at sorts the entries: the tick, or else the start.
	at time.Time
}

// Delay returns DelaySeconds; 0 if it is unknown.
func (e Entry) Delay() time.Duration {
	return time.Duration(ptr.Deref(e.DelaySeconds, 0)) * time.Second
}

// Duration returns DurationSeconds; 0 if it is unknown.
func (e Entry) Duration() time.Duration {
	return time.Duration(ptr.Deref(e.DurationSeconds, 0)) * time.Second
}

// trigger returns what started the run; "" for an entry without a Job.
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

// At returns the tick, or the start of a manual run.
func (e Entry) At() time.Time { return e.at }

// New returns the history of a CronJob with these Jobs and this many ticks to come.
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

// FromStatus is like New where the Jobs are unknown, and so whether they were deleted.
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

// newHistory returns a history with these runs. now is in the time zone of the schedule.
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

// halts returns entries about what prevents ticks from running now.
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

// withHalts returns the entries with those of halts between past and future ones.
func (h *History) withHalts() []Entry {
	now := slices.IndexFunc(h.Entries, func(e Entry) bool { return e.at.After(h.now) })
	if now < 0 {
		now = len(h.Entries)
	}
	return slices.Insert(slices.Clone(h.Entries), now, h.halts()...)
}

func (h *History) addTicks(c *v1.CronJob, coming int) {
	ticks, err := cronjobs.Schedule(c)
	if err != nil {
		h.Problem = err.Error()
		return
	}
	h.Description, _ = english.Describe(c.Spec.Schedule, c.Spec.AdditionalSchedules...) // a valid schedule can be described
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

// has reports whether a tick has a run already, which the status does not show yet.
func (h *History) has(tick time.Time) bool {
	return slices.ContainsFunc(h.Entries, func(e Entry) bool { return e.Tick.Equal(tick) })
}

func tickEntry(state v1.RunResult, tick time.Time, message string) Entry {
	return Entry{State: state, Tick: tick, Message: message, at: tick}
}

// entryOf returns the entry of a Job, in the time zone of now.
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

// entryOfGone returns the entry of a run whose Job was deleted, in the time zone of now.
func entryOfGone(run *v1.Run, now time.Time) Entry {
	e := entryOfRun(run, now)
	e.JobIsGone = true
	if e.State == v1.RunRunning { // it ran when the status was written
		e.State, e.DurationSeconds = v1.RunDeleted, nil
	}
	return e
}

// entryOfRun returns the entry of a run in the status, in the time zone of now.
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
