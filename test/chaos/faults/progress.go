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

// informerLag is how long a manager has, after it was sent an event, before it is taken to know it,
// if the machine keeps up.
const informerLag = 2 * time.Second

// watchProgress is which revision of CronJobs a process has been sent, and when: nobody can obey an
// edit that he was not told of.
type watchProgress struct {
	lag time.Duration

	mu   sync.Mutex
	sent []sent // in the order of time and of revisions
}

type sent struct {
	at       time.Time
	revision int64
}

// learn notes that the process has been sent all up to a revision.
func (k *watchProgress) learn(revision int64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := time.Now()
	if last := len(k.sent) - 1; last >= 0 && k.sent[last].revision >= revision {
		return
	}
	k.sent = append(k.sent, sent{now, revision})
	// What is older than any question is dropped.
	if old := len(k.sent) - 20000; old > 0 {
		k.sent = slices.Delete(k.sent, 0, old)
	}
}

// at returns what the process had been sent, and had had the time to take in, at an instant.
func (k *watchProgress) at(instant time.Time) int64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	by := instant.Add(-k.lag)
	i, _ := slices.BinarySearchFunc(k.sent, by, func(t sent, by time.Time) int { return t.at.Compare(by) })
	if i == 0 {
		return 0
	}
	return k.sent[i-1].revision
}

// froze notes that the process did nothing from an instant until now: what it was sent in that
// time, or shortly before, it begins to take in now.
func (k *watchProgress) froze(from time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := time.Now()
	for i := range k.sent {
		if k.sent[i].at.After(from.Add(-k.lag)) {
			k.sent[i].at = now
		}
	}
}

// listener reads a watch of CronJobs as it is sent to a process.
type listener struct {
	*watchProgress
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
func (k *watchProgress) list(body []byte) {
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
