// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package certs has the API server trust the certificate that the webhooks serve, also while the
// certificate, or the authority that signs it, is being replaced.
//
// A new certificate reaches the replicas at different times, up to a minute apart, as the kubelet
// brings each its files. So nothing that changes what the API server trusts at one moment can work:
// before it, some replicas' certificates are not trusted, or after it, others'. The order that works:
//
//  1. A replica finds a new certificate and authority in its files, and goes on serving the old one.
//  2. It adds the authority to those that the API server trusts. The former stays.
//  3. Once it sees that the API server has it everywhere, it serves the new certificate.
package certs

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
)

const (
	// poll is how often the files are read. The kubelet takes up to a minute to bring new ones.
	poll = 5 * time.Second

	// settle is how long a bundle has to be seen in the API server's objects before the API server
	// is taken to go by it.
	settle = 3 * time.Second
)

// Keeper serves the certificate in a directory once the API server trusts it. NewKeeper makes it.
type Keeper struct {
	dir     string
	objects Objects
	trust   Trust
	clock   clock.Clock
	changed chan struct{} // a value says that what the API server trusts may have changed

	mu      sync.Mutex
	serving *files    // what is served now
	next    *files    // what is in the directory; the same, most of the time
	since   time.Time // since when the API server has been seen to trust next; zero if it does not
	ready   bool      // it has been trusted once
}

// Trust is where the API server keeps which authorities it trusts for the webhooks.
type Trust interface {
	// Add has an authority, PEM-encoded, trusted everywhere.
	Add(ctx context.Context, authority []byte) error
	// Bundles returns the PEM-encoded authorities of each place.
	Bundles(ctx context.Context) ([][]byte, error)
}

// files is what the directory has: tls.crt and tls.key, and in ca.crt the authority.
type files struct {
	pair      tls.Certificate
	authority []byte
}

// NewKeeper reads the certificate in a directory: the files tls.crt, tls.key and ca.crt. The keeper
// serves it from then on, and works once SetupWithManager was called and the manager starts.
func NewKeeper(dir string, objects Objects, ticking clock.Clock) (*Keeper, error) {
	found, err := readFiles(dir)
	if err != nil {
		return nil, err
	}
	return &Keeper{dir: dir, objects: objects, clock: ticking, changed: make(chan struct{}, 1), serving: found, next: found}, nil
}

// readFiles reads the certificate and checks that its parts fit together, which they do not in the
// moment in which they are replaced.
func readFiles(dir string) (*files, error) {
	certificate, err := os.ReadFile(filepath.Join(dir, "tls.crt"))
	if err != nil {
		return nil, fmt.Errorf("the webhooks' certificate: %w", err)
	}
	key, err := os.ReadFile(filepath.Join(dir, "tls.key"))
	if err != nil {
		return nil, fmt.Errorf("the webhooks' key: %w", err)
	}
	authority, err := os.ReadFile(filepath.Join(dir, "ca.crt"))
	if err != nil {
		return nil, fmt.Errorf("the authority of the webhooks' certificate: %w", err)
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, fmt.Errorf("the webhooks' certificate in %s: %w", dir, err)
	}
	found := &files{pair: pair, authority: encode(decode(authority)...)}
	if err := found.trustedBy(found.authority); err != nil {
		return nil, fmt.Errorf("the webhooks' certificate in %s: ca.crt is not its authority: %w", dir, err)
	}
	return found, nil
}

