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
