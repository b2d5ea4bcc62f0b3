// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// anchor returns what an interval counts from: the newest run, or the creation.
func (j *judge) anchor(c *v1.CronJob) int64 {
	newest := max(c.CreationTimestamp.Unix(), j.lastRun(c.UID))
	if j.w.cronJob != nil && j.w.cronJob.UID == c.UID && j.w.cronJob.Status.LastScheduleTime != nil {
		newest = max(newest, j.w.cronJob.Status.LastScheduleTime.Unix())
	}
	return newest
}

// lastRun returns the newest tick that the schedule ran; 0 for none.
func (j *judge) lastRun(owner types.UID) int64 { return j.lastRunBy(owner, math.MaxInt64) }

// lastRunBy returns the newest tick up to an instant that ran, by the schedule or a backfill, and
// that can't be forgotten; 0 for none.
func (j *judge) lastRunBy(owner types.UID, until int64) int64 {
	last := int64(0)
	for _, r := range j.ran(owner) {
		if (r.trigger == v1.TriggerSchedule || r.wasDue) && r.tick <= until && !j.isForgotten(r) {
			last = max(last, r.tick)
		}
	}
	return last
}

// from returns the instant up to which no tick of a version may run: that of the edit, or the last
// one of a suspension. A process whose clock is behind uses the time at which it first saw the
// edit.
func (j *judge) from(v *version) int64 {
	floor := v.floor
	for _, l := range j.looks {
		if l.version != nil && l.version.number >= v.number && l.version.c.UID == v.c.UID && l.at.Before(floor) {
			floor = l.at
		}
	}
	from := floor.Unix()
	if until := v.c.Spec.SuspendUntil; until != nil {
		from = max(from, until.Unix()-1)
	}
	return max(from, v.c.CreationTimestamp.Unix())
}

func (j *judge) asked(job *batchv1.Job) {
	v, tick := j.look.version, secondsOf(job.Annotations[v1.ScheduledAtAnnotation])
	j.look.asked = tick
	want := fmt.Sprintf("%s-%d", cronJobName, tick)
	if job.Name != want || job.Spec.Template.Annotations[v1.ScheduledAtAnnotation] != job.Annotations[v1.ScheduledAtAnnotation] {
		j.violate("S12", "Job %s is asked for with the tick %s, and that of its Pods %s", job.Name,
			job.Annotations[v1.ScheduledAtAnnotation], job.Spec.Template.Annotations[v1.ScheduledAtAnnotation])
	}
	if v == nil || v.c.DeletionTimestamp != nil {
		j.violate("S9", "Job %s is asked for, and the CronJob is being deleted", job.Name)
	}
	now, start := j.w.Now(), time.Unix(tick+v.jitter, 0)
	switch {
	case ownerOf(job) != v.c.UID:
		j.violate("S13", "Job %s is asked for, and its owner is %s", job.Name, ownerOf(job))
	case start.After(now):
		j.violate("S11", "Job %s is asked for %v early", job.Name, start.Sub(now))
	case deref(v.c.Spec.Suspend) || v.c.Spec.SuspendUntil != nil && j.look.at.Before(v.c.Spec.SuspendUntil.Time):
		j.violate("S7", "Job %s is asked for while suspended", job.Name)
	case tick <= j.from(v):
		j.violate("S7", "Job %s is asked for, and ticks count from %s", job.Name, stamp(time.Unix(j.from(v), 0)))
	case j.isLate(v, tick, j.look.at):
		j.violate("S2", "Job %s is asked for after its deadline", job.Name)
	}
	if j.hasRun(v.c.UID, tick) {
		return // the answer to an earlier request was lost
	}
	if !v.rhythm.has(tick, j.anchor(v.c)) {
		j.violate("S2", "Job %s is asked for, and %s is no tick", job.Name, tickText(tick))
	}
	j.order(v, tick)
	j.concurrency(v, job.Name)
	limit := v.c.Spec.StopAfterFailures
	if count, _ := j.failures(v, true); !j.isSkewed && v.isKnown && limit != nil && count >= int(*limit) {
		j.violate("S21", "Job %s is asked for after %d failures in a row", job.Name, count)
	}
}

