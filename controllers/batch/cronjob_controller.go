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
	"k8s.io/apimachinery/pkg/runtime/schema"
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
	Client client.Client

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
	lists        jobLists    // the lists of Jobs that reconciles share

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

func (r *CronJobReconciler) reconcile(ctx context.Context, key types.NamespacedName) (outcome ctrl.Result, err error) {
	known := r.memory.acquire(key)
	defer func() { r.memory.release(key, isDeferred(outcome)) }()
	seen, err := r.observe(ctx, key)
	switch {
	case err != nil:
		return ctrl.Result{}, err
	case seen == nil:
		r.memory.forget(key)
		return ctrl.Result{}, nil
	}
	look := r.lookup(seen, known.of(seen.stored.UID))
	if seen.undecodable != "" {
		return r.requeue(look, plan.Result{}, r.reportUndecodable(ctx, look)), nil
	}
	known.see(seen, r.memory.takeDeleted(key))
	in, p := decide(ctx, look)
	if look.isGone {
		return ctrl.Result{}, nil // the cache is stale
	}
	r.reportMissed(look.current)
	done := r.apply(ctx, look, p)
	result := plan.Conclude(in, p, done)
	switch {
	case done.IsTerminating:
		return r.requeue(look, result, false), nil // the namespace is being deleted: no status, no events
	case shouldDeferStatus(look, result):
		return deferred(look, result), nil
	}
	written := !in.Uncertain && r.writeStatus(ctx, look, result.Status) // else a Job may exist that the status would lack
	known.conclude(result, written)
	r.report(ctx, in.CronJob, result, written)
	r.prune(ctx, look, p)
	return r.requeue(look, result, written), nil
}

// decide makes the plan. While the plan asks for something, it is looked up first. All requests
// together take requestTimeout at most, because a tick may be due; only a list that is shared may
// take as long again.
func decide(ctx context.Context, look *lookup) (plan.Input, plan.Plan) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	for {
		in := look.input()
		p := plan.Decide(in)
		if p.Ask.IsEmpty() || look.isGone {
			return in, p
		}
		look.answer(ctx, p.Ask)
	}
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
		gv, err := schema.ParseGroupVersion(owner.APIVersion)
		isOurs := err == nil && gv.Group == v1.GroupVersion.Group && owner.Kind == "CronJob" // of any version
		if isOurs && owner.Controller != nil && *owner.Controller {
			return []string{string(owner.UID)}
		}
	}
	return nil
}

// SetupWithManager registers the reconciler with a manager.
func (r *CronJobReconciler) SetupWithManager(mgr ctrl.Manager) error {
	if err := errors.Join(addIndexes(mgr), r.registerGauges()); err != nil {
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
		c.Watch(source.Kind(mgr.GetCache(), &v1.CronJob{}, &enqueueByTick{clock: r.Clock}, changes(r.sawCronJob))),
		c.Watch(source.Kind(mgr.GetCache(), &batchv1.Job{}, enqueueOwner(mgr), notListed, changes(r.sawJob))),
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
