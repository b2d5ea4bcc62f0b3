// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package faults injects faults around the managers: in their processes, the API server, etcd, the
// connections between them, the webhooks, their certificates and the clock. A plan, made from a
// seed before anything runs, says what happens when.
package faults

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"tutorial.kubebuilder.io/project/test/history"
)

// Kind is a kind of fault.
type Kind string

// The faults of machines and processes. They happen one at a time.
const (
	KillLeader     Kind = "kill-leader"      // kill -9 of the manager that leads; it is started again
	TermLeader     Kind = "term-leader"      // SIGTERM, as at a rolling update
	FreezeLeader   Kind = "freeze-leader"    // SIGSTOP for longer than the lease, then SIGCONT
	KillAPIServer  Kind = "kill-apiserver"   // kill -9; it is started again
	PauseEtcd      Kind = "pause-etcd"       // SIGSTOP, then SIGCONT
	KillEtcd       Kind = "kill-etcd"        // kill -9; it is started again
	CutConnections Kind = "cut-connections"  // all connections of the managers to the API server are closed
	LagWatches     Kind = "lag-watches"      // what the managers are told comes seconds late
	DownWebhooks   Kind = "webhooks-down"    // nobody answers the API server's calls
	RotateCerts    Kind = "rotate-certs"     // the webhooks' certificate and its authority are replaced
	StepClock      Kind = "step-clock"       // the managers' clocks are stepped, and after a while stepped back
	CutWatches     Kind = "cut-watches"      // the watch streams end, the connections stay
	CutDuringLists Kind = "watches-rejected" // the watch streams end, and new ones are refused for a while
)

// The faults of single requests. They come in bursts, at the same time as the others.
const (
	Conflict Kind = "answer-409" // somebody else's write came first
	Throttle Kind = "answer-429" // with Retry-After: client-go waits and asks again by itself
	Fail     Kind = "answer-500"
	Timeout  Kind = "no-answer"   // the request does not arrive, and the manager waits for seconds before it learns so
	Lose     Kind = "lost-answer" // the request is carried out, and the connection breaks
	Delay    Kind = "late-answer" // the request is carried out, and the answer takes seconds
)

// Target is the kind of requests that a burst strikes.
type Target string

// The targets.
const (
	Creates  Target = history.Creates  // of Jobs
	Deletes  Target = history.Deletes  // of Jobs
	Trials   Target = "trials"         // creations of Jobs as a dry run, by the webhook
	Statuses Target = history.Statuses // patches of a CronJob's status
	Events   Target = history.Events
	Leases   Target = "leases"      // updates of the leader's Lease
	Reads    Target = history.Reads // of Jobs and CronJobs, watches too when they begin
)

// Step is a fault in a plan.
type Step struct {
	At        time.Duration // since the begin of the storm
	Kind      Kind
	Hold      time.Duration // how long it lasts, for a kind that lasts
	Target    Target        // of a burst
	Count     int           // the number of requests to strike
	Namespace string        // of a refusal
	Clock     time.Duration // the step of the clock
	Lag       time.Duration // the delay of watches
}

// String formats the step as a line of a plan.
func (s Step) String() string {
	text := fmt.Sprintf("%7.1fs %s", s.At.Seconds(), s.Kind)
	switch {
	case s.Target != "":
		text += fmt.Sprintf(" of %d %s", s.Count, s.Target)
	case s.Namespace != "":
		text += fmt.Sprintf(" in %s for %v", s.Namespace, s.Hold)
	case s.Clock != 0:
		text += fmt.Sprintf(" by %v for %v", s.Clock, s.Hold)
	case s.Lag != 0:
		text += fmt.Sprintf(" by %v for %v", s.Lag, s.Hold)
	case s.Hold != 0:
		text += fmt.Sprintf(" for %v", s.Hold)
	}
	return text
}

// machine has the faults of machines, how long they last, and the time until the next one.
var machine = map[Kind]struct{ hold, rest [2]time.Duration }{
	KillLeader:     {rest: seconds(10, 20)},
	TermLeader:     {rest: seconds(4, 8)},
	FreezeLeader:   {hold: seconds(17, 22), rest: seconds(3, 8)},
	KillAPIServer:  {hold: seconds(1, 3), rest: seconds(8, 12)},
	PauseEtcd:      {hold: seconds(2, 7), rest: seconds(3, 6)},
	KillEtcd:       {hold: seconds(1, 2), rest: seconds(4, 8)},
	CutConnections: {rest: seconds(2, 4)},
	CutWatches:     {rest: seconds(1, 3)},
	CutDuringLists: {hold: seconds(2, 6), rest: seconds(2, 4)},
	LagWatches:     {hold: seconds(6, 12), rest: seconds(1, 4)},
	DownWebhooks:   {hold: seconds(3, 8), rest: seconds(1, 3)},
	RotateCerts:    {rest: seconds(2, 4)},
	StepClock:      {hold: seconds(6, 12), rest: seconds(4, 8)},
}

