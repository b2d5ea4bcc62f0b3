// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package history has what happened to a cluster: every state of every CronJob, Job and event in
// etcd, the managers' requests, and what the test itself did. A verdict needs nothing else.
package history

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// Record is one thing that happened. Exactly one of its pointers is set.
type Record struct {
	At       time.Time `json:"at"`           // when the harness learned of it, by the machine's clock
	Revision int64     `json:"rv,omitempty"` // of etcd, which is the resourceVersion; 0 for what is not stored

	CronJob *CronJob `json:"cronJob,omitempty"`
	Job     *Job     `json:"job,omitempty"`
	Event   *Event   `json:"event,omitempty"`
	Create  *Create  `json:"create,omitempty"`
	Report  *Report  `json:"report,omitempty"`
	Process *Process `json:"process,omitempty"`
	Clock   *Clock   `json:"clock,omitempty"`
	Metrics *Metrics `json:"metrics,omitempty"`
	Fault   *Fault   `json:"fault,omitempty"`
	Refusal *Refusal `json:"refusal,omitempty"`
	Act     *Act     `json:"act,omitempty"`
	Phase   *Phase   `json:"phase,omitempty"`
}

// CronJob is a CronJob as it is stored from this revision on.
type CronJob struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
	Deleted   bool   `json:"deleted,omitempty"` // it was deleted; the rest is its last state

	Generation int64     `json:"generation,omitempty"`
	Created    time.Time `json:"created,omitzero"`
	Edited     time.Time `json:"edited,omitzero"`  // the last edit of the spec, as the webhook wrote it
	Resumed    time.Time `json:"resumed,omitzero"` // the annotation of a resume
	Spec

	// The status.
	LastSchedule       time.Time `json:"lastSchedule,omitzero"`
	NextSchedule       time.Time `json:"nextSchedule,omitzero"`
	NextStart          time.Time `json:"nextStart,omitzero"`
	Stopped            bool      `json:"stopped,omitempty"` // after failures
	ObservedGeneration int64     `json:"observedGeneration,omitempty"`
	Active             []string  `json:"active,omitempty"` // the UIDs of Jobs
	Missed             []Missed  `json:"missed,omitempty"`
}

// Spec is the spec of a CronJob.
type Spec struct {
	Ticks
	Jitter         int64  `json:"jitter,omitempty"` // in seconds
	Policy         string `json:"policy,omitempty"`
	MaxConcurrency int    `json:"maxConcurrency,omitempty"` // 0 for none
	CatchUp        int    `json:"catchUp,omitempty"`        // how many ticks may be due at once; 0 for one
	StopAfter      int    `json:"stopAfter,omitempty"`      // failures; 0 for never
	Deadline       *int64 `json:"deadline,omitempty"`       // in seconds
	SucceededLimit int    `json:"succeededLimit"`
	FailedLimit    int    `json:"failedLimit"`
}

// Ticks has the fields whose edit ends all ticks from before.
type Ticks struct {
	Schedule   string    `json:"schedule,omitempty"`
	Additional []string  `json:"additional,omitempty"`
	TimeZone   string    `json:"timeZone,omitempty"`
	Exclude    []string  `json:"exclude,omitempty"`
	NotBefore  time.Time `json:"notBefore,omitzero"`
	NotAfter   time.Time `json:"notAfter,omitzero"`
	Suspend    bool      `json:"suspend,omitempty"`
}

// Missed is a row of missed ticks in a status.
type Missed struct {
	Reason string    `json:"reason"`
	First  time.Time `json:"first"`
	Last   time.Time `json:"last"`
	Count  int       `json:"count"`
}

// Job is a Job as it is stored from this revision on.
type Job struct {
	Namespace string    `json:"namespace"`
	Name      string    `json:"name"`
	UID       string    `json:"uid"`
	Deleted   bool      `json:"deleted,omitempty"` // it was deleted; the rest is its last state
	Owner     string    `json:"owner,omitempty"`   // the UID of our CronJob that controls it
	Created   time.Time `json:"created,omitzero"`
	Tick      time.Time `json:"tick,omitzero"`      // of its annotation
	PodTick   time.Time `json:"podTick,omitzero"`   // of its Pods' annotation
	Backfill  bool      `json:"backfill,omitempty"` // whether a user backfilled the tick
	Result    string    `json:"result,omitempty"`   // Succeeded, Failed, or "" while it runs
	Ended     time.Time `json:"ended,omitzero"`     // of its condition, in whole seconds
}

// The results of a Job.
const (
	Succeeded = "succeeded"
	Failed    = "failed"
)

// Event is a stored event about one of our CronJobs.
type Event struct {
	Name   string `json:"name"`
	UID    string `json:"uid"` // of the CronJob
	Reason string `json:"reason"`
	Note   string `json:"note"`
}

