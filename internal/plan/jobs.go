// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"slices"
	"sort"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// jobState is a Job and what is computed from it once.
type jobState struct {
	*batchv1.Job
	result  v1.RunResult
	age     time.Time
	trigger v1.RunTrigger

	// tick is the tick that the schedule started the Job for; zero if the schedule did not start
	// it. It may lie ahead if a clock was set back.
	tick time.Time

	// accounted is whether the stored status records the tick, so that it would not run again if
	// the Job were gone.
	accounted bool
}

// maxClockSkew is how far the clock of the leader that started a Job may have been ahead of ours.
const maxClockSkew = time.Hour

func stateOf(in Input, job *batchv1.Job) jobState {
	state := jobState{Job: job, result: ResultOf(job)}
	state.trigger, state.age = TriggerOf(job)
	if state.trigger == v1.TriggerSchedule && !state.age.After(in.Now.Add(maxClockSkew)) {
		state.tick = state.age // no leader started a tick further ahead: ignore it
	}
	state.accounted = !state.tick.After(timeOf(in.CronJob.Status.LastScheduleTime))
	return state
}

// IsRecorded reports whether the stored status of a CronJob records the tick of a Job. It is true
// for a Job that the schedule did not start.
func IsRecorded(c *v1.CronJob, job *batchv1.Job) bool {
	tick, ok := TickOf(job)
	return !ok || !tick.After(timeOf(c.Status.LastScheduleTime))
}

// IsEndMissing reports whether the stored status of a CronJob lacks the end of a Job: it lists the
// Job as running, or as deleted while it ran, or does not record its tick, or not that manual run or
// backfill.
func IsEndMissing(c *v1.CronJob, job *batchv1.Job) bool {
	trigger, _ := TriggerOf(job)
	return !IsRecorded(c, job) || listedUIDs(c.Status.Active).Has(job.UID) || isDeleted(recordedRun(c.Status, job)) ||
		trigger != v1.TriggerSchedule && isEndUnrecorded(c.Status, job)
}

func compareAge(a, b jobState) int {
	return cmp.Or(a.age.Compare(b.age), cmp.Compare(a.Name, b.Name))
}

// sortedJobs has a CronJob's Jobs, by result and then oldest first: all are the active, then those
// that have ended, which are the failed, then the succeeded.
type sortedJobs struct{ all, active, ended, failed, succeeded []jobState }

// sortJobs sorts the Jobs by result. It leaves out Jobs that the stored status records as ended but
// that seem to run: their end was read from the API server before the cache had it.
func sortJobs(in Input) sortedJobs {
	sorted := make([]jobState, 0, len(in.Jobs))
	for _, job := range in.Jobs {
		if state := stateOf(in, job); state.result != "" || !isEndRecorded(in.CronJob.Status, job) {
			sorted = append(sorted, state)
		}
	}
	slices.SortFunc(sorted, func(a, b jobState) int {
		return cmp.Or(cmp.Compare(a.result, b.result), compareAge(a, b)) // running (""), then failed, then succeeded
	})
	firstWith := func(result v1.RunResult) int {
		return sort.Search(len(sorted), func(i int) bool { return sorted[i].result >= result })
	}
	failed, succeeded := firstWith(v1.RunFailed), firstWith(v1.RunSucceeded)
	return sortedJobs{sorted, sorted[:failed], sorted[failed:], sorted[failed:succeeded], sorted[succeeded:]}
}

// isEndRecorded reports whether a status records how a Job ended, or that it was replaced.
func isEndRecorded(status v1.CronJobStatus, job *batchv1.Job) bool {
	run := recordedRun(status, job)
	return run.Result == v1.RunSucceeded || run.Result == v1.RunFailed || run.Result == v1.RunDeleted && run.Reason == reasonReplaced
}

// runningAgain names the Jobs that seem to run although the stored status records their end. A
// status that does not list all running Jobs does not say which ones have ended.
func (p *Plan) runningAgain(in Input) []string {
	stored := in.CronJob.Status
	if unlistedCount(stored) > 0 {
		return nil
	}
	var names []string
	listed := listedUIDs(stored.Active)
	for _, job := range p.running {
		if !listed.Has(job.UID) && isEndKnown(in, job) {
			names = append(names, job.Name)
		}
	}
	return names
}

