// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package logs

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/klog/v2"
)

// record returns a bounded logger with a budget of its own, and what it writes.
func record() (logger logr.Logger, lines *[]string) {
	lines = &[]string{}
	logger = funcr.New(func(prefix, args string) { *lines = append(*lines, prefix+" "+args) }, funcr.Options{})
	return logger.WithSink(sink{LogSink: logger.GetSink(), budget: newLineBudget()}), lines
}

func TestR1NoLineIsLong(t *testing.T) {
	logger, lines := record()
	long := strings.Repeat("x", 8<<20)
	logger.Info("short", "a", 1, "b", "c")
	logger.Info(long, "value", long)
	logger.Error(errors.New(long), long, "object", klog.KRef(long, long), "bytes", []byte(long))
	logger.WithName("n").WithValues("kept", long).Info("message")
	require.Len(t, *lines, 4)
	assert.Equal(t, ` "level"=0 "msg"="short" "a"=1 "b"="c"`, (*lines)[0])
	for _, line := range *lines {
		assert.Less(t, len(line), 5*maxValue)
	}
	assert.Contains(t, (*lines)[1], "… (8388608 bytes)")
	assert.Contains(t, (*lines)[3], `"kept"="xxx`)
}

func TestR1LinesAreFewAndSayHowManyWereDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		logger, lines := record()
		for range 10 * lineBurst {
			logger.Info("a")
			logger.Error(nil, "b")
		}
		require.Len(t, *lines, lineBurst)
		time.Sleep(time.Second)
		logger.Info("a")
		require.Len(t, *lines, lineBurst+1)
		assert.Contains(t, (*lines)[lineBurst], `"linesDropped"=380`)
		time.Sleep(time.Second)
		logger.Info("a")
		assert.NotContains(t, (*lines)[lineBurst+1], "linesDropped")
	})
}

func TestALoggerThatWritesNothingStaysOne(*testing.T) {
	Bound(logr.Discard()).Info("nothing")
	Bound(logr.Logger{}).Info("nothing")
}
