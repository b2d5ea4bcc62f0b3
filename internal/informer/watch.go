// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"context"
	"errors"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// watchBackoff is how often a watch is asked for again that the API server does not grant.
// client-go itself waits for up to a minute once a few have failed: so long after an API server is
// back nobody would hear of a new CronJob, and a manager that begins to lead would know nothing of
// what was done meanwhile.
var watchBackoff = wait.Backoff{Duration: 100 * time.Millisecond, Factor: 2, Jitter: 0.5, Cap: 3 * time.Second, Steps: 1000}

// newInformer returns an informer whose watches are back a few seconds after the API server is.
func newInformer(
	lw toolscache.ListerWatcher, example runtime.Object, resync time.Duration, indexers toolscache.Indexers,
) toolscache.SharedIndexInformer {
	return toolscache.NewSharedIndexInformer(retryingListerWatcher{toolscache.ToListerWatcherWithContext(lw), lw}, example, resync, indexers)
}

// retryingListerWatcher asks for a watch until it is granted or refused for good.
type retryingListerWatcher struct {
	toolscache.ListerWatcherWithContext
	toolscache.ListerWatcher
}

// WatchWithContext asks for a watch.
func (p retryingListerWatcher) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	var granted watch.Interface
	var last error
	err := watchBackoff.DelayFunc().Until(ctx, true, true, func(ctx context.Context) (bool, error) {
		var err error
		granted, err = p.ListerWatcherWithContext.WatchWithContext(ctx, options)
		if err == nil || !isServerError(err) && !apierrors.IsTooManyRequests(err) {
			return true, err
		}
		if last == nil {
			klog.FromContext(ctx).Error(err, "Could not watch: trying again until it works")
		}
		last = err
		return false, nil
	})
	return granted, err
}

// isServerError reports whether a request got no answer, or one that tells of the server's trouble.
func isServerError(err error) bool {
	var status apierrors.APIStatus
	return !errors.As(err, &status) || status.Status().Code >= http.StatusInternalServerError
}
