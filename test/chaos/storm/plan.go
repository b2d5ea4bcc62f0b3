// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package storm is the work: CronJobs that users create, edit, suspend, resume, delete and create
// again, in both versions of the API, and Jobs that end. What happens when is a plan, made from a
// seed before anything runs.
package storm

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

// Verb is what a user does with a CronJob.
type Verb string

// The verbs.
const (
	Create     Verb = "create"
	Reschedule Verb = "reschedule"
	Edit       Verb = "edit" // the policy, the deadline or a history limit
	Label      Verb = "label"
	Suspend    Verb = "suspend"
	Resume     Verb = "resume"
	Delete     Verb = "delete"
	DeleteJob  Verb = "delete a Job"
	Backfill   Verb = "backfill"
)

// verbs are what users do with CronJobs that are there: how often, compared with one another, which
// fields of the spec they write, and what becomes of it. Those that write none have a case of their
// own in [Users].
var verbs = []struct {
	verb   Verb
	weight int
	fields []string
	change func(spec *Spec, to Spec)
}{
	{verb: Reschedule, weight: 5, fields: []string{"schedule", "timeZone"}, change: func(spec *Spec, to Spec) {
		spec.Schedule, spec.TimeZone = to.Schedule, to.TimeZone
	}},
	{verb: Edit, weight: 4, fields: []string{
		"concurrencyPolicy", "startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit",
	}, change: func(spec *Spec, to Spec) {
		spec.Policy, spec.Deadline, spec.Succeeded, spec.Failed = to.Policy, to.Deadline, to.Succeeded, to.Failed
	}},
	{verb: Suspend, weight: 4, fields: []string{"suspend"}, change: func(spec *Spec, _ Spec) { spec.Suspend = true }},
	{verb: Delete, weight: 3},
	{verb: Label, weight: 1, change: func(spec *Spec, to Spec) { spec.Label = to.Label }},
	{verb: DeleteJob, weight: 3},
	{verb: Backfill, weight: 3},
	{verb: Resume, fields: []string{"suspend"}}, // of those that are suspended alone
}

// sets reports whether a verb writes a field of the spec.
func (v Verb) sets(field string) bool {
	for _, known := range verbs {
		if known.verb == v {
			return slices.Contains(known.fields, field)
		}
	}
	return false
}

// Act is what a user does.
type Act struct {
	At   time.Duration // since the begin of the storm
	Verb Verb

	// V2 says that it is done in version v2.
	V2 bool

	// Spec is what the CronJob is to be like afterwards.
	Spec Spec
}

// Spec is what of a CronJob varies.
type Spec struct {
	Schedule  Schedule
	TimeZone  string
	Policy    string
	Deadline  int64 // in seconds; 0 for none
	Succeeded int32 // the history limits
	Failed    int32
	Suspend   bool
	Label     string
}

// Schedule is a schedule in both versions' words.
type Schedule struct {
	Text   string            // v1's
	Fields map[string]string // v2's
}

// CronJob is a CronJob's life: what users do with that name, in the order of time.
type CronJob struct {
	Namespace, Name string
	Acts            []Act
}

// namespaces over which the CronJobs are spread.
const namespaces = 4

// Namespace returns the name of one of the namespaces.
func Namespace(i int) string { return fmt.Sprintf("chaos-%d", i%namespaces) }

// Namespaces returns the names of all.
func Namespaces() []string {
	names := make([]string, namespaces)
	for i := range names {
		names[i] = Namespace(i)
	}
	return names
}

// How long users take to create all CronJobs at first, and on average between two acts on one
// CronJob.
const (
	population = 6 * time.Second
	pause      = 45 * time.Second
)

// Plan makes a plan for so many CronJobs. The same arguments make the same plan.
func Plan(seed uint64, duration time.Duration, count int) []CronJob {
	random := rand.New(rand.NewPCG(seed, 0x5702)) //nolint:gosec // a plan is to be reproducible
	lives := make([]CronJob, count)
	for i := range lives {
		lives[i] = CronJob{Namespace: Namespace(i), Name: fmt.Sprintf("c%03d", i), Acts: life(random, duration)}
	}
	return lives
}

// life plans what users do with one name.
func life(random *rand.Rand, duration time.Duration) []Act {
	at := time.Duration(random.Int64N(int64(population)))
	spec := anySpec(random)
	acts := []Act{{At: at, Verb: Create, V2: random.IntN(2) == 0, Spec: spec}}
	exists := true
	for {
		at += pause/10 + time.Duration(random.Int64N(int64(2*pause-pause/5)))
		if at > duration {
			return acts
		}
		act := Act{At: at.Truncate(time.Millisecond), V2: random.IntN(2) == 0}
		switch {
		case !exists:
			act.Verb, spec, exists = Create, anySpec(random), true
		case spec.Suspend && random.IntN(3) > 0:
			act.Verb, spec.Suspend = Resume, false
		default:
			act.Verb = anyVerb(random, &spec)
			exists = act.Verb != Delete
		}
		act.Spec = spec
		acts = append(acts, act)
	}
}

// anyVerb returns a verb, and has it change the spec.
func anyVerb(random *rand.Rand, spec *Spec) Verb {
	total := 0
	for _, v := range verbs {
		total += v.weight
	}
	chosen, to := random.IntN(total), anySpec(random)
	for _, v := range verbs {
		chosen -= v.weight
		if chosen < 0 && v.change != nil {
			v.change(spec, to)
		}
		if chosen < 0 {
			return v.verb
		}
	}
	panic("the weights have changed")
}

func anySpec(random *rand.Rand) Spec {
	spec := Spec{
		Schedule: anySchedule(random), Policy: []string{"Allow", "Allow", "Forbid", "Replace"}[random.IntN(4)],
		Succeeded: random.Int32N(4), Failed: random.Int32N(4), Label: fmt.Sprintf("l%d", random.IntN(1000)),
	}
	if random.IntN(3) == 0 {
		spec.Deadline = int64(1 + random.IntN(30))
	}
	if random.IntN(4) == 0 {
		// Their offsets are whole hours, or halves: of no matter to the schedules here.
		spec.TimeZone = []string{"Europe/Paris", "Asia/Kolkata", "America/New_York"}[random.IntN(3)]
	}
	return spec
}

// anySchedule returns an interval, or, one time in six, something on the minute.
func anySchedule(random *rand.Rand) Schedule {
	switch random.IntN(12) {
	case 0:
		return Schedule{"* * * * *", map[string]string{"minute": "*"}}
	case 1:
		return Schedule{"*/2 * * * *", map[string]string{"minute": "*/2"}}
	}
	every := fmt.Sprintf("%ds", 2+random.IntN(14))
	return Schedule{"@every " + every, map[string]string{"every": every}}
}
