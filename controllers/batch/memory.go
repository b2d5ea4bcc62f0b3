// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"slices"
	"sync"

	batchv1 "k8s.io/api/batch/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/util/sets"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// memory has what the reconciles of each CronJob keep for the next one. The zero value is ready for
// use. After a crash, the next leader reads the same from the API server, except for runs whose Jobs
// were deleted meanwhile.
type memory struct {
	mu      sync.Mutex
	entries map[types.NamespacedName]*entry

	// waiting has the CronJobs with a deferred status, until their next reconcile has ended.
	waiting sets.Set[types.NamespacedName]
}

// entry is what memory has of one CronJob. The watch uses it too, so the lock of memory guards it,
// except for progress: that belongs to the one reconcile that is in progress.
type entry struct {
	// inUse is whether a reconcile holds the entry.
	inUse bool

	// written is the CronJob as the API server last returned or stored it. It is kept until the
	// cache has it, or a newer one.
	written *v1.CronJob

	// reported is the newest row of status.missed that this process has reported, and reportedOf
	// the UID of its CronJob.
	reported   v1.MissedTicks
	reportedOf types.UID

	// deleted has the Jobs that had ended when they were deleted, since the last reconcile.
	deleted []*batchv1.Job

	progress progress
}

// with lets the caller use the entry of a CronJob, which is made as needed and kept unless it is
// empty.
func (m *memory) with(key types.NamespacedName, use func(*entry)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.entries == nil {
		m.entries, m.waiting = map[types.NamespacedName]*entry{}, sets.New[types.NamespacedName]()
	}
	e := m.entries[key]
	if e == nil {
		e = &entry{}
	}
	use(e)
	if !e.inUse && e.written == nil && e.reportedOf == "" && len(e.deleted) == 0 && e.progress.isEmpty() {
		delete(m.entries, key)
	} else {
		m.entries[key] = e
	}
}

// acquire returns the progress of a CronJob to its reconcile, until release.
func (m *memory) acquire(key types.NamespacedName) (held *progress) {
	m.with(key, func(e *entry) { e.inUse, held = true, &e.progress })
	return held
}

// release ends a reconcile. isDeferred is whether it has deferred the status.
func (m *memory) release(key types.NamespacedName, isDeferred bool) {
	m.with(key, func(e *entry) {
		e.inUse = false
		if isDeferred {
			m.waiting.Insert(key)
		} else {
			m.waiting.Delete(key)
		}
	})
}

// hasDeferred reports whether a status waits for the Jobs of others, or is being written.
func (m *memory) hasDeferred() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.waiting) > 0
}

// forget removes the entry of a CronJob that is gone.
func (m *memory) forget(key types.NamespacedName) {
	m.with(key, func(e *entry) { *e = entry{inUse: e.inUse} })
}

func (m *memory) setWritten(key types.NamespacedName, stored *v1.CronJob) {
	m.with(key, func(e *entry) { e.written = stored })
}

// keepDeleted keeps a Job that had ended when it was deleted for the next reconcile.
func (m *memory) keepDeleted(key types.NamespacedName, job *batchv1.Job) {
	m.with(key, func(e *entry) {
		e.deleted = append(e.deleted, job)
		e.deleted = e.deleted[max(0, len(e.deleted)-maxHeld):]
	})
}

// takeDeleted returns the Jobs of keepDeleted, and drops them.
func (m *memory) takeDeleted(key types.NamespacedName) (deleted []*batchv1.Job) {
	m.with(key, func(e *entry) { deleted, e.deleted = e.deleted, nil })
	return deleted
}

// newest returns the newer of the cached and the written CronJob, so that no reconcile decides from
// a status older than the one that an earlier reconcile wrote. It drops the written one once the
// cache has caught up.
func (m *memory) newest(key types.NamespacedName, cached *v1.CronJob) *v1.CronJob {
	newest := cached
	m.with(key, func(e *entry) {
		if e.written == nil {
			return
		}
		order, err := resourceversion.CompareResourceVersion(cached.ResourceVersion, e.written.ResourceVersion)
		if err == nil && order < 0 && cached.UID == e.written.UID {
			newest = e.written
			return
		}
		e.written = nil
	})
	return newest
}

// unreported returns the rows of missed ticks that this process has not reported, and marks them as
// reported. Rows are newest first, as in the status.
func (m *memory) unreported(key types.NamespacedName, owner types.UID, rows []v1.MissedTicks) []v1.MissedTicks {
	if len(rows) == 0 {
		return nil
	}
	newest := rows[0]
	m.with(key, func(e *entry) {
		isReported := func(row v1.MissedTicks) bool {
			return e.reportedOf == owner && apiequality.Semantic.DeepEqual(row, e.reported)
		}
		if i := slices.IndexFunc(rows, isReported); i >= 0 {
			rows = rows[:i]
		}
		e.reported, e.reportedOf = newest, owner
	})
	return rows
}

// unrecorded returns the CronJobs with runs that their status does not record yet. No reconcile may
// be in progress.
func (m *memory) unrecorded() []types.NamespacedName {
	m.mu.Lock()
	defer m.mu.Unlock()
	var keys []types.NamespacedName
	for key, e := range m.entries {
		if slices.ContainsFunc(e.progress.jobs, func(held heldJob) bool { return held.job != nil }) {
			keys = append(keys, key)
		}
	}
	return keys
}
