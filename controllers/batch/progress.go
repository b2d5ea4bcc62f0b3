// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/plan"
)

// progress is what the reconciles of one CronJob keep for the next one, until the stored status
// records it. Only the reconcile in progress uses it.
type progress struct {
	// owner is the UID of the CronJob. Another CronJob of its name may follow it.
	owner types.UID

	// generation is the newest one that this process has seen and that the stored status has not
	// observed; 0 if there is none.
	generation int64

	// schedule is that of generation, as plan.Scheduling returns it.
	schedule string

	// seenAt is when this process first saw generation, and scheduleSeenAt when it first saw
	// schedule. Edits that it has seen since and that left the schedule as it is do not change
	// that.
	seenAt, scheduleSeenAt time.Time

	// isStale is whether a status write failed since the CronJob was last read from the API server.
	// The cache may be stale, or the status is stored and the answer was lost. So the next
	// reconcile reads the CronJob from the API server.
	isStale bool

	// isRead is whether this process has tried to read the CronJob from the API server.
	isRead bool

	// statusErr is why the last status write failed; nil if it did not.
	statusErr error

	// runs has the runs that the stored status does not record yet, in the order in which they were
	// added.
	runs []unrecordedRun

	// forgottenUntil is the newest tick of the runs dropped because of maxRuns whose Jobs are gone.
	forgottenUntil time.Time

	// nameTaken has the ticks whose Job name another object has, and that the stored status does
	// not record yet.
	nameTaken []time.Time

	// absent names the Jobs that the API server was found not to have. Each Job is looked up only
	// once before a status is written.
	absent []string

	// unconfirmed has the Jobs that may exist although their create request failed.
	unconfirmed []unconfirmedJob

	// pruned has the old Jobs that were deleted and that the cache still has.
	pruned sets.Set[types.UID]

	// attempt is the latest creation that failed.
	attempt attempt

	// failures counts, for each kind of request, the reconciles in a row in which one failed.
	// Creations are counted in attempt. Each kind has a backoff of its own, so that a kind that is
	// refused for long does not delay the others.
	failures map[string]int

	// failed has the kinds of the requests that failed in this reconcile.
	failed []string

	// isLeftToDelete is whether this reconcile had no time to delete all Jobs that are to be
	// deleted.
	isLeftToDelete bool
}

// unrecordedRun is a run that the stored status does not record yet.
type unrecordedRun struct {
	job    *batchv1.Job // as it was last seen
	isGone bool         // whether the Job no longer exists
}

// see updates the run when its Job has ended; none runs again. It copies the Job: a pointer into
// the list of a cache read would keep the whole list in memory.
func (run *unrecordedRun) see(job *batchv1.Job) {
	if plan.ResultOf(job) != "" && plan.ResultOf(run.job) == "" {
		run.job = new(*job)
	}
}

// unconfirmedJob is a Job whose create request got no answer, or a 5xx.
type unconfirmedJob struct {
	name string
	at   time.Time
}

// attempt is a tick whose Job could not be created.
type attempt struct {
	// newest is the newest tick that was due at that time. A newer one starts the backoff anew.
	newest   time.Time
	failures int

	// recorded has the reasons of the failures that a stored status had.
	recorded []string

	// invalid is the error if the API server called the Job invalid; else nil. The Job of that
	// generation is not tried again.
	invalid    error
	generation int64
}

// maxRuns is how many runs are remembered while a status can't be written. The Jobs of older runs
// are in the cache, unless they are gone.
const maxRuns = 100

// addRun remembers a run until the stored status records it.
func (p *progress) addRun(job *batchv1.Job) {
	if p.runOf(job.UID) != nil {
		return
	}
	p.forget(job.Name)
	p.runs = append(p.runs, unrecordedRun{job: job})
	if len(p.runs) <= maxRuns {
		return
	}
	if tick, ok := plan.TickOf(p.runs[0].job); ok && p.runs[0].isGone && tick.After(p.forgottenUntil) {
		p.forgottenUntil = tick
	}
	p.runs = p.runs[1:]
}

// addGone remembers how a Job ended that was deleted since.
func (p *progress) addGone(job *batchv1.Job) {
	p.addRun(job)
	*p.runOf(job.UID) = unrecordedRun{job: job, isGone: true}
}

// runOf returns the run of a Job; nil if there is none.
func (p *progress) runOf(uid types.UID) *unrecordedRun {
	i := slices.IndexFunc(p.runs, func(run unrecordedRun) bool { return run.job.UID == uid })
	if i < 0 {
		return nil
	}
	return &p.runs[i]
}

// forget drops what an earlier answer said of a Job that may exist now.
func (p *progress) forget(name string) {
	p.unconfirmed = slices.DeleteFunc(p.unconfirmed, func(job unconfirmedJob) bool { return job.name == name })
	p.absent = slices.DeleteFunc(p.absent, func(other string) bool { return other == name })
}

// addUnconfirmed remembers a Job until it is known whether it exists.
func (p *progress) addUnconfirmed(name string, at time.Time) {
	p.forget(name)
	p.unconfirmed = append(p.unconfirmed, unconfirmedJob{name, at})
	p.unconfirmed = p.unconfirmed[max(0, len(p.unconfirmed)-maxRuns):]
}

