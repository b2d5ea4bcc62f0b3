//go:build e2e

// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const (
	servingSecret      = "webhook-server-cert"
	authoritySecret    = "webhook-ca-cert"
	servingCertificate = "project-serving-cert"
	webhookPort        = 9443
)

// A kubelet takes up to a minute and a half to bring new files to its Pods, each at another time.
func TestNoRequestFailsWhileTheServingCertificateIsRenewed(t *testing.T) {
	t.Parallel()
	deployed(t)
	r := watchReplicas(t)
	load := startLoad(t, 0)

	before := r.secret(servingSecret)
	r.delete(servingSecret)
	remade := r.awaitNew(servingSecret, before)
	renewNow(t)
	r.awaitServed(r.awaitNew(servingSecret, remade))

	load.stop()
}

// The CA injector has the API server trust the new CA at once, and the kubelets bring the new
// certificate later: until then, the webhooks fail. How long that takes stands in
// docs/operations.md.
func TestReplacingTheCAFailsRequestsForAWhileAndNoTick(t *testing.T) {
	deployed(t)
	r := watchReplicas(t)
	s := newSpace(t)
	seen := watchJobs(t, s.ns)
	s.create(s.cronJob("c").Schedule("@every 5s").History(1000, 1000))
	seen.await(t, 1)
	load := startLoad(t, 3*time.Minute)

	authority, before := r.secret(authoritySecret), r.secret(servingSecret)
	r.delete(authoritySecret)
	authority = r.awaitNew(authoritySecret, authority)
	r.delete(servingSecret)
	signed := r.awaitNew(servingSecret, before)
	require.Equal(t, string(authority["tls.crt"]), string(signed["ca.crt"]), "signed by the new authority")
	r.awaitServed(signed)
	require.NoError(t, rollOut(t.Context()), "the replicas are ready again")

	load.stop()
	for i, job := range seen.jobs()[1:] {
		before := seen.jobs()[i]
		assert.Equal(t, 5*time.Second, tickOf(t, &job).Sub(tickOf(t, &before)), "between %s and %s", before.Name, job.Name)
	}
}

// watchReplicas returns the replicas that are ready.
func watchReplicas(t *testing.T) *replicasUnderWatch {
	t.Helper()
	r := &replicasUnderWatch{t: t, addresses: map[string]string{}}
	for _, pod := range readyPods(t) {
		r.addresses[pod.Name] = forward(t, pod.Name, webhookPort)
	}
	return r
}

// renewNow renews the serving certificate as `cmctl renew` does, once cert-manager has done with it
// what it is at.
func renewNow(t *testing.T) {
	t.Helper()
	await(t, func(ctx context.Context) error {
		certificate := &unstructured.Unstructured{}
		certificate.SetAPIVersion("cert-manager.io/v1")
		certificate.SetKind("Certificate")
		if err := cluster.Get(ctx, inOperatorNamespace(servingCertificate), certificate); err != nil {
			return err
		}
		conditions, _, err := unstructured.NestedSlice(certificate.Object, "status", "conditions")
		if err != nil {
			return err
		}
		if slices.ContainsFunc(conditions, isIssuing) {
			return errors.New("cert-manager is issuing the certificate before this one")
		}
		conditions = append(conditions, map[string]any{
			"type": issuing, "status": "True", "reason": "ManuallyTriggered", "message": "by a test",
			"lastTransitionTime": time.Now().UTC().Format(time.RFC3339),
		})
		if err := unstructured.SetNestedSlice(certificate.Object, conditions, "status", "conditions"); err != nil {
			return err
		}
		return cluster.Status().Update(ctx, certificate)
	})
}

// issuing is the condition of a Certificate of which another is being made; it is gone when that is
// there.
const issuing = "Issuing"

func isIssuing(condition any) bool {
	members, ok := condition.(map[string]any)
	return ok && members["type"] == issuing
}

// replicasUnderWatch are the replicas, at their addresses by name.
type replicasUnderWatch struct {
	t         *testing.T
	addresses map[string]string
}

// secret returns what a Secret of the operator's holds.
func (r *replicasUnderWatch) secret(name string) map[string][]byte {
	r.t.Helper()
	secret := &corev1.Secret{}
	require.NoError(r.t, cluster.Get(r.t.Context(), inOperatorNamespace(name), secret))
	return secret.Data
}

// delete deletes a Secret.
func (r *replicasUnderWatch) delete(name string) {
	r.t.Helper()
	secret := &corev1.Secret{}
	secret.Namespace, secret.Name = operatorNamespace, name
	require.NoError(r.t, cluster.Delete(r.t.Context(), secret))
}

// awaitNew waits until a Secret holds another certificate, and returns what it holds then.
func (r *replicasUnderWatch) awaitNew(name string, before map[string][]byte) map[string][]byte {
	r.t.Helper()
	secret := &corev1.Secret{}
	await(r.t, func(ctx context.Context) error {
		if err := cluster.Get(ctx, inOperatorNamespace(name), secret); err != nil {
			return err
		}
		if len(secret.Data["tls.crt"]) == 0 || bytes.Equal(secret.Data["tls.crt"], before["tls.crt"]) {
			return fmt.Errorf("secret %s has no new certificate", name)
		}
		return nil
	})
	return secret.Data
}

// awaitServed waits until each replica serves the certificate of a Secret.
func (r *replicasUnderWatch) awaitServed(secret map[string][]byte) {
	r.t.Helper()
	block, _ := pem.Decode(secret["tls.crt"])
	require.NotNil(r.t, block)
	begin, arrived := time.Now(), map[string]string{}
	await(r.t, func(ctx context.Context) error {
		for name, address := range r.addresses {
			served, err := servedAt(ctx, address)
			if err != nil {
				return fmt.Errorf("asking %s: %w", name, err)
			}
			if _, known := arrived[name]; !known && bytes.Equal(served.Raw, block.Bytes) {
				arrived[name] = sinceSeconds(begin)
			}
		}
		if len(arrived) < len(r.addresses) {
			return fmt.Errorf("of %d replicas, these serve the new certificate: %v", len(r.addresses), arrived)
		}
		return nil
	})
	r.t.Logf("the replicas served the new certificate after %v", arrived)
}
