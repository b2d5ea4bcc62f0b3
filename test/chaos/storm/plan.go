// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package storm is the work: CronJobs that users create, edit, suspend, resume, delete and create
// again, in both versions of the API, and Jobs that end. What happens when is a plan, made from a
// seed before anything runs.
package storm

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"time"
)

// Verb is what a user does with a CronJob.
type Verb string

// The verbs.
const (
	Create     Verb = "create"
	Reschedule Verb = "reschedule"
	Edit       Verb = "edit"  // the policies, the deadline and the history limits
	Label      Verb = "label" // and resume it, in case it has stopped after failures
	Suspend    Verb = "suspend"
	Resume     Verb = "resume"
	Delete     Verb = "delete"
	DeleteJob  Verb = "delete a Job"
	Backfill   Verb = "backfill"
)

// verbs are what users do with CronJobs that are there: how often, compared with one another, and
// which fields of the spec they write. Those that write none have a case of their own in [Users].
var verbs = []struct {
	verb   Verb
	weight int
	fields []string
}{
	{Reschedule, 5, []string{
		"schedule", "timeZone", "additionalSchedules", "jitterSeconds", "exclude", "notBefore", "notAfter",
	}},
	{Edit, 4, []string{
		"concurrencyPolicy", "startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit",
		"maxConcurrency", "catchUpPolicy", "catchUpLimit", "stopAfterFailures",
	}},
	{Suspend, 4, []string{"suspend"}},
	{Delete, 3, nil},
	{Label, 1, nil},
	{DeleteJob, 3, nil},
	{Backfill, 3, nil},
	{Resume, 0, []string{"suspend"}}, // of those that are suspended alone
}

// fields returns which fields of the spec a verb writes.
func (v Verb) fields() []string {
	for _, known := range verbs {
		if known.verb == v {
			return known.fields
		}
	}
	return nil
}

// Act is what a user does.
type Act struct {
	At   time.Duration // since the begin of the storm
	Verb Verb
	V2   bool // in version v2
	Spec Spec // what the CronJob is to be like afterwards
}

// Spec is what of a CronJob varies: a label, and fields of its spec, as v1 has them.
type Spec struct {
	Label  string
	Fields map[string]any
}

// after returns what becomes of the spec when a verb writes what another spec has.
func (s Spec) after(verb Verb, to Spec) Spec {
	s.Fields = maps.Clone(s.Fields)
	for _, field := range verb.fields() {
		delete(s.Fields, field)
		if value, isSet := to.Fields[field]; isSet {
			s.Fields[field] = value
		}
	}
	if verb == Label {
		s.Label = to.Label
	}
	return s
}

func suspended(suspend bool) Spec { return Spec{Fields: map[string]any{"suspend": suspend}} }

// CronJob is a CronJob's life: what users do with that name, in the order of time.
type CronJob struct {
	Namespace, Name string
	Acts            []Act
}

// Namespaces are those over which the CronJobs are spread.
var Namespaces = []string{"chaos-0", "chaos-1", "chaos-2", "chaos-3"}

// How long users take to create all CronJobs at first, and on average between two acts on one
// CronJob.
const (
	population = 6 * time.Second
	pause      = 45 * time.Second
)

// Plan makes a plan for so many CronJobs and a storm that begins at an instant. The same arguments
// make the same plan.
func Plan(seed uint64, begin time.Time, duration time.Duration, count int) []CronJob {
	source := func(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, stream)) } //nolint:gosec // to be reproducible
	r := randoms{source(0x5702), source(0xfea7), begin.UTC()}
	lives := make([]CronJob, count)
	for i := range lives {
		lives[i] = CronJob{Namespace: Namespaces[i%len(Namespaces)], Name: fmt.Sprintf("c%03d", i), Acts: r.life(duration)}
	}
	return lives
}

// randoms are what plans are made from: what most CronJobs lack is drawn apart, so that it changes
// nothing else.
type randoms struct {
	*rand.Rand
	rare  *rand.Rand
	begin time.Time // of the storm
}

func (random randoms) life(duration time.Duration) []Act {
	at := time.Duration(random.Int64N(int64(population)))
	spec := random.spec(at)
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
			act.Verb, spec, exists = Create, random.spec(at), true
		case spec.Fields["suspend"].(bool) && random.IntN(3) > 0:
			act.Verb, spec = Resume, spec.after(Resume, suspended(false))
		default:
			act.Verb = random.verb()
			to := random.spec(at)
			if act.Verb == Suspend {
				to = suspended(true)
			}
			spec, exists = spec.after(act.Verb, to), act.Verb != Delete
		}
		act.Spec = spec
		acts = append(acts, act)
	}
}