// addNameTaken remembers a tick until the stored status records it.
func (p *progress) addNameTaken(tick time.Time) {
	p.nameTaken = append(p.nameTaken, tick)
	p.nameTaken = p.nameTaken[max(0, len(p.nameTaken)-maxRuns):]
}

// begin begins a reconcile. It drops the progress of an earlier CronJob of the same name.
func (p *progress) begin(owner types.UID) *progress {
	if p.owner != owner {
		*p = progress{owner: owner}
	}
	p.failed, p.isLeftToDelete = nil, false
	return p
}

// see updates the runs from the cache, and from Jobs that had ended when they were deleted.
func (p *progress) see(seen *observed, deleted []*batchv1.Job) {
	cached := sets.New[types.UID]()
	for _, job := range seen.jobs {
		cached.Insert(job.UID)
		if run := p.runOf(job.UID); run != nil {
			run.see(job)
		}
		if p.isUnconfirmed(job.Name) {
			p.addRun(new(*job)) // as see copies it
		}
	}
	p.pruned = p.pruned.Intersection(cached)
	for _, job := range deleted {
		if owner := metav1.GetControllerOfNoCopy(job); owner != nil && owner.UID == p.owner && plan.IsEndMissing(seen.stored, job) {
			p.addGone(job)
		}
	}
}

func (p *progress) isUnconfirmed(name string) bool {
	return slices.ContainsFunc(p.unconfirmed, func(job unconfirmedJob) bool { return job.name == name })
}

// doubtful names the Jobs that the cache lacks and of which it is unknown whether they exist: those
// of unanswered requests and, while no status can be written, those of runs, which somebody may
// delete.
func (p *progress) doubtful(seen *observed) []string {
	var names []string
	for _, job := range p.unconfirmed {
		names = append(names, job.name)
	}
	if p.statusErr == nil {
		return names
	}
	for _, run := range p.runs {
		isCached := func(job *batchv1.Job) bool { return job.UID == run.job.UID }
		if !run.isGone && !slices.ContainsFunc(seen.jobs, isCached) {
			names = append(names, run.job.Name)
		}
	}
	return names
}

// learn takes an answer of the API server: the CronJob's Job of a name; nil for none.
func (p *progress) learn(c *v1.CronJob, name string, job *batchv1.Job) {
	isRun := p.isUnconfirmed(name)
	p.forget(name)
	for i := range p.runs {
		switch run := &p.runs[i]; {
		case run.job.Name != name:
		case job != nil && job.UID == run.job.UID:
			run.see(job)
		default:
			run.isGone = true
		}
	}
	switch {
	case job == nil:
		p.absent = append(p.absent, name)
	case isRun || !plan.IsRecorded(c, job):
		p.addRun(job)
	}
}

// trustCache is for when the API server does not answer: what is old and not in the cache does not
// exist.
func (p *progress) trustCache(seen *observed, names []string) {
	isOld := func(at time.Time) bool { return seen.now.Sub(at) >= plan.MaxCacheLag }
	for _, name := range p.doubtful(seen) {
		if !slices.Contains(names, name) {
			continue
		}
		p.unconfirmed = slices.DeleteFunc(p.unconfirmed, func(job unconfirmedJob) bool { return job.name == name && isOld(job.at) })
		for i := range p.runs {
			if run := &p.runs[i]; run.job.Name == name {
				run.isGone = isOld(run.job.CreationTimestamp.Time)
			}
		}
	}
}

// conclude keeps what the stored status lacks, and drops the rest.
func (p *progress) conclude(result plan.Result, isWritten bool) {
	if isWritten {
		p.runs, p.nameTaken, p.absent, p.forgottenUntil, p.generation = nil, nil, nil, time.Time{}, 0
		if result.Refused != nil {
			p.attempt.recorded = append(p.attempt.recorded, plan.RefusalReason(result.Refused))
		}
		return
	}
	for _, job := range result.Unwritten { // somebody may delete them before the status is written
		p.addRun(new(*job)) // as see copies it
	}
}

// noteGeneration records that this process has seen the CronJob's generation, and returns when it
// and its schedule were first seen: now, if the status has observed the generation.
func (p *progress) noteGeneration(c *v1.CronJob, now time.Time) (seenAt, scheduleSeenAt time.Time) {
	if c.Status.ObservedGeneration == c.Generation {
		p.generation = 0
		return now, now
	}
	if p.generation != c.Generation {
		schedule := plan.Scheduling(&c.Spec)
		if p.generation == 0 || p.generation+1 != c.Generation || p.schedule != schedule {
			p.scheduleSeenAt = now
		}
		p.generation, p.schedule, p.seenAt = c.Generation, schedule, now
	}
	return p.seenAt, p.scheduleSeenAt
}

// countFailures counts the kinds of requests that failed in this reconcile, and resets the others.
func (p *progress) countFailures() {
	counted := make(map[string]int, len(p.failed))
	for _, request := range p.failed {
		counted[request] = p.failures[request] + 1
	}
	p.failures = counted
}

func (p *progress) isEmpty() bool {
	return !p.isStale && p.statusErr == nil && len(p.runs)+len(p.unconfirmed)+len(p.nameTaken)+len(p.failures)+len(p.pruned) == 0 &&
		p.generation == 0 && p.attempt.newest.IsZero()
}
