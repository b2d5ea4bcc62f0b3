// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tutorial.kubebuilder.io/project/test/localcluster"
)

func TestFinalizersAreRemovedWhileNoWebhookAnswers(t *testing.T) {
	t.Parallel()
	port, err := localcluster.FreePort()
	require.NoError(t, err)
	nobody := admissionv1.WebhookClientConfig{URL: new(fmt.Sprintf("https://127.0.0.1:%d/", port))}
	for name, ask := range map[string]func(s *space) client.Object{
		"mutating": func(s *space) client.Object {
			c := &admissionv1.MutatingWebhookConfiguration{}
			require.NoError(t, s.Client.Get(t.Context(), types.NamespacedName{Name: "mutating-webhook-configuration"}, c))
			c.Webhooks[0].ClientConfig, c.Webhooks[0].NamespaceSelector = nobody, s.selector()
			return c
		},
		"validating": func(s *space) client.Object {
			c := &admissionv1.ValidatingWebhookConfiguration{}
			require.NoError(t, s.Client.Get(t.Context(), types.NamespacedName{Name: "validating-webhook-configuration"}, c))
			c.Webhooks[0].ClientConfig, c.Webhooks[0].NamespaceSelector = nobody, s.selector()
			return c
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSpace(t)
			for version := range yearly {
				c := s.object(version, version, yearly[version], jobTemplate)
				c.SetFinalizers([]string{"test.example/held"})
				require.NoError(t, s.Client.Create(t.Context(), c))
			}
			unanswered := ask(s)
			unanswered.SetName(s.ns)
			unanswered.SetResourceVersion("")
			s.create(unanswered)
			s.deleteInTheEnd(unanswered)

			patch := func(version, patch string) (string, error) {
				return s.tryKubectl(t, "patch", "-n", s.ns, cronJobsIn(version), version, "--type=merge", "-p", patch)
			}
			const noFinalizers = `{"metadata":{"finalizers":null}}`
			for version := range yearly {
				s.eventually(func() bool {
					_, err := patch(version, fmt.Sprintf(`{"metadata":{"labels":{"at":"t%d"}}}`, time.Now().UnixNano()))
					return err != nil
				}, "the webhook is not asked")
				_, err := patch(version, `{"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":null}}`)
				require.Error(t, err, "a request can't say that an object is being deleted")

				s.kubectl(t, "delete", "-n", s.ns, cronJobsIn(version), version, "--wait=false")
				out, err := patch(version, noFinalizers)
				require.NoError(t, err, out)
				assert.Empty(t, s.kubectl(t, "get", "-n", s.ns, cronJobsIn(version), version, "--ignore-not-found"))
			}
			deleting := s.object("v1", "new", yearly["v1"], jobTemplate)
			deleting.SetDeletionTimestamp(&metav1.Time{Time: time.Now()})
			assert.ErrorContains(t, s.Client.Create(t.Context(), deleting), "failed calling webhook", "nor a create")
		})
	}
}

// selector selects the namespace.
func (s *space) selector() *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: s.ns}}
}
