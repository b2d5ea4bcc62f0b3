// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/eventrecorder"
)

// judge checks the reconciler against the contract. It knows everything that is stored, and what
// the process has received of it.
type judge struct {
	w       *world
	history []string

	versions []*version      // of the CronJob, oldest first
	runs     []*run          // Jobs of all CronJobs, in the order of their creation
	noted    []row           // in statuses; count is the process
	refusals map[string]bool // the reported ones, by tick and answer
	rows     []row           // events about missed ticks
	sent     map[string]bool
	looks    []look   // decisions, oldest first
	stops    []window // in which the stored status said that the CronJob had stopped after failures
	names    map[int64]bool

	// The reconcile in progress.
	look           look
	rejections     map[int]bool // the answers to requests for Jobs
	statusRequests int
	troubled       bool // whether one of its requests failed
	isStepped      bool // whether a clock was stepped during it

	process  int       // the number of processes so far
	unreadBy int       // the newest process that could not read the CronJob
	trouble  time.Time // when a request last failed or a process ended
	isSkewed bool      // whether clocks differ, or differed, in this run
}

// version is the CronJob from one edit to the next.
type version struct {
	number     int64 // the resourceVersion
	c          *v1.CronJob
	at         time.Time // by the manager's clock
	floor      time.Time // ticks up to it are from before an edit of the schedule, and don't count
	isKnown    bool      // whether the webhook recorded the time of the last edit
	rhythm     *rhythm
	jitter     int64
	edited     time.Time // when the spec was last edited
	resumed    int64     // the last resume; 0 for never
	seen       time.Time // when the newest process first used it
	seenBy     int
	since      int64 // the generation of the edit at floor
	isRecorded bool  // whether a status was written for it
	waiting    int64 // the tick that the status waited for at the next edit of the schedule; 0 for none
}

type run struct {
	name         string
	uid          types.UID
	owner        types.UID
	tick         int64 // 0 for a manual run
	trigger      v1.RunTrigger
	isFirst      bool // whether it has the name of its tick
	by           string
	process      int
	started      time.Time // of the Job's status
	result       string
	endedAt      time.Time // by the manager's clock
	over         int64     // of the Job's status
	seenBy       int       // the process whose cache has shown its end, and the one that has decided since
	knownTo      int
	isUnanswered bool      // whether the process got no answer to its creation
	isCached     bool      // whether the cache had it at the last decision
	cachedBy     int       // the newest process whose cache had it at a decision
	hasStatus    bool      // whether a status was stored since
	gone         time.Time // by the true time
	goneBy       string
	recorded     bool // whether a stored status has recorded its tick
	wasDue       bool // whether a stored status had its tick as the last one
	isUnlisted   bool // whether a status without its end did not list it either: its failure may not count
}

// row is an event about missed ticks.
type row struct {
	owner       types.UID
	why         string
	first, last int64
	count       int
}

// window is a time in seconds since 1970; to is 0 while it lasts.
type window struct {
	owner    types.UID
	from, to int64
}

type look struct {
	at       time.Time // by the manager's clock
	version  *version  // that it used
	troubled bool
	asked    int64 // the tick whose Job it requested; 0 for none
	code     int
	isHeld   bool // whether no more Jobs may run
}

// broken is the panic of a run that breaks a law.
type broken struct{ law, text string }

func (j *judge) violate(law, format string, args ...any) {
	panic(broken{law, fmt.Sprintf(format, args...)})
}

func (j *judge) logf(format string, args ...any) {
	j.history = append(j.history, stamp(j.w.now)+" "+fmt.Sprintf(format, args...))
}

func stamp(t time.Time) string { return t.UTC().Format("02 15:04:05.000") }

func tickText(tick int64) string { return time.Unix(tick, 0).UTC().Format("02 15:04:05") }

func versionOf(c *v1.CronJob) int64 {
	n, _ := strconv.ParseInt(c.ResourceVersion, 10, 64)
	return n
}