func (j *judge) isLate(v *version, tick int64, now time.Time) bool {
	deadline := v.c.Spec.StartingDeadlineSeconds
	return deadline != nil && now.After(time.Unix(tick+v.jitter+*deadline, 0))
}

func catchUp(v *version) int {
	switch {
	case v.c.Spec.CatchUpPolicy != v1.CatchUpAll:
		return 1
	case v.c.Spec.CatchUpLimit == nil:
		return 10
	}
	return int(*v.c.Spec.CatchUpLimit)
}

// order checks that it is the tick's turn: it must be the newest tick, or with catchUpPolicy All
// the oldest of the newest few that are in time and unhandled. Ticks from before an edit may run if
// clocks differ, but need not.
func (j *judge) order(v *version, tick int64) {
	due := v.rhythm.between(j.from(v), j.look.at.Unix()-v.jitter, j.anchor(v.c))
	if last := j.lastRun(v.c.UID); last >= tick {
		j.violate("S2", "the tick of %s is asked for after that of %s", tickText(tick), tickText(last))
	}
	newest := due[max(0, len(due)-catchUp(v)):]
	if !slices.Contains(newest, tick) {
		j.violate("S2", "the tick of %s is asked for when %d newer ones are due", tickText(tick), len(newest))
	}
	for _, other := range newest {
		isFirst := other < tick && other > max(j.lastRun(v.c.UID), v.floor.Unix()) && !j.isHandled(v.c.UID, other) && !j.hasStopped(v, other)
		if v.isKnown && isFirst && !j.isLate(v, other, j.look.at) {
			j.violate("S23", "the tick of %s is asked for before that of %s", tickText(tick), tickText(other))
		}
	}
}

// isHandled reports whether a tick has run, was reported as missed, or has its name taken by
// another object.
func (j *judge) isHandled(owner types.UID, tick int64) bool {
	return j.hasRun(owner, tick) || j.names[tick] || j.rowsOf(owner, tick) > 0
}

func (j *judge) hasRun(owner types.UID, tick int64) bool {
	return slices.ContainsFunc(j.ran(owner), func(r *run) bool { return r.tick == tick })
}

func (j *judge) rowsOf(owner types.UID, tick int64) int {
	count := 0
	for _, r := range j.rows {
		if r.owner == owner && r.first <= tick && tick <= r.last {
			count++
		}
	}
	return count
}

// concurrency checks how many Jobs run beside a requested one. Jobs that others started count once
// the cache has them. Under Replace, a backfill keeps running while no status can record its tick:
// only its name prevents that the tick runs twice.
func (j *judge) concurrency(v *version, name string) {
	isReplace := v.c.Spec.ConcurrencyPolicy == v1.ReplaceConcurrent
	running := j.count(v.c.UID, func(r *run) bool {
		isSpared := isReplace && r.trigger == v1.TriggerBackfill && !r.recorded
		return r.isRunning() && (r.by == "manager" || r.isCached) && !isSpared
	})
	if j.isSkewed && j.w.now.Sub(j.trouble) < settling {
		return // if it can't read, the process trusts its cache after a minute, by clocks that differ
	}
	limit := limitOf(v)
	if isReplace {
		limit = 1
	}
	if running >= limit {
		j.violate("S6", "Job %s is asked for while %d others run: %s, at most %d", name, running, v.c.Spec.ConcurrencyPolicy, limit)
	}
}

func limitOf(v *version) int {
	switch {
	case v.c.Spec.ConcurrencyPolicy == v1.ForbidConcurrent:
		return 1
	case v.c.Spec.ConcurrencyPolicy == v1.ReplaceConcurrent || v.c.Spec.MaxConcurrency == nil:
		return math.MaxInt
	}
	return int(*v.c.Spec.MaxConcurrency)
}

