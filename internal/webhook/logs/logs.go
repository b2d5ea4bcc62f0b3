// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package logs limits what the webhooks log: anyone who reaches the port chooses the content and
// the number of requests.
package logs

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/go-logr/logr"
	"k8s.io/client-go/util/flowcontrol"

	"tutorial.kubebuilder.io/project/internal/shorten"
)

const (
	// maxValue limits a value in a line, in bytes.
	maxValue = 512

	// linesPerSecond and lineBurst limit the lines of all webhooks together.
	linesPerSecond = 1
	lineBurst      = 20
)

// budget is shared by all webhooks.
var budget = newLineBudget()

// lineBudget limits the rate of lines, and counts the dropped ones.
type lineBudget struct {
	rate    flowcontrol.PassiveRateLimiter
	dropped atomic.Int64
}

func newLineBudget() *lineBudget {
	return &lineBudget{rate: flowcontrol.NewTokenBucketPassiveRateLimiter(linesPerSecond, lineBurst)}
}

// Bound returns a logger that shortens long values, and drops lines above the rate limit. The next
// line says how many were dropped.
func Bound(logger logr.Logger) logr.Logger {
	if logger.GetSink() == nil { // a logger that writes nothing
		return logger
	}
	return logger.WithSink(sink{LogSink: logger.GetSink(), budget: budget})
}

// sink limits what is written to another one.
type sink struct {
	logr.LogSink

	budget *lineBudget
	// values are those of WithValues. They are shortened only when a line is written: most loggers
	// write none.
	values []any
}

// Info implements logr.LogSink.
func (s sink) Info(level int, message string, values ...any) {
	if s.budget.rate.TryAccept() {
		s.LogSink.Info(level, shorten.Text(message, maxValue), s.shortened(values)...)
		return
	}
	s.budget.dropped.Add(1)
}

// Error implements logr.LogSink.
func (s sink) Error(err error, message string, values ...any) {
	if s.budget.rate.TryAccept() {
		if err != nil {
			err = errors.New(shorten.Text(err.Error(), maxValue))
		}
		s.LogSink.Error(err, shorten.Text(message, maxValue), s.shortened(values)...)
		return
	}
	s.budget.dropped.Add(1)
}

// WithValues implements logr.LogSink.
func (s sink) WithValues(values ...any) logr.LogSink {
	s.values = slices.Concat(s.values, values)
	return s
}

// WithName implements logr.LogSink.
func (s sink) WithName(name string) logr.LogSink {
	s.LogSink = s.LogSink.WithName(name)
	return s
}

// shortened returns all values of a line, shortened, and the number of lines dropped before it.
func (s sink) shortened(values []any) []any {
	all := slices.Concat(s.values, values)
	short := make([]any, 0, len(all)+2)
	for _, value := range all {
		if text := fmt.Sprint(value); len(text) > maxValue {
			value = shorten.Text(text, maxValue)
		}
		short = append(short, value)
	}
	if dropped := s.budget.dropped.Swap(0); dropped > 0 {
		short = append(short, "linesDropped", dropped)
	}
	return short
}
