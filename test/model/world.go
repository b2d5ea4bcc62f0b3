// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/go-logr/logr"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/eventrecorder"
)

// Process is a manager's process and its memory.
type Process interface {
	Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error)

	// Stop shuts the process down.
	Stop(ctx context.Context)

	// SawCronJob and SawJob pass on a change of the cache, and report whether it requests a
	// reconcile. before is nil for a new object, and after for a deleted one.
	SawCronJob(before, after *v1.CronJob) bool
	SawJob(before, after *batchv1.Job) bool
}

// Setup is what the model needs of the operator.
type Setup struct {
	// Start starts a process that becomes the leader now.
	Start func(Parts) Process

	// Trim returns the part of an object that the cache keeps.
	Trim func(object client.Object) client.Object

	// Stamp returns the value that the mutating webhook writes into v1.EditedAnnotation.
	Stamp func(before, after *v1.CronJob, isTemplateEdited bool, now time.Time) string

	// IsDeferred reports whether a reconcile has deferred its status.
	IsDeferred func(ctrl.Result) bool
}

// Parts are the dependencies of a process.
type Parts struct {
	Client    client.Client
	APIReader client.Reader
	Clock     clock.PassiveClock
	Recorder  interface {
		Record(event eventrecorder.Event) bool
	}
}

const cronJobName = "c"

var key = types.NamespacedName{Namespace: metav1.NamespaceDefault, Name: cronJobName}

// world is the API server, the process, the clocks and the users.
type world struct {
	Setup
	*server

	seed    uint64
	judge   *judge
	profile profile
	context context.Context //nolint:containedctx // that of the run, with its logger

	now                  time.Time // the true time
	skew, skewOfServer   time.Duration
	process              Process // nil while none runs
	recorded             map[string]bool
	wake                 time.Time // when the next reconcile is due; zero for never
	inReconcile          bool
	isDeferred           bool      // whether the newest reconcile has deferred its status
	crashIn              int       // crash after this many requests; 0 for never
	meanwhile            []func()  // actions during the next requests
	busyUntil            time.Time // no worker is free until then
	lags                 [2]time.Duration
	ends                 map[types.UID]ending
	known                *v1.CronJob // the newest that the process has received, apart from its cache
	reconciles, requests int
	incarnation          int
}

type ending struct {
	at       time.Time
	succeeds bool
	vanishes bool // ttlSecondsAfterFinished is 0
}

// crashed is the panic that ends a process.
type crashed struct{}

// Now returns the time by the manager's clock.
func (w *world) Now() time.Time { return w.now.Add(w.skew) }

// Since returns the time since an instant, by the manager's clock.
func (w *world) Since(t time.Time) time.Duration { return w.Now().Sub(t) }

func (w *world) serverNow() time.Time { return w.now.Add(w.skewOfServer) }

func (w *world) start() {
	w.recorded, w.known = map[string]bool{}, nil
	w.process = w.Start(Parts{Client: manager{s: w.server}, APIReader: reader{s: w.server}, Clock: w, Recorder: w})
	w.judge.started()
	if w.cachedCronJob != nil {
		w.sawCronJob(nil, w.cachedCronJob)
	}
	for _, name := range slices.Sorted(maps.Keys(w.cachedJobs)) {
		w.sawJob(nil, w.cachedJobs[name])
	}
}

func (w *world) crash() {
	w.process, w.wake, w.known = nil, time.Time{}, nil
	w.judge.logf("the process ends")
}

func (w *world) due() {
	if w.wake.IsZero() || w.wake.After(w.now) {
		w.wake = w.now
	}
}

func (w *world) sawCronJob(before, after *v1.CronJob) {
	if w.process != nil && (before != nil || after != nil) && w.process.SawCronJob(before, after) {
		w.due()
	}
}

func (w *world) sawJob(before, after *batchv1.Job) {
	if w.process == nil || before == nil && after == nil {
		return
	}
	for _, job := range []*batchv1.Job{before, after} {
		w.judge.sawEnd(job, false)
	}
	if w.process.SawJob(before, after) && (isOfCronJob(before) || isOfCronJob(after)) {
		w.due()
	}
}

func isOfCronJob(job *batchv1.Job) bool {
	return job != nil && metav1.GetControllerOf(job) != nil && metav1.GetControllerOf(job).Name == cronJobName
}

// Record records an event, as the recorder does.
func (w *world) Record(e eventrecorder.Event) bool {
	identity := fmt.Sprint(e.Regarding.GetUID(), e.Reason, e.Key)
	if w.recorded[identity] {
		return false
	}
	w.recorded[identity] = true
	w.judge.event(e, identity)
	return true
}

// request is called at the begin of each request of the manager.
func (w *world) request(kind string) {
	w.requests++
	w.judge.request(kind)
	w.mayCrash()
	if len(w.meanwhile) > 0 {
		happens := w.meanwhile[0]
		w.meanwhile = w.meanwhile[1:]
		happens()
	}
	w.advance(w.profile.latency)
}

// answered is called when the manager gets the answer.
func (w *world) answered(kind, name string, answer error) {
	w.judge.answered(kind, name, answer)
	w.mayCrash()
}

// mayCrash may end the process before a request, or before its answer.
func (w *world) mayCrash() {
	if w.crashIn > 0 {
		w.crashIn--
		if w.crashIn == 0 {
			panic(crashed{})
		}
	}
}

// observed is called when the process reads the CronJob from its cache. The process uses the newest
// one that it knows.
func (w *world) observed(cached *v1.CronJob) {
	if cached != nil && w.known != nil && w.known.UID == cached.UID && versionOf(w.known) > versionOf(cached) {
		cached = w.known
	}
	w.judge.observed(cached)
}

