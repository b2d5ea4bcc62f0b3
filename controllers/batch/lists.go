// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"errors"
	"sync"

	"k8s.io/apimachinery/pkg/util/sets"
)

// jobLists shares lists of the Jobs of a namespace among its CronJobs. After a failover, all of
// them may need one. The zero value is ready for use.
//
// A list is shared by those who ask before it begins: one in progress may lack a Job that was
// created since. So golang.org/x/sync/singleflight, which shares one in progress, is of no use.
type jobLists struct {
	mu sync.Mutex

	// running and next have, by namespace, the list in progress and the one that follows it.
	running, next map[string]*jobList
}

// jobList is what came of a list, once done is closed.
type jobList struct {
	done  chan struct{}
	names sets.Set[string]
	err   error
}

// share returns what a list returns that begins from now on. It may have to wait for the end of
// another list first.
func (s *jobLists) share(namespace string, list func() (sets.Set[string], error)) (sets.Set[string], error) {
	shared, before, isFirst := s.join(namespace)
	if !isFirst {
		<-shared.done
		return shared.names, shared.err
	}
	defer s.end(namespace, shared)
	if before != nil {
		<-before.done
	}
	s.begin(namespace, shared)
	shared.names, shared.err = list()
	return shared.names, shared.err
}

// join returns the next list of a namespace, the one in progress, if any, and whether nobody else
// has asked for the next.
func (s *jobLists) join(namespace string) (next, running *jobList, isFirst bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.next == nil {
		s.running, s.next = map[string]*jobList{}, map[string]*jobList{}
	}
	if s.next[namespace] == nil {
		isFirst = true
		s.next[namespace] = &jobList{done: make(chan struct{}), err: errors.New("the list was not made")} // unless it panics
	}
	return s.next[namespace], s.running[namespace], isFirst
}

func (s *jobLists) begin(namespace string, list *jobList) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.next, namespace)
	s.running[namespace] = list
}

func (s *jobLists) end(namespace string, list *jobList) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, namespace)
	close(list.done)
}