func (j *judge) edited(before, after *v1.CronJob) {
	now := j.w.Now()
	v := &version{number: versionOf(after), c: after, at: now, jitter: jitterOf(after), isKnown: !j.w.profile.isUnseen}
	v.resumed = secondsOf(after.Annotations[v1.ResumedAtAnnotation])
	v.rhythm = rhythmOf(&after.Spec, j.w.profile.start.Truncate(24*time.Hour))
	if v.floor, v.edited = after.CreationTimestamp.Time, after.CreationTimestamp.Time; before != nil {
		last := j.newest()
		if before.Status.ObservedGeneration >= last.since {
			last.waiting = unix(before.Status.NextScheduleTime)
		}
		v.floor, v.edited, v.since = last.floor, last.edited, last.since
		if before.Generation != after.Generation {
			v.edited = now
		}
		if isRescheduled(&before.Spec, &after.Spec, now) {
			v.floor, v.since = now, after.Generation
		} else if was := before.Spec.SuspendUntil; was != nil && after.Spec.SuspendUntil == nil && was.After(v.floor) {
			v.floor = was.Add(-time.Nanosecond) // a suspension that has ended stays so
		}
	}
	j.versions = append(j.versions, v)
}

// isRescheduled reports whether an edit changes when Jobs start. Removing the end of a past
// suspension does not.
func isRescheduled(before, after *v1.CronJobSpec, now time.Time) bool {
	when := func(spec *v1.CronJobSpec) v1.CronJobSpec {
		return v1.CronJobSpec{
			Schedule: spec.Schedule, AdditionalSchedules: spec.AdditionalSchedules, TimeZone: spec.TimeZone, Exclude: spec.Exclude,
			NotBefore: spec.NotBefore, NotAfter: spec.NotAfter, Suspend: new(deref(spec.Suspend)), SuspendUntil: spec.SuspendUntil,
		}
	}
	was, is := when(before), when(after)
	if equality.Semantic.DeepEqual(was, is) {
		return false
	}
	isOver := was.SuspendUntil != nil && was.SuspendUntil.Time.Before(now)
	was.SuspendUntil = nil
	return !isOver || !equality.Semantic.DeepEqual(was, is)
}

func (j *judge) newest() *version { return j.versions[len(j.versions)-1] }

// jitterOf returns the jitter of a CronJob in seconds: from the first 64 bits of a hash of its
// namespace and name.
func jitterOf(c *v1.CronJob) int64 {
	limit := uint64(deref(c.Spec.JitterSeconds)) //nolint:gosec // positive
	if limit == 0 {
		return 0
	}
	hash := sha256.Sum256([]byte(c.Namespace + "/" + c.Name))
	return int64(binary.BigEndian.Uint64(hash[:]) % limit) //nolint:gosec // small
}

func (j *judge) removed() { j.logf("the CronJob is deleted") }

func (j *judge) stepped() { j.isSkewed, j.isStepped = true, true }

func (j *judge) started() {
	j.process++
	j.trouble = j.w.now
	if c := j.w.cronJob; c != nil {
		j.noteUnlisted(c.UID, &c.Status)
	}
	j.logf("a process starts")
}

func (j *judge) created(job *batchv1.Job, by string) {
	r := &run{
		name: job.Name, uid: job.UID, owner: ownerOf(job), by: by, process: j.process, started: job.CreationTimestamp.Time,
		trigger: v1.RunTrigger(job.Annotations[v1.TriggerAnnotation]), tick: secondsOf(job.Annotations[v1.ScheduledAtAnnotation]),
	}
	if r.trigger == "" {
		r.trigger = v1.TriggerSchedule
	}
	r.isFirst = r.tick != 0 && r.name == fmt.Sprintf("%s-%d", cronJobName, r.tick)
	if r.owner == "" {
		j.names[r.tick] = true
	}
	if by == "manager" {
		j.twice(r)
		j.logf("Job %s is created", r.name)
	}
	j.runs = append(j.runs, r)
	j.w.plan(job)
}

