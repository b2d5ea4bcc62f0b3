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

// order holds the requests that are ready and decides which is next. The lock of Queue is held
// whenever it is used.
type order struct {
	// ready has all requests, by namespace. Of each namespace, the first is in due if it is due, and
	// otherwise in early, which can wait for those.
	ready, due, early *btree.BTree[place]
	places            map[reconcile.Request]place
	pushed            int
	previous          string // the namespace whose turn was last

	// free is how many workers have no request, and running how many have one, by namespace.
	free    int
	running map[string]int

	// expected has when the requests are due that were added but have no place yet: a request that
	// is being reconciled gets one when that is done.
	expected map[reconcile.Request]time.Time
}

var _ workqueue.Queue[reconcile.Request] = &order{}

// place is where a request is in the order.
type place struct {
	request reconcile.Request
	due     time.Time
	number  int
}

// dueBefore compares places by the instant at which they are due, then by how they came.
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

// least returns a place that is before all others of a namespace.
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

// expect says when a request that is about to be added is due. The earliest instant counts.
func (o *order) expect(request reconcile.Request, due time.Time) {
	if expected, ok := o.expected[request]; !ok || due.Before(expected) {
		o.expected[request] = due
	}
}

// takeDue returns when a request is due that gets a place now.
func (o *order) takeDue(request reconcile.Request) time.Time {
	due := o.expected[request]
	delete(o.expected, request)
	return due
}

// Push puts in a request.
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

// remove takes out a place, wherever it is.
func (o *order) remove(p place) {
	delete(o.places, p.request)
	o.removeFirst(p.request.Namespace)
	o.ready.Delete(p)
	o.addFirst(p.request.Namespace)
}

// addFirst lets the first request of a namespace, if it has any, be handed out.
func (o *order) addFirst(namespace string) {
	if p, ok := o.first(namespace); ok {
		o.early.ReplaceOrInsert(p)
	}
}

// removeFirst undoes addFirst, so that another request can become the first.
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

// Touch moves a request forward that was added again and is due earlier than it was.
func (o *order) Touch(request reconcile.Request) {
	due := o.takeDue(request)
	if p := o.places[request]; due.Before(p.due) {
		o.remove(p)
		p.due = due
		o.put(p)
	}
}

// Len returns how many requests are ready; 0 if none can be handed out yet, so that workers wait.
func (o *order) Len() int {
	if _, ok := o.next(); !ok {
		return 0
	}
	return len(o.places)
}

// Pop takes out the next request.
func (o *order) Pop() reconcile.Request {
	o.moveDue(time.Now())
	next, _ := o.next()
	o.remove(next)
	o.previous = next.request.Namespace
	o.free--
	o.running[o.previous]++
	return next.request
}

// done says that a request which was handed out has been reconciled.
func (o *order) done(request reconcile.Request) {
	o.free++
	o.running[request.Namespace]--
	if o.running[request.Namespace] == 0 {
		delete(o.running, request.Namespace)
	}
}

// moveDue moves to the due requests those that have become due.
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

// next returns the due request of the next namespace, by name, that may get a worker, so that each
// has one turn in every round. If there is none, it returns an early one. At most as many
// namespaces are passed over as there are workers.
func (o *order) next() (next place, ok bool) {
	take := func(p place) bool {
		next, ok = p, o.mayGetWorker(p.request.Namespace)
		return !ok
	}
	o.due.AscendGreaterOrEqual(least(o.previous+"\x00"), take) // the least name that is greater
	if !ok {
		o.due.Ascend(take)
	}
	if !ok {
		o.early.Ascend(take)
	}
	return next, ok
}

// mayGetWorker reports whether a namespace may get another worker. The more workers are free the
// more it may have, and the last goes to a namespace without any: see the package comment.
func (o *order) mayGetWorker(namespace string) bool {
	running := o.running[namespace]
	return running == 0 || o.free > 1 && running < 2*o.free
}
