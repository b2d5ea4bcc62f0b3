// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package batch reconciles CronJobs. It is written against the hub version alone; the other
// versions reach it through conversion. The story of one reconcile:
//
//  1. settle: ask the API server what became of a request that got no answer.
//  2. observe: read the CronJob and the Jobs it controls, from the cache, and the clock, once.
//  3. decide: plan.Decide makes a plan of it, as a pure function. All policy is there. If the plan
//     asks for it, look up the Jobs that it names, and decide again.
//  4. apply: delete the Jobs to be replaced, create the Job of the tick that is due. Its name is the
//     tick's, so that it can't run twice. A Job that the status does not tell of is replaced once
//     the status is written.
//  5. conclude: plan.Conclude says what follows from what was done. If other CronJobs may be due,
//     the rest is deferred to another reconcile.
//  6. write: write the status, once, if it changed. It also says which ticks were missed. Then
//     delete finished Jobs beyond the history limits.
//  7. report: events, metrics and one log line. An event's name is made of what it says, so that
//     to record it again is harmless.
//
// Then it sleeps until the next tick, or until something happens. What failed is tried again before
// that, and costs nothing else. What one reconcile leaves for the next is in pending.go.
package batch
