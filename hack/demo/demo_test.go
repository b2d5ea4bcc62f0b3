// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTheOtherTerminalFindsTheClusterKubectlAndThePlugin(t *testing.T) {
	want := `export KUBECONFIG=/tmp/c/admin.kubeconfig
export PATH=/src/bin:/src/bin/k8s:$PATH
kubectl get cronjobs.v2.batch.tutorial.kubebuilder.io --watch
`
	assert.Equal(t, want, otherTerminal("/src", "/tmp/c/admin.kubeconfig"))
}
