// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package env

import "errors"

// ExitError ends the program with a code other than 1.
type ExitError struct {
	// Code is the exit code.
	Code int

	// Err is what to print; nil if what there is to say has been said.
	Err error
}

// Error is the message to print, which may be empty.
func (e *ExitError) Error() string {
	if e.Err == nil {
		return ""
	}
	return e.Err.Error()
}

// Unwrap returns what is wrapped.
func (e *ExitError) Unwrap() error { return e.Err }

// ExitCode is the code to exit with after an error: 0 for none, 1 if it does not say otherwise.
func ExitCode(err error) int {
	var exit *ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		return exit.Code
	default:
		return 1
	}
}
