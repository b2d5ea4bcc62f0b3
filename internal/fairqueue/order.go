// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package fairqueue

import (
	"cmp"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/third_party/forked/golang/btree"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// order holds the requests that are ready and decides which is next. Client-go's queue calls it
// with its own lock held, but for expect.
type order struct {
	// due has the requests that are due, by namespace, and early all others, which can wait for
	// those.
	due, early *btree.BTree[place]
	places     map[reconcile.Request]place
	pushed     int
	previous   string // the namespace whose turn was last

	// expected has when the requests are due that were added but have no place yet: a request that
	// is being reconciled gets one when that is done.
	mu       sync.Mutex
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

func newOrder() *order {
	const degree = 32 // as in controller-runtime's queue
	return &order{
		due: btree.New(degree, place.before), early: btree.New(degree, place.dueBefore),
		places: map[reconcile.Request]place{}, expected: map[reconcile.Request]time.Time{},
	}
}

// expect says when a request that is about to be added is due. The earliest instant counts.
func (o *order) expect(request reconcile.Request, due time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if expected, ok := o.expected[request]; !ok || due.Before(expected) {
		o.expected[request] = due
	}
}

// takeDue returns when a request is due that gets a place now. What was expected may have been
// taken a moment ago, if the request got a place and was handed out between expect and its
// addition.
func (o *order) takeDue(request reconcile.Request) time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	due, ok := o.expected[request]
	if !ok {
		return time.Now()
	}
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
	o.early.ReplaceOrInsert(p)
}

// remove takes out a place, wherever it is.
func (o *order) remove(p place) {
	o.early.Delete(p)
	o.due.Delete(p)
	delete(o.places, p.request)
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

// Len returns how many requests are ready.
func (o *order) Len() int { return len(o.places) }

// Pop takes out the next request.
func (o *order) Pop() reconcile.Request {
	o.moveDue(time.Now())
	next, ok := o.nextDue()
	if !ok {
		next, _ = o.early.Min()
	}
	o.remove(next)
	o.previous = next.request.Namespace
	return next.request
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

// nextDue returns the request that was due first in the next namespace, by name, that has any, so
// that each namespace has one turn in every round.
func (o *order) nextDue() (next place, ok bool) {
	following := place{}
	following.request.Namespace = o.previous + "\x00" // the least name that is greater
	o.due.AscendGreaterOrEqual(following, func(p place) bool {
		next, ok = p, true
		return false
	})
	if !ok {
		return o.due.Min()
	}
	return next, true
}
