//go:build !linux

// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import "syscall"

// childAttributes has nothing to say where a child can't be made to die with its parent.
func childAttributes() *syscall.SysProcAttr {
	return nil
}
