// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestExcerptsKeepNameAndSchedule(t *testing.T) {
	list := `
apiVersion: v1
kind: List
items:
- apiVersion: batch.tutorial.kubebuilder.io/v1
  kind: CronJob
  metadata: {name: a, namespace: default}
  spec: {schedule: "@hourly", suspend: false}
- apiVersion: batch.tutorial.kubebuilder.io/v2
  metadata: {name: b}
  spec: {schedule: {minute: "0"}}
`
	got, err := excerpts([]byte(list))
	require.NoError(t, err)
	assert.Equal(t, `apiVersion: batch.tutorial.kubebuilder.io/v1
metadata:
  name: a
spec:
  schedule: '@hourly'
---
apiVersion: batch.tutorial.kubebuilder.io/v2
metadata:
  name: b
spec:
  schedule:
    minute: "0"
`, got)
}