// isEndKnown reports whether a status that lists all running Jobs, but not this one, records that it
// has ended or was deleted.
func isEndKnown(in Input, job jobState) bool {
	if job.trigger == v1.TriggerSchedule {
		return job.accounted
	}
	result := recordedRun(in.CronJob.Status, job.Job).Result
	return result != "" && result != v1.RunRunning
}

// ResultOf returns how a Job ended, or "" while it runs.
func ResultOf(job *batchv1.Job) v1.RunResult {
	switch condition := endCondition(job); {
	case condition == nil:
		return ""
	case condition.Type == batchv1.JobComplete:
		return v1.RunSucceeded
	}
	return v1.RunFailed
}

// endCondition returns the condition Complete or Failed of a Job; nil while it runs.
func endCondition(job *batchv1.Job) *batchv1.JobCondition {
	for i := range job.Status.Conditions {
		condition := &job.Status.Conditions[i]
		isEnd := condition.Type == batchv1.JobComplete || condition.Type == batchv1.JobFailed
		if isEnd && condition.Status == corev1.ConditionTrue {
			return condition
		}
	}
	return nil
}

// TriggerOf returns what started a Job, and its tick; for a manual run, its creation time.
func TriggerOf(job *batchv1.Job) (v1.RunTrigger, time.Time) {
	tick, err := time.Parse(time.RFC3339, job.Annotations[v1.ScheduledAtAnnotation])
	switch trigger := v1.RunTrigger(job.Annotations[v1.TriggerAnnotation]); {
	case err != nil || tick.Nanosecond() != 0 || trigger == v1.TriggerManual: // no tick has a fraction
		return v1.TriggerManual, job.CreationTimestamp.Time
	case trigger == v1.TriggerBackfill:
		return trigger, tick
	}
	return v1.TriggerSchedule, tick
}

// TickOf returns the tick that the schedule started a Job for; false if the schedule did not start
// it.
func TickOf(job *batchv1.Job) (time.Time, bool) {
	trigger, tick := TriggerOf(job)
	return tick, trigger == v1.TriggerSchedule
}

// AgeFrom returns the time that a Job's age counts from: its tick, else its creation.
func AgeFrom(job *batchv1.Job) time.Time {
	_, from := TriggerOf(job)
	return from
}

const (
	// maxListed is how many running Jobs the status lists. It counts all of them.
	maxListed = 100

	// retellEnds is for how long after its end a Job is reported that the status did not list. The
	// status does not say whether it was reported before.
	retellEnds = 10 * time.Minute

	// MaxCacheLag is how far the cache may be behind. If the API server does not answer, the cache
	// is trusted for everything that happened longer ago.
	MaxCacheLag = time.Minute
)

// ActiveCount returns how many Jobs run according to a status. A status that was written before the
// field activeCount existed lists them all.
func ActiveCount(status v1.CronJobStatus) int {
	if status.ActiveCount == nil {
		return len(status.Active)
	}
	return max(int(*status.ActiveCount), len(status.Active))
}

// unlistedCount returns how many running Jobs a status counts and does not list.
func unlistedCount(status v1.CronJobStatus) int { return ActiveCount(status) - len(status.Active) }

// noteJobs updates the status from the observed Jobs.
//
// The stored status counts all running Jobs, but lists only the oldest. For unlisted ones the
// result is not exact: Ended has those that ended within retellEnds, whether or not they were
// reported before, and DeletedCount has those that ended earlier. Each Job that is reported again
// hides a deleted one from DeletedCount.
func (p *Plan) noteJobs(in Input) {
	jobs := sortJobs(in)
	stored := in.CronJob.Status
	listed := listedUIDs(stored.Active)
	unlisted := unlistedCount(stored)
	hidesSome := unlisted > 0
	for _, job := range jobs.active {
		switch {
		case listed.Has(job.UID):
			listed.Delete(job.UID)
		case job.accounted:
			unlisted--
		default:
			p.unrecorded = append(p.unrecorded, job.Job)
		}
		p.noteTick(job)
	}
	for _, job := range jobs.ended {
		switch {
		case listed.Has(job.UID):
			listed.Delete(job.UID)
			p.newlyEnded = append(p.newlyEnded, job.Job)
		case !job.accounted:
			p.unrecorded = append(p.unrecorded, job.Job)
			p.newlyEnded = append(p.newlyEnded, job.Job)
		case job.trigger != v1.TriggerSchedule && isEndUnrecorded(stored, job.Job):
			p.newlyEnded = append(p.newlyEnded, job.Job)
		case hidesSome && endCondition(job.Job).LastTransitionTime.After(in.Now.Add(-retellEnds)):
			unlisted--
		default:
			continue
		}
		p.Ended = append(p.Ended, job.Job)
		p.noteTick(job)
	}
	deleted := p.noteGone(in, listed)
	p.awaitNewest(in, jobs.all)
	p.DeletedCount = deleted + max(0, unlisted-p.unobserved)
	if in.CronJob.Spec.ConcurrencyPolicy == v1.ReplaceConcurrent && len(p.unrecorded) > 0 {
		p.ReplacedCount, p.DeletedCount = p.DeletedCount, 0 // an unrecorded run replaced them
	}
	for _, job := range jobs.succeeded {
		p.noteSuccess(job.Job)
	}
	p.setActive(jobs.active)
	p.jobs = jobs
}

