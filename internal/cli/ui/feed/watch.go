// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package feed

import (
	"context"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	batchv1 "k8s.io/api/batch/v1"
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
	// probeInterval is how often the API server is asked whether it answers: a watch that is
	// interrupted tells nobody.
	probeInterval = 3 * time.Second

	// probeTimeout is how long it may take to answer.
	probeTimeout = 5 * time.Second

	// snapshotInterval is the least time between two snapshots, whatever goes on in the cluster.
	snapshotInterval = time.Second
)

// Scope is which CronJobs to watch.
type Scope struct {
	// Namespace is the only one; "" for all.
	Namespace string

	// Selector selects them by their labels.
	Selector labels.Selector
}

// watcher keeps a feed up to date.
//
//	API server ──► watches ──► store ──► a snapshot, at most one a second ──► feed
//	    └────────► probe: why what is known may be old ──┘
type watcher struct {
	*store

	cached  cache.Cache
	cluster client.Client
	scope   Scope
	env     *env.Env
}

// Watch keeps the feed up to date until the context ends. What goes wrong is the Problem of its
// snapshots: it goes on until it is mended.
func (f *Feed) Watch(ctx context.Context, config *rest.Config, cluster client.Client, scope Scope, e *env.Env) error {
	// The libraries' logs would drown what the command says; the pages say what is wrong.
	ctrl.SetLogger(logr.Discard())
	ctx = klog.NewContext(ctx, logr.Discard())
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	options := cache.Options{
		HTTPClient: httpClient, Scheme: cluster.Scheme(), Mapper: cluster.RESTMapper(),
		ByObject: map[client.Object]cache.ByObject{
			&v1.CronJob{}:  {Label: scope.Selector, Transform: trimCronJob},
			&batchv1.Job{}: {Transform: trimJob},
		},
		DefaultWatchErrorHandler: func(context.Context, *toolscache.Reflector, error) {}, // the probe tells
	}
	if scope.Namespace != "" {
		options.DefaultNamespaces = map[string]cache.Config{scope.Namespace: {}}
	}
	cached, err := informer.NewCache(config, options)
	if err != nil {
		return fmt.Errorf("preparing to watch: %w", err)
	}
	w := &watcher{store: newStore(), cached: cached, cluster: cluster, scope: scope, env: e}
	go w.probe(ctx)
	go w.publish(ctx, f)
	return cached.Start(ctx)
}

// publish makes snapshots while something changes.
func (w *watcher) publish(ctx context.Context, to *Feed) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.dirty:
			to.Set(w.snapshot())
		}
		_ = w.env.Sleep(ctx, snapshotInterval) // or until the end
	}
}

// probe asks the API server again and again what would keep the watches from being up to date, and
// begins each watch when it is allowed.
func (w *watcher) probe(ctx context.Context) {
	var cronJobsSynced, jobsSynced func() bool
	for ctx.Err() == nil {
		problem := w.ask(ctx, v1.GroupVersion.WithKind("CronJobList"))
		jobsProblem := w.ask(ctx, batchv1.SchemeGroupVersion.WithKind("JobList"))
		if problem == nil && cronJobsSynced == nil {
			cronJobsSynced, problem = w.begin(ctx, &v1.CronJob{}, handlerOf(w.putCronJob, w.deleteCronJob))
		}
		if jobsProblem == nil && jobsSynced == nil {
			jobsSynced, jobsProblem = w.begin(ctx, &batchv1.Job{}, handlerOf(w.putJob, w.deleteJob))
		}
		now := Health{
			Complete: cronJobsSynced != nil && cronJobsSynced(), Problem: textOf(problem),
			JobsComplete: jobsSynced != nil && jobsSynced(), JobsProblem: textOf(jobsProblem),
			IsForbidden: apierrors.IsForbidden(problem),
		}
		w.tell(now)
		if (now.Complete || problem != nil) && (now.JobsComplete || jobsProblem != nil) {
			_ = w.env.Sleep(ctx, probeInterval)
		} else {
			_ = w.env.Sleep(ctx, snapshotInterval/10)
		}
	}
}

// ask has the API server say whether objects can be read: by metadata, which always decode.
func (w *watcher) ask(ctx context.Context, kind schema.GroupVersionKind) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(kind)
	return cronjobs.Explain(w.cluster.List(ctx, list, client.InNamespace(w.scope.Namespace), client.Limit(1)))
}

// begin begins to watch, and returns what reports whether all is known.
func (w *watcher) begin(ctx context.Context, object client.Object, handler toolscache.ResourceEventHandler) (func() bool, error) {
	watched, err := w.cached.GetInformer(ctx, object, cache.BlockUntilSynced(false))
	if err != nil {
		return nil, err
	}
	registration, err := watched.AddEventHandler(handler)
	if err != nil {
		return nil, err
	}
	return registration.HasSynced, nil
}

// tell has the next snapshot say how much is known, if that has changed.
func (w *watcher) tell(now Health) {
	w.mu.Lock()
	isSame := w.health == now
	w.mu.Unlock()
	if !isSame {
		w.change(func() { w.health = now })
	}
}

// textOf returns the message of an error; "" for none.
func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
