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

// CronJobReconciler starts the Jobs of CronJobs on schedule. Call SetupWithManager before use.
type CronJobReconciler struct {
	// Client reads from the manager's cache and writes to the API server.
	client.Client

	// APIReader reads from the API server when the cache may be stale.
	APIReader client.Reader

	Recorder Recorder
	Clock    clock.PassiveClock

	// Concurrency is how many CronJobs are reconciled at once, at least 1.
	Concurrency int

	// IsHubMissing reports whether the CRD is known not to serve v1; nil for never. Nothing is done
	// meanwhile. In that time Kubernetes' garbage collector would find no owner of a new Job, delete
	// the Job, and remember this for all later Jobs of the CronJob.
	IsHubMissing func() bool

	leads        atomic.Bool // whether this manager is the leader
	leadingSince time.Time   // when it became the leader
	memory       memory      // the state that reconciles keep for later ones

	// ticked are the namespaces in which a tick ran or was missed, and missed those in which one
	// was missed for another reason than Forbidden, Edited and Stopped.
	ticked, missed recentNamespaces
}

// Recorder writes events in the background. Record reports whether this process writes the event
// for the first time.
type Recorder interface {
	Record(event eventrecorder.Event) bool
}

// +kubebuilder:rbac:groups=batch.tutorial.kubebuilder.io,resources=cronjobs,verbs=get;list;watch
// +kubebuilder:rbac:groups=batch.tutorial.kubebuilder.io,resources=cronjobs/status,verbs=patch
// +kubebuilder:rbac:groups=batch.tutorial.kubebuilder.io,resources=cronjobs/finalizers,verbs=update
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create

// hubRecheck is how long a CronJob waits while its version is not served.
const hubRecheck = 5 * time.Second

// Reconcile does what is due for one CronJob, and returns when to reconcile it again. A reconcile
// in progress finishes during shutdown.
func (r *CronJobReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	if r.IsHubMissing != nil && r.IsHubMissing() {
		return ctrl.Result{RequeueAfter: hubRecheck}, nil
	}
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
	if err == nil && r.mayHaveRun(seen) {
		r.readStored(ctx, seen)
		err = r.observe(ctx, seen)
	}
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
	switch {
	case !written:
		known.addSeen(result.Unwritten)
	case result.Refused != nil:
		known.attempt.recorded = append(known.attempt.recorded, plan.RefusalReason(result.Refused))
	}
	if p.RecordFirst && !written && !shouldRetryStatus(seen) {
		// A tick waits for that status. It can't be written, so plan again without waiting.
		seen.Unrecordable = true
		p, result = r.act(ctx, seen)
	}
	r.report(ctx, seen, result, written)
	r.prune(ctx, seen, p)
	return r.requeue(seen, result, written), nil
}

// act makes the plan and carries it out.
func (r *CronJobReconciler) act(ctx context.Context, seen *observed) (plan.Plan, plan.Result) {
	p := r.decide(ctx, seen)
	return p, plan.Conclude(seen.Input, p, r.apply(ctx, seen, p))
}

// decide makes the plan. If the plan names Jobs to verify, decide reads them from the API server
// and makes it again. It does the same with the running Jobs if the plan counts a failure that the
// stale cache lacks: one that ended before may have succeeded. All requests together take
// requestTimeout at most, because the due tick waits for them.
func (r *CronJobReconciler) decide(ctx context.Context, seen *observed) plan.Plan {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	p := plan.Decide(seen.Input)
	if len(p.Verify) > 0 {
		r.verify(ctx, seen, p.Verify)
		p = plan.Decide(seen.Input)
	}
	if seen.Outdated && p.Status.FailuresTowardsStop > seen.stored.Status.FailuresTowardsStop {
		r.refreshRunning(ctx, seen)
		p = plan.Decide(seen.Input)
	}
	return p
}

// The field indexes of the cache.
const (
	// ownerIndex finds Jobs by the UID of the CronJob that controls them. A name would also match a
	// CronJob that was deleted and created again, or another kind of that name.
	ownerIndex = "cronjob-uid"

	activeIndex      = "active"      // finds the running Jobs that a CronJob controls
	undecodableIndex = "undecodable" // finds the CronJobs that can't be decoded
	stoppedIndex     = "stopped"     // finds the CronJobs that stopped after failures
	isIndexed        = "true"        // the only key of these three
)

func addIndexes(mgr ctrl.Manager) error {
	indexer, ctx := mgr.GetFieldIndexer(), context.Background()
	return errors.Join(
		indexer.IndexField(ctx, &batchv1.Job{}, ownerIndex, ownerUID),
		indexer.IndexField(ctx, &batchv1.Job{}, activeIndex, indexIf(func(job *batchv1.Job) bool {
			return ownerUID(job) != nil && plan.ResultOf(job) == ""
		})),
		indexer.IndexField(ctx, &v1.CronJob{}, undecodableIndex, indexIf(func(c *v1.CronJob) bool {
			return informer.DecodingError(c) != ""
		})),
		indexer.IndexField(ctx, &v1.CronJob{}, stoppedIndex, indexIf(plan.IsStopped)),
	)
}

// indexIf returns the function of an index that has the objects for which holds returns true.
func indexIf[T client.Object](holds func(T) bool) client.IndexerFunc {
	return func(object client.Object) []string {
		if typed, ok := object.(T); ok && holds(typed) {
			return []string{isIndexed}
		}
		return nil
	}
}

// ownerUID returns the keys of a Job in ownerIndex.
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
	// The builder's controller would run by itself: lead has to write the deferred statuses after
	// it has stopped.
	c, err := controller.NewUnmanaged("cronjob", options)
	if err != nil {
		return err
	}
	if err := errors.Join(
		c.Watch(source.Kind(mgr.GetCache(), &v1.CronJob{}, &enqueueByTick{clock: r.Clock}, r.cachedWrites(), specEvents)),
		c.Watch(source.Kind(mgr.GetCache(), &batchv1.Job{}, enqueueOwner(mgr), jobEvents, r.deletedJobs())),
	); err != nil {
		return err
	}
	return mgr.Add(manager.RunnableFunc(func(ctx context.Context) error { return r.lead(ctx, c) }))
}

// logConstructor makes the loggers of reconciles. They add the CronJob's key and no other field, as
// each run makes two of them.
func logConstructor(log logr.Logger) func(*ctrl.Request) logr.Logger {
	return func(req *ctrl.Request) logr.Logger {
		if req == nil {
			return log.WithValues("controller", "cronjob")
		}
		return log.WithValues("cronjob", klog.KRef(req.Namespace, req.Name))
	}
}
