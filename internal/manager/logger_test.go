// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
)

// linesOf returns what the manager's logger writes, line by line.
func linesOf(t *testing.T, flags []string, write func(line int, logger klog.Logger)) []map[string]any {
	t.Helper()
	opts, err := parseFlags(flags, func(string) string { return "" })
	require.NoError(t, err)
	out := &bytes.Buffer{}
	zap.WriteTo(out)(&opts.zap)
	logger := newLogger(opts.zap)
	for i := range 1000 {
		write(i, logger.WithValues("cronjob", klog.KRef("default", "c")).WithValues("reconcileID", i))
	}
	var lines []map[string]any
	for text := range strings.Lines(out.String()) {
		line := map[string]any{}
		require.NoError(t, json.Unmarshal([]byte(text), &line), "%s", text)
		lines = append(lines, line)
	}
	return lines
}

func TestO4EachOfAThousandRunsAtOnceIsALineInTheLog(t *testing.T) {
	lines := linesOf(t, nil, func(_ int, logger klog.Logger) {
		logger.V(1).Info("Looked at it")
		logger.Info("Started a Job", "job", klog.KRef("default", "c-1"))
	})
	require.Len(t, lines, 1000)
	for i, line := range lines {
		assert.Equal(t, "info", line["level"])
		assert.Equal(t, "Started a Job", line["msg"])
		assert.Equal(t, map[string]any{"namespace": "default", "name": "c"}, line["cronjob"])
		assert.InDelta(t, i, line["reconcileID"], 0)
		assert.NotContains(t, line, "stacktrace")
	}
}

func TestOfAThousandEqualErrorsAtOnceSomeAreInTheLog(t *testing.T) {
	lines := linesOf(t, nil, func(_ int, logger klog.Logger) {
		logger.Error(errors.New("it is away"), "Reconciler error")
	})
	assert.GreaterOrEqual(t, len(lines), 100, "of each second the first")
	assert.Less(t, len(lines), 1000)
	for _, line := range lines {
		assert.Equal(t, "it is away", line["error"])
		assert.Equal(t, map[string]any{"namespace": "default", "name": "c"}, line["cronjob"])
		assert.Contains(t, line, "stacktrace")
	}
}

func TestTheLogFollowsItsFlags(t *testing.T) {
	lines := linesOf(t, []string{"--zap-log-level=debug"}, func(_ int, logger klog.Logger) { logger.V(1).Info("Looked at it") })
	assert.Len(t, lines, 1000)
	lines = linesOf(t, []string{"--zap-log-level=error"}, func(_ int, logger klog.Logger) { logger.Info("Started a Job") })
	assert.Empty(t, lines)
}
