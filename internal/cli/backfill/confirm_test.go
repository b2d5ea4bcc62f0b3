// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package backfill

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"tutorial.kubebuilder.io/project/internal/cli/env"
)

func TestTicksOfWhichNothingIsKnownNeedAYes(t *testing.T) {
	mixed := &work{wanted: []wanted{{state: unknown}, {state: missed}, {state: unknown}}}
	const want = "nothing is known of 2 of the ticks: add --yes to run them all the same"
	for name, tc := range map[string]struct {
		source    env.Source
		answer    string
		yes       bool
		work      *work
		wantError string
	}{
		"no terminal":             {source: env.Pipe, work: mixed, wantError: want},
		"no terminal, with --yes": {source: env.Pipe, work: mixed, yes: true},
		"all are known":           {source: env.Pipe, work: &work{wanted: []wanted{{state: missed}, {state: failed}}}},
		"a program has asked":     {source: env.Program, work: mixed},
		"the user says yes":       {source: env.Terminal, answer: "y\n", work: mixed},
		"the user says no":        {source: env.Terminal, answer: "n\n", work: mixed, wantError: "nothing was started"},
	} {
		t.Run(name, func(t *testing.T) {
			streams := genericiooptions.IOStreams{In: strings.NewReader(tc.answer), Out: io.Discard, ErrOut: io.Discard}
			c := &command{Env: env.New(streams), yes: tc.yes}
			c.Source = tc.source
			err := c.confirm(t.Context(), tc.work)
			if tc.wantError == "" {
				assert.NoError(t, err)
			} else {
				assert.EqualError(t, err, tc.wantError)
			}
		})
	}
}

func TestTheAnswerIsNoUnlessItIsYes(t *testing.T) {
	for answer, isYes := range map[string]bool{"y\n": true, "YES\n": true, "y": true, "\n": false, "": false, "n\n": false, "why\n": false} {
		assert.Equal(t, isYes, awaitYes(t.Context(), strings.NewReader(answer)) == nil, "%q", answer)
	}
	never, end := io.Pipe()
	defer func() { assert.NoError(t, end.Close()) }()
	interrupted, interrupt := context.WithCancel(t.Context())
	interrupt()
	assert.Equal(t, env.Interrupted, env.ExitCode(awaitYes(interrupted, never)))
}
