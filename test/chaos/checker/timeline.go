// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package checker

import (
	"cmp"
	"net/http"
	"reflect"
	"slices"
	"time"

	"tutorial.kubebuilder.io/project/test/history"
)

// timeline is the life of one CronJob from its creation to its deletion. One that is created again
// has another timeline.
type timeline struct {
	uid, name string
	versions  []version // as etcd stored them, by revision
	specs     []spec    // the versions that changed the spec
	runs      []*run    // in the order of their creation
	backfills []*run    // by users, in the same order
	missed    []*missed
	restarts  []restart // in the order of their times
	stops     []window  // in which it may have been stopped after failures
	gone      int64     // the revision of its deletion; 0 if it exists
	until     time.Time // the time of its deletion, or the end of the history
}

type version struct {
	*history.CronJob
	at       time.Time
	revision int64
}

// spec is the spec of a CronJob from a revision on.
type spec struct {
	version
	schedule

	// since is when this schedule took effect: the creation, the edit, or the resume.
	since time.Time

	// delay is the jitter, and backlog how long ticks may be due while older ones run.
	delay, backlog time.Duration
}

type run struct {
	*history.Job
	created   int64
	createdAt time.Time
	ended     int64 // the revision with its result; 0 for none
	endedAt   time.Time
	over      time.Time // its end in its status, in whole seconds
	result    string
	deleted   int64
	deletedAt time.Time
	creates   []*create // the requests that may have created it
}

type create struct {
	*history.Create
	answered time.Time
}

// index has the records of a history by what they are about.
type index struct {
	timelines  map[string]*timeline // by UID
	runs       map[string]*run      // by UID
	creates    map[string][]*create
	stored     map[string]bool // the names of the events about missed ticks in etcd
	ends       []time.Time     // when processes ended or froze
	stops      []time.Time     // when leaders were told to stop, which start little from then on
	outages    []time.Time     // when a fault struck the API server, etcd or the connections to them
	frozen     map[string]bool // the processes that are frozen now
	asked      []time.Time     // the times of managers' requests, in any order
	leaderless []window        // times without a request of any manager
	clocks     []window
	metrics    []scrape
	acts       map[string]bool // the UIDs of Jobs that others than managers deleted
	phases     map[string]time.Time
	faults     map[string]int
	refusals   []*refusal
	refused    int                    // the number of refused requests
	tries      map[string][]try       // by the CronJob's namespace/name
	struck     map[string][]time.Time // the times of faults of single requests, by the CronJob's namespace/name
	delivered  []answered
	reported   []answered
	end        time.Time
}

// window is a time in which something held, such as a step of the clocks by this much.
type window struct {
	from, to time.Time
	step     time.Duration
}

// scrape is a reading of a process's metrics.
type scrape struct {
	*history.Metrics
	at time.Time
}

// answered is something that a process received or sent at a time.
type answered struct {
	process string
	at      time.Time
	what    string
	count   int
	unsure  bool // the process did not receive it, but may have read it
}

func gather(records []history.Record) *index {
	r := &index{
		frozen:    map[string]bool{},
		timelines: map[string]*timeline{}, runs: map[string]*run{}, creates: map[string][]*create{}, stored: map[string]bool{},
		acts: map[string]bool{}, phases: map[string]time.Time{}, faults: map[string]int{},
		tries: map[string][]try{}, struck: map[string][]time.Time{},
	}
	counted := map[string]bool{}
	for i := range records {
		rec := &records[i]
		switch {
		case rec.CronJob != nil:
			r.cronJob(rec)
		case rec.Job != nil:
			r.job(rec)
		case rec.Event != nil:
			r.report(rec.Event, rec.At, true)
		case rec.Create != nil:
			r.asked = append(r.asked, rec.Create.Asked)
			r.create(rec)
		case rec.Report != nil:
			r.asked = append(r.asked, rec.At)
			r.report(&rec.Report.Event, rec.At, false)
			if key := rec.Report.Manager + rec.Report.Event.Name; !counted[key] && rec.Report.Event.UID != "" {
				counted[key] = true
				event := &rec.Report.Event
				r.reported = append(r.reported, answered{process: rec.Report.Manager, at: rec.At, what: event.Reason, count: countOf(event)})
			}
		default:
			r.other(rec)
		}
		if rec.At.After(r.end) {
			r.end = rec.At
		}
	}
	r.dropNotCreated()
	for _, tries := range r.tries {
		slices.SortStableFunc(tries, func(a, b try) int { return a.Asked.Compare(b.Asked) })
	}
	for _, s := range r.timelines {
		s.arrange(r.acts)
		if s.gone == 0 {
			s.until = r.end
		}
	}
	r.findLeaderless()
	return r
}

