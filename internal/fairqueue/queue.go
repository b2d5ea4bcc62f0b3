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

	// stopTaking shuts PriorityQueue down, which can be done only once.
	stopTaking func()
}

var _ priorityqueue.PriorityQueue[reconcile.Request] = &Queue{}

// New starts a queue, which ends when it is shut down. It is a controller's NewQueue.
func New(name string, limiter workqueue.TypedRateLimiter[reconcile.Request]) workqueue.TypedRateLimitingInterface[reconcile.Request] {
	order := newOrder()
	q := &Queue{
		// Without a name it has no metrics: those of the workqueue are about what is ready.
		PriorityQueue: priorityqueue.New("", func(o *priorityqueue.Opts[reconcile.Request]) { o.RateLimiter = limiter }),
		ready:         workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[reconcile.Request]{Name: name, Queue: order}),
		order:         order,
	}
	q.stopTaking = sync.OnceFunc(q.PriorityQueue.ShutDown)
	go q.forward()
	return q
}

// forward makes requests ready when their delay is over, until the queue is shut down.
func (q *Queue) forward() {
	for {
		request, priority, shutdown := q.PriorityQueue.GetWithPriority()
		if shutdown {
			return
		}
		q.PriorityQueue.Done(request)
		q.order.expect(request, time.Now().Add(-time.Duration(priority)*time.Second))
		q.ready.Add(request)
	}
}

// Get waits for the next request. Done has to be called with it.
func (q *Queue) Get() (request reconcile.Request, shutdown bool) { return q.ready.Get() }

// GetWithPriority is Get. The priority has been used up: what is tried again without one of its own
// is due when it is ready.
func (q *Queue) GetWithPriority() (request reconcile.Request, priority int, shutdown bool) {
	request, shutdown = q.ready.Get()
	return request, 0, shutdown
}

// Done says that a request was reconciled. If it was added meanwhile, it is ready again.
func (q *Queue) Done(request reconcile.Request) { q.ready.Done(request) }

// Len returns how many requests are ready and not handed out.
func (q *Queue) Len() int { return q.PriorityQueue.Len() + q.ready.Len() }

// ShutDown ends the queue. Nothing more is taken, delayed requests are dropped, and what is ready
// is still handed out.
func (q *Queue) ShutDown() {
	q.stopTaking()
	q.ready.ShutDown()
}

// ShutDownWithDrain ends the queue likewise, and waits until all that was ready is reconciled, or
// until ShutDown is called.
func (q *Queue) ShutDownWithDrain() {
	q.stopTaking()
	q.ready.ShutDownWithDrain()
}
