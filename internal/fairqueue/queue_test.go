// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package fairqueue

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"
)

// These tests run in bubbles of testing/synctest: time passes when all wait, and only then.

// requested makes a request of "namespace/name".
func requested(namespace, name string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}
}

// newQueue starts a queue that ends with the test.
func newQueue(t *testing.T) *Queue {
	t.Helper()
	return newQueueFor(t, workers)
}

// newQueueFor starts a queue for a number of workers.
func newQueueFor(t *testing.T, workers int) *Queue {
	t.Helper()
	limiter := workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](time.Second, time.Minute)
	q := New(workers)("", limiter).(*Queue)
	t.Cleanup(q.ShutDown)
	return q
}

// add adds a request with a priority, and waits until it is in the queue.
func (q *Queue) add(priority int, requests ...reconcile.Request) {
	for _, request := range requests {
		q.AddWithOpts(priorityqueue.AddOpts{Priority: &priority}, request)
		synctest.Wait()
	}
}

// take gets the ready requests, and marks them as done.
func (q *Queue) take() []string {
	synctest.Wait()
	var taken []string
	for q.Len() > 0 {
		request, _ := q.Get()
		q.Done(request)
		taken = append(taken, request.String())
	}
	return taken
}

func TestNamespacesTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t)
		for i := range 4 {
			q.Add(requested("hog", fmt.Sprint(i)))
		}
		synctest.Wait()
		first, _ := q.Get()
		q.Done(first)
		assert.Equal(t, "hog/0", first.String())
		q.add(0, requested("late", "0"), requested("early", "0"), requested("late", "1"))
		assert.Equal(t, []string{"late/0", "early/0", "hog/1", "late/1", "hog/2", "hog/3"}, q.take())
	})
}

func TestR2NothingIsKeptOfNamespacesThatCameAndWent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t)
		for i := range 1000 {
			request := requested(fmt.Sprint(i), "c")
			q.add(0, request, request)
			taken, _ := q.Get()
			q.add(i%20-10, request) // it is added again while it is reconciled
			q.Done(taken)
			q.take()
		}
		o := q.order
		assert.Empty(t, o.places)
		assert.Empty(t, o.expected)
		assert.Empty(t, o.running)
		assert.Zero(t, o.ready.Len()+o.due.Len()+o.early.Len())
	})
}

func TestWhatCanWaitLetsAllThatIsDueGoFirstWhateverItsNamespace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t)
		q.add(-10, requested("a", "early"), requested("b", "earlier"), requested("a", "latest"))
		q.add(-5, requested("b", "earlier"))
		q.add(0, requested("c", "0"), requested("c", "1"))
		assert.Equal(t, []string{"c/0", "c/1", "b/earlier", "a/early", "a/latest"}, q.take())

		q.add(-10, requested("a", "early"))
		q.add(0, requested("c", "0"), requested("c", "1"), requested("c", "2"))
		time.Sleep(10 * time.Second)
		assert.Equal(t, []string{"c/0", "a/early", "c/1", "c/2"}, q.take(), "it has waited long enough")
	})
}