// resets returns when the count of failures was reset: by the edits and resumes of some versions,
// and by the successes that count.
func (j *judge) resets(owner types.UID, versions []*version, counts func(r *run) bool) []int64 {
	var resets []int64
	for _, v := range versions {
		resets = append(resets, v.edited.Unix(), v.resumed)
	}
	for _, r := range j.runs {
		if r.owner == owner && r.result == "Succeeded" && counts(r) {
			resets = append(resets, r.over)
		}
	}
	return resets
}

// failures counts the failures in a row that must count towards the stop, and those that may, as
// far as a process knows. A failure in the second of a reset does not count.
func (j *judge) failures(v *version, isKnown bool) (least, most int) {
	reset := slices.Max(j.resets(v.c.UID, []*version{v}, j.isKnown))
	counts := func(r *run) bool { return r.failedBetween(reset, math.MaxInt64) && (!isKnown || j.isKnown(r)) }
	least = j.count(v.c.UID, func(r *run) bool { return counts(r) && !r.isUnlisted })
	return least, j.count(v.c.UID, counts)
}

// hasStopped reports whether a CronJob may have been stopped after failures at a tick: from the
// failure until the first reset after it, or while the status said so.
func (j *judge) hasStopped(v *version, tick int64) bool {
	for _, s := range j.stops {
		if s.owner == v.c.UID && s.from <= tick && (s.to == 0 || tick <= s.to) {
			return true
		}
	}
	for _, r := range j.runs {
		limit := j.versionAt(v.c.UID, r.endedAt).c.Spec.StopAfterFailures
		if r.owner != v.c.UID || r.result != "Failed" || limit == nil || r.over > tick+v.jitter {
			continue
		}
		before, after := j.resetsAround(v.c.UID, r.over)
		failures := j.count(v.c.UID, func(other *run) bool { return other.failedBetween(before, r.over) })
		if after >= tick && failures >= int(*limit) {
			return true
		}
	}
	return false
}

func (j *judge) resetsAround(owner types.UID, at int64) (before, after int64) {
	var recorded []*version
	for _, v := range j.versions {
		// A CronJob has only its last edit and resume. Earlier ones must be in a status.
		if v.c.UID == owner && (v.isRecorded || v == j.look.version) {
			recorded = append(recorded, v)
		}
	}
	after = math.MaxInt64
	for _, reset := range j.resets(owner, recorded, func(r *run) bool { return r.seenBy > 0 }) { // nobody knows of others
		if reset < at {
			before = max(before, reset)
		} else {
			after = min(after, reset)
		}
	}
	return before, after
}

func (j *judge) versionAt(owner types.UID, at time.Time) *version {
	found := j.newest()
	for _, v := range slices.Backward(j.versions) {
		if v.c.UID == owner {
			if found = v; !v.at.After(at) {
				break
			}
		}
	}
	return found
}

// reconciled checks when the process wants to reconcile again: by the next tick.
func (j *judge) reconciled(wake time.Time, isComplete bool) {
	j.look.troubled = j.troubled
	l := j.look
	if l.version != nil {
		seemRunning := j.count(l.version.c.UID, func(r *run) bool { return r.isRunning() || r.isCached && !j.isKnown(r) })
		l.isHeld = seemRunning >= limitOf(l.version)
		j.looks = append(j.looks, l)
	}
	if !isComplete || l.version == nil || j.w.cronJob == nil || j.w.cronJob.UID != l.version.c.UID {
		return
	}
	if j.isStepped {
		return // it uses the clock as it was then: see docs/design.md
	}
	j.isIdle(l, wake)
	next, ok := j.nextStart(l.version, l.at)
	if !ok || j.mayHaveStopped(l.version) {
		return
	}
	if by := next.Add(-j.w.skew); wake.IsZero() || wake.After(by.Add(2*time.Millisecond)) && wake.After(j.w.now.Add(2*time.Millisecond)) {
		j.violate("S14", "the next tick starts at %s, and the next reconcile is due at %s", stamp(next), stamp(wake.Add(j.w.skew)))
	}
}

