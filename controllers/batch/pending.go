// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"slices"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/utils/ptr"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/plan"
)

// pending is all that the reconciles of one CronJob leave for the next one. It is kept until the
// status tells of it. Another process reads the same from the API server, but not of runs whose Jobs
// were deleted meanwhile.
//
// A CronJob is reconciled by one worker at a time, which alone uses the fields below owner. The
// fields above it are used by the watch as well, under the lock of memory.
type pending struct {
	// inUse says that a reconcile has the entry.
	inUse bool

	// written is what is known to be stored. It is kept until the cache has it, or a newer one.
	written *v1.CronJob

	// reported is the newest row of status.missed that this process has reported, of the CronJob of
	// reportedOf.
	reported   plan.Missed
	reportedOf types.UID

	// owner is the UID of the CronJob that the rest is about: one of the same name may follow it.
	owner types.UID

	// seenAt is when the schedule of generation was first seen, which the stored status does not tell
	// of yet: each edit since was seen, and left it as it is. editSeenAt is when generation was, if it
	// follows another that the status does not tell of; zero if not.
	generation         int64
	schedule           scheduling
	seenAt, editSeenAt time.Time

	// labelledAt is when the managed fields say that the spec was edited, of which the status tells
	// and says that it was earlier: then a label was edited. Zero if they agree.
	labelledAt time.Time

	// isStale says that a status could not be written. Then the cache lags, or the status is stored
	// and the answer was lost: the next reconcile reads the CronJob from the API server.
	isStale bool

	// statusFailed says that the last write of the status failed.
	statusFailed bool

	// runs are those that the stored status does not tell of yet, in the order in which they were
	// seen.
	runs []unrecordedRun

	// forgottenUntil is the newest tick of the runs that there were too many to remember, and whose
	// Jobs are gone.
	forgottenUntil time.Time

	// nameTaken has ticks of whose Jobs something else has the name, and which the stored status does
	// not tell of yet.
	nameTaken []time.Time

	// absent names the Jobs that were looked up and do not exist: they are looked up once, however
	// often it is decided before a status can be written.
	absent []string

	// unconfirmed has the Jobs whose creation failed in a way that leaves open whether they exist.
	unconfirmed []unconfirmedJob

	// attempt is the latest creation that failed.
	attempt attempt

	// failures is how many reconciles in a row had a request of a kind that failed, creations aside.
	// Each kind has a backoff of its own: one that is refused for long delays no other.
	failures map[string]int
}

// unrecordedRun is a run that the stored status does not tell of yet: its Job as it was last seen,
// and whether that is there no more.
type unrecordedRun struct {
	job    *batchv1.Job
	isGone bool
}