// Create is a manager's request to create a Job, as the proxy saw it. The record has the time of
// the answer.
type Create struct {
	Manager string `json:"manager"` // the process, such as a-3
	Job     string `json:"job"`     // namespace/name

	// Decided is when the manager began the row of requests that this one belongs to: its decision
	// was made before. Knew is the newest revision of CronJobs that it must have known by then.
	Decided time.Time `json:"decided"`
	Knew    int64     `json:"knew"`

	Asked     time.Time `json:"asked"`               // when the request came
	Code      int       `json:"code,omitempty"`      // the HTTP status that the manager received; 0 for none
	Forwarded bool      `json:"forwarded,omitempty"` // whether the API server received it
}

// Report is a manager's request to write an event, with any result.
type Report struct {
	Manager string `json:"manager"`
	Code    int    `json:"code,omitempty"`
	Event   Event  `json:"event"`
}

// Process is a change of state of a manager's process.
type Process struct {
	Manager string `json:"manager"`
	State   string `json:"state"`
}

// The states of a process. From Frozen to Thawed it does nothing.
const (
	Started = "started"
	Ended   = "ended"
	Frozen  = "frozen"
	Thawed  = "thawed"
)

// Clock is a step of the managers' clocks relative to the machine's, and so to the API server's.
type Clock struct {
	Step time.Duration `json:"step"`
}

// Metrics are metrics of a manager. The record has the time of the answer.
type Metrics struct {
	Manager string             `json:"manager"`
	Asked   time.Time          `json:"asked"`
	Values  map[string]float64 `json:"values"`
}

// Fault is an injected fault, once for each time that it struck.
type Fault struct {
	Kind   string `json:"kind"`
	Detail string `json:"detail,omitempty"`
}

// Refusal is the begin or the end of a lasting refusal: of one kind of the managers' requests in
// one namespace.
type Refusal struct {
	Kind      string `json:"kind"`
	Of        string `json:"of"`
	Namespace string `json:"namespace"`
	Ended     bool   `json:"ended,omitempty"`   // it is over
	Refused   int    `json:"refused,omitempty"` // the number of refused requests
}

// The kinds of requests that a refusal may refuse.
const (
	Creates  = "creates" // of Jobs
	Deletes  = "deletes" // of Jobs
	Statuses = "statuses"
	Events   = "events"
	Reads    = "reads" // of single Jobs and CronJobs
)

// Act is something that a user, the Job controller or the garbage collector did. It is recorded
// before the request, so that its consequences are not attributed to the managers.
type Act struct {
	Kind string `json:"kind"`
	Name string `json:"name"` // namespace/name
	UID  string `json:"uid,omitempty"`
}

// The acts that delete Jobs.
const (
	CollectJob = "collect Job" // as the garbage collector does when the owner is gone
	DeleteJob  = "delete Job"  // as a user does
)

// Phase is the begin of a phase of the storm.
type Phase struct {
	Name string `json:"name"`
}

// The phases, in order.
const (
	Storm   = "storm"   // with faults
	Quiet   = "quiet"   // all is suspended and idle, without faults
	Calm    = "calm"    // without faults
	Settled = "settled" // all is suspended and idle again, at the end
)

// Log writes a history. It is safe for concurrent use.
type Log struct {
	mu        sync.Mutex
	to        io.Writer
	err       error
	listeners []func(Record)
}

// NewLog returns a log that writes one record per line.
func NewLog(to io.Writer) *Log { return &Log{to: to} }

// Listen registers a function that is called for each record from now on, in order. It must return
// at once, and must not call the Log.
func (l *Log) Listen(listener func(Record)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.listeners = append(l.listeners, listener)
}

// Add adds a record with the current time.
func (l *Log) Add(record Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	record.At = time.Now()
	l.err = errors.Join(l.err, json.NewEncoder(l.to).Encode(record))
	for _, listener := range l.listeners {
		listener(record)
	}
}

// Strike adds the record of a fault.
func (l *Log) Strike(kind, detail string) { l.Add(Record{Fault: &Fault{Kind: kind, Detail: detail}}) }

// Err returns the first error of writing.
func (l *Log) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Read reads a history that a Log wrote.
func Read(path string) ([]Record, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("reading the history: %w", err)
	}
	defer func() { _ = file.Close() }()
	var records []Record
	for decoder := json.NewDecoder(bufio.NewReader(file)); decoder.More(); {
		var record Record
		if err := decoder.Decode(&record); err != nil {
			return nil, fmt.Errorf("reading the history, record %d: %w", len(records)+1, err)
		}
		records = append(records, record)
	}
	return records, nil
}