// isIdle checks a reconcile that requests no Job: no tick may be due, unless it waits for Jobs or a
// request has failed recently.
func (j *judge) isIdle(l look, wake time.Time) {
	v, c := l.version, j.w.cronJob
	until := v.c.Spec.SuspendUntil
	switch {
	case l.asked != 0 || l.troubled || l.isHeld || wake.Before(j.w.now.Add(5*time.Millisecond)) && !wake.IsZero():
		return
	case !j.trouble.IsZero() && j.w.now.Sub(j.trouble) < settling || readyReason(&c.Status) == v1.ReasonJobCreationFailed:
		return
	case deref(v.c.Spec.Suspend) || until != nil && l.at.Before(until.Time) || j.isSkewed || !v.isKnown || j.mayHaveStopped(v):
		return
	}
	due := v.rhythm.between(j.from(v), l.at.Unix()-v.jitter, j.anchor(v.c))
	for _, tick := range due[max(0, len(due)-catchUp(v)):] {
		isHandled := j.isHandled(v.c.UID, tick) || tick < j.lastRun(v.c.UID)
		if !isHandled && !j.isLate(v, tick, l.at) && !j.hasStopped(v, tick) {
			j.violate("S2", "the tick of %s is due, and its Job is not asked for", tickText(tick))
		}
	}
}

func (j *judge) reason(r row) {
	may := func(allowed func(v *version) bool) bool {
		return slices.ContainsFunc(j.versions, func(v *version) bool { return v.c.UID == r.owner && allowed(v) })
	}
	isRefused := len(j.rejections) > 1 || len(j.rejections) == 1 && !j.rejections[200]
	isRight := true
	switch {
	case strings.Contains(r.why, "startingDeadlineSeconds"):
		isRight = may(func(v *version) bool { return j.isLate(v, r.last, j.w.Now()) })
	case strings.Contains(r.why, "newer one was due when"):
		isRight = may(func(v *version) bool {
			return len(v.rhythm.between(r.last, j.w.Now().Unix(), j.anchorOf(v, r.last))) > 0
		})
	case strings.Contains(r.why, "waited for a Job"):
		isRight = may(func(v *version) bool { return limitOf(v) < math.MaxInt })
	case strings.Contains(r.why, "could not be created"):
		isRight = isRefused
	case strings.Contains(r.why, "edited or suspended"):
		isRight = may(func(v *version) bool {
			return !v.isKnown || v.floor.Unix() >= r.last || unix(v.c.Spec.SuspendUntil) > r.last
		})
	case strings.Contains(r.why, "stopped after failures"):
		isRight = may(func(v *version) bool { return v.c.Spec.StopAfterFailures != nil })
	case strings.Contains(r.why, "has the name"):
		// Nobody knows the owner of a deleted Job that the cache never had.
		isRight = j.names[r.last] || slices.ContainsFunc(j.runs, func(other *run) bool {
			return other.isFirst && other.tick == r.last && (other.owner != r.owner || !other.gone.IsZero() && !other.isCached)
		})
	}
	if !isRight && !j.isSkewed {
		j.violate("S2", "the tick of %s is said to be missed because %s", tickText(r.last), r.why)
	}
}

// refused checks that a refusal is reported once for each tick and reason.
func (j *judge) refused(note string) {
	job, _, _ := strings.Cut(strings.TrimPrefix(note, "Error creating job "), ":")
	about := fmt.Sprint(job, j.look.code)
	if j.refusals[about] && j.look.code == http.StatusForbidden {
		j.violate("W4", "the answer %d to the request for Job %s is reported again: %s", j.look.code, job, note)
	}
	j.refusals[about] = true
}

