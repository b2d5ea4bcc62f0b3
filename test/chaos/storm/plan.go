// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package storm has the workload: CronJobs that users create, edit, suspend, resume, delete and
// create again, in both versions of the API. A plan, made from a seed before anything runs, says
// what happens when.
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

// verbs has what users do with existing CronJobs, with a relative frequency and the fields of the
// spec that are written. A verb without fields has a case of its own in [Users].
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
	{Resume, 0, []string{"suspend"}}, // only for suspended ones
}

func (v Verb) fields() []string {
	for _, known := range verbs {
		if known.verb == v {
			return known.fields
		}
	}
	return nil
}

// Act is one thing that a user does.
type Act struct {
	At   time.Duration // since the begin of the storm
	Verb Verb
	V2   bool // in version v2
	Spec Spec // of the CronJob afterwards
}

// Spec is the part of a CronJob that varies: a label, and fields of its spec, in the form of v1.
type Spec struct {
	Label  string
	Fields map[string]any
}

// after returns the spec after a verb has written the fields of another spec.
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

// CronJob is the life of a CronJob: the acts on one name, in order.
type CronJob struct {
	Namespace, Name string
	Acts            []Act
}

// Namespaces has the namespaces of the CronJobs.
var Namespaces = []string{"chaos-0", "chaos-1", "chaos-2", "chaos-3"}

// How long users take to create all CronJobs at first, and the average time between two acts on one
// CronJob.
const (
	population = 6 * time.Second
	pause      = 45 * time.Second
)

// Plan plans a storm with this many CronJobs. The same arguments make the same plan.
func Plan(seed uint64, begin time.Time, duration time.Duration, count int) []CronJob {
	source := func(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, stream)) } //nolint:gosec // to be reproducible
	r := randoms{source(0x5702), source(0xfea7), begin.UTC()}
	lives := make([]CronJob, count)
	for i := range lives {
		lives[i] = CronJob{Namespace: Namespaces[i%len(Namespaces)], Name: fmt.Sprintf("c%03d", i), Acts: r.life(duration)}
	}
	return lives
}

// randoms has the random numbers of a plan. Those for rare fields are separate, so that the fields
// do not change the rest of a plan.
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

// spec returns a random spec for a time since the begin of the storm.
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
		// Their offsets are multiples of half an hour, so they do not change the schedules here.
		fields["timeZone"] = []string{"Europe/Paris", "Asia/Kolkata", "America/New_York"}[random.IntN(3)]
	}
	random.addRare(fields, at)
	return Spec{label, fields}
}

// schedule returns an interval or, one time in six, a schedule on full minutes.
func (random randoms) schedule() string {
	switch random.IntN(12) {
	case 0:
		return "* * * * *"
	case 1:
		return "*/2 * * * *"
	}
	return fmt.Sprintf("@every %ds", 2+random.IntN(14))
}

// longestJitter is less than a minute, so that each start is within the storm.
const longestJitter = 20

// addRare adds each of the fields that most CronJobs lack, one time in six.
func (random randoms) addRare(fields map[string]any, at time.Duration) {
	has := func() bool { return random.rare.IntN(6) == 0 }
	seconds := func(from, to int) time.Duration {
		return (at + time.Duration(from+random.rare.IntN(to-from))*time.Second).Truncate(time.Second)
	}
	instant := func(since time.Duration) string { return random.begin.Add(since).Format(time.RFC3339) }
	if has() {
		fields["schedule"], fields["additionalSchedules"] = "*/2 * * * *", []any{"*/3 * * * *", "*/4 * * * *"}
	}
	gap := int64(60) // the shortest time between two ticks, in seconds
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
		if gap < 60 { // other schedules may have no tick then, which is refused
			fields["notBefore"] = instant(max(time.Second, seconds(-10, 30)))
		}
	}
	if fields["concurrencyPolicy"] == "Allow" && random.rare.IntN(3) == 0 {
		fields["maxConcurrency"] = 1 + random.rare.Int64N(2)
	}
	if has() {
		fields["catchUpPolicy"] = "All"
		if limit := []int64{1, 2, 3, 5, 0}[random.rare.IntN(5)]; limit > 0 { // 0 leaves out the field
			fields["catchUpLimit"] = limit
		}
	}
	if has() {
		fields["stopAfterFailures"] = 1 + random.rare.Int64N(3)
	}
}

// exclusion returns one or several days in one of the forms of spec.exclude. Half of them include
// the day of the storm.
func (random randoms) exclusion() string {
	chosen, today := 1+random.rare.IntN(6), random.begin
	if chosen > 3 {
		today = today.AddDate(0, 0, 40)
	}
	day := func(after int) string { return today.AddDate(0, 0, after).Format(time.DateOnly) }
	return []string{day(0), today.Format("--01-02"), day(-1) + "/" + day(1)}[chosen%3]
}
