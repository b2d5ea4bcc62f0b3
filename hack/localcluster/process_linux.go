// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// childAttributes puts a child in a process group of its own and has the kernel kill it when this
// process dies, however it dies.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// dyingWithParent returns a program that does what the given one does and is killed when this
// process dies: for children that others start, and so without our attributes. It is a script in
// dir; where setpriv is missing, the program itself.
func dyingWithParent(program, dir string) (string, error) {
	setpriv, err := exec.LookPath("setpriv")
	if err != nil {
		return program, nil //nolint:nilerr // a clean stop works without
	}
	script := filepath.Join(dir, filepath.Base(program))
	content := fmt.Sprintf("#!/bin/sh\nexec %s --pdeathsig KILL -- %s \"$@\"\n", quote(setpriv), quote(program))
	if err := os.WriteFile(script, []byte(content), 0o700); err != nil { //nolint:gosec // it is a script to run
		return "", fmt.Errorf("wrapping %s: %w", program, err)
	}
	return script, nil
}

// quote makes a string one word of a shell.
func quote(word string) string {
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