// trustedBy reports, by an error if not, whether who trusts these authorities trusts the certificate.
// Whether it has expired is none of this: then there is nothing better to serve.
func (f *files) trustedBy(bundle []byte) error {
	roots, intermediates := x509.NewCertPool(), x509.NewCertPool()
	if !roots.AppendCertsFromPEM(bundle) {
		return errors.New("no authority is trusted")
	}
	for _, raw := range f.pair.Certificate[1:] {
		if certificate, err := x509.ParseCertificate(raw); err == nil {
			intermediates.AddCert(certificate)
		}
	}
	_, err := f.pair.Leaf.Verify(x509.VerifyOptions{
		Roots: roots, Intermediates: intermediates, CurrentTime: f.pair.Leaf.NotBefore.Add(time.Second),
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
	return err
}

// same reports whether both are the same certificate of the same authority.
func (f *files) same(other *files) bool {
	return bytes.Equal(f.authority, other.authority) && bytes.Equal(f.pair.Certificate[0], other.pair.Certificate[0])
}

// GetCertificate returns the certificate to serve, as tls.Config has it.
func (k *Keeper) GetCertificate(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return &k.serving.pair, nil
}

// SetupWithManager has the manager run the keeper, and be ready no sooner than it is. The manager's
// cache has to be one for the objects that Objects.ByObject gives it.
func (k *Keeper) SetupWithManager(mgr ctrl.Manager) error {
	k.trust = ClusterTrust{Client: mgr.GetClient(), Clock: k.clock, Objects: k.objects}
	if err := k.objects.onChange(mgr.GetCache(), k.wake); err != nil {
		return err
	}
	return errors.Join(mgr.Add(k), mgr.AddReadyzCheck("trust", func(*http.Request) error { return k.Ready() }))
}

// wake has the keeper look again.
func (k *Keeper) wake() {
	select {
	case k.changed <- struct{}{}:
	default: // it is about to
	}
}

// Ready returns nil once the API server has been seen to trust the certificate. It stays so: what
// happens later is not helped by taking the webhooks away.
func (k *Keeper) Ready() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.ready {
		return errors.New("the API server does not trust the webhooks' certificate yet")
	}
	return nil
}

// NeedLeaderElection is false: every replica serves webhooks.
func (*Keeper) NeedLeaderElection() bool { return false }

// Start keeps the certificate until the context ends.
func (k *Keeper) Start(ctx context.Context) error {
	log := ctrl.LoggerFrom(ctx).WithName("certs")
	for {
		wait, err := k.step(ctx)
		// A conflict is another replica's doing the same: its write is about to be seen.
		if err != nil && !apierrors.IsConflict(err) && ctx.Err() == nil {
			log.Info("The webhooks' certificate is not as it should be; trying again", "reason", err.Error())
		}
		select {
		case <-ctx.Done():
			return nil
		case <-k.changed:
		case <-k.clock.After(wait):
		}
	}
}

// step takes the next step on the way to serving what the directory has, and returns how long to
// wait before the one after it at most.
func (k *Keeper) step(ctx context.Context) (time.Duration, error) {
	found, err := readFiles(k.dir)
	if err != nil {
		found = k.next // as in the moment in which they are replaced
	}
	bundles, trustErr := k.addAuthority(ctx, found.authority)
	if trustErr != nil {
		return poll, errors.Join(err, trustErr)
	}
	return k.advance(found, bundles), err
}

// addAuthority has the API server trust an authority, and returns all that it trusts.
func (k *Keeper) addAuthority(ctx context.Context, authority []byte) ([][]byte, error) {
	if err := k.trust.Add(ctx, authority); err != nil {
		return nil, fmt.Errorf("having the API server trust it: %w", err)
	}
	bundles, err := k.trust.Bundles(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading what the API server trusts: %w", err)
	}
	return bundles, nil
}

// advance notes what was found, and serves it once it has been trusted for long enough.
func (k *Keeper) advance(found *files, bundles [][]byte) time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !found.same(k.next) {
		k.next, k.since = found, time.Time{}
	}
	for _, bundle := range bundles {
		if k.next.trustedBy(bundle) != nil {
			k.since = time.Time{}
			return poll
		}
	}
	now := k.clock.Now()
	if k.since.IsZero() {
		k.since = now
	}
	if wait := settle - now.Sub(k.since); wait > 0 {
		return wait
	}
	k.serving, k.ready = k.next, true
	return poll
}