// received is called when the process receives the CronJob from the API server.
func (w *world) received(c *v1.CronJob) { w.known = c.DeepCopy() }

func (w *world) advance(d time.Duration) {
	until := w.now.Add(d)
	for {
		at, happens := w.next()
		if happens == nil || at.After(until) {
			break
		}
		if at.After(w.now) {
			w.now = at
		}
		happens()
	}
	if until.After(w.now) {
		w.now = until
	}
}

// next returns the next thing that happens by itself.
func (w *world) next() (at time.Time, happens func()) {
	for kind, changes := range w.changes {
		if len(changes) > 0 && (happens == nil || changes[0].visible.Before(at)) {
			at, happens = changes[0].visible, func() { w.deliver(kind) }
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.jobs)) {
		job := w.jobs[name]
		end, ok := w.ends[job.UID]
		if ok && (happens == nil || end.at.Before(at)) {
			at, happens = end.at, func() { w.endJob(job, end.succeeds, end.vanishes) }
		}
	}
	return at, happens
}

// pass passes the time that a reconcile takes: less if there are many.
func (w *world) pass(d time.Duration) {
	until := w.now.Add(d)
	for left := w.profile.maxReconciles; left > 0 && w.now.Before(until); {
		stop := until
		if at, ok := w.reconcileAt(); ok && at.Before(stop) {
			stop = at
		}
		if at, happens := w.next(); happens != nil && at.Before(stop) {
			stop = at
		}
		w.advance(max(stop.Sub(w.now), 0))
		if at, ok := w.reconcileAt(); ok && !at.After(w.now) {
			w.reconcile()
			left--
		}
	}
}

// reconcileAt returns when the next reconcile is due and a worker is free.
func (w *world) reconcileAt() (time.Time, bool) {
	at := w.wake
	if w.busyUntil.After(at) {
		at = w.busyUntil
	}
	return at, w.process != nil && !w.wake.IsZero()
}

func (w *world) reconcile() {
	defer func() {
		if problem := recover(); problem != nil {
			if _, ok := problem.(crashed); !ok {
				panic(problem)
			}
			w.inReconcile = false
			w.judge.reconciled(time.Time{}, false)
			w.crash()
		}
	}()
	w.wake, w.inReconcile = time.Time{}, true
	w.reconciles++
	w.judge.reconciling()
	result, err := w.process.Reconcile(w.context, ctrl.Request{NamespacedName: key})
	w.inReconcile = false
	after := result.RequeueAfter
	w.isDeferred = err == nil && w.IsDeferred(result)
	switch {
	case err != nil:
		after = 5 * time.Millisecond
	case w.isDeferred:
		after += w.profile.deferral
	}
	wake := time.Time{}
	if after > 0 {
		wake = w.now.Add(after)
	}
	if !w.wake.IsZero() && (wake.IsZero() || w.wake.Before(wake)) {
		wake = w.wake // an event came meanwhile
	}
	w.wake = wake
	w.judge.reconciled(wake, true)
}

// plan decides when and how a Job ends, unless it is ended before.
func (w *world) plan(job *batchv1.Job) {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(job.Name))
	r := rand.New(rand.NewPCG(w.seed, hash.Sum64())) //nolint:gosec // no secret
	w.ends[job.UID] = ending{
		at:       w.now.Add(time.Second + seconds(r, w.profile.longest)),
		succeeds: r.Float64() >= w.profile.failing, vanishes: r.Float64() < w.profile.vanishing,
	}
}

func (w *world) endJob(job *batchv1.Job, succeeds, vanishes bool) {
	delete(w.ends, job.UID)
	ended := job.DeepCopy()
	now := metav1.NewTime(w.serverNow().Truncate(time.Second))
	condition := batchv1.JobCondition{Type: batchv1.JobFailed, Status: corev1.ConditionTrue, LastTransitionTime: now}
	if succeeds {
		condition.Type, ended.Status.CompletionTime = batchv1.JobComplete, &now
	}
	ended.Status.Conditions = []batchv1.JobCondition{condition}
	w.put(ofJobs, job.Name, ended)
	w.judge.ended(ended, succeeds)
	if vanishes {
		w.deleteJob(ended, "ttl")
	}
}

// settling is longer than the longest backoff, twice.
const settling = 150 * time.Second

func (w *world) settle() {
	w.refusals, w.lags, w.busyUntil, w.meanwhile, w.crashIn = nil, [2]time.Duration{}, time.Time{}, nil, 0
	for kind := range w.changes {
		for len(w.changes[kind]) > 0 {
			w.deliver(kind)
		}
	}
	if w.process == nil {
		w.start()
	}
	if w.skew != 0 {
		w.due() // timers do not change when the clock is stepped: see docs/design.md
	}
	until, before := w.now.Add(settling), w.reconciles
	for w.now.Before(until) || w.isBusy() {
		w.pass(max(until.Sub(w.now), 100*time.Millisecond))
		if w.reconciles > before+maxSettling {
			w.judge.violate("W2", "it goes on reconciling: the next one is due at %s", stamp(w.wake))
		}
	}
}

// maxSettling is how many reconciles may follow without faults.
const maxSettling = 1000

func (w *world) isBusy() bool {
	return w.isDeferred || !w.wake.IsZero() && w.wake.Before(w.now.Add(2*time.Second)) || len(w.changes[0])+len(w.changes[1]) > 0
}

func discard(ctx context.Context) context.Context { return logr.NewContext(ctx, logr.Discard()) }
