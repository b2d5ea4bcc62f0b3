// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"context"
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
)

// shutdownGrace is how long, after it is told to stop, the controller has for the reconciles in
// progress, and again for the deferred statuses. Both together are less than a manager waits for
// what it runs: 30 seconds.
const shutdownGrace = 10 * time.Second

// outlive returns a context that ends some time after another does.
func outlive(ctx context.Context) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	forget := context.AfterFunc(ctx, func() { time.AfterFunc(shutdownGrace, cancel) })
	return longer, func() {
		forget()
		cancel()
	}
}

// lead runs the controller as long as this manager leads. Then, when the reconciles in progress
// have finished, it writes the statuses that were deferred.
func (r *CronJobReconciler) lead(ctx context.Context, c controller.Controller) error {
	r.leadingSince = r.Clock.Now()
	r.leads.Store(true)
	err := c.Start(ctx)
	r.flushDeferredStatuses(ctx)
	return err
}

// flushDeferredStatuses writes the statuses that were deferred: the next leader tells by the status
// that a tick has run, if its Job is gone by then. No reconcile may be in progress.
func (r *CronJobReconciler) flushDeferredStatuses(ctx context.Context) {
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownGrace)
	defer cancel()
	keys := r.memory.deferred()
	workqueue.ParallelizeUntil(bounded, max(r.Concurrency, 1), len(keys), func(i int) {
		if _, err := r.reconcile(bounded, keys[i]); err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "Could not write a deferred status", "cronjob", klog.KRef(keys[i].Namespace, keys[i].Name))
		}
	})
}
