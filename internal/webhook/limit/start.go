// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package limit

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/certwatcher"
	"sigs.k8s.io/controller-runtime/pkg/healthz"

	"tutorial.kubebuilder.io/project/internal/webhook/logs"
)

const (
	// MaxHeader limits the header of a request, in bytes. controller-runtime's server accepts 1
	// MiB, so that a few hundred connections fill the memory.
	MaxHeader = 16 << 10

	// HeaderTime limits the time for the header, and for the handshake before it.
	HeaderTime = 10 * time.Second

	// IdleTime is how long a connection may wait for the next request. It is longer than in the API
	// server, which closes its idle connections after 90 s. If this end closed first, it might do so
	// while the next request is being sent, which would then fail.
	IdleTime = 2 * time.Minute

	// shutdownTime is how long requests in progress may take when the server stops.
	shutdownTime = time.Minute
)

// Start serves until the context ends, and then lets the requests in progress end. It is
// controller-runtime's server, with limits.
func (s *Server) Start(ctx context.Context) error {
	config, err := s.tlsConfig(ctx)
	if err != nil {
		return fmt.Errorf("setting up TLS of the webhooks: %w", err)
	}
	address := net.JoinHostPort(s.options.Host, strconv.Itoa(s.options.Port))
	listener, err := tls.Listen("tcp", address, config)
	if err != nil {
		return fmt.Errorf("listening for webhooks: %w", err)
	}
	log := logs.Bound(ctrl.Log.WithName("webhooks"))
	server := &http.Server{
		ErrorLog: slog.NewLogLogger(logr.ToSlogHandler(log), slog.LevelInfo), // for failed handshakes, for example
		Handler:  s.WebhookMux(), MaxHeaderBytes: MaxHeader, ReadHeaderTimeout: HeaderTime, IdleTimeout: IdleTime,
	}
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTime)
		defer cancel()
		stopped <- server.Shutdown(ctx)
	})
	defer stop()
	source := certificateSource(config.GetCertificate)
	expiry.source.Store(&source)
	defer expiry.source.Store(nil)
	s.started.Store(true)
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving webhooks: %w", err)
	}
	return <-stopped
}

// tlsConfig returns the TLS configuration of the options. The certificate is read from files, and
// again when they change.
func (s *Server) tlsConfig(ctx context.Context) (*tls.Config, error) {
	config := &tls.Config{NextProtos: []string{"h2"}, MinVersion: tls.VersionTLS12}
	for _, set := range s.options.TLSOpts {
		set(config)
	}
	dir := s.options.CertDir
	cert, key := cmp.Or(s.options.CertName, "tls.crt"), cmp.Or(s.options.KeyName, "tls.key")
	watcher, err := certwatcher.New(filepath.Join(dir, cert), filepath.Join(dir, key))
	if err != nil {
		return nil, err
	}
	config.GetCertificate = watcher.GetCertificate
	go func() {
		if err := watcher.Start(ctx); err != nil {
			ctrl.Log.WithName("webhooks").Error(err, "Watching the certificate of the webhooks failed")
		}
	}()
	return config, nil
}

// StartedChecker returns a check that passes when the server listens.
func (s *Server) StartedChecker() healthz.Checker {
	return func(*http.Request) error {
		if !s.started.Load() {
			return errors.New("the webhook server has not started")
		}
		return nil
	}
}
