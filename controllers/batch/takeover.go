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
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tutorial.kubebuilder.io/project/internal/plan"
)

// mayLag is how far the cache may be behind when a manager begins to lead. It knows nothing but by the cache of what the
// one before it did in its last moments, if that one could not write the status.
const mayLag = time.Minute

// decide makes the plan. Before it takes a tick for missed that the manager which led before may have run, it looks
// whether there is its Job.
func (r *CronJobReconciler) decide(ctx context.Context, seen *observed) (plan.Plan, error) {
	p := plan.Decide(seen.Input)
	if len(p.Missed) == 0 {
		return p, nil
	}
	overlooked, err := r.overlooked(ctx, seen, &p)
	if err != nil || len(overlooked) == 0 {
		return p, err
	}
	for _, job := range overlooked {
		seen.unbooked = append(seen.unbooked, run{owner: seen.stored.UID, job: job, told: true})
	}
	seen.Jobs = append(seen.Jobs, overlooked...)
	seen.Outdated = seen.Outdated || haveEnded(overlooked)
	seen.notCached = true
	return plan.Decide(seen.Input), nil
}

// overlooked returns the Jobs that there are of ticks that a plan takes for missed.
func (r *CronJobReconciler) overlooked(ctx context.Context, seen *observed, p *plan.Plan) ([]*batchv1.Job, error) {
	var found []*batchv1.Job
	for _, tick := range p.MissedSince(seen.Input, r.began.Add(-mayLag)) {
		if tick.After(r.began) {
			continue // nobody else may have run it
		}
		job, err := r.lookUp(ctx, seen, plan.JobName(seen.CronJob, tick))
		if client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("looking up the Job of %s, which may have run: %w", tick, err)
		}
		if job != nil && !hasUID(seen.Jobs, job.UID) {
			found = append(found, job)
		}
	}
	return found, nil
}
