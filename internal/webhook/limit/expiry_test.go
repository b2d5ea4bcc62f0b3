// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package limit_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"tutorial.kubebuilder.io/project/internal/webhook/limit"
	"tutorial.kubebuilder.io/project/test/localcluster"
)

// issue writes a new certificate, of so many days, into a directory and returns when it expires.
func issue(t *testing.T, dir string, days int) time.Time {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	until := time.Now().AddDate(0, 0, days).Truncate(time.Second)
	template := &x509.Certificate{SerialNumber: big.NewInt(int64(days)), NotBefore: time.Now().Add(-time.Hour), NotAfter: until}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	encoded, err := x509.MarshalECPrivateKey(key)
	require.NoError(t, err)
	for name, block := range map[string]*pem.Block{
		"tls.key": {Type: "EC PRIVATE KEY", Bytes: encoded}, "tls.crt": {Type: "CERTIFICATE", Bytes: certificate},
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600))
	}
	return until
}

// expiries returns the values of the metric of the certificate.
func expiries(t *testing.T) []float64 {
	t.Helper()
	families, err := metrics.Registry.Gather()
	require.NoError(t, err)
	var values []float64
	for _, family := range families {
		if family.GetName() == "cronjob_controller_webhook_certificate_expiration_timestamp_seconds" {
			for _, metric := range family.GetMetric() {
				values = append(values, metric.GetGauge().GetValue())
			}
		}
	}
	return values
}

func TestTheMetricsTellWhenTheCertificateThatIsServedExpires(t *testing.T) {
	assert.Empty(t, expiries(t), "nothing is served")
	dir := t.TempDir()
	first := issue(t, dir, 90)
	port, err := localcluster.FreePort()
	require.NoError(t, err)
	stop := start(t, limit.NewServer(webhook.Options{Host: "127.0.0.1", Port: port, CertDir: dir}))
	servesUntil := func() time.Time {
		connection, err := tls.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port), &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			return time.Time{}
		}
		defer func() { _ = connection.Close() }()
		return connection.ConnectionState().PeerCertificates[0].NotAfter
	}
	requireServed := func(until time.Time) {
		require.Eventually(t, func() bool { return servesUntil().Equal(until) }, time.Minute, 10*time.Millisecond)
		require.Equal(t, []float64{float64(until.Unix())}, expiries(t))
	}
	requireServed(first)
	requireServed(issue(t, dir, 30))
	require.NoError(t, <-stop())
	assert.Empty(t, expiries(t), "nothing is served any more")
}