const (
	// longestPause is the longest time without a request while there is a leader: of hundreds of
	// CronJobs, some are due each second. After a longer one, faults kept both managers from the
	// lease.
	longestPause = 15 * time.Second

	// longestLeaderless is the longest time for which faults can keep both managers from the lease.
	longestLeaderless = time.Minute
)

func (r *index) findLeaderless() {
	slices.SortFunc(r.asked, time.Time.Compare)
	for i := 1; i < len(r.asked); i++ {
		if from, to := r.asked[i-1], r.asked[i]; to.Sub(from) > longestPause {
			r.leaderless = append(r.leaderless, window{from: from, to: to})
		}
	}
}

func (r *index) cronJob(rec *history.Record) {
	s := r.timelines[rec.CronJob.UID]
	if s == nil {
		s = &timeline{uid: rec.CronJob.UID, name: rec.CronJob.Namespace + "/" + rec.CronJob.Name}
		r.timelines[s.uid] = s
	}
	if rec.CronJob.Deleted {
		s.gone, s.until = rec.Revision, rec.At
		return
	}
	s.versions = append(s.versions, version{CronJob: rec.CronJob, at: rec.At, revision: rec.Revision})
}

func (r *index) job(rec *history.Record) {
	known := r.runs[rec.Job.UID]
	if known == nil {
		known = &run{Job: rec.Job, created: rec.Revision, createdAt: rec.At}
		r.runs[rec.Job.UID] = known
		known.creates = slices.Clone(r.creates[rec.Job.Namespace+"/"+rec.Job.Name])
		switch s := r.timelines[rec.Job.Owner]; {
		case s == nil:
		case rec.Job.Backfill:
			s.backfills = append(s.backfills, known)
		default:
			s.runs = append(s.runs, known)
		}
	}
	if rec.Job.Result != "" && known.ended == 0 {
		known.ended, known.endedAt, known.over, known.result = rec.Revision, rec.At, rec.Job.Ended, rec.Job.Result
	}
	if rec.Job.Deleted {
		known.deleted, known.deletedAt = rec.Revision, rec.At
	}
}

// create adds a request for a Job. Its record comes with the answer, so the Job may exist already.
func (r *index) create(rec *history.Record) {
	c := &create{rec.Create, rec.At}
	r.try(c)
	isAgain := slices.ContainsFunc(r.creates[c.Job], func(other *create) bool { return other.Manager == c.Manager })
	// The API server also answers with 500 where etcd does not answer it.
	lost := (c.Code == 0 || c.Code >= http.StatusInternalServerError) && c.Forwarded && !isAgain
	if c.Code == http.StatusCreated || lost {
		// A manager that is frozen when the answer comes may have given up the request when it is
		// thawed.
		unsure := lost || r.frozen[c.Manager]
		r.delivered = append(r.delivered, answered{process: c.Manager, at: rec.At, what: c.Job, count: 1, unsure: unsure})
	}
	refused := c.Code >= http.StatusBadRequest && c.Code < http.StatusInternalServerError
	if !c.Forwarded || refused {
		return
	}
	r.creates[c.Job] = append(r.creates[c.Job], c)
	for _, run := range r.runs {
		if run.Namespace+"/"+run.Name == c.Job && !c.Asked.After(run.createdAt) {
			run.creates = append(run.creates, c)
		}
	}
}

