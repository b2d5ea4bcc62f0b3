//go:build unix

// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package bounds

import (
	"syscall"
	"time"
)

func workedFor() time.Duration {
	used := syscall.Rusage{}
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
