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
	"context"
	"fmt"
	"slices"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/plan"
)

// observed is what a reconcile starts from.
type observed struct {
	plan.Input
	key types.NamespacedName

	// stored is the CronJob as it is stored: without defaults. It may be shared with the cache: nobody changes it.
	stored *v1.CronJob

	// unbooked are the runs that the stored status does not tell of yet. If the Job of one is not in the cache,
	// that lags, or the Job is gone.
	unbooked  []run
	notCached bool
}

// observe gathers what a plan is made from. It returns nil when the CronJob is gone.
func (r *CronJobReconciler) observe(ctx context.Context, key types.NamespacedName) (*observed, error) {
	stored, err := r.read(ctx, key)
	if err != nil || stored == nil {
		return nil, err
	}
	seen := &observed{key: key, stored: stored, unbooked: r.unbookedRuns(key, stored)}
	if err := r.settleStart(ctx, seen); err != nil {
		return nil, err
	}
	jobs, outdated, err := r.jobsOf(ctx, seen)
	if err != nil {
		return nil, err
	}
	seen.Input = plan.NewInput(stored, jobs, r.Clock.Now(), editedAt(stored))
	seen.Outdated = outdated
	return seen, nil
}

// read returns the CronJob as it is stored, and nil when it is gone.
func (r *CronJobReconciler) read(ctx context.Context, key types.NamespacedName) (*v1.CronJob, error) {
	cached := &v1.CronJob{}
	// A plan only reads, so that nothing need be copied out of the cache.
	err := r.Get(ctx, key, cached, client.UnsafeDisableDeepCopy)
	switch {
	case apierrors.IsNotFound(err):
		r.forget(key)
		return nil, nil //nolint:nilnil // there is nothing to see
	case err != nil:
		return nil, fmt.Errorf("reading the CronJob: %w", err)
	}
	if d := r.doubts.recall(key); d != nil {
		return r.readLive(ctx, key, d)
	}
	return r.newest(key, cached), nil
}

// readLive returns the CronJob as the API server has it, and settles a doubt by it.
func (r *CronJobReconciler) readLive(ctx context.Context, key types.NamespacedName, d *doubt) (*v1.CronJob, error) {
	stored := &v1.CronJob{}
	err := r.Live.Get(ctx, key, stored)
	switch {
	case apierrors.IsNotFound(err):
		r.forget(key)
		r.doubts.remember(key, &doubt{owner: d.owner}) // the cache has it still
		return nil, nil                                //nolint:nilnil // there is nothing to see
	case err != nil:
		return nil, fmt.Errorf("reading the CronJob, whose status could not be written: %w", err)
	}
	r.settle(ctx, key, stored, d)
	return stored, nil
}

// jobsOf returns the Jobs that a CronJob controls. The cache may not have those yet that were started
// a moment ago: the one that is not in the status yet is remembered, and what the status says runs is looked
// up live before it is believed to be gone. The cache is outdated if one of those has ended.
func (r *CronJobReconciler) jobsOf(ctx context.Context, seen *observed) (jobs []*batchv1.Job, outdated bool, err error) {
	c := seen.stored
	list := &batchv1.JobList{}
	if err := r.List(ctx, list, client.InNamespace(c.Namespace), client.MatchingFields{ownerIndex: string(c.UID)},
		client.UnsafeDisableDeepCopy); err != nil {
		return nil, false, fmt.Errorf("listing the Jobs: %w", err)
	}
	jobs = make([]*batchv1.Job, 0, len(list.Items)+1)
	for i := range list.Items {
		jobs = append(jobs, &list.Items[i])
	}
	for _, started := range seen.unbooked {
		if !hasUID(jobs, started.job.UID) {
			jobs = append(jobs, started.job)
			seen.notCached = true
		}
	}
	for _, ref := range c.Status.Active {
		if hasUID(jobs, ref.UID) {
			continue
		}
		job, err := r.lookUp(ctx, seen, ref.Name)
		switch {
		case client.IgnoreNotFound(err) != nil:
			return nil, false, fmt.Errorf("looking up Job %s, which the status says runs: %w", ref.Name, err)
		case job != nil && job.UID == ref.UID:
			jobs = append(jobs, job)
		}
	}
	return jobs, haveEnded(jobs[len(list.Items):]), nil
}

// haveEnded reports whether some of a few Jobs have ended.
func haveEnded(jobs []*batchv1.Job) bool {
	return slices.ContainsFunc(jobs, func(job *batchv1.Job) bool { return plan.ResultOf(job) != "" })
}

// hasUID reports whether a Job of that UID is among some. They are few: as many as the history limits let be.
func hasUID(jobs []*batchv1.Job, uid types.UID) bool {
	return slices.ContainsFunc(jobs, func(job *batchv1.Job) bool { return job.UID == uid })
}

// editedAt returns when something other than the status was last edited, as the managed fields say.
func editedAt(c *v1.CronJob) time.Time {
	newest := time.Time{}
	for _, entry := range c.ManagedFields {
		if entry.Subresource == "" && entry.Time != nil && entry.Time.After(newest) {
			newest = entry.Time.Time
		}
	}
	return newest
}

// forget drops what was kept of a CronJob that is gone.
func (r *CronJobReconciler) forget(key types.NamespacedName) {
	r.written.forget(key)
	r.unbooked.forget(key)
	r.doubts.forget(key)
	r.unanswered.forget(key)
	r.active.set(key, 0)
	r.retries.Forget(key)
}
