// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package fairqueue

import (
	"cmp"
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/third_party/forked/golang/btree"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// order holds the ready requests and decides which one is next. It is guarded by the lock of Queue.
type order struct {
	// ready has all requests, by namespace. The first request of each namespace is also in due, or
	// in early if it is not due yet. Requests in early are handed out only if due has none.
	ready, due, early *btree.BTree[place]
	places            map[reconcile.Request]place
	pushed            int
	previous          string // the namespace that had the last turn

	// free is how many workers have no request.
	free int

	// running is how many workers have a request, by namespace.
	running map[string]int

	// expected has the due instants of added requests that have no place yet: a request that is
	// being reconciled gets its place when the reconcile is done.
	expected map[reconcile.Request]time.Time
}

var _ workqueue.Queue[reconcile.Request] = &order{}

// place is the place of a request in the order.
type place struct {
	request reconcile.Request
	due     time.Time
	number  int
}

// dueBefore compares places by the instant at which they are due, then by when they were added.
func (p place) dueBefore(other place) bool {
	return cmp.Or(p.due.Compare(other.due), cmp.Compare(p.number, other.number)) < 0
}

// before compares places by namespace, then as dueBefore does.
func (p place) before(other place) bool {
	if p.request.Namespace != other.request.Namespace {
		return p.request.Namespace < other.request.Namespace
	}
	return p.dueBefore(other)
}

// least returns a place before all others of a namespace.
func least(namespace string) (p place) {
	p.request.Namespace = namespace
	return p
}

func newOrder(workers int) *order {
	const degree = 32 // as in controller-runtime's queue
	return &order{
		ready: btree.New(degree, place.before), due: btree.New(degree, place.before), early: btree.New(degree, place.dueBefore),
		places: map[reconcile.Request]place{}, expected: map[reconcile.Request]time.Time{},
		free: workers, running: map[string]int{},
	}
}

// expect sets when a request that is about to be added is due. The earliest instant counts.
func (o *order) expect(request reconcile.Request, due time.Time) {
	if expected, ok := o.expected[request]; !ok || due.Before(expected) {
		o.expected[request] = due
	}
}

// takeDue removes and returns the expected due instant of a request.
func (o *order) takeDue(request reconcile.Request) time.Time {
	due := o.expected[request]
	delete(o.expected, request)
	return due
}

// Push implements workqueue.Queue: it adds a request.
func (o *order) Push(request reconcile.Request) {
	o.pushed++
	o.put(place{request: request, due: o.takeDue(request), number: o.pushed})
}

func (o *order) put(p place) {
	o.places[p.request] = p
	o.removeFirst(p.request.Namespace)
	o.ready.ReplaceOrInsert(p)
	o.addFirst(p.request.Namespace)
}

// remove removes a place from all trees.
func (o *order) remove(p place) {
	delete(o.places, p.request)
	o.removeFirst(p.request.Namespace)
	o.ready.Delete(p)
	o.addFirst(p.request.Namespace)
}

// addFirst adds the first request of a namespace to early. moveDue moves it to due.
func (o *order) addFirst(namespace string) {
	if p, ok := o.first(namespace); ok {
		o.early.ReplaceOrInsert(p)
	}
}

// removeFirst undoes addFirst before another request becomes the first.
func (o *order) removeFirst(namespace string) {
	if p, ok := o.first(namespace); ok {
		o.early.Delete(p)
		o.due.Delete(p)
	}
}

// first returns the request of a namespace that is due first.
func (o *order) first(namespace string) (first place, ok bool) {
	o.ready.AscendGreaterOrEqual(least(namespace), func(p place) bool {
		first, ok = p, p.request.Namespace == namespace
		return false
	})
	return first, ok
}

// Touch implements workqueue.Queue: it moves a request forward that was added again and is now due
// earlier.
func (o *order) Touch(request reconcile.Request) {
	due := o.takeDue(request)
	if p := o.places[request]; due.Before(p.due) {
		o.remove(p)
		p.due = due
		o.put(p)
	}
}

// Len implements workqueue.Queue: it returns how many requests are ready, or 0 if none may be
// handed out yet, so that workers wait.
func (o *order) Len() int {
	if _, ok := o.next(); !ok {
		return 0
	}
	return len(o.places)
}

// Pop implements workqueue.Queue: it removes the next request.
func (o *order) Pop() reconcile.Request {
	o.moveDue(time.Now())
	next, _ := o.next()
	o.remove(next)
	o.previous = next.request.Namespace
	o.free--
	o.running[o.previous]++
	return next.request
}

// done marks a request as reconciled.
func (o *order) done(request reconcile.Request) {
	o.free++
	o.running[request.Namespace]--
	if o.running[request.Namespace] == 0 {
		delete(o.running, request.Namespace)
	}
}

// moveDue moves requests from early to due that are due now.
func (o *order) moveDue(now time.Time) {
	for {
		p, ok := o.early.Min()
		if !ok || p.due.After(now) {
			return
		}
		o.early.DeleteMin()
		o.due.ReplaceOrInsert(p)
	}
}

// next returns the due request of the next namespace, in the order of names, that may get a worker.
// So each namespace has one turn in every round. If there is none, it returns an early request. It
// skips at most as many namespaces as there are workers.
func (o *order) next() (next place, ok bool) {
	take := func(p place) bool {
		next, ok = p, o.mayGetWorker(p.request.Namespace)
		return !ok
	}
	o.due.AscendGreaterOrEqual(least(o.previous+"\x00"), take) // the first name after previous
	if !ok {
		o.due.Ascend(take)
	}
	if !ok {
		o.early.Ascend(take)
	}
	return next, ok
}

// mayGetWorker reports whether a namespace may get another worker: see the package comment.
func (o *order) mayGetWorker(namespace string) bool {
	running := o.running[namespace]
	return running == 0 || o.free > 1 && running < 2*o.free
}
