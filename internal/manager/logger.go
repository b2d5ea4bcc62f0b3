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

// newLogger makes the manager's logger of its options. It differs from controller-runtime's in what
// it drops. That one writes, of lines with one message, a hundred a second and from then on each
// hundredth: of a thousand runs in a second, it would tell of some. Here that is for errors alone,
// which come with a stack trace and by the thousands when the API server is away.
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

// errorsSampled is a core that leaves errors to one that drops some.
type errorsSampled struct {
	zapcore.Core
	sampled zapcore.Core
}

// With returns the core with values that all its lines have.
func (c errorsSampled) With(values []zapcore.Field) zapcore.Core {
	return errorsSampled{Core: c.Core.With(values), sampled: c.sampled.With(values)}
}

// Check adds the core that is to write an entry, if one is.
func (c errorsSampled) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if entry.Level >= zapcore.ErrorLevel {
		return c.sampled.Check(entry, checked)
	}
	return c.Core.Check(entry, checked)
}

// lazyCore is a core that encodes the values of a logger when that first writes a line: each
// reconcile makes two loggers, and most write none.
type lazyCore struct{ zapcore.Core }

// With returns the core with values that all its lines have.
func (c lazyCore) With(values []zapcore.Field) zapcore.Core {
	return lazyCore{zapcore.NewLazyWith(c.Core, values)}
}
