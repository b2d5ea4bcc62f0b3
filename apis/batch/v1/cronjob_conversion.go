// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v1

// Hub marks this version as the one that all others convert to and from (conversion.Hub of
// sigs.k8s.io/controller-runtime).
func (*CronJob) Hub() {}
