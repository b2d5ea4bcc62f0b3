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
	"sync"
	"time"

	"github.com/go-logr/logr"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/eventrecorder"
)

// How long the creation of a tick's Job waits before it is tried again: at first, and at most. It
// doubles each time.
const (
	firstRetry = 250 * time.Millisecond
	lastRetry  = time.Minute
)

// CronJobReconciler starts the Jobs of CronJobs on schedule. SetupWithManager makes it ready for use.
type CronJobReconciler struct {
	// Client reads from the manager's cache and writes to the API server.
	client.Client

	// Live reads from the API server, for the rare case in which the cache can't be believed.
	Live client.Reader

	// Recorder writes events, each of them once.
	Recorder interface {
		Record(eventrecorder.Event) bool
	}

	// Clock tells the time.
	Clock clock.PassiveClock

	// Concurrency is how many CronJobs are reconciled at once; 1 if less.
	Concurrency int

	// written has the CronJobs that were written and that the cache may not have yet, doubts those of which it
	// is not known what is stored, unbooked the runs that their status does not tell of yet, and unanswered the
	// Jobs of which it is not known whether they were created.
	written    memory[*v1.CronJob]
	doubts     memory[*doubt]
	unbooked   memory[[]run]
	unanswered memory[unanswered]
	active     activeJobs
	retries    workqueue.TypedRateLimiter[types.NamespacedName]

	// began is when this manager's first reconcile began: it is the one that leads since.
	began     time.Time
	beginning sync.Once

	// running is held for reading by each reconcile, and for writing when there are to be no more.
	running sync.RWMutex
	stopped bool
}

// +kubebuilder:rbac:groups=batch.tutorial.kubebuilder.io,resources=cronjobs,verbs=get;list;watch
// +kubebuilder:rbac:groups=batch.tutorial.kubebuilder.io,resources=cronjobs/status,verbs=patch
// +kubebuilder:rbac:groups=batch.tutorial.kubebuilder.io,resources=cronjobs/finalizers,verbs=update
// +kubebuilder:rbac:groups=batch,resources=jobs,verbs=get;list;watch;create;delete
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create

// Reconcile does what is due for one CronJob, and says when to look again. What it has begun it ends, even if the
// manager stops meanwhile.
func (r *CronJobReconciler) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	r.running.RLock()
	defer r.running.RUnlock()
	if r.stopped {
		return ctrl.Result{}, nil
	}
	r.beginning.Do(func() { r.began = r.Clock.Now() })
	ctx, cancel := outlive(ctx)
	defer cancel()
	return r.reconcile(ctx, req.NamespacedName)
}

func (r *CronJobReconciler) reconcile(ctx context.Context, key types.NamespacedName) (ctrl.Result, error) {
	seen, err := r.observe(ctx, key)
	if err != nil || seen == nil {
		return ctrl.Result{}, err
	}
	p, err := r.decide(ctx, seen)
	if err != nil {
		return ctrl.Result{}, err
	}
	done := r.apply(ctx, seen, &p)
	if r.postponesBooks(seen, &p, &done) {
		return keepBooksLater(), nil
	}
	done.written, err = r.writeStatus(ctx, seen, &p)
	r.report(ctx, seen, p, done)
	r.closeBooks(seen, &p, &done)
	switch {
	case done.err != nil:
		return ctrl.Result{}, done.err
	case err != nil:
		return retryIfConflict(err)
	}
	return r.sleepUntil(p.WakeAt), nil
}

// sleepUntil asks for the next reconcile at an instant; zero for none. The time that this reconcile
// took is not slept.
func (r *CronJobReconciler) sleepUntil(wake time.Time) ctrl.Result {
	if wake.IsZero() {
		return ctrl.Result{}
	}
	return ctrl.Result{RequeueAfter: max(wake.Sub(r.Clock.Now()), time.Millisecond), Priority: new(tickPriority)}
}

// ownerIndex is the field index of Jobs by the UID of the CronJob that controls them. By UID, so that
// a CronJob that was deleted and created again, or another kind of the same name, is a stranger.
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

// newRetries keeps how often the creation of each CronJob's Job has failed in a row.
func newRetries() workqueue.TypedRateLimiter[types.NamespacedName] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](firstRetry, lastRetry)
}

// SetupWithManager registers the reconciler with a manager.
func (r *CronJobReconciler) SetupWithManager(mgr ctrl.Manager) error {
	r.retries = newRetries()
	if err := mgr.GetFieldIndexer().IndexField(context.Background(), &batchv1.Job{}, ownerIndex, ownerUID); err != nil {
		return err
	}
	if err := mgr.Add(manager.RunnableFunc(r.keepLastBooks)); err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(mgr).
		Named("cronjob").
		For(&v1.CronJob{}, builder.WithPredicates(r.cachedWrites(), predicate.GenerationChangedPredicate{})).
		Owns(&batchv1.Job{}, builder.WithPredicates(jobEvents)).
		WithOptions(controller.Options{MaxConcurrentReconciles: max(r.Concurrency, 1)}).
		WithLogConstructor(logConstructor(mgr.GetLogger())).
		Complete(r)
}

// logConstructor makes the loggers of reconciles. There are two for each run: they have what tells the
// CronJob, and no more.
func logConstructor(log logr.Logger) func(*ctrl.Request) logr.Logger {
	return func(req *ctrl.Request) logr.Logger {
		if req == nil {
			return log.WithValues("controller", "cronjob")
		}
		return log.WithValues("cronjob", klog.KRef(req.Namespace, req.Name))
	}
}
