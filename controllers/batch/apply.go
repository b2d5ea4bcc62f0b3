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
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tutorial.kubebuilder.io/project/internal/plan"
)

// outcome is what became of a plan.
type outcome struct {
	// started is the Job that was created, and adopted the one that was there already; nil when none was.
	started, adopted *batchv1.Job

	// replaced has the Jobs that were deleted to make room for it. Those that were gone already, as the cache
	// lags, are not among them: what became of them is told elsewhere.
	replaced []*batchv1.Job

	// refused says why the Job could not be created, if the status does not say so yet.
	refused error

	// taken says that a stranger has the Job's name.
	taken bool

	// undeleted has the deletions that failed.
	undeleted []failedDelete

	// written says that the status is written, or needed no change.
	written bool

	// err is a failure after which the reconcile is tried again with backoff.
	err error
}

type failedDelete struct {
	job *batchv1.Job
	err error
}

// apply deletes and creates the Jobs of the plan, and brings the status that it is to write up to
// date with what became of that.
func (r *CronJobReconciler) apply(ctx context.Context, seen *observed, p *plan.Plan) outcome {
	done := outcome{}
	for _, job := range p.Prune {
		if r.delete(ctx, &done, job) == deletedNow {
			ctrl.LoggerFrom(ctx).V(1).Info("Deleted an old Job", "job", klog.KObj(job))
		}
	}
	var gone []*batchv1.Job
	for _, job := range p.Replace {
		switch r.delete(ctx, &done, job) {
		case deletedNow:
			done.replaced = append(done.replaced, job)
			gone = append(gone, job)
		case wasGone:
			gone = append(gone, job)
		case notDeleted:
		}
	}
	p.Replaced(seen.Input, gone)
	if p.Start != nil && len(gone) == len(p.Replace) {
		r.start(ctx, seen, p, &done)
	}
	return done
}

// deletion is what became of a deletion.
type deletion int

const (
	notDeleted deletion = iota
	deletedNow
	wasGone
)

// delete deletes a Job and, in the background, its Pods.
func (r *CronJobReconciler) delete(ctx context.Context, done *outcome, job *batchv1.Job) deletion {
	target := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: job.Namespace, Name: job.Name}}
	err := r.Delete(ctx, target,
		client.PropagationPolicy(metav1.DeletePropagationBackground), client.Preconditions{UID: &job.UID})
	switch {
	case err == nil:
		return deletedNow
	case apierrors.IsNotFound(err) || apierrors.IsConflict(err):
		return wasGone // a conflict is about the UID: the name is another's by now
	case !isOver(err):
		done.undeleted = append(done.undeleted, failedDelete{job, err})
	}
	done.err = fmt.Errorf("deleting Job %s: %w", job.Name, err)
	return notDeleted
}

// start creates the Job of the tick.
func (r *CronJobReconciler) start(ctx context.Context, seen *observed, p *plan.Plan, done *outcome) {
	job := p.Start.Job
	err := r.Create(ctx, job)
	switch {
	case err == nil:
		r.started(ctx, seen, p, done, job)
	case apierrors.IsAlreadyExists(err):
		r.adopt(ctx, seen, p, done)
	case isTerminating(err):
		// Nothing can be created here any more, and the CronJob is about to be deleted, too. That its
		// ticks are missed is no news, and events can't be created either.
		p.WakeAt, p.Missed = time.Time{}, nil
	case isOver(err):
		r.unanswered.remember(seen.key, unanswered{seen.stored.UID, job.Name})
		done.err = fmt.Errorf("creating Job %s: %w", job.Name, err)
	case isUnanswered(err):
		r.lookAfter(ctx, seen, p, done, err)
	default:
		r.refuse(seen, p, done, err)
	}
}

// started notes that the Job of the tick was created. Of the Job no more is kept than the cache will have: many may wait
// for their status at once.
func (r *CronJobReconciler) started(ctx context.Context, seen *observed, p *plan.Plan, done *outcome, job *batchv1.Job) {
	job = trimmed(job)
	done.started = job
	creationSkew.Observe(r.Clock.Since(p.Start.Tick).Seconds())
	ctrl.LoggerFrom(ctx).Info("Started a Job", "job", klog.KObj(job), "tick", p.Start.Tick)
	p.Started(seen.Input, job)
	r.retries.Forget(seen.key)
}

// adopt takes the Job that has the tick's name for the tick's, if it is: then it was started before,
// and only the status, or the cache, does not know. If it is a stranger's, the tick is missed.
func (r *CronJobReconciler) adopt(ctx context.Context, seen *observed, p *plan.Plan, done *outcome) {
	name := p.Start.Job.Name
	job, err := r.lookUp(ctx, seen, name)
	switch {
	case err != nil:
		r.unanswered.remember(seen.key, unanswered{seen.stored.UID, name})
		done.err = fmt.Errorf("looking up Job %s, which exists already: %w", name, err)
		return
	case job == nil:
		done.taken = true
		p.NameTaken(seen.Input)
	default:
		done.adopted = job
		p.Started(seen.Input, job)
	}
	r.retries.Forget(seen.key)
}

// refuse lets the tick wait for another try, with backoff, until its time is over.
func (r *CronJobReconciler) refuse(seen *observed, p *plan.Plan, done *outcome, err error) {
	if p.StartFailed(seen.Input, fmt.Sprintf("Creating Job %s: %v", p.Start.Job.Name, err)) {
		done.refused = err
	}
	if retry := seen.Now.Add(r.retries.When(seen.key)); retry.Before(p.WakeAt) {
		p.WakeAt = retry
	}
}

// isTerminating reports whether a creation failed because the namespace is being deleted, or is gone.
func isTerminating(err error) bool {
	return apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) || apierrors.IsNotFound(err)
}