func (random randoms) verb() Verb {
	total := 0
	for _, v := range verbs {
		total += v.weight
	}
	chosen := random.IntN(total)
	for _, v := range verbs {
		if chosen -= v.weight; chosen < 0 {
			return v.verb
		}
	}
	panic("the weights have changed")
}

// spec returns the spec of a CronJob that is created or edited at a time since the begin of the storm.
func (random randoms) spec(at time.Duration) Spec {
	fields := map[string]any{
		"schedule": random.schedule(), "concurrencyPolicy": []string{"Allow", "Allow", "Forbid", "Replace"}[random.IntN(4)],
		"successfulJobsHistoryLimit": int64(random.Int32N(4)), "failedJobsHistoryLimit": int64(random.Int32N(4)),
		"suspend": false,
	}
	label := fmt.Sprintf("l%d", random.IntN(1000))
	if random.IntN(3) == 0 {
		fields["startingDeadlineSeconds"] = int64(1 + random.IntN(30))
	}
	if random.IntN(4) == 0 {
		// Their offsets are whole hours, or halves: of no matter to the schedules here.
		fields["timeZone"] = []string{"Europe/Paris", "Asia/Kolkata", "America/New_York"}[random.IntN(3)]
	}
	random.addRare(fields, at)
	return Spec{label, fields}
}

// schedule returns an interval, or, one time in six, something on the minute.
func (random randoms) schedule() string {
	switch random.IntN(12) {
	case 0:
		return "* * * * *"
	case 1:
		return "*/2 * * * *"
	}
	return fmt.Sprintf("@every %ds", 2+random.IntN(14))
}

// longestJitter is less than a minute, so that each start comes within the storm.
const longestJitter = 20

// addRare adds to a spec each of the fields that most CronJobs lack, one time in six.
func (random randoms) addRare(fields map[string]any, at time.Duration) {
	has := func() bool { return random.rare.IntN(6) == 0 }
	seconds := func(from, to int) time.Duration {
		return (at + time.Duration(from+random.rare.IntN(to-from))*time.Second).Truncate(time.Second)
	}
	instant := func(since time.Duration) string { return random.begin.Add(since).Format(time.RFC3339) }
	if has() {
		fields["schedule"], fields["additionalSchedules"] = "*/2 * * * *", []any{"*/3 * * * *", "*/4 * * * *"}
	}
	gap := int64(60) // the shortest time from a tick to the next, in seconds
	_, _ = fmt.Sscanf(fields["schedule"].(string), "@every %ds", &gap)
	if has() {
		if jitter := random.rare.Int64N(min(gap, longestJitter)); jitter > 0 {
			fields["jitterSeconds"] = jitter
		}
	}
	if has() {
		fields["exclude"] = []any{random.exclusion()}
	}
	if has() {
		fields["notAfter"] = instant(seconds(40, 100))
		if gap < 60 { // others may have no tick then, which is refused
			fields["notBefore"] = instant(max(time.Second, seconds(-10, 30)))
		}
	}
	if fields["concurrencyPolicy"] == "Allow" && random.rare.IntN(3) == 0 {
		fields["maxConcurrency"] = 1 + random.rare.Int64N(2)
	}
	if has() {
		fields["catchUpPolicy"] = "All"
		if limit := []int64{1, 2, 3, 5, 0}[random.rare.IntN(5)]; limit > 0 { // none for the default
			fields["catchUpLimit"] = limit
		}
	}
	if has() {
		fields["stopAfterFailures"] = 1 + random.rare.Int64N(3)
	}
}

// exclusion returns a day or several, in one of the forms that they may have: half of the time with
// the day of the storm.
func (random randoms) exclusion() string {
	chosen, today := 1+random.rare.IntN(6), random.begin
	if chosen > 3 {
		today = today.AddDate(0, 0, 40)
	}
	day := func(after int) string { return today.AddDate(0, 0, after).Format(time.DateOnly) }
	return []string{day(0), today.Format("--01-02"), day(-1) + "/" + day(1)}[chosen%3]
}
