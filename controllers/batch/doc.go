// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package batch reconciles CronJobs. It is written against the hub version alone; the other
// versions reach it through conversion. The steps of a reconcile:
//
//  1. settle: after requests that failed or got no answer, ask the API server for what is stored.
//  2. observe: read the CronJob and the Jobs it controls, from the cache, and the clock, once. As a
//     new leader, read the CronJob from the API server before a tick that may have run already.
//  3. decide: plan.Decide computes the plan from that, as a pure function. All policy is there. If
//     the plan names Jobs to verify, read them from the API server and decide again.
//  4. apply: delete the Jobs to be replaced, create the Job of the tick that is due. The Job's name
//     contains the tick, so that a second create fails. A Job whose tick the status does not record
//     yet is replaced only after the status is written, or at once if it can't be written.
//  5. conclude: plan.Conclude computes the status and the events from what was done. If the only
//     change is a started Job, and the next tick is 30 s away or more, the rest is deferred to a
//     second reconcile of lower priority.
//  6. write: write the status, once, if it changed. It also records which ticks were missed.
//  7. report: record events and metrics. An event's name is a hash of its content, so recording it
//     again is harmless. Missed ticks in the stored status are reported after observe, unless this
//     process has done so: the previous leader may have stopped before it reported them.
//  8. prune: delete finished Jobs beyond the history limits.
//
// Then it sleeps until the next tick or watch event. A failed request is retried with a backoff of
// its own, and delays nothing else. pending.go holds the state that one reconcile keeps for the
// next.
package batch
