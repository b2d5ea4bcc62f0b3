// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package batch reconciles CronJobs, in the hub version alone. A tick at 10:00, through the code:
//
//	observe    reads the clock and the cache, once: the CronJob, and the Jobs that it controls
//	decide     asks plan.Decide for a plan, a pure function that has all policy; as long as the plan
//	           asks for something that the cache may not have, lookup reads it from the API server
//	apply      deletes the Jobs to be replaced, and creates that of 10:00; its name has the tick, so
//	           that a second creation fails; and returns what came of it
//	conclude   has plan.Conclude compute the status, the events and when to look again; if only a Job
//	           was started, the rest waits for a second reconcile, after the Jobs of other CronJobs
//	write      writes the status, once, if it changed
//	report     records events and metrics; an event that is recorded again is the same event
//	prune      deletes ended Jobs beyond the history limits
//
// The next reconcile comes at the next tick, at a watch event, or after the backoff of a request that
// failed. memory has what one reconcile keeps for the next.
package batch