// dropNotCreated drops the creations without a known answer that were not carried out: all Jobs
// with that name have an answer.
func (r *index) dropNotCreated() {
	left := map[string]int{} // stored Jobs without an answer, by namespace/name
	for _, run := range r.runs {
		left[run.Namespace+"/"+run.Name]++
	}
	for _, a := range r.delivered {
		if !a.unsure {
			left[a.what]--
		}
	}
	r.delivered = slices.DeleteFunc(r.delivered, func(a answered) bool { return a.unsure && left[a.what] <= 0 })
}

func (r *index) other(rec *history.Record) {
	switch {
	case rec.Process != nil:
		r.frozen[rec.Process.Manager] = rec.Process.State == history.Frozen
		if rec.Process.State == history.Ended || rec.Process.State == history.Frozen {
			r.ends = append(r.ends, rec.At)
		}
	case rec.Clock != nil:
		if n := len(r.clocks); n > 0 && r.clocks[n-1].to.Equal(never) {
			r.clocks[n-1].to = rec.At
		}
		if rec.Clock.Step != 0 {
			r.clocks = append(r.clocks, window{from: rec.At, to: never, step: rec.Clock.Step})
		}
	case rec.Metrics != nil:
		r.metrics = append(r.metrics, scrape{rec.Metrics, rec.At})
	case rec.Act != nil:
		if rec.Act.UID != "" {
			r.acts[rec.Act.UID] = true
		}
	case rec.Phase != nil:
		r.phases[rec.Phase.Name] = rec.At
	case rec.Fault != nil:
		r.faults[rec.Fault.Kind]++
		switch rec.Fault.Kind {
		case "kill-apiserver", "kill-etcd", "pause-etcd", "cut-connections":
			r.outages = append(r.outages, rec.At)
		case "term-leader":
			r.stops = append(r.stops, rec.At)
		}
		if name := struckBy(rec.Fault); name != "" {
			r.struck[name] = append(r.struck[name], rec.At)
		}
	case rec.Refusal != nil:
		r.refusal(rec)
	}
}

// arrange finds the versions that changed the spec. acts has the Jobs that others than managers
// deleted.
func (s *timeline) arrange(acts map[string]bool) {
	for _, runs := range [][]*run{s.runs, s.backfills} {
		slices.SortStableFunc(runs, func(a, b *run) int { return cmp.Compare(a.created, b.created) })
	}
	for _, v := range s.versions {
		next := spec{version: v, since: v.Created, delay: delayOf(v.CronJob)}
		next.schedule, _ = parse(v.Ticks)
		next.backlog = time.Duration(max(0, v.CatchUp-1)) * slices.Min(next.every)
		if n := len(s.specs); n > 0 {
			last := s.specs[n-1]
			if reflect.DeepEqual(last.Spec, v.Spec) {
				continue
			}
			next.since = last.since
			if rescheduled(last.CronJob, v.CronJob) {
				next.since = v.Edited
			}
		}
		s.specs = append(s.specs, next)
	}
	s.findRestarts(acts)
}

// rescheduled reports whether ticks from before an edit don't count after it.
func rescheduled(a, b *history.CronJob) bool { return !reflect.DeepEqual(a.Ticks, b.Ticks) }

func deadlineOf(c *history.CronJob) time.Duration {
	if c.Deadline == nil {
		return horizon
	}
	return time.Duration(*c.Deadline) * time.Second
}

// between returns the specs that were in force from one revision to another: those that a manager
// may have used that knew the first revision and acted at the second.
func (s *timeline) between(from, to int64) []spec {
	first := 0
	for i, spec := range s.specs {
		if spec.revision <= from {
			first = i
		}
	}
	last := first
	for i, spec := range s.specs {
		if spec.revision < to {
			last = max(last, i)
		}
	}
	return s.specs[first : last+1]
}

func (r *run) runsAt(revision int64) bool {
	return r.created < revision && (r.ended == 0 || r.ended > revision) && (r.deleted == 0 || r.deleted > revision)
}
