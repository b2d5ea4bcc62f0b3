// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestASchedulePartOfWhichWasAppliedIsMergedWithAWarning(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	apply := func(version, schedule string, flags ...string) string {
		manifest := `{"apiVersion":"batch.tutorial.kubebuilder.io/` + version + `","kind":"CronJob","metadata":{"name":"c"},"spec":{"schedule":` +
			schedule + `,"jobTemplate":{"spec":{"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"main","image":"busybox"}]}}}}}}`
		return s.kubectlWithInput(t, manifest, append([]string{"apply", "-n", s.ns, "-f", "-"}, flags...)...)
	}
	const warning = `Warning: spec.schedule: what was applied means "30 * * * *", but the object now says "30 9 * * *": `
	apply("v1", `"0 9 * * *"`)
	assert.Contains(t, apply("v2", `{"minute":"30"}`), warning)
	assert.Equal(t, "30 9 * * *", s.get("c").Spec.Schedule)

	// The API server tries a patch on its cache first, and the answer has the warnings of that try
	// too.
	cached := "/apis/batch.tutorial.kubebuilder.io/v2/namespaces/" + s.ns + "/cronjobs/c?resourceVersion=0"
	s.eventually(func() bool {
		out, _ := s.tryKubectl(t, "get", "--raw", cached) // it may lack the object
		return strings.Contains(out, `"hour":"9","minute":"30"`)
	}, "the cache is old")
	assert.NotContains(t, apply("v2", `{"minute":"30","hour":"9"}`), "Warning")
	assert.NotContains(t, apply("v2", `{"minute":"30"}`), "Warning", "kubectl has applied the hour, so it knows that it goes")
	assert.Equal(t, "30 * * * *", s.get("c").Spec.Schedule)
	assert.NotContains(t, apply("v2", `{"minute":"0"}`, "--server-side", "--force-conflicts"), "Warning: spec")
}
