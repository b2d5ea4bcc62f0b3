// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"encoding/base64"
	"fmt"
	"net"
	"os"
	"path/filepath"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// newCertificate returns a certificate for servers on the loopback interface, with that of its new
// authority, and its key, PEM-encoded.
func newCertificate() (certificate, key []byte, err error) {
	return cert.GenerateSelfSignedCertKey("localhost", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
}

// rotateCerts replaces the webhooks' certificate and its authority. As with cert-manager and the
// kubelet, the API server trusts the new authority before the managers find the new certificate,
// and no longer the old one: for a moment, calls fail.
func (s *Site) rotateCerts(ctx context.Context) error {
	certificate, key, err := newCertificate()
	if err != nil {
		return err
	}
	if err := s.inject(ctx, certificate); err != nil {
		return fmt.Errorf("injecting the authority: %w", err)
	}
	// As the kubelet does it, the directory is a link, so that its files change at once.
	s.rotations++
	dir := fmt.Sprintf("%s-%d", s.certDir, s.rotations)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	for name, content := range map[string][]byte{"tls.crt": certificate, "tls.key": key} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return err
		}
	}
	if err := os.Symlink(dir, dir+".link"); err != nil {
		return err
	}
	return os.Rename(dir+".link", s.certDir)
}

// inject has the API server trust an authority, as cert-manager's CA injector does.
func (s *Site) inject(ctx context.Context, authority []byte) error {
	at := metav1.ObjectMeta{Name: "mutating-webhook-configuration"}
	mutating := &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: at}
	at.Name = "validating-webhook-configuration"
	validating := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: at}
	crd := &unstructured.Unstructured{}
	crd.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
	crd.SetName("cronjobs.batch.tutorial.kubebuilder.io")
	for object, path := range map[client.Object]string{
		mutating: "/webhooks/0", validating: "/webhooks/0", crd: "/spec/conversion/webhook",
	} {
		patch := fmt.Appendf(nil, `[{"op":"add","path":"%s/clientConfig/caBundle","value":%q}]`,
			path, base64.StdEncoding.EncodeToString(authority))
		if err := s.Client.Patch(ctx, object, client.RawPatch(types.JSONPatchType, patch)); err != nil {
			return err
		}
	}
	return nil
}
