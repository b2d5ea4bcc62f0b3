// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package backfill

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"tutorial.kubebuilder.io/project/internal/cli/env"
)

func TestTicksOfWhichNothingIsKnownNeedAYes(t *testing.T) {
	pipe, end, err := os.Pipe()
	require.NoError(t, err)
	defer func() { assert.NoError(t, pipe.Close()) }()
	defer func() { assert.NoError(t, end.Close()) }()
	mixed := &work{wanted: []wanted{{state: unknown}, {state: missed}, {state: unknown}}}
	const want = "nothing is known of 2 of the ticks: add --yes to run them all the same"
	for name, tc := range map[string]struct {
		in        io.Reader
		yes       bool
		work      *work
		wantError string
	}{
		"no terminal":             {in: pipe, work: mixed, wantError: want},
		"no terminal, with --yes": {in: pipe, work: mixed, yes: true},
		"all are known":           {in: pipe, work: &work{wanted: []wanted{{state: missed}, {state: failed}}}},
		"a program has asked":     {in: strings.NewReader(""), work: mixed},
	} {
		t.Run(name, func(t *testing.T) {
			c := &command{Env: env.New(genericiooptions.IOStreams{In: tc.in, Out: io.Discard, ErrOut: io.Discard}), yes: tc.yes}
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
