//go:build e2e

// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
)

// What the policies close is checked where they are written, against the Pods' labels and ports
// (test/integration): a cluster's network need not enforce them.
func TestWithTheNetworkPoliciesTheWebhooksAreReached(t *testing.T) {
	deployed(t)
	kubectl(t, "apply", "-k", "config/network-policy")
	t.Cleanup(func() {
		assert.NoError(t, kubectlCommand(context.Background(), "delete", "-k", "config/network-policy").Run())
	})
	newSpace(t).applySamplesAndReadThem()
}
