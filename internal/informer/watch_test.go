// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
)

// flaky is a server that grants a watch after some errors, the last of which it repeats.
type flaky struct {
	errors []error
	asked  int
}

func (f *flaky) listWatch() *toolscache.ListWatch {
	return &toolscache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) { return &batchv1.JobList{}, nil },
		WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
			f.asked++
			if f.asked <= len(f.errors) {
				return nil, f.errors[f.asked-1]
			}
			return watch.NewFake(), nil
		},
	}
}

func (f *flaky) watch(ctx context.Context) (watch.Interface, error) {
	lw := f.listWatch()
	return retryingListerWatcher{toolscache.ToListerWatcherWithContext(lw), lw}.WatchWithContext(ctx, metav1.ListOptions{})
}

func TestAWatchIsAskedForUntilItIsGranted(t *testing.T) {
	f := &flaky{errors: []error{assert.AnError, apierrors.NewTooManyRequestsError("busy"), assert.AnError}}
	granted, err := f.watch(t.Context())
	require.NoError(t, err)
	assert.NotNil(t, granted)
	assert.Equal(t, 4, f.asked)
}

func TestAWatchThatIsRefusedForGoodIsNotAskedForAgain(t *testing.T) {
	f := &flaky{errors: []error{assert.AnError, apierrors.NewResourceExpired("too old")}}
	_, err := f.watch(t.Context())
	require.True(t, apierrors.IsResourceExpired(err), "the informer has to list anew: %v", err)
	assert.Equal(t, 2, f.asked)
}

func TestAWatchThatIsNeverGrantedEndsWithItsInformer(t *testing.T) {
	f := &flaky{errors: make([]error, 1000)}
	for i := range f.errors {
		f.errors[i] = assert.AnError
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := f.watch(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}