// twice checks that the tick has not run before.
func (j *judge) twice(r *run) {
	if slices.ContainsFunc(j.ran(r.owner), func(other *run) bool {
		return other.tick == r.tick && !j.isForgotten(other) && !j.isUnread(other)
	}) {
		j.violate("S4", "the tick of %s runs twice", tickText(r.tick))
	}
}

// isForgotten reports whether no process can know of a run any more: its Job was deleted before a
// status recorded it, the cache of the newest process never had it, and the process that requested
// it has ended or got no answer, or it was requested by somebody else.
func (j *judge) isForgotten(r *run) bool {
	isAsker := r.process == j.process && r.by == "manager" && !r.isUnanswered
	return !r.gone.IsZero() && !r.recorded && !isAsker && r.cachedBy != j.process
}

// isUnread reports whether the newest process can't know of a run whose Job was deleted: its cached
// CronJob is from before the run, and it could not read the stored one.
func (j *judge) isUnread(r *run) bool {
	cached := j.w.cachedCronJob
	return !r.gone.IsZero() && j.unreadBy == j.process && cached != nil && unix(cached.Status.LastScheduleTime) < r.tick
}

// ran returns the Jobs that ran ticks of a CronJob: those of the schedule, and backfills with the
// name of their tick.
func (j *judge) ran(owner types.UID) []*run {
	var found []*run
	for _, r := range j.runs {
		if r.owner == owner && r.isFirst {
			found = append(found, r)
		}
	}
	return found
}

func (j *judge) count(owner types.UID, isTrue func(r *run) bool) int {
	count := 0
	for _, r := range j.runs {
		if r.owner == owner && isTrue(r) {
			count++
		}
	}
	return count
}

func (r *run) isRunning() bool { return r.result == "" && r.gone.IsZero() }

func (r *run) failedBetween(after, until int64) bool {
	return r.result == "Failed" && r.over > after && r.over <= until
}

func (j *judge) runOf(uid types.UID) *run {
	for _, r := range slices.Backward(j.runs) {
		if r.uid == uid {
			return r
		}
	}
	return &run{}
}

func (j *judge) ended(job *batchv1.Job, succeeds bool) {
	r := j.runOf(job.UID)
	r.result, r.endedAt, r.over = "Failed", j.w.Now(), j.w.serverNow().Unix()
	if succeeds {
		r.result = "Succeeded"
	}
	if c := j.w.cronJob; c != nil {
		j.noteUnlisted(c.UID, &c.Status)
	}
	j.logf("Job %s ends: %s", r.name, r.result)
}

// isKnown reports whether the process knows how a Job ended.
func (j *judge) isKnown(r *run) bool { return r.hasStatus || r.knownTo == j.process }

// sawEnd records that the process has received the end of a Job: directly, or by its cache before
// its next decision.
func (j *judge) sawEnd(job *batchv1.Job, atOnce bool) {
	if atOnce {
		j.runOf(job.UID).isUnanswered = false
	}
	if job != nil && len(job.Status.Conditions) > 0 {
		r := j.runOf(job.UID)
		if r.seenBy = j.process; atOnce {
			r.knownTo = j.process
		}
	}
}

// deleted checks and records the deletion of a Job.
func (j *judge) deleted(job *batchv1.Job, by string) {
	r := j.runOf(job.UID)
	if by == "manager" {
		j.mayDelete(r)
	}
	r.gone, r.goneBy = j.w.now, by
	j.logf("Job %s is deleted by %s", r.name, by)
}

