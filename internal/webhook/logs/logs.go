// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package logs bounds what the webhooks log, as it is others who write it: whoever reaches the port
// chooses what a request says, and how many there are.
package logs

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/go-logr/logr"
	"k8s.io/client-go/util/flowcontrol"
)

const (
	// maxValue is how many bytes a value in a line may have.
	maxValue = 512

	// So many lines are written for all webhooks together.
	linesPerSecond = 1
	lineBurst      = 20
)

// budget is that of all webhooks.
var budget = newLineBudget()

// lineBudget says how many lines may be written, and counts those that may not.
type lineBudget struct {
	rate    flowcontrol.PassiveRateLimiter
	dropped atomic.Int64
}

func newLineBudget() *lineBudget {
	return &lineBudget{rate: flowcontrol.NewTokenBucketPassiveRateLimiter(linesPerSecond, lineBurst)}
}

// Bound returns a logger that shortens long values, and drops lines when there are too many. The
// next line says how many were dropped.
func Bound(logger logr.Logger) logr.Logger {
	if logger.GetSink() == nil { // it writes nothing
		return logger
	}
	return logger.WithSink(sink{LogSink: logger.GetSink(), budget: budget})
}

// sink bounds what goes into another one.
type sink struct {
	logr.LogSink

	budget *lineBudget
	// values are those of all lines. They are shortened when a line is written: most loggers write
	// none.
	values []any
}

// Info writes a line, if it may be written.
func (s sink) Info(level int, message string, values ...any) {
	if s.budget.rate.TryAccept() {
		s.LogSink.Info(level, Shorten(message, maxValue), s.shortened(values)...)
		return
	}
	s.budget.dropped.Add(1)
}

// Error writes a line about an error, if it may be written.
func (s sink) Error(err error, message string, values ...any) {
	if s.budget.rate.TryAccept() {
		if err != nil {
			err = errors.New(Shorten(err.Error(), maxValue))
		}
		s.LogSink.Error(err, Shorten(message, maxValue), s.shortened(values)...)
		return
	}
	s.budget.dropped.Add(1)
}

// WithValues returns a sink whose lines have more values.
func (s sink) WithValues(values ...any) logr.LogSink {
	s.values = slices.Concat(s.values, values)
	return s
}

// WithName returns a sink with a name added.
func (s sink) WithName(name string) logr.LogSink {
	s.LogSink = s.LogSink.WithName(name)
	return s
}

// shortened returns all values of a line.
func (s sink) shortened(values []any) []any {
	all := slices.Concat(s.values, values)
	short := make([]any, 0, len(all)+2)
	for _, value := range all {
		if text := fmt.Sprint(value); len(text) > maxValue {
			value = Shorten(text, maxValue)
		}
		short = append(short, value)
	}
	if dropped := s.budget.dropped.Swap(0); dropped > 0 {
		short = append(short, "linesDropped", dropped)
	}
	return short
}

// Shorten returns a text of so many bytes at most, and of a longer one its beginning and how long
// it was.
func Shorten(text string, most int) string {
	if len(text) <= most {
		return text
	}
	end := fmt.Sprintf("… (%d bytes)", len(text))
	cut := max(most-len(end), 0)
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return strings.Clone(text[:cut]) + end
}
