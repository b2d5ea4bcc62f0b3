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

	// jobs are held until a status is written, in the order in which they were added; those of
	// which it is unknown whether they exist until that is known.
	jobs []heldJob

	// forgottenUntil is the newest tick of the Jobs that are gone and were dropped because of
	// maxHeld.
	forgottenUntil time.Time

	// nameTaken has the ticks whose Job name another object has, and that the stored status does
	// not record yet.
	nameTaken []time.Time

	// pruned has the old Jobs that were deleted and that the cache still has.
	pruned sets.Set[types.UID]

	// attempt is the latest creation that failed.
	attempt attempt

	// failures counts, for each kind of request, the reconciles in a row in which one failed.
	// Creations are counted in attempt. Each kind has a backoff of its own, so that a kind that is
	// refused for long does not delay the others.
	failures map[string]int
}

// heldJob is what is known of a Job of which the stored status does not tell.
type heldJob struct {
	name string

	// job is the Job as it was last seen; nil if it never was. Then the creation got no answer or a
	// 5xx, at the time since, or the Job was looked up in vain.
	job *batchv1.Job

	// since is when it was created.
	since time.Time

	// isGone is whether it does not exist. It is not looked up again before a status is written.
	isGone bool
}

// isUnknown reports whether it is unknown whether the Job was ever created.
func (h heldJob) isUnknown() bool { return h.job == nil && !h.isGone }

// isAbsent reports whether the API server was found not to have a Job that was never seen.
func (h heldJob) isAbsent() bool { return h.job == nil && h.isGone }

// see updates the Job when it has ended; none runs again. It copies the Job: a pointer into the
// list of a cache read would keep the whole list in memory.
func (h *heldJob) see(job *batchv1.Job) {
	if plan.ResultOf(job) != "" && plan.ResultOf(h.job) == "" {
		h.job = new(*job)
	}
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

// maxHeld is how many Jobs are held while a status can't be written. Older ones are in the cache,
// unless they are gone.
const maxHeld = 100

// addRun holds a Job that exists.
func (p *progress) addRun(job *batchv1.Job) {
	if p.find(job.UID) == nil {
		p.hold(heldJob{name: job.Name, job: job, since: job.CreationTimestamp.Time})
	}
}

// addGone holds a Job that had ended when it was deleted.
func (p *progress) addGone(job *batchv1.Job) {
	p.addRun(job)
	held := p.find(job.UID)
	held.job, held.isGone = job, true
}

// hold adds a Job, and drops what an earlier answer said of it. Of too many, it drops one that was
// looked up in vain, else the oldest.
func (p *progress) hold(added heldJob) {
	p.forget(added.name)
	p.jobs = append(p.jobs, added)
	if len(p.jobs) <= maxHeld {
		return
	}
	i := max(0, slices.IndexFunc(p.jobs, heldJob.isAbsent))
	if oldest := p.jobs[i]; oldest.isGone && oldest.job != nil {
		if tick, ok := plan.TickOf(oldest.job); ok && tick.After(p.forgottenUntil) {
			p.forgottenUntil = tick
		}
	}
	p.jobs = slices.Delete(p.jobs, i, i+1)
}

// find returns the held Job of a UID; nil if there is none.
func (p *progress) find(uid types.UID) *heldJob {
	i := slices.IndexFunc(p.jobs, func(held heldJob) bool { return held.job != nil && held.job.UID == uid })
	if i < 0 {
		return nil
	}
	return &p.jobs[i]
}

// forget drops what an earlier answer said of a Job that was never seen.
func (p *progress) forget(name string) {
	p.jobs = slices.DeleteFunc(p.jobs, func(held heldJob) bool { return held.name == name && held.job == nil })
}

// addNameTaken remembers a tick until the stored status records it.
func (p *progress) addNameTaken(tick time.Time) {
	p.nameTaken = append(p.nameTaken, tick)
	p.nameTaken = p.nameTaken[max(0, len(p.nameTaken)-maxHeld):]
}

// of returns the progress of a CronJob. It drops that of an earlier one of the same name.
func (p *progress) of(owner types.UID) *progress {
	if p.owner != owner {
		*p = progress{owner: owner}
	}
	return p
}

// see updates the held Jobs from the cache, and from Jobs that had ended when they were deleted.
func (p *progress) see(seen *observed, deleted []*batchv1.Job) {
	cached := sets.New[types.UID]()
	for _, job := range seen.jobs {
		cached.Insert(job.UID)
		if held := p.find(job.UID); held != nil {
			held.see(job)
		}
		if p.isUnknown(job.Name) {
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

// isUnknown reports whether it is unknown whether the Job of a name was created.
func (p *progress) isUnknown(name string) bool {
	return slices.ContainsFunc(p.jobs, func(held heldJob) bool { return held.name == name && held.isUnknown() })
}

// isDoubtful reports whether the cache lacks a Job and it is unknown whether it exists: one of an
// unanswered request and, while no status can be written, any other, which somebody may delete.
func (p *progress) isDoubtful(seen *observed, held heldJob) bool {
	isCached := func(job *batchv1.Job) bool { return job.UID == held.job.UID }
	return held.isUnknown() || !held.isGone && p.statusErr != nil && !slices.ContainsFunc(seen.jobs, isCached)
}

// doubtful names the Jobs of isDoubtful.
func (p *progress) doubtful(seen *observed) []string {
	var names []string
	for _, held := range p.jobs {
		if p.isDoubtful(seen, held) {
			names = append(names, held.name)
		}
	}
	return names
}

// learn takes an answer of the API server: the CronJob's Job of a name; nil for none.
func (p *progress) learn(c *v1.CronJob, name string, job *batchv1.Job) {
	isRun := p.isUnknown(name)
	p.forget(name)
	for i := range p.jobs {
		switch held := &p.jobs[i]; {
		case held.name != name:
		case job != nil && job.UID == held.job.UID:
			held.see(job)
		default:
			held.isGone = true
		}
	}
	switch {
	case job == nil:
		p.hold(heldJob{name: name, isGone: true})
	case isRun || !plan.IsRecorded(c, job):
		p.addRun(job)
	}
}

// trustCache is for when the API server does not answer: what is old and not in the cache does not
// exist.
func (p *progress) trustCache(seen *observed, names []string) {
	for i := range p.jobs {
		held := &p.jobs[i]
		if p.isDoubtful(seen, *held) && slices.Contains(names, held.name) && seen.now.Sub(held.since) >= plan.MaxCacheLag {
			held.isGone = true
		}
	}
}

// conclude keeps what the stored status lacks, and drops the rest.
func (p *progress) conclude(result plan.Result, isWritten bool) {
	if isWritten {
		p.jobs = slices.DeleteFunc(p.jobs, func(held heldJob) bool { return !held.isUnknown() })
		p.nameTaken, p.forgottenUntil, p.generation = nil, time.Time{}, 0
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

func (p *progress) isEmpty() bool {
	return !p.isStale && p.statusErr == nil && len(p.jobs)+len(p.nameTaken)+len(p.failures)+len(p.pruned) == 0 &&
		p.generation == 0 && p.attempt.newest.IsZero()
}
