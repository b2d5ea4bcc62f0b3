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
	"math/rand/v2"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/plan"
)

// outcome is what became of a plan.
type outcome struct {
	// started is the Job that was created, and adopted the one that was there already; nil when
	// none was.
	started, adopted *batchv1.Job

	// replaced has the Jobs that were deleted to make room for it. Those that were gone already, as
	// the cache lags, are not among them: what became of them is told elsewhere.
	replaced []*batchv1.Job

	// refused says why the Job could not be created, if the status does not say so yet.
	refused *refusal

	// isTaken says that a stranger has the Job's name.
	isTaken bool

	// isTerminating says that the namespace is being deleted: nothing can be created in it, not
	// even an event.
	isTerminating bool

	// undeleted has the deletions that failed.
	undeleted []failedDelete

	// written says that the status is written, or needed no change.
	written bool
}

// refusal is why a Job could not be created. The key is the same for what is to be reported once.
type refusal struct {
	err error
	key string
}

type failedDelete struct {
	job *batchv1.Job
	err error
}

// apply deletes the Jobs to be replaced and creates that of the tick, and brings the status that is
// to be written up to date with what became of that.
func (r *CronJobReconciler) apply(ctx context.Context, seen *observed, p *plan.Plan) outcome {
	done := outcome{}
	var gone []*batchv1.Job
	for _, job := range p.Replace {
		switch r.delete(ctx, seen, &done, job) {
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

// maxFailedPrunes is how many deletions of old Jobs may fail in one reconcile before the rest is
// left to the next: where all are refused, they get more with each tick.
const maxFailedPrunes = 3

// prune deletes the Jobs beyond the history limits: after all else, which must not wait for it, and
// in any order, so that a few that can't be deleted keep no others from it.
func (r *CronJobReconciler) prune(ctx context.Context, seen *observed, p *plan.Plan, done *outcome) {
	failed := 0
	for _, i := range rand.Perm(len(p.Prune)) { //nolint:gosec // no secret
		switch r.delete(ctx, seen, done, p.Prune[i]) {
		case deletedNow:
			ctrl.LoggerFrom(ctx).V(1).Info("Deleted an old Job", "job", klog.KObj(p.Prune[i]))
		case notDeleted:
			failed++
			if failed == maxFailedPrunes {
				return
			}
		case wasGone:
		}
	}
}

// deletion is what became of a deletion.
type deletion int

const (
	notDeleted deletion = iota
	deletedNow
	wasGone
)

// delete deletes a Job and, in the background, its Pods.
func (r *CronJobReconciler) delete(ctx context.Context, seen *observed, done *outcome, job *batchv1.Job) deletion {
	target := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: job.Namespace, Name: job.Name}}
	bounded, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	err := r.Delete(bounded, target,
		client.PropagationPolicy(metav1.DeletePropagationBackground), client.Preconditions{UID: &job.UID})
	switch {
	case err == nil:
		return deletedNow
	case (apierrors.IsNotFound(err) || apierrors.IsConflict(err)) && r.isGone(ctx, seen, job):
		return wasGone
	case !isShutdownError(ctx, err):
		done.undeleted = append(done.undeleted, failedDelete{job, err})
	}
	r.failed(ctx, seen, requestDelete, fmt.Errorf("deleting Job %s: %w", job.Name, err))
	return notDeleted
}

// isGone reports whether a Job is not there any more, whose deletion was answered as if it were
// not: a webhook that refuses it may answer the same.
func (r *CronJobReconciler) isGone(ctx context.Context, seen *observed, job *batchv1.Job) bool {
	found, err := r.lookUp(ctx, seen.stored, job.Name)
	return err == nil && (found == nil || found.UID != job.UID)
}

// start creates the Job of the tick.
func (r *CronJobReconciler) start(ctx context.Context, seen *observed, p *plan.Plan, done *outcome) {
	job, known := p.Start.Job, seen.pending
	if !known.attempt.tick.Equal(p.Start.Tick) {
		known.attempt = attempt{tick: p.Start.Tick}
	}
	if known.attempt.invalid && known.attempt.generation == seen.stored.Generation {
		p.WakeBy(p.Start.GiveUpAt) // it would be refused again
		return
	}
	bounded, cancel := context.WithTimeout(ctx, createTimeout)
	defer cancel()
	err := r.Create(bounded, job)
	switch {
	case err == nil:
		r.started(ctx, seen, p, done, job)
	case apierrors.IsAlreadyExists(err):
		r.adopt(ctx, seen, p, done)
	case isShutdownError(ctx, err):
		known.unconfirmed = unconfirmedJob{job.Name, seen.Now}
		r.failed(ctx, seen, requestCreate, err)
	case isTerminating(err, job.Namespace):
		done.isTerminating = true
		p.WakeBy(p.Start.GiveUpAt)
	case isOutcomeUnknown(err):
		r.confirmCreate(ctx, seen, p, done, err)
	default:
		r.refuse(seen, p, done, err)
	}
}

// started notes that the Job of the tick was created. Of the Job no more is kept than the cache
// will have: many may wait for their status at once.
func (r *CronJobReconciler) started(ctx context.Context, seen *observed, p *plan.Plan, done *outcome, job *batchv1.Job) {
	job = trimmed(job)
	done.started = job
	creationSkew.Observe(r.Clock.Since(p.Start.Tick).Seconds())
	ctrl.LoggerFrom(ctx).Info("Started a Job", "job", klog.KObj(job), "tick", p.Start.Tick)
	p.Started(seen.Input, job)
	seen.pending.attempt = attempt{}
}

// adopt takes the Job that has the tick's name for the tick's, if it is: then it was started
// before, and only the status, or the cache, does not know. If it is a stranger's, the tick is
// missed.
func (r *CronJobReconciler) adopt(ctx context.Context, seen *observed, p *plan.Plan, done *outcome) {
	name := p.Start.Job.Name
	job, isCertain := r.find(ctx, seen, name, seen.Now)
	switch {
	case !isCertain:
		seen.pending.unconfirmed = unconfirmedJob{name, seen.Now}
		p.WakeBy(p.Start.GiveUpAt)
	case job == nil:
		done.isTaken = true
		p.NameTaken(seen.Input)
	default:
		done.adopted = job
		p.Started(seen.Input, job)
	}
	seen.pending.attempt = attempt{}
}

// confirmCreate looks whether the tick's Job was created although its creation failed, now or, as
// the API server may be away, before the next plan.
func (r *CronJobReconciler) confirmCreate(ctx context.Context, seen *observed, p *plan.Plan, done *outcome, failure error) {
	job, err := r.lookUp(ctx, seen.stored, p.Start.Job.Name)
	if job != nil {
		r.started(ctx, seen, p, done, job)
		return
	}
	if err != nil {
		seen.pending.unconfirmed = unconfirmedJob{p.Start.Job.Name, seen.Now}
	}
	r.refuse(seen, p, done, failure)
}

// refuse lets the tick wait for another try, with backoff, until its time is over. What the API
// server calls invalid is not tried again: it would be refused again, until somebody edits the
// CronJob.
func (r *CronJobReconciler) refuse(seen *observed, p *plan.Plan, done *outcome, err error) {
	requestFailures.WithLabelValues(requestCreate).Inc()
	name, try := p.Start.Job.Name, &seen.pending.attempt
	message := fmt.Sprintf("Creating Job %s: %v", name, err)
	key := message
	try.failures++
	if try.invalid = apierrors.IsInvalid(err); try.invalid {
		// The same for all ticks, so that it is reported once.
		try.generation = seen.stored.Generation
		message = strings.ReplaceAll(message, name, seen.stored.Name+"-*")
		key = fmt.Sprintf("%d %s", seen.stored.Generation, message)
	} else {
		p.WakeBy(seen.Now.Add(backoff(firstRetry, try.failures)))
	}
	if p.StartFailed(seen.Input, message) {
		done.refused = &refusal{err, key}
	}
}

// isTerminating reports whether a creation failed because the namespace is being deleted, or is
// gone. A webhook may answer with a NotFound of something else.
func isTerminating(err error, namespace string) bool {
	if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return true
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) || !apierrors.IsNotFound(err) || status.Status().Details == nil {
		return false
	}
	details := status.Status().Details
	return details.Kind == "namespaces" && details.Name == namespace
}

// waitsForCertainty reports whether nothing may be started before it is known which Jobs exist.
func waitsForCertainty(seen *observed) bool {
	return seen.isUncertain && seen.CronJob.Spec.ConcurrencyPolicy != v1.AllowConcurrent
}
