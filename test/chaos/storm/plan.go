// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package storm is the work: CronJobs that users create, edit, suspend, resume, delete and create
// again, in both versions of the API, and Jobs that end. What happens when is a plan, made from a
// seed before anything runs.
package storm

import (
	"fmt"
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

// verbs are what users do with CronJobs that are there: how often, compared with one another, which
// fields of the spec they write, and what becomes of it. Those that write none have a case of their
// own in [Users].
var verbs = []struct {
	verb   Verb
	weight int
	fields []string
	change func(spec *Spec, to Spec)
}{
	{verb: Reschedule, weight: 5, fields: []string{
		"schedule", "timeZone", "additionalSchedules", "jitterSeconds", "exclude", "notBefore", "notAfter",
	}, change: func(spec *Spec, to Spec) { spec.Ticks = to.Ticks }},
	{verb: Edit, weight: 4, fields: []string{
		"concurrencyPolicy", "startingDeadlineSeconds", "successfulJobsHistoryLimit", "failedJobsHistoryLimit",
		"maxConcurrency", "catchUpPolicy", "catchUpLimit", "stopAfterFailures",
	}, change: func(spec *Spec, to Spec) { spec.Policies = to.Policies }},
	{verb: Suspend, weight: 4, fields: []string{"suspend"}, change: func(spec *Spec, _ Spec) { spec.Suspend = true }},
	{verb: Delete, weight: 3},
	{verb: Label, weight: 1, change: func(spec *Spec, to Spec) { spec.Label = to.Label }},
	{verb: DeleteJob, weight: 3},
	{verb: Backfill, weight: 3},
	{verb: Resume, fields: []string{"suspend"}}, // of those that are suspended alone
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

// Spec is what of a CronJob varies.
type Spec struct {
	Ticks
	Policies
	Suspend bool
	Label   string
}

// Ticks are when it is to run.
type Ticks struct {
	Schedule   Schedule
	TimeZone   string
	Additional []Schedule
	Jitter     int64 // in seconds
	Exclude    Exclusion

	// NotBefore and NotAfter are since the begin of the storm; 0 for none.
	NotBefore, NotAfter time.Duration
}

// Policies are how it is to run. What is 0 is left out, but for the history limits.
type Policies struct {
	Policy         string
	Deadline       int64 // in seconds
	Succeeded      int32 // the history limits
	Failed         int32
	MaxConcurrency int64
	CatchUp        int64 // the limit, of which the default is left out
	StopAfter      int64
}

// Schedule is an interval, or a minute of each hour.
type Schedule struct {
	Every  int64  // in seconds
	Minute string // the field of cron; "" for an interval
}

// gap returns the shortest time from a tick to the next, in seconds.
func (s Schedule) gap() int64 {
	if s.Minute != "" {
		return 60
	}
	return s.Every
}

// Exclusion is which days are excluded; 0 for none. The first half of the exclusions has today.
type Exclusion int

const exclusions = 6

// days returns the days, in one of the forms that they may have, given today.
func (e Exclusion) days(today time.Time) string {
	if e > exclusions/2 {
		today = today.AddDate(0, 0, 40)
	}
	day := func(after int) string { return today.AddDate(0, 0, after).Format(time.DateOnly) }
	return []string{day(0), today.Format("--01-02"), day(-1) + "/" + day(1)}[e%(exclusions/2)]
}

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

// Plan makes a plan for so many CronJobs. The same arguments make the same plan.
func Plan(seed uint64, duration time.Duration, count int) []CronJob {
	source := func(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, stream)) } //nolint:gosec // to be reproducible
	r := randoms{source(0x5702), source(0xfea7)}
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
	rare *rand.Rand
}

// life plans what users do with one name.
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
		case spec.Suspend && random.IntN(3) > 0:
			act.Verb, spec.Suspend = Resume, false
		default:
			act.Verb = random.verb(&spec, at)
			exists = act.Verb != Delete
		}
		act.Spec = spec
		acts = append(acts, act)
	}
}

// verb returns a verb, and has it change the spec at a time since the begin of the storm.
func (random randoms) verb(spec *Spec, at time.Duration) Verb {
	total := 0
	for _, v := range verbs {
		total += v.weight
	}
	chosen, to := random.IntN(total), random.spec(at)
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

// spec returns the spec of a CronJob that is created or edited at a time since the begin of the storm.
func (random randoms) spec(at time.Duration) Spec {
	spec := Spec{}
	spec.Schedule, spec.Policy = random.schedule(), []string{"Allow", "Allow", "Forbid", "Replace"}[random.IntN(4)]
	spec.Succeeded, spec.Failed, spec.Label = random.Int32N(4), random.Int32N(4), fmt.Sprintf("l%d", random.IntN(1000))
	if random.IntN(3) == 0 {
		spec.Deadline = int64(1 + random.IntN(30))
	}
	if random.IntN(4) == 0 {
		// Their offsets are whole hours, or halves: of no matter to the schedules here.
		spec.TimeZone = []string{"Europe/Paris", "Asia/Kolkata", "America/New_York"}[random.IntN(3)]
	}
	random.addRare(&spec, at)
	return spec
}

// schedule returns an interval, or, one time in six, something on the minute.
func (random randoms) schedule() Schedule {
	switch random.IntN(12) {
	case 0:
		return Schedule{Minute: "*"}
	case 1:
		return Schedule{Minute: "*/2"}
	}
	return Schedule{Every: int64(2 + random.IntN(14))}
}

// longestJitter is less than a minute, so that each start comes within the storm.
const longestJitter = 20

// addRare gives a spec each of the fields that most CronJobs lack, one time in six.
func (random randoms) addRare(spec *Spec, at time.Duration) {
	has := func() bool { return random.rare.IntN(6) == 0 }
	seconds := func(from, to int) time.Duration {
		return (at + time.Duration(from+random.rare.IntN(to-from))*time.Second).Truncate(time.Second)
	}
	if has() {
		spec.Schedule, spec.Additional = Schedule{Minute: "*/2"}, []Schedule{{Minute: "*/3"}, {Minute: "*/4"}}
	}
	if has() {
		spec.Jitter = random.rare.Int64N(min(spec.Schedule.gap(), longestJitter))
	}
	if has() {
		spec.Exclude = Exclusion(1 + random.rare.IntN(exclusions))
	}
	if has() {
		spec.NotAfter = seconds(40, 100)
		if spec.Schedule.gap() < 60 { // others may have no tick then, which is refused
			spec.NotBefore = max(time.Second, seconds(-10, 30))
		}
	}
	if spec.Policy == "Allow" && random.rare.IntN(3) == 0 {
		spec.MaxConcurrency = 1 + random.rare.Int64N(2)
	}
	if has() {
		spec.CatchUp = []int64{1, 2, 3, 5, defaultCatchUp}[random.rare.IntN(5)]
	}
	if has() {
		spec.StopAfter = 1 + random.rare.Int64N(3)
	}
}

// defaultCatchUp is the limit where none is set.
const defaultCatchUp = 10
