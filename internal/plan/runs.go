// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"regexp"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// MaxRecentRuns is how many runs a status remembers.
const MaxRecentRuns = 10

// reasonReplaced is the reason of a run whose Job was deleted for the next one.
const reasonReplaced = "Replaced"

// rememberRuns updates the newest runs in the status, and how the last one ended. It does nothing
// unless a run started or ended or a tick was missed, so that it never is the only reason for a
// status write.
func (p *Plan) rememberRuns(in Input, done Outcome) {
	before := in.CronJob.Status
	isSame := len(p.newlyEnded)+len(p.Missed)+len(p.unrecorded) == 0 && ActiveCount(p.Status) == ActiveCount(before) &&
		slices.EqualFunc(p.Status.Active, before.Active, func(a, b corev1.ObjectReference) bool { return a.UID == b.UID })
	if isSame {
		return
	}
	runs := newRunList(before.RecentRuns)
	for _, job := range slices.Concat(newestOf(p.jobs), p.newlyEnded, in.Gone) {
		runs.put(job)
	}
	if done.Job != nil {
		runs.put(done.Job)
	}
	for _, missed := range p.Missed {
		runs.miss(missed)
	}
	runs.deleteMissing(func(run v1.Run) bool { return p.isRunning(in, run) }, slices.Concat(done.Deleted, done.Gone))
	p.Status.RecentRuns = runs.newest()
	p.noteEnds(in)
}

// newestOf returns the Jobs that may be among the newest runs.
func newestOf(jobs sortedJobs) []*batchv1.Job {
	var newest []*batchv1.Job
	for _, sorted := range [][]jobState{jobs.active, jobs.failed, jobs.succeeded} {
		for _, job := range sorted[max(0, len(sorted)-MaxRecentRuns):] {
			newest = append(newest, job.Job)
		}
	}
	return newest
}

// isEndUnrecorded reports whether a status lacks the end of a manual run or a backfill. Such a run
// may have started and ended while no manager ran, or while no status could be written.
func isEndUnrecorded(status v1.CronJobStatus, job *batchv1.Job) bool {
	trigger, age := TriggerOf(job)
	runs := status.RecentRuns
	if run := recordedRun(status, job); run.Result != "" {
		return run.Result == v1.RunRunning
	}
	if trigger == v1.TriggerManual && len(runs) == 0 { // a manager without recentRuns may have written the status
		return status.LastScheduleTime == nil
	}
	return age.After(newRunList(runs).after)
}

// unwritten returns the Jobs of which the stored status does not tell that they started, or that
// they ended: those of ticks, manual runs and backfills. A status that does not list all running
// Jobs does not say which ones it counts.
func (p *Plan) unwritten(in Input) []*batchv1.Job {
	jobs := slices.Clone(p.unrecorded)
	stored := in.CronJob.Status
	listed := listedUIDs(stored.Active)
	for _, job := range p.running {
		if job.trigger != v1.TriggerSchedule && !listed.Has(job.UID) && unlistedCount(stored) == 0 {
			jobs = append(jobs, job.Job)
		}
	}
	for _, job := range p.newlyEnded {
		if trigger, _ := TriggerOf(job); trigger != v1.TriggerSchedule {
			jobs = append(jobs, job)
		}
	}
	return jobs
}

// isRunning reports whether a run without an observed end still runs.
func (p *Plan) isRunning(in Input, run v1.Run) bool {
	return slices.ContainsFunc(p.running, func(job jobState) bool { return isRunOf(run, job.Job) }) ||
		p.unobserved > 0 && run.ScheduledTime.Time.Equal(timeOf(in.CronJob.Status.LastScheduleTime))
}

// RunOf returns the run of a Job, as a status has it.
func RunOf(job *batchv1.Job) v1.Run {
	trigger, tick := TriggerOf(job)
	run := v1.Run{
		ScheduledTime: metav1.NewTime(tick), Trigger: trigger, Result: v1.RunRunning,
		JobName: job.Name, JobUID: job.UID, StartTime: &job.CreationTimestamp,
	}
	condition := endCondition(job)
	if condition == nil {
		return run
	}
	run.CompletionTime, run.Result = &condition.LastTransitionTime, ResultOf(job)
	if run.Result == v1.RunFailed {
		run.Reason = reasonOf(condition)
	}
	return run
}

// lastChange returns the latest instant after another one at which, according to a status, a Job was
// created or ended.
func lastChange(status v1.CronJobStatus, after time.Time) time.Time {
	for _, run := range status.RecentRuns {
		after = latest(after, timeOf(run.StartTime), timeOf(run.CompletionTime))
	}
	return after
}

// runList has runs, newest first.
type runList struct {
	runs []v1.Run

	// after is the time up to which runs were dropped for lack of room; zero if none were.
	after time.Time
}

func newRunList(runs []v1.Run) *runList {
	l := &runList{runs: slices.Clone(runs)}
	if len(runs) >= MaxRecentRuns {
		l.after = runs[len(runs)-1].ScheduledTime.Time
	}
	return l
}

