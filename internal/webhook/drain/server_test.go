// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package drain_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	"tutorial.kubebuilder.io/project/internal/webhook/drain"
)

func TestADrainingServerClosesAConnectionAfterItsAnswer(t *testing.T) {
	server := drain.NewServer(webhook.NewServer(webhook.Options{}))
	server.Register("/hook", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	listening := httptest.NewServer(server.WebhookMux())
	defer listening.Close()
	closes := func() bool {
		t.Helper()
		response, err := listening.Client().Post(listening.URL+"/hook", "application/json", nil)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		assert.Equal(t, http.StatusNoContent, response.StatusCode)
		return response.Close
	}
	assert.False(t, closes())

	ctx, cancel := context.WithCancel(t.Context())
	drained := server.DrainAfter(ctx, 0)
	assert.False(t, closes())
	cancel()
	<-drained.Done()
	assert.True(t, closes())
}

func TestWhatFollowsADrainWaitsForItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const duration = 3 * time.Second
		ctx, cancel := context.WithCancel(t.Context())
		drained := drain.NewServer(nil).DrainAfter(ctx, duration)
		cancel()
		begin := time.Now()
		<-drained.Done()
		assert.Equal(t, duration, time.Since(begin))
	})
}