func TestWithinANamespaceWhatWasDueFirstIsFirst(t *testing.T) {
	tests := map[string]struct {
		add  func(q *Queue)
		want []string
	}{
		"in the order of coming": {
			func(q *Queue) { q.add(0, requested("n", "b"), requested("n", "a"), requested("n", "c")) },
			[]string{"n/b", "n/a", "n/c"},
		},
		"a priority is so many seconds overdue": {
			func(q *Queue) {
				q.add(0, requested("n", "now"))
				q.add(-10, requested("n", "in ten seconds"))
				q.add(30, requested("n", "thirty seconds ago"))
				q.add(31, requested("n", "longer ago"))
			},
			[]string{"n/longer ago", "n/thirty seconds ago", "n/now", "n/in ten seconds"},
		},
		"a low priority waits for those seconds alone": {
			func(q *Queue) {
				q.add(-10, requested("n", "deferred"))
				time.Sleep(9 * time.Second)
				q.add(0, requested("n", "sooner"))
				time.Sleep(2 * time.Second)
				q.add(0, requested("n", "later"))
			},
			[]string{"n/sooner", "n/deferred", "n/later"},
		},
		"added again, the earlier instant counts": {
			func(q *Queue) {
				q.add(0, requested("n", "a"))
				q.add(-100, requested("n", "hastened"))
				q.add(5, requested("n", "not put off"))
				q.add(1, requested("n", "hastened"))
				q.add(-100, requested("n", "not put off"))
			},
			[]string{"n/not put off", "n/hastened", "n/a"},
		},
		"a delayed one is due when it is ready": {
			func(q *Queue) {
				q.AddAfter(requested("n", "in two seconds"), 2*time.Second)
				q.AddAfter(requested("n", "in a second"), time.Second)
				q.AddWithOpts(priorityqueue.AddOpts{After: 3 * time.Second, Priority: new(5)}, requested("n", "overdue by then"))
				q.AddAfter(requested("n", "not yet"), time.Hour)
				time.Sleep(1500 * time.Millisecond)
				q.add(0, requested("n", "between"))
				time.Sleep(time.Minute)
				q.add(0, requested("n", "after"))
			},
			[]string{"n/overdue by then", "n/in a second", "n/between", "n/in two seconds", "n/after"},
		},
		"one that is added before its delay is over is ready once": {
			func(q *Queue) {
				q.AddAfter(requested("n", "delayed"), time.Second)
				q.add(0, requested("n", "delayed"))
				time.Sleep(time.Minute)
			},
			[]string{"n/delayed"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := newQueue(t)
				test.add(q)
				assert.Equal(t, test.want, q.take())
				assert.Empty(t, q.order.expected, "it is known when a request is due that is not in the queue")
				assert.Empty(t, q.order.places)
			})
		})
	}
}

func TestARequestIsNotHandedOutTwiceAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t)
		q.add(0, requested("n", "a"))
		request, _ := q.Get()
		q.add(-10, request, request)
		time.Sleep(time.Second)
		q.add(0, requested("n", "b"))
		q.add(3, request)
		assert.Equal(t, []string{"n/b"}, q.take())
		q.add(0, requested("n", "c"))
		q.Done(request)
		assert.Equal(t, []string{"n/a", "n/c"}, q.take(), "it was due three seconds ago")
	})
}

func TestFailuresAreTriedAgainLaterAndLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t)
		request := requested("n", "a")
		for _, delay := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
			q.AddRateLimited(request)
			time.Sleep(delay - time.Millisecond)
			assert.Empty(t, q.take())
			time.Sleep(2 * time.Millisecond)
			assert.Equal(t, []string{"n/a"}, q.take())
		}
		assert.Equal(t, 3, q.NumRequeues(request))
		q.Forget(request)
		assert.Zero(t, q.NumRequeues(request))
	})
}

func TestNothingIsHandedOutAfterShutDownHoweverManyRequestsWait(t *testing.T) {
	for name, shutDown := range map[string]func(*Queue){"at once": (*Queue).ShutDown, "with drain": (*Queue).ShutDownWithDrain} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := newQueue(t)
				q.add(0, requested("n", "a"), requested("n", "b"))
				q.AddAfter(requested("n", "delayed"), time.Second)
				inProgress, _ := q.Get()
				shutDown(q)
				q.Add(requested("n", "too late"))
				q.Done(inProgress)
				assert.True(t, q.ShuttingDown())
				time.Sleep(time.Minute)
				_, priority, shutdown := q.GetWithPriority()
				assert.True(t, shutdown)
				assert.Zero(t, priority)
				q.ShutDown() // a second call is allowed
			})
		})
	}
}

func TestAWorkerThatWaitsIsWokenByARequestAndByShutDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t)
		var got []string
		go func() {
			for {
				request, _, shutdown := q.GetWithPriority()
				if shutdown {
					got = append(got, "the end")
					return
				}
				got = append(got, request.String())
				q.Done(request)
			}
		}()
		q.add(0, requested("n", "a"))
		q.AddAfter(requested("n", "b"), time.Second)
		time.Sleep(time.Minute)
		q.ShutDown()
		synctest.Wait()
		assert.Equal(t, []string{"n/a", "n/b", "the end"}, got)
	})
}

