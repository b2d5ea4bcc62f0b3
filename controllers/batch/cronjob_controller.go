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
	"slices"
	"sync"
	"time"

	"github.com/go-logr/logr"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/eventrecorder"
	"tutorial.kubebuilder.io/project/internal/fairqueue"
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

	// memory is what reconciles leave for the next ones.
	memory memory

	// active counts the Jobs that run, and broken the CronJobs that can't be decoded, for the
	// metrics.
	active activeJobs
	broken brokenCronJobs

	// began is when this manager began to lead.
	began time.Time
	begin sync.Once

	// running is held for reading by each reconcile, and for writing when there are to be no more.
	running sync.RWMutex
	stopped bool
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
	r.running.RLock()
	defer r.running.RUnlock()
	if r.stopped {
		return ctrl.Result{}, nil
	}
	r.leadingSince()
	ctx, cancel := outlive(ctx)
	defer cancel()
	return r.reconcile(ctx, req.NamespacedName)
}

// leadingSince returns when this manager began to lead: when it reconciled or heard of a CronJob
// first, as only the leader does.
func (r *CronJobReconciler) leadingSince() time.Time {
	r.begin.Do(func() { r.began = r.Clock.Now() })
	return r.began
}

func (r *CronJobReconciler) reconcile(ctx context.Context, key types.NamespacedName) (ctrl.Result, error) {
	if c := r.undecodable(ctx, key); c != nil {
		return r.reportUndecodable(ctx, c)
	}
	known := r.memory.acquire(key)
	defer r.memory.release(key, known)
	seen, err := r.observe(ctx, key, known)
	if err != nil || seen == nil {
		return ctrl.Result{}, err
	}
	r.reportMissed(seen.stored)
	p := r.decide(ctx, seen)
	done := r.apply(ctx, seen, &p)
	switch {
	case done.isTerminating:
		return r.requeue(seen, &p, &done), nil // quietly: the CronJob is about to be deleted, too
	case shouldDeferStatus(seen, &p, &done):
		known.addRun(done.started)
		return requeueForStatus(), nil
	}
	done.written = r.writeStatus(ctx, seen, &p)
	r.prune(ctx, seen, &p, &done)
	r.report(ctx, seen, &p, &done)
	recordRuns(seen, &p, &done)
	return r.requeue(seen, &p, &done), nil
}

// decide makes the plan. Before a tick is taken for missed that the manager which led before may
// have run, it is looked up whether there is its Job.
func (r *CronJobReconciler) decide(ctx context.Context, seen *observed) plan.Plan {
	p := plan.Decide(seen.Input)
	if seen.found = r.findOverlooked(ctx, seen, &p); len(seen.found) > 0 {
		seen.Jobs = append(seen.Jobs, seen.found...)
		seen.Outdated = seen.Outdated || slices.ContainsFunc(seen.found, func(job *batchv1.Job) bool { return plan.ResultOf(job) != "" })
		seen.isJobNotCached = true
		p = plan.Decide(seen.Input)
	}
	if seen.isUncertain {
		p.Prune = nil
	}
	if waitsForCertainty(seen) && p.Start != nil {
		p.WakeBy(p.Start.GiveUpAt)
		p.Start, p.Replace = nil, nil
	}
	return p
}

// sleepUntil asks for the next reconcile at an instant; zero for none. The time that this reconcile
// took is not slept.
func (r *CronJobReconciler) sleepUntil(wake time.Time) ctrl.Result {
	if wake.IsZero() {
		return ctrl.Result{}
	}
	return ctrl.Result{RequeueAfter: max(wake.Sub(r.Clock.Now()), time.Millisecond), Priority: new(tickPriority)}
}

// ownerIndex is the field index of Jobs by the UID of the CronJob that controls them. By UID, so
// that a CronJob that was deleted and created again, or another kind of the same name, is a
// stranger.
const ownerIndex = "cronjob-uid"

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
	if err := mgr.GetFieldIndexer().IndexField(context.Background(), &batchv1.Job{}, ownerIndex, ownerUID); err != nil {
		return err
	}
	if err := mgr.Add(manager.RunnableFunc(r.flushDeferredStatuses)); err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(mgr).
		Named("cronjob").
		// Not For, which has no handler of ours, and so not Owns, which needs it.
		Watches(&v1.CronJob{}, &enqueueByTick{clock: r.Clock},
			builder.WithPredicates(r.cachedWrites(), specEvents)).
		Watches(&batchv1.Job{}, enqueueOwner(mgr), builder.WithPredicates(jobEvents)).
		WithOptions(controller.Options{MaxConcurrentReconciles: max(r.Concurrency, 1), NewQueue: fairqueue.New}).
		WithLogConstructor(logConstructor(mgr.GetLogger())).
		Complete(r)
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
