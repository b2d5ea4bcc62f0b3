// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package model tests the reconciler against a model of the contract: random actions of users, Jobs,
// faults and clocks, an API server in memory whose cache lags, and a judge that shares no code with
// internal/plan and internal/schedule. controllers/batch/model_test.go runs it.
package model

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Verdict is the result of a run.
type Verdict struct {
	Seed      uint64
	Decisions int
	Law, Text string   // the broken law; "" for none
	Steps     int      // the number of steps in the shortened history
	History   []string // what happened
}

// longestHistory is how many lines of a history are printed.
const longestHistory = 60

func (v Verdict) String() string {
	history := v.History
	if len(history) > longestHistory {
		history = slices.Concat(history[:5], []string{"…"}, history[len(history)-longestHistory:])
	}
	return fmt.Sprintf("seed %d breaks %s: %s\n%s\n", v.Seed, v.Law, v.Text, strings.Join(history, "\n"))
}

// Run makes a run. If the run breaks a law, it is shortened.
func Run(setup Setup, seed uint64) Verdict {
	r := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // no secret
	p := newProfile(r)
	steps := p.draw(r)
	found := attempt(setup, seed, p, steps)
	if found.Law == "" {
		return found
	}
	return shorten(setup, found, p, steps)
}

// shorten drops as many steps as it can.
func shorten(setup Setup, found Verdict, p profile, steps []step) Verdict {
	for size := len(steps) / 2; size > 0; size /= 2 {
		for from := 0; from < len(steps); {
			fewer := slices.Delete(slices.Clone(steps), from, min(from+size, len(steps)))
			if shorter := attempt(setup, found.Seed, p, fewer); shorter.Law == found.Law {
				shorter.Decisions = found.Decisions
				found, steps = shorter, fewer
			} else {
				from += size
			}
		}
	}
	return found
}

// attempt carries out steps until a law is broken.
func attempt(setup Setup, seed uint64, p profile, steps []step) (v Verdict) {
	w := &world{
		Setup: setup, profile: p, context: discard(context.Background()), now: p.start, ends: map[types.UID]ending{},
		seed: seed,
	}
	w.server = &server{w: w, jobs: map[string]*batchv1.Job{}, cachedJobs: map[string]*batchv1.Job{}}
	w.judge = &judge{w: w, sent: map[string]bool{}, names: map[int64]bool{}, refusals: map[string]bool{}, rejections: map[int]bool{}}
	v.Seed, v.Steps = seed, len(steps)
	defer func() {
		v.Decisions, v.History = w.reconciles, w.judge.history
		switch problem := recover().(type) {
		case nil:
		case broken:
			v.Law, v.Text = problem.law, problem.text
		default:
			v.Law, v.Text = "panic", fmt.Sprintf("%v\n%s", problem, debug.Stack())
		}
	}()
	r := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // no secret
	w.create(r)
	w.judge.logf("created: %s; the webhook is off: %t", describe(&w.cronJob.Spec), p.isUnseen)
	w.start()
	for _, s := range steps {
		before := len(w.judge.history)
		done := actions[s.name](w, rand.New(rand.NewPCG(s.n, 2))) //nolint:gosec // no secret
		if done != "" {
			line := fmt.Sprintf("%s --- %s: %s", stamp(w.now), s.name, done)
			w.judge.history = slices.Insert(w.judge.history, before, line)
		}
		if w.now.After(p.start.Add(span / 2)) {
			break
		}
	}
	return v
}