// hold adds requests of some namespaces in turns, and hands out what workers can get, none of which
// ends. It returns these requests by namespace.
func (q *Queue) hold(priority, count int, namespaces ...string) map[string][]reconcile.Request {
	for i := range count {
		for _, namespace := range namespaces {
			q.add(priority, requested(namespace, fmt.Sprint(i)))
		}
	}
	held := map[string][]reconcile.Request{}
	for q.Len() > 0 {
		request, _ := q.Get()
		held[request.Namespace] = append(held[request.Namespace], request)
	}
	return held
}

func TestS15SlowNamespacesLeaveAWorkerToTheNext(t *testing.T) {
	tests := map[string]struct {
		workers int
		slow    [][]string
		want    map[string]int
	}{
		"one of them":                         {20, [][]string{{"a"}}, map[string]int{"a": 14}},
		"three, one after the other":          {20, [][]string{{"a"}, {"b"}, {"c"}}, map[string]int{"a": 14, "b": 4, "c": 1}},
		"three at once":                       {20, [][]string{{"a", "b", "c"}}, map[string]int{"a": 6, "b": 6, "c": 6}},
		"with three workers":                  {3, [][]string{{"a"}}, map[string]int{"a": 2}},
		"with two workers, one for each":      {2, [][]string{{"a"}}, map[string]int{"a": 1}},
		"more of them than there are workers": {4, [][]string{{"a", "b", "c"}}, map[string]int{"a": 1, "b": 1, "c": 1}},
	}
	for name, test := range tests {
		for _, priority := range []int{0, -10} {
			t.Run(fmt.Sprintf("%s, of priority %d", name, priority), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					q := newQueueFor(t, test.workers)
					held := map[string]int{}
					for _, namespaces := range test.slow {
						for namespace, requests := range q.hold(priority, 30, namespaces...) {
							held[namespace] += len(requests)
						}
					}
					assert.Equal(t, test.want, held)
					q.add(-10, requested("next", "early"))
					assert.Equal(t, []string{"next/early"}, q.take())
					q.add(0, requested("next", "due"))
					assert.Equal(t, []string{"next/due"}, q.take())
				})
			})
		}
	}
}

func TestS15WithOneWorkerNamespacesTakeTurnsAsEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueueFor(t, 1)
		q.add(0, requested("a", "0"), requested("a", "1"), requested("b", "0"), requested("b", "1"))
		assert.Equal(t, []string{"a/0", "b/0", "a/1", "b/1"}, q.take())
	})
}

func TestS15ANamespaceAtItsBoundGetsAWorkerWhenOneOfItsRequestsIsDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t)
		held := q.hold(0, 30, "slow")["slow"]
		require.Len(t, held, share)
		q.Done(held[0])
		require.Equal(t, 30-share, q.Len())
		next, _ := q.Get()
		assert.Equal(t, fmt.Sprint("slow/", share), next.String(), "none of them is lost or out of order")
		assert.Zero(t, q.Len())
	})
}

// startWorkers starts so many workers of a queue. The function it returns lets one of them end its
// request of a namespace, and waits until nothing more happens by that. When the test is over, all
// requests end.
func startWorkers(t *testing.T, q *Queue, count int, namespaces ...string) (end func(namespace string), working *sync.WaitGroup) {
	t.Helper()
	ends := map[string]chan struct{}{}
	for _, namespace := range namespaces {
		ends[namespace] = make(chan struct{})
		t.Cleanup(func() { close(ends[namespace]) })
	}
	working = &sync.WaitGroup{}
	for range count {
		working.Go(func() {
			for request, shutdown := q.Get(); !shutdown; request, shutdown = q.Get() {
				<-ends[request.Namespace]
				q.Done(request)
			}
		})
	}
	return func(namespace string) {
		ends[namespace] <- struct{}{}
		synctest.Wait()
	}, working
}

