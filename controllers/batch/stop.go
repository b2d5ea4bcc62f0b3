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

// shutdownGrace is how long the reconciles in progress may take during a graceful shutdown, and
// after them again the deferred statuses. A manager waits 30 seconds for both together.
const shutdownGrace = 10 * time.Second

// outlive returns a context that is cancelled shutdownGrace after another one.
func outlive(ctx context.Context) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	forget := context.AfterFunc(ctx, func() { time.AfterFunc(shutdownGrace, cancel) })
	return longer, func() {
		forget()
		cancel()
	}
}

// lead runs the controller while this manager is the leader. When the reconciles in progress have
// finished, it writes the deferred statuses.
func (r *CronJobReconciler) lead(ctx context.Context, c controller.Controller) error {
	r.leadingSince = r.Clock.Now()
	r.leads.Store(true)
	err := c.Start(ctx)
	r.flushDeferredStatuses(ctx)
	return err
}

// flushDeferredStatuses writes the deferred statuses. If a Job is deleted before the next leader
// looks, only the status says that its tick has run. No reconcile may be in progress.
func (r *CronJobReconciler) flushDeferredStatuses(ctx context.Context) {
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownGrace)
	defer cancel()
	keys := r.memory.unrecorded()
	workqueue.ParallelizeUntil(bounded, max(r.Concurrency, 1), len(keys), func(i int) {
		if _, err := r.reconcile(bounded, keys[i]); err != nil {
			ctrl.LoggerFrom(ctx).Error(err, "Could not write a deferred status", "cronjob", klog.KRef(keys[i].Namespace, keys[i].Name))
		}
	})
}