func (j *judge) nextStart(v *version, after time.Time) (time.Time, bool) {
	if deref(v.c.Spec.Suspend) || v.c.DeletionTimestamp != nil {
		return time.Time{}, false
	}
	from := max(after.Unix()-v.jitter, j.from(v), v.floor.Unix(), j.lastRun(v.c.UID), unix(j.w.cronJob.Status.LastScheduleTime))
	if !v.isKnown {
		from = max(from, v.seen.Unix()) // the time of an edit that the webhook did not see
	}
	if next := j.w.cronJob.Status.NextScheduleTime; j.isSkewed && next != nil {
		from = max(from, next.Unix()-1) // it was handled before the clock was set back
	}
	tick, ok := v.rhythm.next(from, j.anchor(v.c))
	hasRun := func(tick int64) bool {
		return slices.ContainsFunc(j.ran(v.c.UID), func(r *run) bool {
			// A backfilled tick may be in the future if clocks differ. It is checked when it comes.
			return r.tick == tick && (r.trigger == v1.TriggerSchedule || !j.isSkewed)
		})
	}
	// An edit of the jitter may move the start of a handled tick.
	for ok && (j.rowsOf(v.c.UID, tick) > 0 || hasRun(tick) || tick <= after.Unix() && j.hasStopped(v, tick)) {
		tick, ok = v.rhythm.next(tick, j.anchor(v.c))
	}
	return time.Unix(tick+v.jitter, 0), ok
}

// mayHaveStopped reports whether the CronJob has stopped after failures, according to what is
// stored or to what the process knows.
func (j *judge) mayHaveStopped(v *version) bool {
	limit := v.c.Spec.StopAfterFailures
	_, failures := j.failures(v, false)
	return readyReason(&j.w.cronJob.Status) == v1.ReasonStoppedAfterFailures ||
		limit != nil && (j.isSkewed || failures >= int(*limit))
}

func readyReason(status *v1.CronJobStatus) string {
	if ready := meta.FindStatusCondition(status.Conditions, v1.ConditionReady); ready != nil {
		return ready.Reason
	}
	return ""
}

func unix(t *metav1.Time) int64 {
	if t == nil {
		return 0
	}
	return t.Unix()
}

// secondsOf parses a time in RFC 3339; 0 for none.
func secondsOf(text string) int64 {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return 0
	}
	return at.Unix()
}

func text(t *metav1.Time) string {
	if t == nil {
		return "none"
	}
	return stamp(t.Time)
}

// settled checks the final state without faults, and that nothing more is done.
func (j *judge) settled() {
	c := j.w.cronJob
	v := j.newest()
	requests, events, wake := j.w.requests, len(j.sent), j.w.wake
	j.w.reconcile()
	if j.w.requests != requests || len(j.sent) != events || !near(j.w.wake, wake) && !j.isSkewed {
		j.violate("W2", "an idle reconcile makes %d requests and %d events, and the next comes at %s instead of %s",
			j.w.requests-requests, len(j.sent)-events, stamp(j.w.wake), stamp(wake))
	}
	if c.Status.ObservedGeneration != c.Generation {
		j.violate("O2", "observedGeneration is %d, and the generation %d", c.Status.ObservedGeneration, c.Generation)
	}
	j.jobs(c, v)
	j.next(c, v)
	j.stopped(c, v)
	j.account(c)
}

func near(a, b time.Time) bool {
	return a.IsZero() == b.IsZero() && a.Sub(b).Abs() <= 2*time.Millisecond
}

func (j *judge) jobs(c *v1.CronJob, v *version) {
	var active, listed []string
	kept := map[string]int{}
	for _, r := range j.runs {
		switch {
		case r.owner != c.UID || !r.gone.IsZero():
		case r.result == "":
			active = append(active, r.name)
		default:
			kept[classOf(r)]++
			if limit := j.limitOf(v, r); kept[classOf(r)] > limit {
				j.violate("S8", "more than %d Jobs are kept, one of them is %s", limit, r.name)
			}
		}
	}
	for _, ref := range c.Status.Active {
		listed = append(listed, ref.Name)
	}
	slices.Sort(active)
	slices.Sort(listed)
	isCut := len(active) > 100 && len(listed) == 100
	if !slices.Equal(active, listed) && !isCut || int(ptr.Deref(c.Status.ActiveCount, -1)) != len(active) {
		j.violate("status", "active are %v, activeCount is %d, and the Jobs %v run", listed, ptr.Deref(c.Status.ActiveCount, -1), active)
	}
	for _, entry := range c.Status.RecentRuns {
		if entry.JobName == "" {
			continue
		}
		var want []string // of all Jobs that had the name in that second
		isListed := false
		for _, r := range j.runs {
			if r.name == entry.JobName && r.started.Equal(entry.StartTime.Time) && r.owner == c.UID {
				want = append(want, j.outcome(r))
				isListed = isListed || j.outcome(r) == string(entry.Result) || r.isAmbiguous() && entry.Result == v1.RunDeleted
			}
		}
		if !isListed && !j.isSkewed { // by clocks that differ, a lagging cache may be trusted too early
			j.violate("status", "recentRuns says of %s that it is %s, and it is %s", entry.JobName, entry.Result, want)
		}
	}
	if last := j.lastRun(c.UID); unix(c.Status.LastScheduleTime) < last {
		j.violate("S5", "lastScheduleTime is %s, and %s has run", text(c.Status.LastScheduleTime), tickText(last))
	}
}

