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
		seen.isUncertain = seen.isUncertain || !isCertain
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

// findOverlooked returns the Jobs of ticks that a plan takes for missed, but that the manager which
// led before may have run in its last moments: this one knows of them by its cache alone.
func (r *CronJobReconciler) findOverlooked(ctx context.Context, seen *observed, p *plan.Plan) []*batchv1.Job {
	var found []*batchv1.Job
	for _, tick := range p.MissedSince(seen.Input, r.leadingSince().Add(-plan.MaxCacheLag)) {
		if tick.After(r.leadingSince()) {
			continue // nobody else may have run it
		}
		job, _ := r.find(ctx, seen, plan.JobName(seen.CronJob, tick), r.leadingSince())
		if job != nil && !hasUID(seen.Jobs, job.UID) {
			found = append(found, job)
		}
	}
	return found
}