// see notes the end of the run's Job. It is a copy: Jobs of the cache come in lists.
func (run *unrecordedRun) see(job *batchv1.Job) {
	if plan.ResultOf(job) != plan.ResultOf(run.job) {
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
	// newest is the newest tick that was due then: when another is, the tries begin anew.
	newest   time.Time
	failures int

	// invalid is how the API server called the Job of this generation invalid; nil if it did not.
	// Then it is not tried again.
	invalid    error
	generation int64
}

// maxRuns is how many runs are remembered while a status can't be written. Of older ones the cache
// has the Jobs, unless they are gone.
const maxRuns = 100

// addRun remembers a run until the status tells of it.
func (p *pending) addRun(job *batchv1.Job) {
	if slices.ContainsFunc(p.runs, func(run unrecordedRun) bool { return run.job.UID == job.UID }) {
		return
	}
	p.runs = append(p.runs, unrecordedRun{job: job})
	if len(p.runs) <= maxRuns {
		return
	}
	if tick, ok := plan.TickOf(p.runs[0].job); ok && p.runs[0].isGone && tick.After(p.forgottenUntil) {
		p.forgottenUntil = tick
	}
	p.runs = p.runs[1:]
}

// addUnconfirmed remembers a Job, once, until it is known whether it exists.
func (p *pending) addUnconfirmed(name string, at time.Time) {
	p.unconfirmed = slices.DeleteFunc(p.unconfirmed, func(job unconfirmedJob) bool { return job.name == name })
	p.unconfirmed = append(p.unconfirmed, unconfirmedJob{name, at})
	p.unconfirmed = p.unconfirmed[max(0, len(p.unconfirmed)-maxRuns):]
}

// addNameTaken remembers a tick until the status tells of it.
func (p *pending) addNameTaken(tick time.Time) {
	p.nameTaken = append(p.nameTaken, tick)
	p.nameTaken = p.nameTaken[max(0, len(p.nameTaken)-maxRuns):]
}

// addSeen remembers runs whose Jobs were observed: somebody may delete them before the status is
// written. They are copies: Jobs of the cache come in lists.
func (p *pending) addSeen(jobs []*batchv1.Job) {
	for _, job := range jobs {
		p.addRun(new(*job))
	}
}

// begin forgets what was about another CronJob of the name.
func (p *pending) begin(owner types.UID) {
	if p.owner != owner {
		p.owner, p.isStale, p.statusFailed, p.runs, p.failures = owner, false, false, nil, nil
		p.unconfirmed, p.nameTaken, p.absent, p.attempt = nil, nil, nil, attempt{}
		p.generation, p.seenAt, p.labelledAt, p.forgottenUntil = 0, time.Time{}, time.Time{}, time.Time{}
	}
}

// see returns when a CronJob's schedule was first seen, which is now if its status tells of its
// generation. Then it notes the edit of a label.
func (p *pending) see(c *v1.CronJob, now time.Time) time.Time {
	switch observed := c.Status.ObservedEditTime; {
	case c.Status.ObservedGeneration == c.Generation:
		p.generation, p.seenAt, p.editSeenAt, p.labelledAt = 0, time.Time{}, time.Time{}, time.Time{}
		if edited := specEditedAt(c); observed != nil && edited.After(observed.Time) {
			p.labelledAt = edited
		}
		return now
	case p.generation != c.Generation:
		schedule := schedulingOf(&c.Spec)
		isNext := p.generation != 0 && p.generation+1 == c.Generation
		if !isNext || p.schedule != schedule {
			p.seenAt = now
		}
		p.editSeenAt = time.Time{}
		if isNext {
			p.editSeenAt = now
		}
		p.generation, p.schedule = c.Generation, schedule
	}
	return p.seenAt
}

// scheduling is what of a spec decides whether an instant is a tick that may run.
type scheduling struct {
	schedule     string
	isSuspended  bool
	suspendUntil time.Time
}

func schedulingOf(spec *v1.CronJobSpec) scheduling {
	s := scheduling{schedule: plan.SpecOf(spec).String(), isSuspended: ptr.Deref(spec.Suspend, false)}
	if spec.SuspendUntil != nil {
		s.suspendUntil = spec.SuspendUntil.UTC()
	}
	return s
}

// statusWritten forgets what was kept until the status tells of it.
func (p *pending) statusWritten() {
	p.statusFailed, p.runs, p.nameTaken, p.absent, p.forgottenUntil = false, nil, nil, nil, time.Time{}
	p.generation, p.seenAt = 0, time.Time{}
}

// count counts the kinds of requests that failed in a reconcile, and forgets the others.
func (p *pending) count(failed []string) {
	if len(failed) == 0 {
		p.failures = nil
		return
	}
	counted := make(map[string]int, len(failed))
	for _, request := range failed {
		counted[request] = p.failures[request] + 1
	}
	p.failures = counted
}

// isEmpty reports whether nothing is left for the next reconcile.
func (p *pending) isEmpty() bool {
	return !p.inUse && p.written == nil && p.reportedOf == "" && !p.isStale && !p.statusFailed && len(p.runs) == 0 &&
		p.generation == 0 && p.labelledAt.IsZero() && len(p.unconfirmed)+len(p.nameTaken) == 0 &&
		p.attempt == attempt{} && len(p.failures) == 0
}

// memory has what is pending, by CronJob. The zero value is ready for use.
type memory struct {
	mu      sync.Mutex
	entries map[types.NamespacedName]*pending
}

// acquire returns the entry of a CronJob to the one reconcile of it that is under way.
func (m *memory) acquire(key types.NamespacedName) *pending {
	m.mu.Lock()
	defer m.mu.Unlock()
	entry := m.entry(key)
	entry.inUse = true
	return entry
}

// release ends the use of an entry.
func (m *memory) release(key types.NamespacedName, entry *pending) {
	m.mu.Lock()
	defer m.mu.Unlock()
	entry.inUse = false
	m.dropEmpty(key, entry)
}

// entry returns the entry of a CronJob, a new one if there is none. The lock has to be held.
func (m *memory) entry(key types.NamespacedName) *pending {
	if m.entries == nil {
		m.entries = map[types.NamespacedName]*pending{}
	}
	if m.entries[key] == nil {
		m.entries[key] = &pending{}
	}
	return m.entries[key]
}

// dropEmpty removes an entry in which nothing is left. The lock has to be held.
func (m *memory) dropEmpty(key types.NamespacedName, entry *pending) {
	if entry.isEmpty() && m.entries[key] == entry {
		delete(m.entries, key)
	}
}

// forget drops all that is kept about a CronJob, which is gone.
func (m *memory) forget(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.entries, key)
}

// keepWritten keeps what is known to be stored of a CronJob.
func (m *memory) keepWritten(key types.NamespacedName, stored *v1.CronJob) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.entry(key).written = stored
}

// newest returns the newer of what the cache has of a CronJob and what was written of it, so that a
// reconcile never decides from less than what an earlier one has written. Once the cache has caught
// up, the written one is dropped.
func (m *memory) newest(key types.NamespacedName, cached *v1.CronJob) *v1.CronJob {
	m.mu.Lock()
	defer m.mu.Unlock()
	entry := m.entries[key]
	if entry == nil || entry.written == nil {
		return cached
	}
	order, err := resourceversion.CompareResourceVersion(cached.ResourceVersion, entry.written.ResourceVersion)
	if err == nil && order < 0 && cached.UID == entry.written.UID {
		return entry.written
	}
	entry.written = nil
	m.dropEmpty(key, entry)
	return cached
}

// unreported returns those of the rows of missed ticks of a status, newest first, that this process
// has not reported, oldest first, and takes them for reported.
func (m *memory) unreported(key types.NamespacedName, owner types.UID, rows []v1.MissedTicks) []plan.Missed {
	if len(rows) == 0 {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	entry := m.entry(key)
	var found []plan.Missed
	for _, row := range rows {
		missed := plan.MissedRow(row)
		if entry.reportedOf == owner && missed.Equal(entry.reported) {
			break
		}
		found = append(found, missed)
	}
	entry.reported, entry.reportedOf = plan.MissedRow(rows[0]), owner
	slices.Reverse(found)
	return found
}

// deferred returns the CronJobs with runs that their status does not tell of yet. No reconcile may
// be under way.
func (m *memory) deferred() []types.NamespacedName {
	m.mu.Lock()
	defer m.mu.Unlock()
	var keys []types.NamespacedName
	for key, entry := range m.entries {
		if len(entry.runs) > 0 {
			keys = append(keys, key)
		}
	}
	return keys
}
