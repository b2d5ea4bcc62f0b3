// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"sync"
	"time"
)

// digesting is how long a manager has, after it was told something, before it is taken to know it, if the machine
// keeps up.
const digesting = 2 * time.Second

// knowledge is which revision of CronJobs a process has been told of, and when: nobody can obey an edit that he was
// not told of.
type knowledge struct {
	digest time.Duration

	mu   sync.Mutex
	told []told // in the order of time and of revisions
}

type told struct {
	at       time.Time
	revision int64
}

// learn notes that the process has been told all up to a revision.
func (k *knowledge) learn(revision int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := time.Now()
	if last := len(k.told) - 1; last >= 0 && k.told[last].revision >= revision {
		return
	}
	k.told = append(k.told, told{now, revision})
	// What is older than any question is dropped.
	if old := len(k.told) - 20000; old > 0 {
		k.told = slices.Delete(k.told, 0, old)
	}
}

// at returns what the process had been told, and had had the time to digest, at an instant.
func (k *knowledge) at(instant time.Time) int64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	by := instant.Add(-k.digest)
	i, _ := slices.BinarySearchFunc(k.told, by, func(t told, by time.Time) int { return t.at.Compare(by) })
	if i == 0 {
		return 0
	}
	return k.told[i-1].revision
}

// froze notes that the process did nothing from an instant until now: what it was told in that time, and what it may
// not have digested before, it begins to digest now.
func (k *knowledge) froze(from time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := time.Now()
	for i := range k.told {
		if k.told[i].at.After(from.Add(-k.digest)) {
			k.told[i].at = now
		}
	}
}

// listener reads a watch of CronJobs as it is sent to a process.
type listener struct {
	*knowledge
	initial bool // what comes now is all there is, in no order; a bookmark ends it
	rest    []byte
}

// hear takes what has been sent. What is no JSON is not ours to complain about.
func (l *listener) hear(data []byte) {
	l.rest = append(l.rest, data...)
	for {
		end := bytes.IndexByte(l.rest, '\n')
		if end < 0 {
			return
		}
		l.line(l.rest[:end])
		l.rest = l.rest[end+1:]
	}
}

func (l *listener) line(line []byte) {
	var event struct {
		Object struct {
			Metadata struct {
				ResourceVersion string            `json:"resourceVersion"`
				Annotations     map[string]string `json:"annotations"`
			} `json:"metadata"`
		} `json:"object"`
	}
	if json.Unmarshal(line, &event) != nil {
		return
	}
	if l.initial && event.Object.Metadata.Annotations["k8s.io/initial-events-end"] != "true" {
		return
	}
	l.initial = false
	if revision, err := strconv.ParseInt(event.Object.Metadata.ResourceVersion, 10, 64); err == nil {
		l.learn(revision)
	}
}

// list takes a list that has been sent.
func (k *knowledge) list(body []byte) {
	var list struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
	}
	if json.Unmarshal(body, &list) != nil {
		return
	}
	if revision, err := strconv.ParseInt(list.Metadata.ResourceVersion, 10, 64); err == nil {
		k.learn(revision)
	}
}
