// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package backfill

import (
	"context"
	"errors"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
	"k8s.io/klog/v2"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/env"
)

// watchedJobs is the Jobs of a CronJob's namespace, kept up to date by a watch that restarts after
// an interruption. A poll would not see how each Job ends: of many that end in one second, most are
// deleted in that second, and the status lists the newest runs alone.
type watchedJobs struct {
	cronJob *v1.CronJob
	store   cache.Indexer
	events  <-chan watch.Event
	stop    func()
}

func watchJobs(ctx context.Context, e *env.Env, cronJob *v1.CronJob) (*watchedJobs, error) {
	cluster, err := e.Clientset()
	if err != nil {
		return nil, err
	}
	jobs := cache.NewListWatchFromClient(cluster.BatchV1().RESTClient(), "jobs", cronJob.Namespace, fields.Everything())
	store, informer, watcher, stopped := watchtools.NewIndexerInformerWatcherWithLogger(klog.FromContext(ctx), jobs, &batchv1.Job{})
	w := &watchedJobs{cronJob: cronJob, store: store, events: watcher.ResultChan(), stop: func() {
		watcher.Stop()
		<-stopped
	}}
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		w.stop()
		return nil, &env.ExitError{Code: env.Interrupted, Err: errors.New("interrupted, and nothing was started")}
	}
	return w, nil
}

func (w *watchedJobs) has(name string) bool {
	_, exists, _ := w.store.GetByKey(w.cronJob.Namespace + "/" + name) // an indexer in memory returns no error
	return exists
}

func (w *watchedJobs) list() []*batchv1.Job {
	var jobs []*batchv1.Job
	for _, object := range w.store.List() {
		if job, ok := object.(*batchv1.Job); ok && metav1.IsControlledBy(job, w.cronJob) {
			jobs = append(jobs, job)
		}
	}
	return jobs
}
