// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	toolscache "k8s.io/client-go/tools/cache"
)

// flaky is a server that grants a list or a watch after some errors.
type flaky struct {
	errors  []error
	asked   int
	granted *watch.FakeWatcher
}

func (f *flaky) answer() error {
	f.asked++
	if f.asked <= len(f.errors) {
		return f.errors[f.asked-1]
	}
	return nil
}

func (f *flaky) listerWatcher() retryingListerWatcher {
	lw := &toolscache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			return &batchv1.JobList{}, f.answer()
		},
		WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
			f.granted = watch.NewFakeWithChanSize(2, false)
			return f.granted, f.answer()
		},
	}
	return retryingListerWatcher{toolscache.ToListerWatcherWithContext(lw), lw}
}

func (f *flaky) watch(ctx context.Context) (watch.Interface, error) {
	return f.listerWatcher().WatchWithContext(ctx, metav1.ListOptions{})
}

// refusals are answers of a server that is about to start or to stop.
func refusals() []error {
	jobs := batchv1.Resource("jobs")
	return []error{
		assert.AnError, apierrors.NewTooManyRequestsError("busy"), apierrors.NewForbidden(jobs, "", assert.AnError),
		apierrors.NewUnauthorized("who are you?"), apierrors.NewNotFound(jobs, ""), apierrors.NewServiceUnavailable("starting"),
	}
}

func TestAWatchIsAskedForUntilItIsGranted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &flaky{errors: refusals()}
		granted, err := f.watch(t.Context())
		require.NoError(t, err)
		require.NotNil(t, granted)
		granted.Stop()
		assert.Equal(t, len(f.errors)+1, f.asked)
	})
}

func TestAListIsAskedForUntilItIsGranted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &flaky{errors: refusals()}
		list, err := f.listerWatcher().ListWithContext(t.Context(), metav1.ListOptions{})
		require.NoError(t, err)
		assert.NotNil(t, list)
		assert.Equal(t, len(f.errors)+1, f.asked)
	})
}

func TestAListThatCanNotBeGrantedIsNotAskedForAgain(t *testing.T) {
	tooLarge := apierrors.NewTimeoutError("Too large resource version", 1)
	tooLarge.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge}}
	for _, refused := range []error{tooLarge, apierrors.NewResourceExpired("too old"), apierrors.NewBadRequest("what?")} {
		f := &flaky{errors: []error{refused}}
		_, err := f.listerWatcher().ListWithContext(t.Context(), metav1.ListOptions{})
		require.ErrorIs(t, err, refused, "the informer has to list in another way")
		assert.Equal(t, 1, f.asked)
	}
}

func TestAWatchThatBreaksOffOnlyEnds(t *testing.T) {
	broken, expired := &apierrors.NewInternalError(assert.AnError).ErrStatus, &apierrors.NewResourceExpired("too old").ErrStatus
	bookmark := &batchv1.Job{}
	endOfList := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"}}}
	for name, test := range map[string]struct {
		lists    bool
		bookmark *batchv1.Job // what comes before
		status   *metav1.Status
		want     bool // whether the informer gets the error
	}{
		"a watch":                            {false, bookmark, broken, false},
		"a watch that lists":                 {true, bookmark, broken, true},
		"a watch that has listed":            {true, endOfList, broken, false},
		"a watch of what was compacted":      {false, bookmark, expired, true},
		"a watch that has listed, compacted": {true, endOfList, expired, true},
	} {
		t.Run(name, func(t *testing.T) {
			f := &flaky{}
			granted, err := f.listerWatcher().WatchWithContext(t.Context(), metav1.ListOptions{SendInitialEvents: &test.lists})
			require.NoError(t, err)
			f.granted.Action(watch.Bookmark, test.bookmark)
			f.granted.Error(test.status)
			f.granted.Stop()
			assert.Equal(t, watch.Event{Type: watch.Bookmark, Object: test.bookmark}, <-granted.ResultChan())
			event, isError := <-granted.ResultChan()
			require.Equal(t, test.want, isError)
			if isError {
				assert.Equal(t, watch.Event{Type: watch.Error, Object: test.status}, event)
			}
		})
	}
}

// restless is a server that breaks all watches off just before it creates a Job.
type restless struct {
	mu      sync.Mutex
	created int
	watches []*watch.FakeWatcher
}

func (r *restless) create() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, w := range r.watches {
		w.Error(&apierrors.NewInternalError(errors.New("unable to decode an event from the watch stream")).ErrStatus)
		w.Stop()
	}
	r.watches = nil
	r.created++
}

// after returns the Jobs that were created after a resource version. The caller holds the lock.
func (r *restless) after(version string) (jobs []batchv1.Job) {
	from, _ := strconv.Atoi(version)
	for i := from; i < r.created; i++ {
		jobs = append(jobs, batchv1.Job{ObjectMeta: metav1.ObjectMeta{Name: strconv.Itoa(i), ResourceVersion: strconv.Itoa(i + 1)}})
	}
	return jobs
}

func (r *restless) list(context.Context, metav1.ListOptions) (runtime.Object, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return &batchv1.JobList{ListMeta: metav1.ListMeta{ResourceVersion: strconv.Itoa(r.created)}, Items: r.after("")}, nil
}

func (r *restless) watch(_ context.Context, options metav1.ListOptions) (watch.Interface, error) {
	if options.SendInitialEvents != nil {
		return nil, apierrors.NewInvalid(schema.GroupKind{}, "", nil)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	w := watch.NewFakeWithChanSize(1000, false)
	for _, job := range r.after(options.ResourceVersion) {
		w.Add(&job)
	}
	r.watches = append(r.watches, w)
	return w, nil
}

func TestManyWatchesThatBreakOffDoNotMakeTheCacheStale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &restless{}
		lw := &toolscache.ListWatch{ListWithContextFunc: r.list, WatchFuncWithContext: r.watch}
		informer := newInformer(lw, &batchv1.Job{}, 0, nil)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			informer.RunWithContext(ctx)
		}()
		for range 30 {
			time.Sleep(5 * time.Second)
			cached := len(informer.GetStore().List())
			assert.Equal(t, r.created, cached, "how many Jobs were created at least five seconds ago")
			r.create()
		}
		cancel()
		<-done
	})
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
