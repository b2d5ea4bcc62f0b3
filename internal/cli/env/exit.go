/*
Copyright 2026 The project authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

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
