// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	v2 "tutorial.kubebuilder.io/project/apis/batch/v2"
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

// Before 1.37, the API server then drops the managed fields of an edit, which are in two versions.
func TestS7AnEditIsWrittenDownWhileTheConversionWebhookDoesNotAnswer(t *testing.T) {
	// It is not parallel: no other test can use v2 meanwhile.
	s := newSpace(t)
	require.NoError(t, s.apply("one", "v2", "schedule: {every: 1s}\nsuspend: true\n"+jobTemplate))
	s.awaitReady("c", metav1.ConditionTrue, v1.ReasonSuspended)

	admin, crd := direct(t), &apiextensionsv1.CustomResourceDefinition{}
	require.NoError(t, admin.Get(t.Context(), client.ObjectKey{Name: crdName}, crd))
	convertAt := func(url string, isAnswered bool) {
		t.Helper()
		patch := fmt.Sprintf(`{"spec":{"conversion":{"webhook":{"clientConfig":{"url":%q}}}}}`, url)
		ctx := context.WithoutCancel(t.Context()) // it is over when the test cleans up
		require.NoError(t, admin.Patch(ctx, crd, client.RawPatch(types.MergePatchType, []byte(patch))))
		s.eventually(func() bool {
			return (s.Client.Get(ctx, s.key("c"), &v2.CronJob{}) == nil) == isAnswered
		}, "the API server does not convert as it is told")
	}
	working := *crd.Spec.Conversion.Webhook.ClientConfig.URL
	t.Cleanup(func() { convertAt(working, true) })
	convertAt("https://127.0.0.1:1/convert", false)

	s.edit("c", func(c *v1.CronJob) { c.Spec.Suspend = new(false) })
	generation, stamp := s.edited("c")
	assert.EqualValues(t, 1, generation)
	made := struct{ RescheduledAt time.Time }{}
	require.NoError(t, json.Unmarshal([]byte(stamp), &made))
	assert.True(t, tickOf(t, &s.awaitJobs("c", 1)[0]).After(made.RescheduledAt))
}
