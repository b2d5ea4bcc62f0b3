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
	"errors"
	"fmt"
	"net/http"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tutorial.kubebuilder.io/project/internal/plan"
)

// unanswered is a Job of which it is not known whether it was created: the answer was lost, or said that the server
// failed on the way. The cache may not have it for a while, and until it is known nothing may be decided: its tick is not
// missed if it runs, and under Forbid it keeps the next from starting.
type unanswered struct {
	owner types.UID
	name  string
}

// isUnanswered reports whether a request may have been carried out although it failed.
func isUnanswered(err error) bool {
	status := apierrors.APIStatus(nil)
	return !errors.As(err, &status) || status.Status().Code >= http.StatusInternalServerError
}

// lookAfter looks whether the tick's Job was created although its creation failed, now or, as the API server may
// be away, before the next plan.
func (r *CronJobReconciler) lookAfter(ctx context.Context, seen *observed, p *plan.Plan, done *outcome, failure error) {
	name := p.Start.Job.Name
	job, err := r.lookUp(ctx, seen, name)
	if job != nil {
		r.started(ctx, seen, p, done, job)
		return
	}
	if client.IgnoreNotFound(err) != nil {
		r.unanswered.remember(seen.key, unanswered{seen.stored.UID, name})
	}
	r.refuse(seen, p, done, failure)
}

// settleStart finds out what became of a creation that was not answered. Its Job is a run of which the status
// does not tell yet.
func (r *CronJobReconciler) settleStart(ctx context.Context, seen *observed) error {
	start := r.unanswered.recall(seen.key)
	if start.owner != seen.stored.UID {
		return nil // there is none, or it is that of another of its name, which is gone
	}
	job, err := r.lookUp(ctx, seen, start.name)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("looking up Job %s, whose creation was not answered: %w", start.name, err)
	}
	r.unanswered.forget(seen.key)
	if job != nil {
		seen.unbooked = append(seen.unbooked, run{owner: start.owner, job: job})
		r.unbooked.remember(seen.key, seen.unbooked)
	}
	return nil
}

// lookUp returns a Job as the API server has it; nil if it is a stranger's.
func (r *CronJobReconciler) lookUp(ctx context.Context, seen *observed, name string) (*batchv1.Job, error) {
	job := &batchv1.Job{}
	if err := r.Live.Get(ctx, types.NamespacedName{Namespace: seen.key.Namespace, Name: name}, job); err != nil {
		return nil, err
	}
	if !metav1.IsControlledBy(job, seen.stored) {
		return nil, nil //nolint:nilnil // there is none of ours
	}
	return job, nil
}
