// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/source"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/eventrecorder"
	"tutorial.kubebuilder.io/project/internal/fairqueue"
	"tutorial.kubebuilder.io/project/internal/informer"
	"tutorial.kubebuilder.io/project/internal/plan"
)

// CronJobReconciler starts the Jobs of CronJobs on schedule. SetupWithManager makes it ready for
// use.
type CronJobReconciler struct {
	// Client reads from the manager's cache and writes to the API server.
	client.Client

	// APIReader reads from the API server, where the cache may be stale.
	APIReader client.Reader

	// Recorder writes events.
	Recorder Recorder

	// Clock tells the time.
	Clock clock.PassiveClock

	// Concurrency is how many CronJobs are reconciled at once; 1 if less.
	Concurrency int

	// leads says that this manager leads, and leadingSince from when on.
	leads        atomic.Bool
	leadingSince time.Time

	// memory is what reconciles leave for the next ones.
	memory memory

	// namespaces counts those that tick, for the metrics.
	namespaces tickingNamespaces
}

// Recorder writes an event in the background, and reports whether this process writes it for the
// first time.
type Recorder interface {
	Record(event eventrecorder.Event) bool
}

// +kubebuilder:rbac:groups=batch.tutorial.kubebuilder.io,resources=cronjobs,verbs=get;list;watch
// +kubebuilder:rbac:groups=batch.tutorial.kubebuilder.io,resources=cronjobs/status,verbs=patch
// +kubebuilder:rbac:groups=batch.tutorial.kubebuilder.io,resources=cronjobs/finalizers,verbs=update
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create

// Reconcile does what is due for one CronJob, and says when to look again. A reconcile in progress
// finishes during shutdown.
func (r *CronJobReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	ctx, cancel := outlive(ctx)
	defer cancel()
	return r.reconcile(ctx, req.NamespacedName)
}

func (r *CronJobReconciler) reconcile(ctx context.Context, key types.NamespacedName) (ctrl.Result, error) {
	known := r.memory.acquire(key)
	defer r.memory.release(key, known)
	seen := &observed{key: key, pending: known}
	r.settle(ctx, seen)
	err := r.observe(ctx, seen)
	switch {
	case err != nil || seen.stored == nil:
		return ctrl.Result{}, err
	case seen.undecodable != "":
		return r.requeue(seen, plan.Result{}, r.reportUndecodable(ctx, seen)), nil
	}
	r.reportMissed(seen.stored)
	p, result := r.act(ctx, seen)
	switch {
	case seen.isTerminating:
		return r.requeue(seen, result, false), nil // the namespace is being deleted: no status, no events
	case shouldDeferStatus(seen, result):
		return requeueForStatus(), nil
	}
	written := r.writeStatus(ctx, seen, result.Status)
	if !written {
		known.addSeen(result.Unrecorded)
	}
	if p.RecordFirst && !written && !shouldRetryConflict(seen) {
		// A tick waits for that status. As it can't be written, plan again without waiting.
		seen.Unrecordable = true
		p, result = r.act(ctx, seen)
	}
	r.report(ctx, seen, result, written)
	r.prune(ctx, seen, p)
	return r.requeue(seen, result, written), nil
}

// act decides what is to be done and does it.
func (r *CronJobReconciler) act(ctx context.Context, seen *observed) (plan.Plan, plan.Result) {
	p := r.decide(ctx, seen)
	return p, plan.Conclude(seen.Input, p, r.apply(ctx, seen, p))
}

// decide makes the plan. If it names Jobs to verify, they are read from the API server, and it is
// made again.
func (r *CronJobReconciler) decide(ctx context.Context, seen *observed) plan.Plan {
	p := plan.Decide(seen.Input)
	if len(p.Verify) == 0 {
		return p
	}
	r.verify(ctx, seen, p.Verify)
	return plan.Decide(seen.Input)
}

// sleepUntil asks for the next reconcile at an instant; zero for none. The time that this reconcile
// took is not slept.
func (r *CronJobReconciler) sleepUntil(wake time.Time) ctrl.Result {
	if wake.IsZero() {
		return ctrl.Result{}
	}
	return ctrl.Result{RequeueAfter: max(wake.Sub(r.Clock.Now()), time.Millisecond), Priority: new(tickPriority)}
}

