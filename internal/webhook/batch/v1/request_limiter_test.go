// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

var notChecked = admission.Warnings{"spec.jobTemplate: not checked, as too many templates were to be checked at the same time"}

// numbered makes a CronJob with a template of its own.
func numbered(i int) *v1.CronJob {
	c := wrong()
	c.Spec.JobTemplate.Labels = map[string]string{"number": strconv.Itoa(i)}
	return c
}

func TestR1ManyTemplatesAreNotTriedAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &apiServer{answer: validation, builtins: map[client.ObjectKey]error{{Namespace: "ns", Name: "c"}: nil}}
		v, _ := validatorOf(server)
		v.builtinConflicts = nil
		for i := range requestBurst {
			found, err := v.ValidateCreate(t.Context(), numbered(i))
			require.NoError(t, err)
			require.Empty(t, found)
		}
		found, err := v.ValidateCreate(t.Context(), numbered(requestBurst))
		require.NoError(t, err)
		assert.Equal(t, notChecked, found)
		assert.Len(t, server.tried, requestBurst)
		found, err = v.ValidateCreate(t.Context(), numbered(0))
		require.NoError(t, err)
		assert.Empty(t, found, "what is known is answered as before")

		time.Sleep(time.Second)
		for i := range 2 * requestsPerSecond {
			_, err := v.ValidateCreate(t.Context(), numbered(requestBurst+i))
			require.NoError(t, err)
		}
		assert.Len(t, server.tried, requestBurst+requestsPerSecond)
	})
}

func TestR1BuiltInCronJobsAreNotLookedForWithoutEnd(t *testing.T) {
	server := &apiServer{builtins: map[client.ObjectKey]error{{Namespace: "ns", Name: "c"}: nil}}
	v, _ := validatorOf(server)
	for range 2 * requestBurst {
		v.builtinConflicts.warn(t.Context(), wrong())
	}
	assert.GreaterOrEqual(t, server.gets, requestBurst)
	assert.Less(t, server.gets, 2*requestBurst)
}

func TestR1WhenManyTemplatesHangTheNextIsAnsweredAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := newRequestLimiter()
		v := validator{templates: newTemplateChecker(hanging{}, limiter)}
		for i := range maxInFlight {
			go func() { _, _ = v.ValidateCreate(t.Context(), numbered(i)) }()
		}
		synctest.Wait()
		started := time.Now()
		found, err := v.ValidateCreate(t.Context(), numbered(maxInFlight))
		require.NoError(t, err)
		assert.Equal(t, notChecked, found)
		assert.Zero(t, time.Since(started))

		time.Sleep(checkTimeout)
		synctest.Wait()
		_, ok := limiter.begin()
		assert.True(t, ok, "those that hung are given up")
	})
}

// hanging is an API server that does not answer.
type hanging struct{ client.Writer }

func (hanging) Create(ctx context.Context, _ client.Object, _ ...client.CreateOption) error {
	<-ctx.Done()
	return ctx.Err()
}

func TestR1TheWebhooksHaveConnectionsOfTheirOwn(t *testing.T) {
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.RemoteAddr)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	config := &rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
	connectionOf := func(config *rest.Config) string {
		client, err := rest.HTTPClientFor(config)
		require.NoError(t, err)
		response, err := client.Get(server.URL)
		require.NoError(t, err)
		address, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		return string(address)
	}
	managers := connectionOf(config)
	assert.Equal(t, managers, connectionOf(rest.CopyConfig(config)), "client-go shares connections")
	assert.NotEqual(t, managers, connectionOf(ownConnections(config)))
}