func TestS15ARequestThatIsDoneWakesAllWorkersThatMayGetOneNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueueFor(t, 10)
		end, _ := startWorkers(t, q, 10, "a", "b", "c")
		for i := range 10 {
			q.add(0, requested("a", fmt.Sprint(i)), requested("b", fmt.Sprint(i)))
		}
		require.Equal(t, map[string]int{"a": 4, "b": 4}, q.order.running, "twice as many as are free")
		end("b")
		assert.Equal(t, map[string]int{"a": 5, "b": 4}, q.order.running, "it is a's turn, and b has fewer again")
		q.add(0, requested("c", "0"))
		assert.Equal(t, map[string]int{"a": 5, "b": 4, "c": 1}, q.order.running)
	})
}

func TestAllWorkersThatWaitAreToldOfTheShutDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t)
		_, working := startWorkers(t, q, workers)
		synctest.Wait()
		q.ShutDown()
		working.Wait()
	})
}

// TestS15NothingIsLostOrReconciledTwiceAtATimeOrByMoreWorkersThanItsNamespaceMayHave is without a
// bubble, for the race detector.
func TestS15NothingIsLostOrReconciledTwiceAtATimeOrByMoreWorkersThanItsNamespaceMayHave(t *testing.T) {
	const requests, adders, adds = 50, 4, 1000
	for workers, most := range map[int]int64{1: 1, 2: 1, 8: 6, 20: share} {
		t.Run(fmt.Sprintf("%d workers", workers), func(t *testing.T) {
			q := newQueueFor(t, workers)
			namespaces := 1 + rand.IntN(6)
			var last [requests]atomic.Int64 // the number of the last addition of each
			var seen [requests]atomic.Int64 // the same, as it was when it was last reconciled
			var busy [requests]atomic.Bool
			var running [requests]atomic.Int64 // by namespace
			var working, others sync.WaitGroup
			for range workers {
				working.Go(func() {
					for {
						request, shutdown := q.Get()
						if shutdown {
							return
						}
						var i int
						_, err := fmt.Sscan(request.Name, &i)
						assert.NoError(t, err)
						assert.True(t, busy[i].CompareAndSwap(false, true), "%s is reconciled twice at a time", request)
						assert.LessOrEqual(t, running[i%namespaces].Add(1), most, "of %d namespaces", namespaces)
						seen[i].Store(last[i].Load())
						time.Sleep(time.Duration(rand.IntN(20)) * time.Microsecond) // a request
						running[i%namespaces].Add(-1)
						busy[i].Store(false)
						q.Done(request)
					}
				})
			}
			for range adders {
				others.Go(func() {
					for range adds {
						i := rand.IntN(requests)
						last[i].Add(1)
						q.AddWithOpts(priorityqueue.AddOpts{
							After: time.Duration(rand.IntN(3)) * time.Microsecond, Priority: new(rand.IntN(100) - 50),
						}, requested(fmt.Sprint(i%namespaces), fmt.Sprint(i)))
					}
				})
			}
			others.Wait()
			require.Eventually(t, func() bool {
				for i := range requests {
					if seen[i].Load() != last[i].Load() {
						return false
					}
				}
				return true
			}, 10*time.Second, time.Millisecond, "an addition is lost")
			q.ShutDown()
			working.Wait()
			assert.Empty(t, q.order.running)
			assert.Equal(t, workers, q.order.free)
		})
	}
}

