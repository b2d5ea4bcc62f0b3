// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"context"
	"errors"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
)

// listBackoff is the backoff between attempts to list or to start a watch. That of client-go's
// reflectors grows to a minute with each outage, also with each watch that breaks off: for that
// long the cache would be stale, and a new leader would not know what was done meanwhile. An
// informer has no option for it.
var listBackoff = wait.Backoff{Duration: 100 * time.Millisecond, Factor: 2, Jitter: 0.5, Cap: 3 * time.Second, Steps: 1000}

func newInformer(
	lw toolscache.ListerWatcher, example runtime.Object, resync time.Duration, indexers toolscache.Indexers,
) toolscache.SharedIndexInformer {
	return toolscache.NewSharedIndexInformer(retryingListerWatcher{toolscache.ToListerWatcherWithContext(lw), lw}, example, resync, indexers)
}

// retryingListerWatcher retries to list, and to start a watch, until it succeeds or the informer
// has to list in another way. So the informer's own backoff seldom begins.
type retryingListerWatcher struct {
	toolscache.ListerWatcherWithContext
	toolscache.ListerWatcher
}

// ListWithContext lists the objects.
func (p retryingListerWatcher) ListWithContext(ctx context.Context, options metav1.ListOptions) (list runtime.Object, err error) {
	err = retry(ctx, "Could not list: retrying until it succeeds", func(ctx context.Context) (err error) {
		list, err = p.ListerWatcherWithContext.ListWithContext(ctx, options)
		return err
	})
	return list, err
}

// WatchWithContext starts a watch. If it breaks off, it only ends, and the informer continues with
// another one. But while it still lists what there is, that is an error: the informer lists anew.
func (p retryingListerWatcher) WatchWithContext(ctx context.Context, options metav1.ListOptions) (granted watch.Interface, err error) {
	err = retry(ctx, "Could not start a watch: retrying until it succeeds", func(ctx context.Context) (err error) {
		granted, err = p.ListerWatcherWithContext.WatchWithContext(ctx, options)
		return err
	})
	if err != nil {
		return nil, err
	}
	lists := ptr.Deref(options.SendInitialEvents, false)
	return watch.Filter(granted, func(event watch.Event) (watch.Event, bool) {
		lists = lists && !isEndOfList(event)
		status, isStatus := event.Object.(*metav1.Status)
		isBroken := event.Type == watch.Error && isStatus && isTransient(apierrors.FromObject(status))
		if isBroken && !lists {
			klog.FromContext(ctx).Info("A watch broke off: starting another one", "error", status.Message)
			return event, false
		}
		return event, true
	}), nil
}

// isEndOfList reports whether a watch has listed what there is.
func isEndOfList(event watch.Event) bool {
	if event.Type != watch.Bookmark {
		return false
	}
	object, err := meta.Accessor(event.Object)
	return err == nil && object.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true"
}

// retry tries until there is no error, or one that is not transient.
func retry(ctx context.Context, message string, try func(context.Context) error) error {
	isLogged := false
	return listBackoff.DelayFunc().Until(ctx, true, true, func(ctx context.Context) (bool, error) {
		err := try(ctx)
		if err == nil || !isTransient(err) {
			return true, err
		}
		if !isLogged {
			klog.FromContext(ctx).Error(err, message)
			isLogged = true
		}
		return false, nil
	})
}

// isTransient reports whether the same request may be granted later: it got no answer, or a 5xx, or
// it was refused. An API server that has just started may not have read yet who has which rights,
// or which resources there are.
func isTransient(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return true
	}
	switch code := status.Status().Code; code {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusTooManyRequests:
		return true
	default:
		return code >= http.StatusInternalServerError && !apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge)
	}
}
