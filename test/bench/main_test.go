// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheCommandLineChoosesStagesAndContenders(t *testing.T) {
	o, err := parseFlags([]string{"-stages=jitter,ticks", "-contenders=operator", "-n=200,7"})
	require.NoError(t, err)
	require.Len(t, o.stages, 2)
	assert.Equal(t, "ticks", o.stages[0].name, "in the order in which they are run")
	require.Len(t, o.contenders, 1)
	assert.Equal(t, []int{200, 7}, o.numbers)
	o, err = parseFlags(nil)
	require.NoError(t, err)
	assert.Len(t, o.stages, len(stages)-2, "all but churn and hour")
	assert.Len(t, o.contenders, len(contenders))
	for wrong, want := range map[string]string{
		"-stages=ticks,idel":  "-stages=ticks,idel: want some of ticks,jitter,",
		"-contenders=":        "-contenders=: want some of bare,operator,",
		"-n=5,0":              `-n: "0" is not a number of CronJobs`,
		"-n=many":             `-n: "many" is not a number of CronJobs`,
		"-objects=0":          "-objects=0 -finished=3: want 1 or more CronJobs",
		"-finished=-1":        "-finished=-1: want 1 or more CronJobs, and 0 or more Jobs of each",
		"-stages=ticks,ticks": "each once",
		"-memory-limit=much":  "quantities must match",
	} {
		_, err := parseFlags([]string{wrong})
		assert.ErrorContains(t, err, want)
	}
}

func TestTheOperatorMayTakeTheMemoryOfItsDeploymentOrWhatTheCommandLineSays(t *testing.T) {
	for args, want := range map[string]int64{"-memory-limit=0": 512 << 20, "-memory-limit=2Gi": 2 << 30} {
		o, err := parseFlags([]string{args})
		require.NoError(t, err)
		limit, err := memoryLimit(o)
		require.NoError(t, err)
		assert.Equal(t, want, limit)
	}
}
