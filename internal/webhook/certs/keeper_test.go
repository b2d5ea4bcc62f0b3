// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	clocktesting "k8s.io/utils/clock/testing"
)

// authority signs certificates.
type authority struct {
	t    testing.TB
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	return key
}

// newAuthority makes an authority that is valid until the given time.
func newAuthority(t testing.TB, name string, until time.Time) *authority {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: until.AddDate(-1, 0, 0), NotAfter: until, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	cert, err := x509.ParseCertificate(raw)
	require.NoError(t, err)
	return &authority{t: t, cert: cert, key: key, pem: encode(cert)}
}

// issue writes a new certificate into a directory, as the kubelet would.
func (a *authority) issue(dir string) {
	a.t.Helper()
	key := newKey(a.t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), DNSNames: []string{"webhook"}, NotBefore: a.cert.NotBefore, NotAfter: a.cert.NotAfter,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, a.cert, &key.PublicKey, a.key)
	require.NoError(a.t, err)
	keyDER, err := x509.MarshalECPrivateKey(key)
	require.NoError(a.t, err)
	for name, content := range map[string][]byte{
		"tls.crt": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}),
		"tls.key": pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER}),
		"ca.crt":  append([]byte("# as some write it\n"), a.pem...),
	} {
		require.NoError(a.t, os.WriteFile(filepath.Join(dir, name), content, 0o600))
	}
}

// notebook is a Trust that shows what was added only when the test has it do so, as a cache would.
type notebook struct {
	added [][]byte
	shown []byte
	err   error
}

func (n *notebook) Add(_ context.Context, authority []byte) error {
	if n.err == nil && !has(n.shown, authority) {
		n.added = append(n.added, authority)
	}
	return n.err
}

func (n *notebook) Bundles(context.Context) ([][]byte, error) { return [][]byte{n.shown}, nil }

var start = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

func newKeeper(t testing.TB, dir string, trust Trust) (*Keeper, *clocktesting.FakeClock) {
	t.Helper()
	clock := clocktesting.NewFakeClock(start)
	keeper, err := NewKeeper(dir, Objects{}, clock)
	require.NoError(t, err)
	keeper.trust = trust
	return keeper, clock
}

// servedBy reports whether what is served was signed by the authority.
func (a *authority) servedBy(k *Keeper) bool {
	certificate, err := k.GetCertificate(nil)
	require.NoError(a.t, err)
	return certificate.Leaf.CheckSignatureFrom(a.cert) == nil
}

func TestNothingIsReadyBeforeTheAPIServerTrustsIt(t *testing.T) {
	dir, trust, ca := t.TempDir(), &notebook{}, newAuthority(t, "ca", start.AddDate(1, 0, 0))
	ca.issue(dir)
	k, clock := newKeeper(t, dir, trust)
	assert.True(t, ca.servedBy(k), "it is served from the beginning: there is no better")
	require.Error(t, k.Ready())

	_, err := k.step(t.Context())
	require.NoError(t, err)
	assert.Equal(t, [][]byte{ca.pem}, trust.added)
	require.ErrorContains(t, k.Ready(), "does not trust the webhooks' certificate yet")

	trust.shown = ca.pem
	wait, err := k.step(t.Context())
	require.NoError(t, err)
	assert.Equal(t, settle, wait)
	require.Error(t, k.Ready(), "seen by us is not yet known to the API server")

	clock.Step(settle)
	_, err = k.step(t.Context())
	require.NoError(t, err)
	require.NoError(t, k.Ready())

	trust.shown = nil
	_, err = k.step(t.Context())
	require.NoError(t, err)
	assert.NoError(t, k.Ready(), "it stays ready, and has it trusted again")
	assert.Len(t, trust.added, 2)
}

func TestANewAuthorityIsServedOnlyOnceItIsTrusted(t *testing.T) {
	dir := t.TempDir()
	before, after := newAuthority(t, "ca", start.AddDate(1, 0, 0)), newAuthority(t, "ca", start.AddDate(2, 0, 0))
	before.issue(dir)
	trust := &notebook{shown: before.pem}
	k, clock := newKeeper(t, dir, trust)
	step := func() {
		t.Helper()
		_, err := k.step(t.Context())
		require.NoError(t, err)
	}
	step()
	clock.Step(settle)
	step()
	require.NoError(t, k.Ready())

	after.issue(dir)
	step()
	clock.Step(time.Hour)
	step()
	assert.True(t, before.servedBy(k), "as long as it is not trusted")
	assert.Equal(t, after.pem, trust.added[0])

	trust.shown = withAuthority(before.pem, after.pem, clock.Now())
	step()
	assert.True(t, before.servedBy(k), "as long as it is not trusted for long enough")
	clock.Step(settle)
	step()
	assert.True(t, after.servedBy(k))
}

func TestFilesThatDoNotFitTogetherAreLeftForLater(t *testing.T) {
	dir, ca, other := t.TempDir(), newAuthority(t, "ca", start.AddDate(1, 0, 0)), newAuthority(t, "other", start.AddDate(1, 0, 0))
	ca.issue(dir)
	k, _ := newKeeper(t, dir, &notebook{shown: ca.pem})
	require.NoError(t, os.WriteFile(filepath.Join(dir, "ca.crt"), other.pem, 0o600))
	_, err := k.step(t.Context())
	require.ErrorContains(t, err, "ca.crt is not its authority")
	assert.True(t, ca.servedBy(k))
	for _, name := range []string{"ca.crt", "tls.key", "tls.crt"} {
		require.NoError(t, os.Remove(filepath.Join(dir, name)))
		_, err = NewKeeper(dir, Objects{}, clocktesting.NewFakeClock(start))
		require.ErrorContains(t, err, filepath.Join(dir, name))
	}
	ca.issue(dir)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tls.key"), []byte("no key"), 0o600))
	_, err = NewKeeper(dir, Objects{}, clocktesting.NewFakeClock(start))
	assert.ErrorContains(t, err, "the webhooks' certificate in "+dir)
}

func TestTheKeeperGoesOnUntilItIsStopped(t *testing.T) {
	dir, ca := t.TempDir(), newAuthority(t, "ca", start.AddDate(1, 0, 0))
	ca.issue(dir)
	trust := &notebook{shown: ca.pem, err: errors.New("no API server")}
	k, clock := newKeeper(t, dir, trust)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- k.Start(ctx) }()
	require.Eventually(t, clock.HasWaiters, 30*time.Second, time.Millisecond)
	require.Error(t, k.Ready(), "it has looked, and found nobody")
	k.wake()
	k.wake()
	cancel()
	require.NoError(t, <-done)
	assert.False(t, k.NeedLeaderElection())
}

func TestABundleHasTheAuthorityAndTheOneBefore(t *testing.T) {
	future := start.AddDate(1, 0, 0)
	first, second, third, expired := newAuthority(t, "1", future), newAuthority(t, "2", future), newAuthority(t, "3", future), newAuthority(t, "0", start)
	assert.Equal(t, first.pem, withAuthority(nil, first.pem, start))
	assert.Equal(t, first.pem, withAuthority([]byte("garbage"), first.pem, start))
	assert.Equal(t, first.pem, withAuthority(expired.pem, first.pem, start))
	two := withAuthority(first.pem, second.pem, start)
	assert.Equal(t, string(second.pem)+string(first.pem), string(two))
	assert.Equal(t, string(third.pem)+string(second.pem), string(withAuthority(two, third.pem, start)))
	assert.True(t, has(two, first.pem))
	assert.False(t, has(two, third.pem))
}
