//go:build !unix

// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package bounds

import "time"

var began = time.Now()

// workedFor returns the age of the process, as there is no portable way to get its CPU time.
func workedFor() time.Duration { return time.Since(began) }
