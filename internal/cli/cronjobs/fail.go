// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package cronjobs

import (
	"fmt"

	"tutorial.kubebuilder.io/project/internal/cli/env"
)

// Fail returns one error for what went wrong with several objects. One is returned as it is; of more,
// each is printed on a line of its own, and the program is to end with 1.
func Fail(e *env.Env, errs []error) error {
	switch len(errs) {
	case 0:
		return nil
	case 1:
		return errs[0]
	}
	for _, err := range errs {
		fmt.Fprintln(e.ErrOut, "error:", err)
	}
	return &env.ExitError{Code: 1}
}