// mayDelete checks a deletion by the process: it must replace a running Job, or prune an ended one
// beyond the limits.
func (j *judge) mayDelete(r *run) {
	v := j.look.version
	if r.owner != v.c.UID {
		j.violate("S13", "Job %s is deleted, which another controls", r.name)
	}
	if r.result == "" || !j.isKnown(r) {
		if v.c.Spec.ConcurrencyPolicy != v1.ReplaceConcurrent {
			j.violate("S6", "Job %s is deleted while it runs, and the policy is %s", r.name, v.c.Spec.ConcurrencyPolicy)
		}
		return
	}
	if c := j.w.cronJob; c != nil && c.UID == r.owner && r.trigger == v1.TriggerSchedule && unix(c.Status.LastScheduleTime) < r.tick {
		j.violate("S4", "Job %s is deleted, and no stored status records its tick", r.name)
	}
	newer, limit := 0, j.limitOf(v, r)
	for _, other := range j.runs {
		isThere := j.w.jobs[other.name] != nil && j.w.jobs[other.name].UID == other.uid
		isThere = isThere || other.isCached
		if other.owner == r.owner && other != r && isThere && other.result != "" && classOf(other) == classOf(r) && !isOlder(other, r) {
			newer++
		}
	}
	if newer < limit {
		j.violate("S8", "Job %s, which %s, is deleted, though only %d newer ones are there and %d are kept", r.name, r.result, newer, limit)
	}
}

// classOf returns which Jobs share a history limit.
func classOf(r *run) string {
	if r.trigger == v1.TriggerManual {
		return string(r.trigger)
	}
	return string(r.trigger) + r.result
}

func isOlder(a, b *run) bool {
	if a.trigger == v1.TriggerSchedule {
		return a.tick < b.tick
	}
	return a.started.Before(b.started)
}

func (j *judge) limitOf(v *version, r *run) int {
	switch {
	case r.trigger == v1.TriggerBackfill && r.result == "Failed":
		return 10
	case r.trigger != v1.TriggerSchedule:
		return 3
	case r.result == "Failed":
		return int(*v.c.Spec.FailedJobsHistoryLimit)
	}
	return int(*v.c.Spec.SuccessfulJobsHistoryLimit)
}

func (j *judge) reconciling() {
	j.look, j.statusRequests, j.troubled, j.isStepped = look{}, 0, false, false
}

// observed records the version that the process uses from now on.
func (j *judge) observed(c *v1.CronJob) {
	if c == nil || !j.w.inReconcile || j.look.asked != 0 || j.statusRequests > 0 {
		return
	}
	if j.look.at.IsZero() { // a reconcile reads the clock and the cache once
		j.look = look{at: j.w.Now()}
		for _, r := range j.runs {
			if r.seenBy == j.process {
				r.knownTo = j.process
			}
			cached := j.w.cachedJobs[r.name]
			r.isCached = cached != nil && cached.UID == r.uid
			if r.isCached {
				r.cachedBy, r.isUnanswered = j.process, false
			}
		}
	}
	for _, v := range j.versions {
		if v.c.UID == c.UID && v.number <= versionOf(c) {
			j.look.version = v
		}
	}
	if v := j.look.version; v != nil && v.seenBy != j.process {
		v.seen, v.seenBy = j.look.at, j.process
	}
}

func (j *judge) request(kind string) {
	if kind == status {
		j.statusRequests++
		if j.statusRequests > 1 {
			j.violate("W3", "a reconcile writes the status twice")
		}
	}
}

func (j *judge) answered(kind, name string, answer error) {
	code := codeOf(answer)
	isNormal := code == 200 || kind == read && code == 404
	if kind == create {
		j.look.code = code
		j.rejections[code] = true
		if last := len(j.runs) - 1; last >= 0 && j.runs[last].name == name && code != http.StatusOK {
			j.runs[last].isUnanswered = true
		}
	}
	if !isNormal {
		j.troubled, j.trouble = true, j.w.now
		if kind == read && name == cronJobName {
			j.unreadBy = j.process
		}
		j.logf("%s %s is answered with %d", kind, name, code)
	}
}

