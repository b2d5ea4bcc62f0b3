// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package feed

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/env"
	"tutorial.kubebuilder.io/project/internal/informer"
)

const (
	// probeInterval is the time between two probes of the API server. A watch does not report that
	// it is interrupted.
	probeInterval = 3 * time.Second

	probeTimeout = 5 * time.Second

	// snapshotInterval is the minimum time between two snapshots.
	snapshotInterval = time.Second
)

// Scope selects the CronJobs to watch.
type Scope struct {
	// Namespace is the namespace to watch; "" for all.
	Namespace string

	Selector labels.Selector
}

// watcher keeps a feed up to date.
//
//	API server ──► watches ──► their cache ──► a snapshot, at most one a second ──► feed
//	    └────────► probe: why what is known may be old ──┘
type watcher struct {
	cached  cache.Cache
	cluster client.Client
	scope   Scope
	env     *env.Env

	health atomic.Pointer[Health]
	dirty  chan struct{} // has an element if a snapshot would differ from the last
}

// Watch keeps the feed up to date until the context ends. It does not return an error of the
// cluster, but reports it as the Problem of its snapshots until it is gone.
func (f *Feed) Watch(ctx context.Context, config *rest.Config, cluster client.Client, scope Scope, e *env.Env) error {
	// The pages show what is wrong; the logs of libraries would hide the output of the command.
	ctrl.SetLogger(logr.Discard())
	ctx = klog.NewContext(ctx, logr.Discard())
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	options := cache.Options{
		HTTPClient: httpClient, Scheme: cluster.Scheme(), Mapper: cluster.RESTMapper(),
		ByObject:                     map[client.Object]cache.ByObject{&v1.CronJob{}: {Label: scope.Selector}},
		DefaultTransform:             trim,
		DefaultWatchErrorHandler:     func(context.Context, *toolscache.Reflector, error) {}, // probe reports it
		DefaultUnsafeDisableDeepCopy: new(true),                                              // nobody changes the objects
	}
	if scope.Namespace != "" {
		options.DefaultNamespaces = map[string]cache.Config{scope.Namespace: {}}
	}
	cached, err := informer.NewCache(config, options)
	if err != nil {
		return fmt.Errorf("preparing to watch: %w", err)
	}
	w := &watcher{cached: cached, cluster: cluster, scope: scope, env: e, dirty: make(chan struct{}, 1)}
	w.health.Store(&Health{})
	go w.probe(ctx)
	go w.publish(ctx, f)
	return cached.Start(ctx)
}

func (w *watcher) change() {
	select {
	case w.dirty <- struct{}{}:
	default: // one is requested already
	}
}

func (w *watcher) publish(ctx context.Context, to *Feed) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.dirty:
			if s, err := w.snapshot(ctx); err == nil { // else the context has ended
				to.Set(s)
			}
		}
		_ = w.env.Sleep(ctx, snapshotInterval) // or until the end
	}
}

func (w *watcher) snapshot(ctx context.Context) (*Snapshot, error) {
	health, cronJobs, jobs := *w.health.Load(), &v1.CronJobList{}, &batchv1.JobList{}
	if health.Complete {
		if err := w.cached.List(ctx, cronJobs); err != nil {
			return nil, err
		}
	}
	if health.JobsComplete {
		if err := w.cached.List(ctx, jobs); err != nil {
			return nil, err
		}
	}
	return NewSnapshot(health, cronJobs.Items, jobs.Items), nil
}

// probe asks the API server in a loop whether it answers and what the user may read, and starts
// each watch once it is allowed.
func (w *watcher) probe(ctx context.Context) {
	var cronJobsSynced, jobsSynced func() bool
	for ctx.Err() == nil {
		problem := w.ask(ctx, v1.GroupVersion.WithKind("CronJobList"))
		jobsProblem := w.ask(ctx, batchv1.SchemeGroupVersion.WithKind("JobList"))
		if problem == nil && cronJobsSynced == nil {
			cronJobsSynced, problem = w.begin(ctx, &v1.CronJob{})
		}
		if jobsProblem == nil && jobsSynced == nil {
			jobsSynced, jobsProblem = w.begin(ctx, &batchv1.Job{})
		}
		now := Health{
			Complete: cronJobsSynced != nil && cronJobsSynced(), Problem: textOf(problem),
			JobsComplete: jobsSynced != nil && jobsSynced(), JobsProblem: textOf(jobsProblem),
			IsForbidden: apierrors.IsForbidden(problem),
		}
		if *w.health.Swap(&now) != now {
			w.change()
		}
		if (now.Complete || problem != nil) && (now.JobsComplete || jobsProblem != nil) {
			_ = w.env.Sleep(ctx, probeInterval)
		} else {
			_ = w.env.Sleep(ctx, snapshotInterval/10)
		}
	}
}

// ask returns why objects can't be read. It reads metadata, which can always be decoded.
func (w *watcher) ask(ctx context.Context, kind schema.GroupVersionKind) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(kind)
	return cronjobs.Explain(w.cluster.List(ctx, list, client.InNamespace(w.scope.Namespace), client.Limit(1)))
}

// begin starts a watch. The function that it returns reports whether all objects are known.
func (w *watcher) begin(ctx context.Context, object client.Object) (func() bool, error) {
	watched, err := w.cached.GetInformer(ctx, object, cache.BlockUntilSynced(false))
	if err != nil {
		return nil, err
	}
	registration, err := watched.AddEventHandler(toolscache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { w.change() }, UpdateFunc: func(any, any) { w.change() }, DeleteFunc: func(any) { w.change() },
	})
	if err != nil {
		return nil, err
	}
	return registration.HasSynced, nil
}

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// trim drops the large fields that no page shows.
func trim(object any) (any, error) {
	switch o := object.(type) {
	case *v1.CronJob:
		o.ManagedFields, o.Spec.JobTemplate = nil, batchv1.JobTemplateSpec{}
		delete(o.Annotations, corev1.LastAppliedConfigAnnotation)
	case *batchv1.Job:
		o.ManagedFields, o.Spec = nil, batchv1.JobSpec{Suspend: o.Spec.Suspend}
	}
	return object, nil // or a tombstone
}
