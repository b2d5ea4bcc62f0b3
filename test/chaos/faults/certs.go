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

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/cert"
)

// rotateCerts replaces the webhooks' certificate and its CA. As with cert-manager and the kubelet,
// the API server trusts the new CA, and no longer the old one, before the managers have the new
// certificate: for a moment, calls fail.
func (s *Site) rotateCerts(ctx context.Context) error {
	certificate, key, err := cert.GenerateSelfSignedCertKey("localhost", []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	if err != nil {
		return err
	}
	if err := s.inject(ctx, certificate); err != nil {
		return fmt.Errorf("injecting the authority: %w", err)
	}
	// Like the kubelet, replace a symbolic link, so that all files change at once, and remove its
	// old target, which watchers of the files notice.
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
	if err := os.Rename(dir+".link", s.certDir); err != nil {
		return err
	}
	return os.RemoveAll(fmt.Sprintf("%s-%d", s.certDir, s.rotations-1))
}

// trusting has the objects that have the CA of the webhooks, and where.
var trusting = map[string]string{
	"admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/mutating-webhook-configuration":     "/webhooks/0",
	"admissionregistration.k8s.io/v1/validatingwebhookconfigurations/validating-webhook-configuration": "/webhooks/0",
	"apiextensions.k8s.io/v1/customresourcedefinitions/cronjobs.batch.tutorial.kubebuilder.io":         "/spec/conversion/webhook",
}

// inject makes the API server trust a CA, as cert-manager's CA injector does.
func (s *Site) inject(ctx context.Context, authority []byte) error {
	for path, at := range trusting {
		patch := fmt.Appendf(nil, `[{"op":"add","path":"%s/clientConfig/caBundle","value":%q}]`,
			at, base64.StdEncoding.EncodeToString(authority))
		if err := s.REST.Patch(types.JSONPatchType).AbsPath("/apis/" + path).Body(patch).Do(ctx).Error(); err != nil {
			return err
		}
	}
	return nil
}
