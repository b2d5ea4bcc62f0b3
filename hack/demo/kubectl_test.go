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
