// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package fairqueue is the work queue of a controller in which namespaces do not wait for each
// other.
//
// Namespaces that have something due take turns. Within a namespace, the request that was due first
// is handed out first, so that none starves. A request is due when it becomes ready, or earlier or
// later by as many seconds as its priority says: one of priority 30 has been due for 30 seconds,
// one of priority -10 lets all that is due go first for 10 seconds. Of a request that is added
// twice, the earlier instant counts.
//
// Turns alone let a namespace whose requests take long hold all workers. So a namespace gets
// another worker only while it has fewer than twice as many as are free, and the last free one only
// if it has none: of 20 workers, one slow namespace holds 14 and a second one 4. The bound is the
// dynamic threshold of Choudhury and Hahne ("Dynamic Queue Length Thresholds for Shared-Memory
// Packet Switches", IEEE/ACM Transactions on Networking, 1998).
//
// Two queues do the work. Controller-runtime's priority queue takes the requests, holds each back
// for its delay and counts failures. What is ready goes at once into client-go's, which hands it
// out, keeps a request from being reconciled twice at a time, and has the workqueue's metrics. Only
// the order is ours: client-go's queue has a hook for it.
//
// What else was tried: controller-runtime's queue takes no order but its own. Client-go's delaying
// queue keeps what it delays until the delay is over, so that each CronJob which is deleted ten
// months before its tick would stay in memory for ten months. The API server's fair queuing is for
// requests that block, and Kueue's queues are for its own objects.
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
	// PriorityQueue takes the requests and delays them. Only forward reads from it.
	priorityqueue.PriorityQueue[reconcile.Request]

	// ready hands out the requests whose delay is over, as order says.
	ready *workqueue.Typed[reconcile.Request]
	order *order

	// mu is held to hand out requests and to take them back. Workers wait for changed, and not in
	// ready, which wakes one worker for each addition: a request that is done may let two others be
	// handed out.
	mu      sync.Mutex
	changed *sync.Cond

	// stopTaking shuts PriorityQueue down, which can be done only once.
	stopTaking func()
}

var _ priorityqueue.PriorityQueue[reconcile.Request] = &Queue{}

// New returns a controller's NewQueue, for a controller with so many workers. The queues that it
// starts end when they are shut down.
func New(workers int) func(string, workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
	return func(name string, limiter workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
		order := newOrder(workers)
		q := &Queue{
			// Without a name it has no metrics: those of the workqueue are about what is ready.
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

// makeReady lets a request that is due at an instant be handed out, and a worker that waits look
// again.
func (q *Queue) makeReady(request reconcile.Request, due time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.order.expect(request, due)
	q.ready.Add(request)
	q.changed.Signal()
}

// wake lets a worker that waits look again.
func (q *Queue) wake() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.changed.Signal()
}

// Get waits for the next request. Done has to be called with it.
func (q *Queue) Get() (request reconcile.Request, shutdown bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.ready.Len() == 0 && !q.ready.ShuttingDown() {
		q.changed.Wait()
	}
	q.changed.Signal() // there may be a request for another worker, too, or the shutdown
	return q.ready.Get()
}

// GetWithPriority is Get. The priority has been used up: what is tried again without one of its own
// is due when it is ready.
func (q *Queue) GetWithPriority() (request reconcile.Request, priority int, shutdown bool) {
	request, shutdown = q.Get()
	return request, 0, shutdown
}

// Done says that a request was reconciled. If it was added meanwhile, it is ready again.
func (q *Queue) Done(request reconcile.Request) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.order.done(request)
	q.ready.Done(request)
	q.changed.Signal()
}

// Len returns how many requests are ready and not handed out. Those that are ready do not count
// while no worker may get any of them.
func (q *Queue) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.PriorityQueue.Len() + q.ready.Len()
}

// ShutDown ends the queue. Nothing more is taken, delayed requests are dropped, and what is ready
// is still handed out.
func (q *Queue) ShutDown() {
	q.stopTaking()
	q.ready.ShutDown()
	q.wake()
}

// ShutDownWithDrain ends the queue likewise, and waits until all that was ready is reconciled, or
// until ShutDown is called.
func (q *Queue) ShutDownWithDrain() {
	q.stopTaking()
	q.ready.ShutDownWithDrain()
	q.wake()
}