// outcome returns the result of a run in the terms of the status.
func (j *judge) outcome(r *run) string {
	switch {
	case r.result != "" && (j.isKnown(r) || r.gone.IsZero()):
		return r.result
	case r.gone.IsZero():
		return "Running"
	}
	return "Deleted"
}

// isAmbiguous reports whether somebody deleted the Job after it had ended: its end may not have
// been known when the status was written.
func (r *run) isAmbiguous() bool { return !r.gone.IsZero() && r.goneBy != "manager" }

func (j *judge) next(c *v1.CronJob, v *version) {
	reason, next := readyReason(&c.Status), c.Status.NextScheduleTime
	now := j.w.Now()
	isSuspended := deref(c.Spec.Suspend) || c.Spec.SuspendUntil != nil && now.Before(c.Spec.SuspendUntil.Time)
	switch {
	case !v.rhythm.isValid:
		if reason != v1.ReasonInvalidSchedule {
			j.violate("S10", "Ready is %s, and the schedule is invalid", reason)
		}
	case isSuspended:
		if reason != v1.ReasonSuspended || next != nil {
			j.violate("S7", "Ready is %s and the next tick %s, and the CronJob is suspended", reason, text(next))
		}
	case reason == v1.ReasonStoppedAfterFailures:
		if next != nil {
			j.violate("S21", "the next tick is %s, and the CronJob has stopped", text(next))
		}
	default:
		j.nextTick(c, v, reason)
	}
}

// nextTick checks the next tick of a CronJob whose ticks may run: the first one to come, or a due
// one that waits.
func (j *judge) nextTick(c *v1.CronJob, v *version, reason string) {
	next, want := c.Status.NextScheduleTime, "none"
	coming, ok := j.nextStart(v, j.w.Now())
	if ok {
		want = stamp(coming.Add(-time.Duration(v.jitter) * time.Second))
	}
	// An edit by a clock that is ahead counts from when it is first seen.
	isEarly := j.isSkewed && next != nil && next.Unix() > j.from(v) && next.Unix() <= v.floor.Unix()
	isWaiting := next != nil && !next.Add(time.Duration(v.jitter)*time.Second).After(j.w.Now())
	running := j.count(c.UID, (*run).isRunning)
	switch {
	case isWaiting && reason != v1.ReasonWaiting && reason != v1.ReasonJobCreationFailed:
		j.violate("S2", "the tick of %s is due, and Ready is %s", text(next), reason)
	case isWaiting && reason == v1.ReasonWaiting && running < limitOf(v):
		j.violate("S6", "the tick of %s waits, and only %d Jobs run", text(next), running)
	case !isWaiting && text(next) != want && ok && !isEarly: // ticks beyond the model's range are not checked
		j.violate("S2", "nextScheduleTime is %s instead of %s", text(next), want)
	case !isWaiting && next != nil && reason != v1.ReasonScheduled:
		j.violate("O2", "the next tick is %s, and Ready is %s", text(next), reason)
	}
}