func TestTheQueueHasTheMetricsOfAWorkqueue(t *testing.T) {
	name := fmt.Sprint("metered-", time.Now().UnixNano()) // the registry is there for all runs of the test
	q := New(workers)(name, workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	t.Cleanup(q.ShutDown)
	q.Add(requested("n", "a"))
	q.Add(requested("n", "b"))
	require.Eventually(t, func() bool { return metric(t, name, "workqueue_depth") == 2 }, 10*time.Second, time.Millisecond)
	request, _ := q.Get()
	assert.InDelta(t, 1, metric(t, name, "workqueue_depth"), 0)
	q.Done(request)
	assert.InDelta(t, 2, metric(t, name, "workqueue_adds_total"), 0)
	assert.InDelta(t, 1, metric(t, name, "workqueue_queue_duration_seconds"), 0)
	assert.InDelta(t, 1, metric(t, name, "workqueue_work_duration_seconds"), 0)
}

func TestTheQueueTellsForHowLongARequestHasBeenReconciled(t *testing.T) {
	name := fmt.Sprint("hanging-", time.Now().UnixNano())
	q := New(workers)(name, workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	t.Cleanup(q.ShutDown)
	q.Add(requested("n", "hangs"))
	hanging, _ := q.Get()
	require.Eventually(t, func() bool { return metric(t, name, "workqueue_longest_running_processor_seconds") > 1 },
		10*time.Second, 10*time.Millisecond)
	q.Add(requested("n", "quick"))
	quick, _ := q.Get()
	q.Done(quick)
	assert.Greater(t, metric(t, name, "workqueue_longest_running_processor_seconds"), 1.0, "others that end hide it")

	q.Done(hanging)
	require.Eventually(t, func() bool { return metric(t, name, "workqueue_longest_running_processor_seconds") == 0 },
		10*time.Second, 10*time.Millisecond)
}

// metric returns a metric of a queue: its value, or the number of observations.
func metric(t *testing.T, queue, name string) float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	require.NoError(t, err)
	sum := 0.0
	for _, family := range families {
		for _, m := range family.GetMetric() {
			if family.GetName() == name && m.GetLabel()[0].GetValue() == queue {
				sum += m.GetGauge().GetValue() + m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
			}
		}
	}
	return sum
}

// service is how long the reconciler of the following tests takes, and with 20 workers they do 200
// a second. A namespace that wants all workers gets share of them, and so does each of two that do.
const (
	service    = 100 * time.Millisecond
	workers    = 20
	share      = 14
	shareOfTwo = 8
)

// run is that a request was reconciled.
type run struct {
	reconcile.Request
	after time.Duration
}

// simulate runs a controller of controller-runtime with the queue. What is in its initial list
// comes first, and "periodic" namespaces' requests are due every two seconds. It returns what was
// reconciled, in order.
func simulate(
	t *testing.T, span time.Duration, first func(priorityqueue.PriorityQueue[reconcile.Request]), periodic func(reconcile.Request) bool,
) []run {
	t.Helper()
	var runs []run
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		begin := time.Now()
		c, err := controller.NewUnmanaged("simulated", controller.Options{
			NewQueue: New(workers), MaxConcurrentReconciles: workers, SkipNameValidation: new(true), Logger: logr.Discard(),
			Reconciler: reconcile.Func(func(_ context.Context, request reconcile.Request) (reconcile.Result, error) {
				mu.Lock()
				runs = append(runs, run{request, time.Since(begin)})
				mu.Unlock()
				time.Sleep(service)
				switch {
				case request.Name == "fails":
					return reconcile.Result{}, errors.New("refused")
				case periodic(request):
					return reconcile.Result{RequeueAfter: 2*time.Second - time.Since(begin)%(2*time.Second)}, nil
				}
				return reconcile.Result{}, nil
			}),
		})
		require.NoError(t, err)
		require.NoError(t, c.Watch(source.Func(func(_ context.Context, q workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
			first(q.(priorityqueue.PriorityQueue[reconcile.Request]))
			return nil
		})))
		ctx, cancel := context.WithTimeout(t.Context(), span)
		defer cancel()
		require.NoError(t, c.Start(ctx))
	})
	// What was ready at the end is still handed out, for a reconciler to see that it has ended.
	return slices.DeleteFunc(runs, func(r run) bool { return r.after >= span })
}

// named returns a number of requests of a namespace.
func named(namespace, prefix string, count int) []reconcile.Request {
	requests := make([]reconcile.Request, count)
	for i := range requests {
		requests[i] = requested(namespace, fmt.Sprintf("%s-%04d", prefix, i))
	}
	return requests
}

// lastOf returns when the last of some first runs was.
func lastOf(t *testing.T, runs []run, requests []reconcile.Request) time.Duration {
	t.Helper()
	first := map[reconcile.Request]time.Duration{}
	for _, r := range slices.Backward(runs) {
		first[r.Request] = r.after
	}
	var last time.Duration
	for _, request := range requests {
		at, ok := first[request]
		require.True(t, ok, "%s was never reconciled", request)
		last = max(last, at)
	}
	return last
}

