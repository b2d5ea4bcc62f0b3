// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"time"
)

// Question is what a decision must know and the cache may not have. The zero value asks nothing.
type Question struct {
	// CronJob asks for this CronJob as it is stored.
	CronJob bool

	// Jobs asks which of the Jobs with these names exist, and how they are stored.
	Jobs []string

	// Since is the latest instant at which they may have been created, or have ended. Without an
	// answer, the cache is trusted from MaxCacheLag after it.
	Since time.Time
}

// IsEmpty reports whether nothing is asked.
func (q Question) IsEmpty() bool { return !q.CronJob && len(q.Jobs) == 0 }

// unsettled asks for the outcome of earlier requests.
func (in *Input) unsettled() Question {
	if in.Stale {
		return Question{CronJob: true}
	}
	return Question{Jobs: in.unasked(in.Doubtful)}
}

// unasked returns the Jobs that can be looked up and were not. After a question without an answer
// nothing more is asked: the next one would probably get none either.
func (in *Input) unasked(names []string) []string {
	if in.Unanswered {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(names), in.Asked.Has)
}

// ask returns what is to be looked up before the plan is carried out, as the cache may be stale:
// this CronJob, if the previous leader may have started the due tick; else Jobs that the status
// lists and that were not observed, Jobs of ticks that would be missed unless the previous leader
// has run them, and observed Jobs that seem to run although the status records their end. If the
// plan counts a failure that the cache lacks, it asks for all that seem to run: one that ended
// before may have succeeded.
func (p *Plan) ask(in Input) Question {
	isNew := in.Now.Sub(in.LeadingSince) < MaxCacheLag
	if !in.Confirmed && isNew && p.Start != nil && !StartOf(in.CronJob, p.Start.Tick).After(in.LeadingSince) {
		return Question{CronJob: true}
	}
	names := slices.Concat(p.unseen, p.mayHaveRun(in), p.runningAgain(in))
	if in.Outdated && p.Status.FailuresTowardsStop > in.CronJob.Status.FailuresTowardsStop {
		for _, job := range p.running {
			names = append(names, job.Name)
		}
	}
	return Question{Jobs: in.unasked(names), Since: lastChange(in.CronJob.Status, in.LeadingSince)}
}

// mayHaveRun names the Jobs of missed ticks that the previous leader may have started: this manager
// knows that leader's last Jobs only from the cache.
func (p *Plan) mayHaveRun(in Input) []string {
	since := in.LeadingSince.Add(-MaxCacheLag - jitterLimit(in.CronJob))
	if catchUpLimit(in.CronJob) > 1 && in.Now.Before(in.LeadingSince.Add(MaxCacheLag)) {
		since = time.Time{} // it may have run older ticks too
	}
	var names []string
	for _, tick := range missedFrom(in, p.Missed, since) {
		if !tick.After(in.LeadingSince) {
			names = append(names, JobName(in.CronJob, tick))
		}
	}
	return names
}
