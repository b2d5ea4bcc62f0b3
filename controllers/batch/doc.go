/*
Copyright 2026 The project authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

// Package batch reconciles CronJobs. It is written against the hub version alone; the other
// versions reach it through conversion. The story of one reconcile:
//
//  1. observe: read the CronJob, the Jobs it controls and the clock, all from the cache, once.
//  2. decide: plan.Decide makes a plan of it, as a pure function. All policy is there.
//  3. apply: delete the Jobs to be replaced, create the Job of the tick that is due. Its name is the
//     tick's, so that it can't run twice. What follows then waits, in another reconcile, until all
//     that is due has been created.
//  4. status: write it, once, if it changed. It also says which ticks were missed. Then delete
//     finished Jobs beyond the history limits.
//  5. report: events, metrics and one log line, about what was done and what is written. An event's
//     name is made of what it says, so that to say it again is harmless.
//  6. requeue: sleep until the next tick, or until something happens. What failed is tried again
//     before that, and costs nothing else.
package batch