// requests has the faults of single requests and the targets that they may strike: those to which
// the API server can give such an answer. For our deletions, 409 would mean that another object has
// the name.
var requests = map[Kind][]Target{
	Conflict: {Creates, Statuses, Leases},
	Throttle: {Creates, Deletes, Trials, Statuses, Events, Reads},
	Fail:     {Creates, Deletes, Trials, Statuses, Events, Leases, Reads},
	Timeout:  {Creates, Deletes, Trials, Statuses, Leases},
	Lose:     {Creates, Creates, Deletes, Statuses, Events},
	Delay:    {Creates, Deletes, Statuses},
}

func seconds(from, to int) [2]time.Duration {
	return [2]time.Duration{time.Duration(from) * time.Second, time.Duration(to) * time.Second}
}

func isMachine(kind Kind) bool { _, is := machine[kind]; return is }
func isBurst(kind Kind) bool   { _, is := requests[kind]; return is }
func isRefusal(kind Kind) bool { _, is := refusals[kind]; return is }

// Kinds returns all kinds, sorted.
func Kinds() []Kind {
	all := slices.Collect(maps.Keys(machine))
	all = slices.AppendSeq(all, maps.Keys(requests))
	all = slices.AppendSeq(all, maps.Keys(refusals))
	slices.Sort(all)
	return all
}

// lead is the time without faults at the begin.
const lead = 8 * time.Second

// Once in a storm of at least longStorm, the webhooks are down for an outage.
const (
	outage    = time.Minute
	longStorm = 5 * time.Minute
)

// Plan plans faults of these kinds for a storm. The same arguments make the same plan.
func Plan(seed uint64, duration time.Duration, kinds []Kind) []Step {
	random := rand.New(rand.NewPCG(seed, 0xfa0175)) //nolint:gosec // a plan is to be reproducible
	steps := slices.Concat(
		planMachines(random, duration, newDeck(random, kinds, isMachine)),
		planBursts(random, duration, newDeck(random, kinds, isBurst)),
		planRefusals(seed, duration, kinds))
	slices.SortStableFunc(steps, func(a, b Step) int { return cmp.Compare(a.At, b.At) })
	return steps
}

func planMachines(random *rand.Rand, duration time.Duration, kinds *deck) (steps []Step) {
	hadOutage := duration < longStorm
	for at := lead; !kinds.isEmpty(); {
		step := Step{At: at, Kind: kinds.deal()}
		step.Hold = between(random, machine[step.Kind].hold)
		switch step.Kind {
		case StepClock:
			step.Clock = time.Duration(1+random.IntN(25)) * time.Second
			if random.IntN(2) == 0 {
				step.Clock = -step.Clock
			}
		case LagWatches:
			step.Lag = time.Duration(1+random.IntN(4)) * time.Second
		case DownWebhooks:
			if !hadOutage {
				step.Hold, hadOutage = outage, true
			}
		}
		at += step.Hold + between(random, machine[step.Kind].rest)
		if at > duration {
			break
		}
		steps = append(steps, step)
	}
	return steps
}

// planBursts plans the faults of single requests: a burst about every second.
func planBursts(random *rand.Rand, duration time.Duration, kinds *deck) (steps []Step) {
	pause := [2]time.Duration{time.Second / 2, 5 * time.Second / 2}
	for at := lead; !kinds.isEmpty() && at < duration-2*time.Second; at += between(random, pause) {
		kind := kinds.deal()
		targets := requests[kind]
		steps = append(steps, Step{At: at, Kind: kind, Target: targets[random.IntN(len(targets))], Count: 1 + random.IntN(5)})
	}
	return steps
}

// deck deals all kinds in a random order, and then again.
type deck struct {
	random      *rand.Rand
	kinds, left []Kind
}

func newDeck(random *rand.Rand, kinds []Kind, fits func(Kind) bool) *deck {
	return &deck{random: random, kinds: slices.DeleteFunc(slices.Clone(kinds), func(kind Kind) bool { return !fits(kind) })}
}

func (d *deck) isEmpty() bool { return len(d.kinds) == 0 }

func (d *deck) deal() Kind {
	if len(d.left) == 0 {
		d.left = slices.Clone(d.kinds)
		d.random.Shuffle(len(d.left), func(i, j int) { d.left[i], d.left[j] = d.left[j], d.left[i] })
	}
	kind := d.left[0]
	d.left = d.left[1:]
	return kind
}

// between returns a random duration of a range, in milliseconds.
func between(random *rand.Rand, limits [2]time.Duration) time.Duration {
	span := int64((limits[1] - limits[0]) / time.Millisecond)
	return limits[0] + time.Duration(random.Int64N(span+1))*time.Millisecond
}