func (l *runList) put(job *batchv1.Job) {
	i, run := indexOf(l.runs, job), RunOf(job)
	switch {
	case i >= 0 && (l.runs[i].Result == v1.RunRunning || isDeleted(l.runs[i]) && run.CompletionTime != nil):
		l.runs[i] = run
	case i < 0 && run.ScheduledTime.After(l.after):
		l.runs = append(l.runs, run)
	}
}

// indexOf returns the index of a Job's run; -1 if there is none.
func indexOf(runs []v1.Run, job *batchv1.Job) int {
	return slices.IndexFunc(runs, func(run v1.Run) bool { return isRunOf(run, job) })
}

// recordedRun returns the run of a Job that a status has; the zero Run if it has none.
func recordedRun(status v1.CronJobStatus, job *batchv1.Job) v1.Run {
	if i := indexOf(status.RecentRuns, job); i >= 0 {
		return status.RecentRuns[i]
	}
	return v1.Run{}
}

// isDeleted reports whether somebody deleted the Job of a run while it ran.
func isDeleted(run v1.Run) bool { return run.Result == v1.RunDeleted && run.Reason != reasonReplaced }

// isRunOf reports whether a run is that of a Job. A run that an older manager wrote has no UID.
func isRunOf(run v1.Run, job *batchv1.Job) bool {
	if run.JobUID != "" {
		return run.JobUID == job.UID
	}
	return run.JobName == job.Name && run.StartTime.Equal(&job.CreationTimestamp)
}

// miss adds missed ticks. It adds them to the newest run if that was missed for the same reason.
func (l *runList) miss(missed Missed) {
	run := v1.Run{
		ScheduledTime: metav1.NewTime(missed.First), Trigger: v1.TriggerSchedule,
		Result: v1.RunMissed, Reason: string(missed.Reason), Count: int32(missed.Count), //nolint:gosec // at most MaxMissedCount
	}
	l.sort()
	if len(l.runs) > 0 {
		newest := &l.runs[0]
		if newest.Result == v1.RunMissed && newest.Reason == run.Reason && newest.ScheduledTime.Before(&run.ScheduledTime) {
			newest.Count = min(newest.Count+run.Count, MaxMissedCount)
			return
		}
	}
	l.runs = append(l.runs, run)
}

// deleteMissing sets the result of runs whose Jobs are gone to deleted. replaced has the Jobs that
// were deleted for the next run.
func (l *runList) deleteMissing(isRunning func(v1.Run) bool, replaced []*batchv1.Job) {
	for i := range l.runs {
		run := &l.runs[i]
		if run.Result != v1.RunRunning || isRunning(*run) {
			continue
		}
		run.Result = v1.RunDeleted
		if slices.ContainsFunc(replaced, func(job *batchv1.Job) bool { return isRunOf(*run, job) }) {
			run.Reason = reasonReplaced
		}
	}
}

func (l *runList) sort() {
	slices.SortStableFunc(l.runs, func(a, b v1.Run) int {
		return cmp.Or(b.ScheduledTime.Compare(a.ScheduledTime.Time), cmp.Compare(b.JobName, a.JobName))
	})
}

func (l *runList) newest() []v1.Run {
	l.sort()
	return l.runs[:min(len(l.runs), MaxRecentRuns)]
}

// noteEnds updates the status from the runs whose end the stored status does not record, in the
// order in which they ended.
func (p *Plan) noteEnds(in Input) {
	for _, job := range p.ends() {
		condition, status := endCondition(job), metav1.ConditionTrue
		if condition.Type == batchv1.JobComplete {
			p.Status.ConsecutiveFailures = 0
		} else {
			status = metav1.ConditionFalse
			p.Status.ConsecutiveFailures++
			p.Status.LastFailureTime = maxTime(p.Status.LastFailureTime, condition.LastTransitionTime.Time)
		}
		p.setCondition(in, metav1.Condition{
			Type: v1.ConditionLastRunSucceeded, Status: status,
			Reason: cmp.Or(reasonOf(condition), string(condition.Type)), Message: condition.Message,
		})
	}
	if meta.FindStatusCondition(p.Status.Conditions, v1.ConditionLastRunSucceeded) == nil && len(p.running) > 0 {
		p.setCondition(in, metav1.Condition{
			Type: v1.ConditionLastRunSucceeded, Status: metav1.ConditionUnknown,
			Reason: v1.ReasonFirstRun, Message: "No run has ended yet.",
		})
	}
}

// validReason matches the reasons that the API server accepts in a condition, up to 128 characters.
var validReason = regexp.MustCompile(`^[A-Za-z]([A-Za-z0-9_,:]{0,126}[A-Za-z0-9_])?$`)

// reasonOf returns the reason in the end condition of a Job; "" if the API server would not accept
// it.
func reasonOf(end *batchv1.JobCondition) string {
	if validReason.MatchString(end.Reason) {
		return end.Reason
	}
	return ""
}
