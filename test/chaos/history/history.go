// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package history holds what happened in a storm: every state of every CronJob, Job and event as
// etcd has it, what the managers asked the API server for, and what the storm itself did. A verdict
// needs nothing else.
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
	At       time.Time `json:"at"`           // when the harness learned of it, by the clock of the machine
	Revision int64     `json:"rv,omitempty"` // etcd's, which is the resourceVersion; 0 for what is not stored there

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
	Deleted   bool   `json:"deleted,omitempty"` // it is gone; the rest is as it was last

	Generation int64     `json:"generation,omitempty"`
	Created    time.Time `json:"created,omitzero"`
	Edited     time.Time `json:"edited,omitzero"`  // when the spec was, as the webhook wrote it down
	Resumed    time.Time `json:"resumed,omitzero"` // as a user says
	Spec

	// What the status says.
	LastSchedule       time.Time `json:"lastSchedule,omitzero"`
	NextSchedule       time.Time `json:"nextSchedule,omitzero"`
	NextStart          time.Time `json:"nextStart,omitzero"`
	Stopped            bool      `json:"stopped,omitempty"` // after failures
	ObservedGeneration int64     `json:"observedGeneration,omitempty"`
	Active             []string  `json:"active,omitempty"` // the UIDs of Jobs
	Missed             []Missed  `json:"missed,omitempty"`
}

// Spec is what a CronJob asks for.
type Spec struct {
	Ticks
	Jitter         int64  `json:"jitter,omitempty"` // in seconds
	Policy         string `json:"policy,omitempty"`
	MaxConcurrency int    `json:"maxConcurrency,omitempty"` // 0 for none
	CatchUp        int    `json:"catchUp,omitempty"`        // how many ticks may be due, if more than one may
	StopAfter      int    `json:"stopAfter,omitempty"`      // failures; 0 for never
	Deadline       *int64 `json:"deadline,omitempty"`       // in seconds
	SucceededLimit int    `json:"succeededLimit"`
	FailedLimit    int    `json:"failedLimit"`
}

// Ticks are what a CronJob asks for of which no tick from before an edit runs after it.
type Ticks struct {
	Schedule   string    `json:"schedule,omitempty"`
	Additional []string  `json:"additional,omitempty"`
	TimeZone   string    `json:"timeZone,omitempty"`
	Exclude    []string  `json:"exclude,omitempty"`
	NotBefore  time.Time `json:"notBefore,omitzero"`
	NotAfter   time.Time `json:"notAfter,omitzero"`
	Suspend    bool      `json:"suspend,omitempty"`
}

// Missed is a row of missed ticks that a status tells of.
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
	Deleted   bool      `json:"deleted,omitempty"` // it is gone; the rest is as it was last
	Owner     string    `json:"owner,omitempty"`   // the UID of the CronJob of ours that controls it
	Created   time.Time `json:"created,omitzero"`
	Tick      time.Time `json:"tick,omitzero"`      // as its annotation says
	PodTick   time.Time `json:"podTick,omitzero"`   // as that of its Pods says
	Backfill  bool      `json:"backfill,omitempty"` // a user backfilled the tick
	Result    string    `json:"result,omitempty"`   // Succeeded, Failed, or "" while it runs
	Ended     time.Time `json:"ended,omitzero"`     // as its condition says, in whole seconds
}

// The results of a Job.
const (
	Succeeded = "succeeded"
	Failed    = "failed"
)

// Event is an event about a CronJob of ours, as it is stored.
type Event struct {
	Name   string `json:"name"`
	UID    string `json:"uid"` // of the CronJob that it is about
	Reason string `json:"reason"`
	Note   string `json:"note"`
}

// Create is a manager's request to create a Job, as the proxy saw it. The record's time is that of
// the answer.
type Create struct {
	Manager string `json:"manager"` // the process, such as a-3
	Job     string `json:"job"`     // namespace/name

	// Decided is when the manager began the unbroken row of requests for this CronJob that this one
	// is the last of: what it knew then is what it has decided by. Knew is the newest revision of
	// CronJobs that it had been told for a while by then.
	Decided time.Time `json:"decided"`
	Knew    int64     `json:"knew"`

	Asked     time.Time `json:"asked"`               // when the request came
	Code      int       `json:"code,omitempty"`      // the HTTP status that the manager was given; 0 for none
	Forwarded bool      `json:"forwarded,omitempty"` // the API server got it
}

// Report is an event that a manager has tried to write, whatever became of the request.
type Report struct {
	Manager string `json:"manager"`
	Code    int    `json:"code,omitempty"`
	Event   Event  `json:"event"`
}

// Process is the life of a manager's process.
type Process struct {
	Manager string `json:"manager"`
	State   string `json:"state"`
}

// The states of a process. Between Frozen and Thawed it does nothing.
const (
	Started = "started"
	Ended   = "ended"
	Frozen  = "frozen"
	Thawed  = "thawed"
)

// Clock is a step of the managers' clocks against that of the machine, and the API server's.
type Clock struct {
	Step time.Duration `json:"step"`
}

// Metrics are counts of a manager. The record's time is that of the answer.
type Metrics struct {
	Manager string             `json:"manager"`
	Asked   time.Time          `json:"asked"`
	Values  map[string]float64 `json:"values"`
}

// Fault is something that went wrong on purpose, once for each time that it struck.
type Fault struct {
	Kind   string `json:"kind"`
	Detail string `json:"detail,omitempty"`
}

// Refusal is the begin or the end of a refusal that lasts: of one kind of requests of the managers
// in one namespace.
type Refusal struct {
	Kind      string `json:"kind"`
	Of        string `json:"of"`
	Namespace string `json:"namespace"`
	Ended     bool   `json:"ended,omitempty"`   // it is over
	Refused   int    `json:"refused,omitempty"` // how many requests it has refused by then
}

// What a refusal is of.
const (
	Creates  = "creates" // of Jobs
	Deletes  = "deletes" // of Jobs
	Statuses = "statuses"
	Events   = "events"
	Reads    = "reads" // of single Jobs and CronJobs
)

// Act is something that a user, the Job controller or the garbage collector did; as it is asked
// for, so that nobody takes its consequences for the managers'.
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

// Phase is the begin of a part of the storm.
type Phase struct {
	Name string `json:"name"`
}

// The phases, in their order.
const (
	Storm   = "storm"   // everything at once
	Quiet   = "quiet"   // all is suspended and idle, and no fault is under way
	Calm    = "calm"    // CronJobs run, without faults
	Settled = "settled" // all is suspended and idle again: the end
)

// Log is a history in the making. It is safe for concurrent use.
type Log struct {
	mu        sync.Mutex
	to        io.Writer
	err       error
	listeners []func(Record)
}

// NewLog returns a history that is written a record a line.
func NewLog(to io.Writer) *Log { return &Log{to: to} }

// Listen has a function called for each record from now on, in their order. It must return at once,
// and must not call the Log.
func (l *Log) Listen(listener func(Record)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.listeners = append(l.listeners, listener)
}

// Add adds a record, which is of now.
func (l *Log) Add(record Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	record.At = time.Now()
	l.err = errors.Join(l.err, json.NewEncoder(l.to).Encode(record))
	for _, listener := range l.listeners {
		listener(record)
	}
}

// Strike notes that a fault has struck.
func (l *Log) Strike(kind, detail string) { l.Add(Record{Fault: &Fault{Kind: kind, Detail: detail}}) }

// Err returns what has kept records from being written.
func (l *Log) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// Read reads the history that a Log has written.
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
