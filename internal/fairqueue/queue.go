// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package fairqueue is a work queue for controllers in which namespaces don't wait for each other.
//
// Namespaces with due requests take turns. Within a namespace, the request that was due first is
// handed out first, so that none starves. A request is due when it becomes ready, or earlier or
// later by its priority in seconds: a request of priority 30 has been due for 30 seconds; one of
// priority -10 is due in 10 seconds, and all due requests go first until then. If a request is
// added twice, the earlier instant counts.
//
// With turns alone, a namespace with slow requests could hold all workers. So a namespace gets
// another worker only while it has fewer than twice as many as are free, and the last free one only
// if it has none: of 20 workers, one slow namespace holds 14 and a second one 4. The bound is the
// dynamic threshold of Choudhury and Hahne ("Dynamic Queue Length Thresholds for Shared-Memory
// Packet Switches", IEEE/ACM Transactions on Networking, 1998).
//
// The package combines two queues. Controller-runtime's priority queue accepts the requests, delays
// them and counts failures. When a request is ready, it moves to client-go's queue, which hands it
// out, prevents concurrent reconciles of one request, and has the workqueue's metrics. This package
// adds only the order, for which client-go's queue has a hook.
//
// The alternatives: controller-runtime's queue supports no other order. Client-go's delaying queue
// keeps an item until its delay is over, so a CronJob that is deleted ten months before its tick
// would stay in memory for ten months. The API server's fair queuing is for requests that block,
// and Kueue's queues are for its own objects.
package fairqueue

import (
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Queue is a fair work queue.
type Queue struct {
	// PriorityQueue accepts the requests and delays them. Only forward reads from it.
	priorityqueue.PriorityQueue[reconcile.Request]

	// ready hands out the requests whose delay is over, in the order of order.
	ready *workqueue.Typed[reconcile.Request]
	order *order

	// mu guards ready and order.
	mu sync.Mutex

	// changed wakes waiting workers. They don't wait in ready, which wakes one worker for each
	// added request: one request that is done may allow two others to be handed out.
	changed *sync.Cond

	// stopTaking shuts PriorityQueue down, which can be done only once.
	stopTaking func()
}

var _ priorityqueue.PriorityQueue[reconcile.Request] = &Queue{}

// New returns the NewQueue option of a controller with a number of workers. A queue runs until it
// is shut down.
func New(workers int) func(string, workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
	return func(name string, limiter workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
		order := newOrder(workers)
		q := &Queue{
			// Without a name it has no metrics: the workqueue's metrics are those of ready.
			PriorityQueue: priorityqueue.New("", func(o *priorityqueue.Opts[reconcile.Request]) { o.RateLimiter = limiter }),
			ready:         workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[reconcile.Request]{Name: name, Queue: order}),
			order:         order,
		}
		q.changed = sync.NewCond(&q.mu)
		q.stopTaking = sync.OnceFunc(q.PriorityQueue.ShutDown)
		go q.forward()
		return q
	}
}

// forward makes requests ready when their delay is over, until the queue is shut down.
func (q *Queue) forward() {
	for {
		request, priority, shutdown := q.PriorityQueue.GetWithPriority()
		if shutdown {
			return
		}
		q.PriorityQueue.Done(request)
		q.makeReady(request, time.Now().Add(-time.Duration(priority)*time.Second))
	}
}

// makeReady adds a request that is due at an instant to ready, and wakes a waiting worker.
func (q *Queue) makeReady(request reconcile.Request, due time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.order.expect(request, due)
	q.ready.Add(request)
	q.changed.Signal()
}

// Get waits for the next request. The caller has to call Done with it.
func (q *Queue) Get() (request reconcile.Request, shutdown bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.ready.Len() == 0 && !q.ready.ShuttingDown() {
		q.changed.Wait()
	}
	q.changed.Signal() // another worker may get a request too, or has to see the shutdown
	if q.ready.ShuttingDown() {
		return reconcile.Request{}, true
	}
	return q.ready.Get()
}

// GetWithPriority is Get, with priority 0. A retry does not inherit the priority of the request: it
// is due when it is ready.
func (q *Queue) GetWithPriority() (request reconcile.Request, priority int, shutdown bool) {
	request, shutdown = q.Get()
	return request, 0, shutdown
}

// Done marks a request as reconciled. If it was added meanwhile, it is ready again.
func (q *Queue) Done(request reconcile.Request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.order.done(request)
	q.ready.Done(request)
	q.changed.Signal()
}

// Len returns how many requests wait to become ready or to be handed out. Ready ones don't count
// while no worker may get any of them.
func (q *Queue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.PriorityQueue.Len() + q.ready.Len()
}

// ShutDown ends the queue: it accepts no more requests, and hands none out. A shutdown takes no
// longer than the reconciles in progress, however many requests wait: the next leader finds them.
func (q *Queue) ShutDown() {
	q.stopTaking()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ready.ShutDown()
	q.changed.Signal()
}

// ShutDownWithDrain is ShutDown, as in controller-runtime's queue.
func (q *Queue) ShutDownWithDrain() { q.ShutDown() }