// noteGone updates the status from the Jobs that no longer exist. unseen has the UIDs of listed
// Jobs that were not observed. It returns how many Jobs were deleted while they ran.
func (p *Plan) noteGone(in Input, unseen sets.Set[types.UID]) int {
	for _, job := range in.Gone {
		state := stateOf(in, job)
		switch {
		case !state.accounted:
			p.unrecorded = append(p.unrecorded, job)
		case state.result != "" && isDeleted(recordedRun(in.CronJob.Status, job)): // a stale cache showed its end later
		case !unseen.Has(job.UID) && isEndKnown(in, state):
			continue // the status was written, but the answer was lost
		}
		p.noteTick(state)
		if state.result == "" {
			unseen.Insert(job.UID)
			continue
		}
		p.noteSuccess(job)
		p.newlyEnded = append(p.newlyEnded, job)
		p.Ended = append(p.Ended, job)
		unseen.Delete(job.UID)
	}
	for _, ref := range in.CronJob.Status.Active {
		if unseen.Has(ref.UID) {
			p.unseen = append(p.unseen, ref.Name)
		}
	}
	return len(unseen)
}

// awaitNewest counts the newest Job, which the status does not list, as running although it was not
// observed, as long as the cache may lack it.
func (p *Plan) awaitNewest(in Input, observed []jobState) {
	stored := in.CronJob.Status
	if unlistedCount(stored) == 0 {
		return
	}
	newest := timeOf(stored.LastScheduleTime)
	name, visible := JobName(in.CronJob, newest), newest.Add(Jitter(in.CronJob)+MaxCacheLag)
	isListed := func(ref corev1.ObjectReference) bool { return ref.Name == name }
	isNewest := func(job jobState) bool { return job.tick.Equal(newest) }
	if in.Now.Before(visible) && !slices.ContainsFunc(stored.Active, isListed) && !slices.ContainsFunc(observed, isNewest) {
		p.unobserved = 1
		p.wakeBy(visible)
	}
}

// setActive sets the running Jobs in the status. They are sorted, oldest first.
func (p *Plan) setActive(running []jobState) {
	p.running = running
	p.Status.ActiveCount = new(int32(len(running) + p.unobserved)) //nolint:gosec // no API server holds as many
	p.Status.Active = nil
	for _, job := range running[:min(len(running), maxListed)] {
		p.Status.Active = append(p.Status.Active, Reference(job.Job))
	}
}

func uidsOf(jobs []*batchv1.Job) sets.Set[types.UID] {
	uids := make(sets.Set[types.UID], len(jobs))
	for _, job := range jobs {
		uids.Insert(job.UID)
	}
	return uids
}

func listedUIDs(refs []corev1.ObjectReference) sets.Set[types.UID] {
	uids := make(sets.Set[types.UID], len(refs))
	for i := range refs {
		uids.Insert(refs[i].UID)
	}
	return uids
}

func (p *Plan) noteSuccess(job *batchv1.Job) {
	p.Status.LastSuccessfulTime = maxTime(p.Status.LastSuccessfulTime, timeOf(job.Status.CompletionTime))
}

// noteTick updates lastScheduleTime from a Job: its tick has run even if the status write failed.
func (p *Plan) noteTick(job jobState) {
	p.Status.LastScheduleTime = maxTime(p.Status.LastScheduleTime, job.tick)
}

var jobVersion = batchv1.SchemeGroupVersion.String()

// Reference returns a reference to a Job as the status lists it.
func Reference(job *batchv1.Job) corev1.ObjectReference {
	return corev1.ObjectReference{
		APIVersion: jobVersion, Kind: "Job",
		Namespace: job.Namespace, Name: job.Name, UID: job.UID,
	}
}
