// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// edited returns the generation of which the webhook wrote down when it was edited, and what it
// wrote.
func (s *space) edited(name string) (generation int64, stamp string) {
	s.t.Helper()
	stamp = s.get(name).Annotations[v1.EditedAnnotation]
	made := struct{ Generation int64 }{}
	require.NoError(s.t, json.Unmarshal([]byte(stamp), &made), stamp)
	return made.Generation, stamp
}

func TestS7OnlyTheWebhookSaysWhenACronJobWasEdited(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"v1", "v2"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			s := newSpace(t)
			manifest := s.object(version, "c", yearly[version], jobTemplate)
			forged := manifest.DeepCopy()
			forged.SetAnnotations(map[string]string{v1.EditedAnnotation: "forged"})
			s.kubectlCreate(forged)
			assert.NotContains(t, s.get("c").Annotations, v1.EditedAnnotation, "what is new was not edited")

			spec := manifest.Object["spec"].(map[string]any)
			spec["schedule"] = s.object(version, "c", twiceYearly[version]).Object["spec"].(map[string]any)["schedule"]
			path := s.write(manifest)
			s.kubectl(t, "replace", "-n", s.ns, "-f", path)
			generation, stamp := s.edited("c")
			assert.EqualValues(t, 1, generation)

			const forge = `{"metadata":{"annotations":{"` + v1.EditedAnnotation + `":"forged"}},"status":{}}`
			patch := []string{"patch", cronJobsIn(version), "c", "--type=merge", "-p", forge}
			for _, args := range [][]string{
				{"annotate", cronJobsIn(version), "c", v1.EditedAnnotation + "-"},
				{"annotate", "--overwrite", cronJobsIn(version), "c", v1.EditedAnnotation + "=forged"},
				{"label", cronJobsIn(version), "c", "a=b"},
				patch,
				append(patch, "--subresource=status"),
				{"replace", "-f", path},
				{"apply", "--server-side", "--force-conflicts", "-f", path},
			} {
				s.eventually(func() bool { return s.get("c").Status.ObservedGeneration == 2 }, "no status")
				s.kubectl(t, append(args, "-n", s.ns)...)
				_, still := s.edited("c")
				assert.Equal(t, stamp, still, "%q", args)
			}
			assert.EqualValues(t, 2, s.get("c").Generation)
			assert.Empty(t, s.ownersOf("metadata", "annotations", v1.EditedAnnotation), "so no apply removes it")
		})
	}
}
