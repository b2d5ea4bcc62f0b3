// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package crd has the CustomResourceDefinition for programs that check objects by its schemas.
package crd

import _ "embed" // for the file

// CronJobs is the CustomResourceDefinition of CronJobs with all versions, as YAML.
//
//go:embed bases/batch.tutorial.kubebuilder.io_cronjobs.yaml
var CronJobs []byte
