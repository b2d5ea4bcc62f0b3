//go:build unix && !linux

// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package localcluster

import "syscall"

// childAttributes puts a child in a process group of its own. Only Linux can have it killed when
// this process dies.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}

// dyingWithParent returns the program as it is.
func dyingWithParent(program, _ string) (string, error) {
	return program, nil
}
