// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// authority signs certificates for this machine.
type authority struct {
	certificateOf *x509.Certificate
	key           *ecdsa.PrivateKey
	pem           []byte
}

func newAuthority(name string) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &authority{certificate, key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}, nil
}

// files returns a certificate for servers on the loopback interface, and its key, PEM-encoded.
func (a *authority) files() (certificate, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "chaos"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, KeyUsage: x509.KeyUsageDigitalSignature,
		DNSNames: []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificateOf, private.Public(), a.key)
	if err != nil {
		return nil, nil, err
	}
	keyDER, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER}), nil
}

// certificate returns one to serve by.
func (a *authority) certificate() (tls.Certificate, error) {
	certificate, key, err := a.files()
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(certificate, key)
}

// certs is the directory with the webhooks' certificate. As the kubelet does it, the directory is a link, which is
// replaced when the certificate is, so that its files change at once.
type certs struct {
	dir string
	nth int
}

// rotateCerts replaces the webhooks' certificate and its authority. As with cert-manager and the kubelet, the
// API server trusts the new authority before the managers find the new certificate, and no longer the old
// one: for a moment, calls fail.
func (s *Site) rotateCerts(ctx context.Context) error {
	s.certs.nth++
	authority, err := newAuthority(fmt.Sprintf("webhooks %d", s.certs.nth))
	if err != nil {
		return err
	}
	if err := s.inject(ctx, authority.pem); err != nil {
		return fmt.Errorf("injecting the authority: %w", err)
	}
	return s.certs.replace(authority)
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

// replace puts a new certificate of an authority in the place of the one before.
func (c *certs) replace(authority *authority) error {
	certificate, key, err := authority.files()
	if err != nil {
		return err
	}
	dir := fmt.Sprintf("%s-%d", c.dir, c.nth)
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
	return os.Rename(dir+".link", c.dir)
}
