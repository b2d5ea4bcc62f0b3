// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import "syscall"

// childAttributes has the kernel kill a child when this process dies, however it dies, and keeps a
// Ctrl-C of the terminal from it.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