func TestS14FiveThousandThatAreOverdueAreServedBesideFiveHundredThatKeepTheQueueFull(t *testing.T) {
	const overdue, periodic = 5000, 500
	tests := map[string]struct {
		namespace string
		within    time.Duration
		busy      int
	}{
		"of one namespace, they come first":              {"n", (overdue+periodic)*service/share + time.Second, share},
		"of two namespaces, they have every second turn": {"other", overdue*service/shareOfTwo + time.Second, 2 * shareOfTwo},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			waiting, ticking := named(test.namespace, "overdue", overdue), named("n", "periodic", periodic)
			runs := simulate(t, 70*time.Second, func(q priorityqueue.PriorityQueue[reconcile.Request]) {
				q.AddWithOpts(priorityqueue.AddOpts{Priority: new(0)}, ticking...)
				q.AddWithOpts(priorityqueue.AddOpts{Priority: new(30)}, waiting...)
			}, func(request reconcile.Request) bool { return request.Name[0] == 'p' })
			assert.Less(t, lastOf(t, runs, waiting), test.within)
			assert.Less(t, lastOf(t, runs, ticking), test.within)
			assert.GreaterOrEqual(t, len(runs), int(68*time.Second/service)*test.busy, "the queue was not full all the time")
		})
	}
}

func TestS14WhatComesInTheInitialListDoesNotStarveInAQueueThatIsFull(t *testing.T) {
	waiting, ticking := named("n", "a-new-one", 10), named("n", "periodic", 500)
	runs := simulate(t, 4*time.Minute, func(q priorityqueue.PriorityQueue[reconcile.Request]) {
		q.AddWithOpts(priorityqueue.AddOpts{Priority: new(0)}, ticking...)
		q.AddWithOpts(priorityqueue.AddOpts{Priority: new(handler.LowPriority)}, waiting...)
	}, func(request reconcile.Request) bool { return request.Name[0] == 'p' })
	assert.InDelta(t, 100, lastOf(t, runs, waiting).Seconds(), 4, "they count as 100 seconds younger")
}

func TestS15ANamespaceWithMoreThanCanBeDoneDelaysNoOther(t *testing.T) {
	hogs, others := named("hog", "h", 5000), named("one", "o", 5)
	for i := range 9 {
		others = append(others, named(fmt.Sprint("other-", i), "o", 5)...)
	}
	runs := simulate(t, time.Minute, func(q priorityqueue.PriorityQueue[reconcile.Request]) {
		q.AddWithOpts(priorityqueue.AddOpts{}, hogs...)
		q.AddWithOpts(priorityqueue.AddOpts{}, others...)
	}, func(reconcile.Request) bool { return true })
	of := map[string][]time.Duration{}
	for _, r := range runs {
		of[r.Namespace] = append(of[r.Namespace], r.after)
	}
	for namespace, at := range of {
		if namespace == "hog" {
			continue
		}
		assert.Len(t, at, 5*30, "each of five, every two seconds, in %s", namespace)
		for i, after := range at {
			due := time.Duration(i/5) * 2 * time.Second
			assert.Less(t, after-due, 500*time.Millisecond, "%s, due after %v", namespace, due)
		}
	}
	assert.Greater(t, len(of["hog"]), int(time.Minute/service)*share-50*30, "it has its share, less at most what the others have")
}

func TestS15WhatAlwaysFailsCostsTheOthersNothing(t *testing.T) {
	others := named("n", "o", 100)
	runs := simulate(t, time.Minute, func(q priorityqueue.PriorityQueue[reconcile.Request]) {
		q.AddWithOpts(priorityqueue.AddOpts{}, requested("n", "fails"))
		q.AddWithOpts(priorityqueue.AddOpts{}, others...)
	}, func(reconcile.Request) bool { return true })
	failures := 0
	for _, r := range runs {
		if r.Name == "fails" {
			failures++
			continue
		}
		assert.Less(t, r.after%(2*time.Second), (101/share+1)*service)
	}
	assert.Len(t, runs, failures+100*30, "all of theirs")
	assert.InDelta(t, 14, failures, 3, "it was tried with backoff")
}
