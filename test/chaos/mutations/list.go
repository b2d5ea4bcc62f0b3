// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import "tutorial.kubebuilder.io/project/test/chaos/checker"

// mutation breaks a promise on purpose.
type mutation struct {
	name string
	// edits are what is changed in the source.
	edits []edit
	// laws are those of which at least one has to be found broken.
	laws []checker.Law
	// flags are those of the storm that shows it, beside those that all have.
	flags []string
}

// edit replaces a piece of source that must be there exactly once.
type edit struct{ file, before, after string }

// files that are changed.
const (
	plan        = "internal/plan/plan.go"
	tick        = "internal/plan/tick.go"
	jobs        = "internal/plan/jobs.go"
	pruning     = "internal/plan/history.go"
	concurrency = "internal/plan/concurrency.go"
	apply       = "controllers/batch/apply.go"
	events      = "controllers/batch/events.go"
	fence       = "internal/lease/fence.go"
	observe     = "controllers/batch/observe.go"
	controller  = "controllers/batch/cronjob_controller.go"
	pending     = "controllers/batch/pending.go"
)

// mutations are what the checker has to catch.
var mutations = []mutation{
	{
		name:  "a Job's name is not its tick's",
		edits: []edit{{concurrency, `fmt.Sprintf("%s-%d", c.Name, tick.Unix())`, `fmt.Sprintf("%s-%d", c.Name, time.Now().UnixNano())`}},
		laws:  []checker.Law{checker.Doubled, checker.Unlabelled},
		flags: []string{"-faults=lost-answer,lag-watches"},
	},
	{
		name: "a tick is due a second early",
		edits: []edit{
			{plan, "ticks.Last(floor, in.Now)", "ticks.Last(floor, in.Now.Add(time.Second))"},
			{plan, "p.wakeBy(next)", "p.wakeBy(next.Add(-time.Second))"},
		},
		laws: []checker.Law{checker.Early},
	},
	{
		name: "the oldest tick runs, and not the newest",
		edits: []edit{{plan, "due, isDue := ticks.Last(floor, in.Now)",
			"due, _ := ticks.Next(floor)\n\tisDue := !due.After(in.Now)"}},
		laws: []checker.Law{checker.NotNewest},
	},
	{
		name:  "the starting deadline is ignored",
		edits: []edit{{plan, "if hasDeadline && in.Now.After(deadline) {", "if false && in.Now.After(deadline) {"}},
		laws:  []checker.Law{checker.PastDeadline},
		flags: []string{"-faults=kill-leader,kill-apiserver", "-duration=60s"}, // nothing is late without them
	},
	{
		name:  "nothing wakes it for the next tick",
		edits: []edit{{plan, "\tp.wakeBy(next)\n", ""}},
		laws:  []checker.Law{checker.Stuck},
		flags: []string{"-calm=25s"},
	},
	{
		name:  "suspend is ignored",
		edits: []edit{{plan, "case *in.CronJob.Spec.Suspend:", "case false && *in.CronJob.Spec.Suspend:"}},
		laws:  []checker.Law{checker.AfterSuspend},
		flags: []string{"-calm=20s"},
	},
	{
		name:  "an edit or a resume lets older ticks run",
		edits: []edit{{tick, "case isReschedule(c):", "case false && isReschedule(c):"}},
		laws:  []checker.Law{checker.AfterEdit},
		flags: []string{"-calm=20s"},
	},
	{
		name:  "an interval counts from the creation for good",
		edits: []edit{{tick, "if status.LastScheduleTime != nil {", "if false && status.LastScheduleTime != nil {"}},
		laws:  []checker.Law{checker.NoTick, checker.Lost},
	},
	{
		name:  "lastScheduleTime is that of the Job seen last",
		edits: []edit{{tick, "if current != nil && !other.After(current.Time) {", "if false && !other.After(current.Time) {"}},
		laws:  []checker.Law{checker.WentBack},
	},
	{
		name:  "Forbid is ignored",
		edits: []edit{{concurrency, "case policy == v1.ForbidConcurrent && len(active) > 0:", "case false:"}},
		laws:  []checker.Law{checker.ForbidOverlaps},
	},
	{
		name:  "Replace deletes nothing",
		edits: []edit{{concurrency, "if job.DeletionTimestamp == nil {", "if job.DeletionTimestamp != nil {"}},
		laws:  []checker.Law{checker.ReplaceLeavesOne},
	},
	{
		name:  "the history limits are one too many",
		edits: []edit{{pruning, "max(0, len(jobs)-max(0, limit))", "max(0, len(jobs)-max(0, limit)-1)"}},
		laws:  []checker.Law{checker.HistoryTooLong},
	},
	{
		name:  "the history limits keep the oldest",
		edits: []edit{{pruning, "jobs[:max(0, len(jobs)-max(0, limit))]", "jobs[min(len(jobs), max(0, limit)):]"}},
		laws:  []checker.Law{checker.PrunedTooMuch},
	},
	{
		name:  "Jobs that run count as history",
		edits: []edit{{pruning, "p.pruneTo(jobs.succeeded,", "p.pruneTo(jobs.active,"}},
		laws:  []checker.Law{checker.DeletedWhileRunning},
	},
	{
		// Two guards keep this from doing harm: what the process remembers, and after its end the Job's name.
		name: "Jobs are pruned before the status knows their tick, and not remembered",
		edits: []edit{
			{pruning, "case !job.accounted:", "case false:"},
			{observe, "for i := range seen.pending.runs {", "for i := range seen.pending.runs[:0] {"},
		},
		laws:  []checker.Law{checker.Doubled, checker.Lost, checker.WrongStatus},
		flags: []string{"-faults=answer-500,answer-409,no-answer,lost-answer,lag-watches,kill-leader", "-duration=90s", "-cronjobs=150"},
	},
	{
		name: "missed ticks are not reported",
		edits: []edit{{events, "range r.memory.unreported(client.ObjectKeyFromObject(c), c.UID, rows) {",
			"range r.memory.unreported(client.ObjectKeyFromObject(c), c.UID, rows)[:0] {"}},
		laws: []checker.Law{checker.Untold},
	},
	{
		name: "missed ticks are reported twice",
		edits: []edit{{events, "\t\tmissedTicks.WithLabelValues(",
			"\t\tagain := missed.Event()\n\t\tagain.Key += \" again\"\n\t\tr.record(c, again)\n" +
				"\t\tmissedTicks.WithLabelValues("}},
		laws: []checker.Law{checker.ReportedTwice},
	},
	{
		name: "what is deleted goes on as it was written last",
		edits: []edit{
			{pending, "\tentry.written = nil\n\tm.dropEmpty(key, entry)\n", "\tentry.written = cached\n"},
			{observe, "\tcase apierrors.IsNotFound(err):\n\t\tr.memory.forget(seen.key)\n",
				"\tcase apierrors.IsNotFound(err) && seen.pending.written != nil:\n\t\tcached = seen.pending.written\n" +
					"\tcase apierrors.IsNotFound(err):\n\t\tr.memory.forget(seen.key)\n"},
		},
		laws: []checker.Law{checker.AfterDelete, checker.Doubled},
	},
	{
		name:  "a creation without an answer is taken for one that has failed",
		edits: []edit{{apply, "\t\tr.confirmCreate(ctx, seen, start, done, err)\n", "\t\tdone.NameTaken = true\n"}},
		laws:  []checker.Law{checker.RunAndReported},
		flags: []string{"-faults=lost-answer"},
	},
	{
		name:  "a leader whose lease is over goes on",
		edits: []edit{{fence, "return renewed != nil && f.clock.Since(*renewed) < f.lasts", "return renewed != nil"}},
		laws:  []checker.Law{checker.Doubled, checker.ForbidOverlaps, checker.AfterEdit, checker.AfterSuspend, checker.AfterDelete},
		flags: []string{"-faults=freeze-leader", "-duration=2m"},
	},
	{
		name:  "a run hides the ticks before it whose report was lost",
		edits: []edit{{tick, "\tif !newest.After(last) {\n", "\tif true || !newest.After(last) {\n"}},
		laws:  []checker.Law{checker.Lost},
		flags: []string{"-faults=answer-500,answer-409,kill-leader,kill-apiserver", "-duration=90s", "-cronjobs=150"},
	},
	{
		name: "the Pods do not carry the tick",
		edits: []edit{{concurrency,
			"metav1.SetMetaDataAnnotation(&job.Spec.Template.ObjectMeta, v1.ScheduledAtAnnotation, scheduledAt)\n", "\n"}},
		laws: []checker.Law{checker.Unlabelled},
	},
	{
		name: "the Jobs of another are taken for one's own",
		edits: []edit{{concurrency, "OwnerReferences: []metav1.OwnerReference{",
			"OwnerReferences: []metav1.OwnerReference{}[:0:0], Finalizers: nil, // "}},
		laws: []checker.Law{checker.Unasked},
	},
	{
		name:  "a run is counted twice",
		edits: []edit{{apply, "creationSkew.Observe(", "creationSkew.Observe(0)\n\t\tcreationSkew.Observe("}},
		laws:  []checker.Law{checker.WrongMetrics},
	},
	{
		name:  "Jobs that have ended stay active",
		edits: []edit{{jobs, "p.setActive(jobs.active)", "p.setActive(slices.Concat(jobs.active, jobs.ended))"}},
		laws:  []checker.Law{checker.WrongStatus},
	},
	{
		name: "a deletion that fails ends the reconcile without its wake-up",
		edits: []edit{{controller, "\tr.report(ctx, seen, result, written)\n",
			"\tr.report(ctx, seen, result, written)\n\tif seen.failed {\n\t\treturn ctrl.Result{}, context.Canceled\n\t}\n"}},
		laws:  []checker.Law{checker.NotTried},
		flags: []string{"-faults=deletes-denied", "-duration=60s"},
	},
	{
		name: "a status that can't be written costs the wake-up",
		edits: []edit{{controller, "\tr.report(ctx, seen, result, written)\n",
			"\tr.report(ctx, seen, result, written)\n\tif !written {\n\t\treturn ctrl.Result{}, context.Canceled\n\t}\n"}},
		laws:  []checker.Law{checker.NotTried},
		flags: []string{"-faults=statuses-denied", "-duration=60s"},
	},
	{
		name:  "any 404 on a creation is taken for a terminating namespace",
		edits: []edit{{apply, `return details.Kind == "namespaces" && details.Name == namespace`, `return details.Kind != ""`}},
		laws:  []checker.Law{checker.RetriedLate, checker.NotTried},
		flags: []string{"-faults=creates-not-found", "-duration=60s"},
	},
	{
		name: "a deletion that a webhook answers with 404 or 409 is taken for done",
		edits: []edit{{apply, "(apierrors.IsNotFound(err) || apierrors.IsConflict(err)) && r.isGone(ctx, seen, job):",
			"apierrors.IsNotFound(err) || apierrors.IsConflict(err):"}},
		laws:  []checker.Law{checker.ReplaceLeavesOne},
		flags: []string{"-faults=deletes-not-found,deletes-conflict", "-duration=60s"},
	},
	{
		name:  "the backoff of creations is not reset by a new tick",
		edits: []edit{{apply, "known.attempt = attempt{tick: start.Tick}", "known.attempt.tick = start.Tick"}},
		laws:  []checker.Law{checker.RetriedLate},
		flags: []string{"-faults=creates-denied,quota-full", "-duration=60s"},
	},
	{
		name:  "what is invalid is tried again and again",
		edits: []edit{{apply, "if try.invalid = apierrors.IsInvalid(err); try.invalid {", "if try.invalid = false; try.invalid {"}},
		laws:  []checker.Law{checker.RetriedInvalid},
		flags: []string{"-faults=creates-invalid", "-duration=60s"},
	},
}
