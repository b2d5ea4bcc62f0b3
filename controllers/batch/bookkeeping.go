/*
Copyright 2026 The project authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package batch

import (
	"cmp"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/plan"
)

// When many CronJobs are due at once, as at midnight, the Jobs of all are created before the books are
// kept of any: a Job that is late is late for its user, a status for nobody. Until its status is written, a
// run is remembered here, so that it is not started again; after a crash, the Job itself tells of it.

// The priorities in the queue. Those of the initial list, lower than both, are controller-runtime's.
const (
	// tickPriority is that of a CronJob with a tick that comes due.
	tickPriority = 0

	// bookkeepingPriority is that of one whose status has yet to tell of a run.
	bookkeepingPriority = -10
)

// lookAgain is when a run is looked at again whose Job the cache did not have when the books were kept: had
// it been deleted by then, nothing else would tell.
const lookAgain = time.Second

// nearTick is how near a tick is before which the books are kept at once. Many CronJobs that are due at the same time are
// so every minute, or less often.
const nearTick = 30 * time.Second

// run is a run that the status does not tell of yet.
type run struct {
	owner types.UID
	job   *batchv1.Job

	// told says that there has been an event about it.
	told bool
}

// postponesBooks reports whether the status and the events of a plan can wait until other CronJobs have had
// their turn: those of a Job that was started, and of nothing else. It waits once at most, so that in a
// cluster too busy for its ticks the status does not fall behind for good, and not when the next tick is near, which
// would wait with it.
func (r *CronJobReconciler) postponesBooks(seen *observed, p *plan.Plan, done *outcome) bool {
	if done.started == nil || len(seen.unbooked) > 0 || done.err != nil ||
		len(p.Replace)+len(p.Ended)+len(p.Missed)+p.Supplanted+p.Vanished > 0 ||
		!p.WakeAt.IsZero() && p.WakeAt.Sub(seen.Now) < nearTick {
		return false
	}
	r.unbooked.remember(seen.key, []run{{owner: seen.stored.UID, job: done.started}})
	return true
}

// keepBooksLater asks for the reconcile that keeps the books.
func keepBooksLater() ctrl.Result {
	return ctrl.Result{RequeueAfter: time.Nanosecond, Priority: new(bookkeepingPriority)}
}

// closeBooks notes that there has been an event about each run, and which of them the status does not tell of yet.
func (r *CronJobReconciler) closeBooks(seen *observed, p *plan.Plan, done *outcome) {
	if seen.notCached {
		p.WakeBy(seen.Now.Add(lookAgain))
	}
	if done.written {
		r.unbooked.forget(seen.key)
		return
	}
	var untold []run
	for _, started := range seen.unbooked {
		untold = append(untold, run{started.owner, started.job, true})
	}
	if job := cmp.Or(done.started, done.adopted); job != nil {
		untold = append(untold, run{seen.stored.UID, job, true})
	}
	if len(untold) > 0 {
		r.unbooked.remember(seen.key, untold)
	}
}

// unbookedRuns returns the runs of a CronJob that its status does not tell of yet: those of another of its name, which
// is gone, are not among them.
func (r *CronJobReconciler) unbookedRuns(key types.NamespacedName, c *v1.CronJob) []run {
	return slices.DeleteFunc(slices.Clone(r.unbooked.recall(key)), func(started run) bool { return started.owner != c.UID })
}
