// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package limit_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"tutorial.kubebuilder.io/project/internal/webhook/limit"
	"tutorial.kubebuilder.io/project/test/localcluster"
)

// start starts a server. It returns a function that has it stop, and says how that ended.
func start(t *testing.T, server *limit.Server) (stop func() <-chan error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	stopped := make(chan error, 1)
	go func() { stopped <- server.Start(ctx) }()
	return func() <-chan error {
		cancel()
		return stopped
	}
}

func TestAServerThatStopsLetsItsRequestsEnd(t *testing.T) {
	dir := t.TempDir()
	issue(t, dir, 1)
	port, err := localcluster.FreePort()
	require.NoError(t, err)
	server := limit.NewServer(webhook.Options{Host: "127.0.0.1", Port: port, CertDir: dir})
	began, goOn := make(chan struct{}), make(chan struct{})
	server.Register("/hook", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(began)
		<-goOn
		_, _ = fmt.Fprint(w, r.Context().Err())
	}))
	stop := start(t, server)
	require.Eventually(t, func() bool { return server.StartedChecker()(nil) == nil }, time.Minute, time.Millisecond)
	answers := make(chan string, 1)
	go func() {
		defer close(answers)
		client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
		response, err := client.Post(fmt.Sprintf("https://127.0.0.1:%d/hook", port), "", http.NoBody)
		if assert.NoError(t, err) {
			text, _ := io.ReadAll(response.Body)
			answers <- string(text)
		}
	}()
	<-began
	stopped := stop()
	close(goOn)
	assert.Equal(t, "<nil>", <-answers, "its work is not cancelled")
	require.NoError(t, <-stopped)
}