func (j *judge) wrote(before, after *v1.CronJobStatus, changed bool) {
	if !changed {
		j.violate("W3", "a status is written that changes nothing")
	}
	if deref(after.LastScheduleTime).Time.Before(deref(before.LastScheduleTime).Time) {
		j.violate("S5", "lastScheduleTime goes back from %v to %v", before.LastScheduleTime, after.LastScheduleTime)
	}
	for _, r := range j.runs {
		isKnown := r.gone.IsZero() || r.process == j.process && !r.isUnanswered
		r.hasStatus = r.hasStatus || r.knownTo == j.process
		if last := unix(after.LastScheduleTime); r.owner == j.w.cronJob.UID {
			r.recorded = r.recorded || r.tick == last || r.tick < last && isKnown
			r.wasDue = r.wasDue || r.tick == last
		}
	}
	j.noteUnlisted(j.w.cronJob.UID, after)
	if v := j.look.version; v != nil {
		v.isRecorded = true
	}
	stopped := v1.ReasonStoppedAfterFailures
	switch was, is := readyReason(before) == stopped, readyReason(after) == stopped; {
	case is && !was:
		j.stops = append(j.stops, window{owner: j.w.cronJob.UID, from: j.w.Now().Unix()})
	case was && !is:
		j.stops[len(j.stops)-1].to = j.w.Now().Unix()
	}
	for _, m := range after.Missed {
		if !slices.Contains(before.Missed, m) {
			j.noted = append(j.noted, row{owner: j.w.cronJob.UID, first: m.First.Unix(), last: m.Last.Unix(), count: j.process})
		}
	}
	j.logf("status: last %v, next %v, %d active, Ready %s", text(after.LastScheduleTime), text(after.NextScheduleTime),
		ptr.Deref(after.ActiveCount, -1), readyReason(after))
}

// maxRecentRuns is how many runs a status has.
const maxRecentRuns = 10

// noteUnlisted records the runs that a status should list and does not.
func (j *judge) noteUnlisted(owner types.UID, status *v1.CronJobStatus) {
	for _, r := range j.runs {
		if r.owner == owner && !r.hasStatus && r.tick <= unix(status.LastScheduleTime) && !mayBeListed(status, r) {
			r.isUnlisted = true
		}
	}
}

// mayBeListed reports whether a status lists a run, or will list it as one of the newest.
func mayBeListed(status *v1.CronJobStatus, r *run) bool {
	runs := status.RecentRuns
	isNewer := len(runs) < maxRecentRuns || cmp.Or(r.tick, r.started.Unix()) > runs[len(runs)-1].ScheduledTime.Unix()
	return slices.ContainsFunc(status.Active, func(ref corev1.ObjectReference) bool { return ref.UID == r.uid }) ||
		slices.ContainsFunc(runs, func(run v1.Run) bool { return run.JobUID == r.uid }) ||
		isNewer && r.trigger != v1.TriggerSchedule
}

func (j *judge) event(e eventrecorder.Event, identity string) {
	if j.sent[identity] {
		return
	}
	j.sent[identity] = true
	j.logf("event %s: %s", e.Reason, e.Note)
	switch e.Reason {
	case "MissSchedule":
		j.rows = append(j.rows, rowOf(e))
		j.reason(j.rows[len(j.rows)-1])
	case "FailedCreate":
		j.refused(e.Note)
	}
}

// rowOf parses "Missed scheduled time A: why" or "Missed 7 scheduled times from A to B: why".
func rowOf(e eventrecorder.Event) row {
	what, why, _ := strings.Cut(e.Note, "Z: ")
	words := strings.Fields(what)
	instant := func(word string) int64 { return secondsOf(strings.TrimSuffix(word, "Z") + "Z") }
	found := row{owner: e.Regarding.GetUID(), why: why, count: 1, last: instant(words[len(words)-1])}
	if found.first = found.last; words[1] != "scheduled" {
		found.count, _ = strconv.Atoi(words[1])
		found.first = instant(words[len(words)-3])
	}
	return found
}
