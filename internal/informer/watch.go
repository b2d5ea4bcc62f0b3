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

// watchBackoff is the backoff between attempts to start a watch. client-go's own grows to a minute:
// for that long after an outage of the API server, the cache would be stale, and a new leader would
// not know what was done meanwhile.
var watchBackoff = wait.Backoff{Duration: 100 * time.Millisecond, Factor: 2, Jitter: 0.5, Cap: 3 * time.Second, Steps: 1000}

func newInformer(
	lw toolscache.ListerWatcher, example runtime.Object, resync time.Duration, indexers toolscache.Indexers,
) toolscache.SharedIndexInformer {
	return toolscache.NewSharedIndexInformer(retryingListerWatcher{toolscache.ToListerWatcherWithContext(lw), lw}, example, resync, indexers)
}

// retryingListerWatcher retries to start a watch until it succeeds or the error is not transient.
type retryingListerWatcher struct {
	toolscache.ListerWatcherWithContext
	toolscache.ListerWatcher
}

// WatchWithContext starts a watch.
func (p retryingListerWatcher) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	var granted watch.Interface
	isLogged := false
	err := watchBackoff.DelayFunc().Until(ctx, true, true, func(ctx context.Context) (bool, error) {
		var err error
		granted, err = p.ListerWatcherWithContext.WatchWithContext(ctx, options)
		if err == nil || !isServerError(err) && !apierrors.IsTooManyRequests(err) {
			return true, err
		}
		if !isLogged {
			klog.FromContext(ctx).Error(err, "Could not start a watch: retrying until it succeeds")
			isLogged = true
		}
		return false, nil
	})
	return granted, err
}

// isServerError reports whether a request got no answer, or a 5xx.
func isServerError(err error) bool {
	var status apierrors.APIStatus
	return !errors.As(err, &status) || status.Status().Code >= http.StatusInternalServerError
}