// The field indexes of the cache.
const (
	// ownerIndex is that of Jobs by the UID of the CronJob that controls them. By UID, so that a
	// CronJob that was deleted and created again, or another kind of the same name, is a stranger.
	ownerIndex = "cronjob-uid"

	// activeIndex has the Jobs that a CronJob controls and that run, undecodableIndex the CronJobs
	// that can't be decoded, and stoppedIndex those that stopped after failures, under isIndexed.
	activeIndex      = "active"
	undecodableIndex = "undecodable"
	stoppedIndex     = "stopped"
	isIndexed        = "true"
)

// addIndexes adds the field indexes to the cache.
func addIndexes(mgr ctrl.Manager) error {
	indexer, ctx := mgr.GetFieldIndexer(), context.Background()
	return errors.Join(
		indexer.IndexField(ctx, &batchv1.Job{}, ownerIndex, ownerUID),
		indexer.IndexField(ctx, &batchv1.Job{}, activeIndex, func(object client.Object) []string {
			job, ok := object.(*batchv1.Job)
			return indexedIf(ok && ownerUID(job) != nil && plan.ResultOf(job) == "")
		}),
		indexer.IndexField(ctx, &v1.CronJob{}, undecodableIndex, func(object client.Object) []string {
			c, ok := object.(*v1.CronJob)
			return indexedIf(ok && informer.DecodingError(c) != "")
		}),
		indexer.IndexField(ctx, &v1.CronJob{}, stoppedIndex, func(object client.Object) []string {
			c, ok := object.(*v1.CronJob)
			return indexedIf(ok && plan.IsStopped(c))
		}),
	)
}

// indexedIf returns the key of an index of objects of which something holds.
func indexedIf(holds bool) []string {
	if !holds {
		return nil
	}
	return []string{isIndexed}
}

// ownerUID returns the index key of a Job.
func ownerUID(object client.Object) []string {
	for _, owner := range object.GetOwnerReferences() {
		if owner.Controller != nil && *owner.Controller && owner.Kind == "CronJob" && isOurGroup(owner.APIVersion) {
			return []string{string(owner.UID)}
		}
	}
	return nil
}

// SetupWithManager registers the reconciler with a manager.
func (r *CronJobReconciler) SetupWithManager(mgr ctrl.Manager) error {
	if err := addIndexes(mgr); err != nil {
		return err
	}
	if err := r.registerGauges(); err != nil {
		return err
	}
	workers := max(r.Concurrency, 1)
	options := controller.Options{
		Reconciler: r, MaxConcurrentReconciles: workers, NewQueue: fairqueue.New(workers),
		LogConstructor: logConstructor(mgr.GetLogger()),
	}
	options.DefaultFromConfig(mgr.GetControllerOptions())
	// Not the builder's: that one runs by itself, and nothing can be done when it has ended.
	c, err := controller.NewUnmanaged("cronjob", options)
	if err != nil {
		return err
	}
	if err := errors.Join(
		c.Watch(source.Kind[client.Object](mgr.GetCache(), &v1.CronJob{}, &enqueueByTick{clock: r.Clock}, r.cachedWrites(), specEvents)),
		c.Watch(source.Kind[client.Object](mgr.GetCache(), &batchv1.Job{}, enqueueOwner(mgr), jobEvents)),
	); err != nil {
		return err
	}
	return mgr.Add(manager.RunnableFunc(func(ctx context.Context) error { return r.lead(ctx, c) }))
}

// logConstructor makes the loggers of reconciles. There are two for each run: they have what tells
// the CronJob, and no more.
func logConstructor(log logr.Logger) func(*ctrl.Request) logr.Logger {
	return func(req *ctrl.Request) logr.Logger {
		if req == nil {
			return log.WithValues("controller", "cronjob")
		}
		return log.WithValues("cronjob", klog.KRef(req.Namespace, req.Name))
	}
}
