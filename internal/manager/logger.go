// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package manager

import (
	"github.com/go-logr/logr"
	"github.com/go-logr/zapr"
	uberzap "go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
)

// newLogger makes the manager's logger. It samples only errors, which have stack traces and come by
// the thousands while the API server is unreachable. controller-runtime's logger samples all lines:
// after a hundred with one message in a second, it writes each hundredth. Of a thousand runs in a
// second, it would log only some.
func newLogger(opts zap.Options) logr.Logger {
	var all zapcore.Core
	opts.ZapOpts = append(opts.ZapOpts, uberzap.WrapCore(func(core zapcore.Core) zapcore.Core { // before it is sampled
		all = lazyCore{core}
		return all
	}))
	logger := zap.NewRaw(zap.UseFlagOptions(&opts))
	return zapr.NewLogger(logger.WithOptions(uberzap.WrapCore(func(sampled zapcore.Core) zapcore.Core {
		return errorsSampled{Core: all, sampled: sampled}
	})))
}

// errorsSampled is a core that samples errors.
type errorsSampled struct {
	zapcore.Core
	sampled zapcore.Core
}

// With implements zapcore.Core.
func (c errorsSampled) With(values []zapcore.Field) zapcore.Core {
	return errorsSampled{Core: c.Core.With(values), sampled: c.sampled.With(values)}
}

// Check implements zapcore.Core.
func (c errorsSampled) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if entry.Level >= zapcore.ErrorLevel {
		return c.sampled.Check(entry, checked)
	}
	return c.Core.Check(entry, checked)
}

// lazyCore encodes the values of a logger only when the logger first writes a line: each reconcile
// makes two loggers, and most write nothing.
type lazyCore struct{ zapcore.Core }

// With implements zapcore.Core.
func (c lazyCore) With(values []zapcore.Field) zapcore.Core {
	return lazyCore{zapcore.NewLazyWith(c.Core, values)}
}
