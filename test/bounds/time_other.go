//go:build !unix

// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package bounds

import "time"

var began = time.Now()

// workedFor returns how old the process is, where the system does not tell more.
func workedFor() time.Duration { return time.Since(began) }
