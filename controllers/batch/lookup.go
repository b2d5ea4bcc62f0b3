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
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/plan"
)

// lookUp returns a Job as the API server has it; nil if there is none, or if it is a stranger's.
func (r *CronJobReconciler) lookUp(ctx context.Context, c *v1.CronJob, name string) (*batchv1.Job, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	job := &batchv1.Job{}
	err := r.APIReader.Get(ctx, types.NamespacedName{Namespace: c.Namespace, Name: name}, job)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil //nolint:nilnil // there is none
	case err != nil:
		return nil, fmt.Errorf("looking up Job %s: %w", name, err)
	case !metav1.IsControlledBy(job, c):
		return nil, nil //nolint:nilnil // there is none of ours
	}
	return trimmed(job), nil
}

// find returns a Job of ours by its name; nil if there is none. The cache may not have one that was
// created after the instant since: then the API server is asked. As long as that fails, and the
// cache may lag, it is uncertain.
func (r *CronJobReconciler) find(ctx context.Context, seen *observed, name string, since time.Time) (job *batchv1.Job, isCertain bool) {
	cached := &batchv1.Job{}
	key := types.NamespacedName{Namespace: seen.key.Namespace, Name: name}
	if err := r.Get(ctx, key, cached, client.UnsafeDisableDeepCopy); err == nil && metav1.IsControlledBy(cached, seen.stored) {
		return cached, true
	}
	found, err := r.lookUp(ctx, seen.stored, name)
	if err != nil {
		r.failed(ctx, seen, requestRead, err)
		isCertain = r.Clock.Since(since) >= plan.MaxCacheLag
		seen.Uncertain = seen.Uncertain || !isCertain
		return nil, isCertain
	}
	return found, true
}

// settleCreate finds out what became of a creation whose outcome was unknown. Its Job is a run of
// which the status does not tell yet.
func (r *CronJobReconciler) settleCreate(ctx context.Context, seen *observed) {
	start := seen.pending.unconfirmed
	if start.name == "" {
		return
	}
	job, isCertain := r.find(ctx, seen, start.name, start.at)
	if isCertain {
		seen.pending.unconfirmed = unconfirmedJob{}
	}
	if job != nil {
		seen.pending.addRun(job)
	}
}

// verify looks up the Jobs of ticks that the manager which led before may have run in its last
// moments. Those that exist are runs of which the status does not tell yet.
func (r *CronJobReconciler) verify(ctx context.Context, seen *observed, ticks []time.Time) {
	seen.Verified = true
	for _, tick := range ticks {
		job, _ := r.find(ctx, seen, plan.JobName(seen.CronJob, tick), seen.LeadingSince)
		if job == nil || hasUID(seen.Jobs, job.UID) {
			continue
		}
		seen.addUncached(job)
		seen.pending.addRun(job)
		seen.isJobNotCached = true
	}
}