// stopped checks that the CronJob has stopped after failures when it should, and only then.
func (j *judge) stopped(c *v1.CronJob, v *version) {
	limit, is := c.Spec.StopAfterFailures, readyReason(&c.Status) == v1.ReasonStoppedAfterFailures
	if j.isSkewed || !v.isKnown || !v.rhythm.isValid || deref(c.Spec.Suspend) || c.Spec.SuspendUntil != nil {
		return
	}
	least, most := j.failures(v, true)
	if must, may := limit != nil && least >= int(*limit), limit != nil && most >= int(*limit); is && !may || !is && must {
		j.violate("S21", "Ready is %s after %d to %d failures in a row", readyReason(&c.Status), least, most)
	}
	if count := int(c.Status.FailuresTowardsStop); limit != nil && (count < least || count > most) {
		j.violate("S21", "failuresTowardsStop is %d instead of %d to %d", count, least, most)
	}
}

// account checks that each tick ran or was reported, once.
func (j *judge) account(c *v1.CronJob) {
	for i, v := range j.versions {
		var next *version
		if i+1 < len(j.versions) {
			next = j.versions[i+1]
		}
		switch until := j.w.Now().Unix() - v.jitter; {
		case v.c.UID != c.UID || next != nil && next.floor.Equal(v.floor): // the version continues
		case next != nil:
			j.accountSpan(c, v, min(until, next.floor.Unix()), true)
		default:
			j.accountSpan(c, v, until, false)
		}
	}
}

func (j *judge) accountSpan(c *v1.CronJob, v *version, until int64, isOver bool) {
	if deref(v.c.Spec.Suspend) || j.isSkewed || !v.isKnown {
		return
	}
	from := j.from(v)
	waiting := int64(math.MaxInt64) // no tick from this one on is checked
	switch next := unix(c.Status.NextScheduleTime); {
	case isOver:
		waiting = v.waiting + 1 // no later tick of an earlier schedule is known: see docs/design.md
	case next != 0:
		waiting = next
	}
	ticks := v.rhythm.between(from, until, j.anchorOf(v, until))
	for _, row := range j.rows {
		if row.owner == c.UID && slices.Contains(ticks, row.first) && slices.Contains(ticks, row.last) {
			j.missed(v, row, ticks)
		}
	}
	for _, tick := range ticks {
		rows, hasRun := j.rowsOf(c.UID, tick), j.hasRun(c.UID, tick)
		switch {
		case rows > 1:
			j.violate("S2", "%d events say that the tick of %s was missed", rows, tickText(tick))
		case rows > 0 || hasRun || tick >= waiting || j.isUnreported(c.UID, tick) || j.hasStopped(v, tick):
		default:
			j.violate("S2", "the tick of %s has neither run nor been reported", tickText(tick))
		}
	}
}

// isUnreported reports whether a status has a tick as missed, and the process that wrote it ended
// before it sent the event. The next process reports it only if it starts within ten minutes.
func (j *judge) isUnreported(owner types.UID, tick int64) bool {
	return slices.ContainsFunc(j.noted, func(r row) bool {
		return r.owner == owner && r.first <= tick && tick <= r.last && r.count != j.process
	})
}

// missed checks how many ticks an event reports: those that did not run. It may include ticks whose
// runs the process may have forgotten.
func (j *judge) missed(v *version, row row, ticks []int64) {
	least, forgotten := 0, 0
	for _, tick := range ticks {
		switch {
		case tick < row.first || tick > row.last || j.lastRunBy(v.c.UID, tick) == tick:
		case j.hasStopped(v, tick):
			return // it may or may not count
		case j.hasRun(v.c.UID, tick):
			forgotten++
		default:
			least++
		}
	}
	if row.count < min(least, 100) || row.count > min(least+forgotten, 100) {
		j.violate("S2", "an event says that %d ticks from %s to %s were missed, and %d did not run, beside %d that may be forgotten",
			row.count, tickText(row.first), tickText(row.last), least, forgotten)
	}
}

func (j *judge) anchorOf(v *version, until int64) int64 {
	anchor := v.c.CreationTimestamp.Unix()
	if v.rhythm.interval == 0 {
		return anchor
	}
	anchor = max(anchor, j.lastRunBy(v.c.UID, until))
	for from := j.from(v); anchor > from; {
		anchor -= v.rhythm.interval
	}
	return anchor
}
