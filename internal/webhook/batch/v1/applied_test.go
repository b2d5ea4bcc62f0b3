// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"tutorial.kubebuilder.io/project/test/builders"
)

func TestAScheduleThatKubectlApplyHasMergedIsWarnedOf(t *testing.T) {
	v2 := func(schedule string) string {
		return `{"apiVersion":"batch.tutorial.kubebuilder.io/v2","kind":"CronJob","metadata":{"name":"c"},"spec":{"schedule":` + schedule + `}}`
	}
	v1 := func(schedule string) string {
		return `{"apiVersion":"batch.tutorial.kubebuilder.io/v1","kind":"CronJob","metadata":{"name":"c"},"spec":{"schedule":"` + schedule + `"}}`
	}
	for name, tc := range map[string]struct {
		before, applied, schedule string
		want                      bool
	}{
		"fields over a text":            {v1("0 9 * * *"), v2(`{"minute":"30"}`), "30 9 * * *", true},
		"fields over an edit":           {v2(`{"minute":"0"}`), v2(`{"minute":"30"}`), "30 9 * * *", true},
		"all fields":                    {v1("0 9 * * *"), v2(`{"minute":"30","hour":"9"}`), "30 9 * * *", false},
		"stars written out":             {v1("0 9 * * *"), v2(`{"minute":"30","hour":"*"}`), "30 * * * *", false},
		"a text":                        {v2(`{"minute":"0"}`), v1("30 9 * * *"), "30 9 * * *", false},
		"a text that means the same":    {v2(`{"minute":"0"}`), v2(`{"minute":"0","hour":"*"}`), "@hourly", false},
		"an edit, and nothing applied":  {v2(`{"minute":"0"}`), v2(`{"minute":"0"}`), "30 9 * * *", false},
		"an annotation of another kind": {"", `{"apiVersion":"batch/v1","kind":"CronJob","spec":{"schedule":"0 * * * *"}}`, "30 9 * * *", false},
		"an annotation of no schedule":  {"", v2(`7`), "30 9 * * *", false},
		"an annotation that is no JSON": {"", "no", "30 9 * * *", false},
		"no annotation":                 {"", "", "30 9 * * *", false},
	} {
		t.Run(name, func(t *testing.T) {
			before, after := builders.MakeCronJob("c").Obj(), builders.MakeCronJob("c").Schedule(tc.schedule).Obj()
			before.Annotations = map[string]string{corev1.LastAppliedConfigAnnotation: tc.before}
			after.Annotations = map[string]string{corev1.LastAppliedConfigAnnotation: tc.applied}
			for _, stored := range []string{"0 9 * * *", tc.schedule} { // the warning does not need an edit
				before.Spec.Schedule = stored
				found, err := validator{}.ValidateUpdate(t.Context(), before, after)
				require.NoError(t, err)
				if !tc.want {
					assert.Empty(t, found)
					continue
				}
				assert.Equal(t, []string{`spec.schedule: what was applied means "30 * * * *", but the object now says "30 9 * * *": kubectl apply has merged ` +
					"the fields with those that were stored; set all fields, or use kubectl apply --server-side"}, []string(found))
			}
		})
	}
}
