//go:build e2e

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
