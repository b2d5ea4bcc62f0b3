// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/runtime"
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

// in puts a CronJob into a namespace.
func in(namespace string, c *v1.CronJob) *v1.CronJob {
	c.Namespace = namespace
	return c
}

func TestTemplatesThatAreAppliedOneAfterAnotherAreAllTriedHoweverMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &apiServer{answer: validation}
		v, _ := validatorOf(server)
		v.builtinConflicts = nil
		for i := range 3 * requestBurst {
			found, err := v.ValidateCreate(t.Context(), numbered(i))
			require.NoError(t, err)
			require.Empty(t, found)
		}
		assert.Len(t, server.tried, 3*requestBurst)
	})
}

func TestR1ManyTemplatesAreNotTriedAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var inFlight, most atomic.Int32
		server := &apiServer{answer: func(context.Context, *batchv1.Job) error {
			most.Store(max(most.Load(), inFlight.Add(1)))
			time.Sleep(time.Millisecond)
			inFlight.Add(-1)
			return nil
		}}
		v, _ := validatorOf(server)
		v.builtinConflicts = nil
		started := time.Now()
		var unchecked atomic.Int32
		const count = 10 * requestBurst
		for i := range count {
			go func() {
				found, err := v.ValidateCreate(t.Context(), in(strconv.Itoa(i%50), numbered(i)))
				assert.NoError(t, err)
				if len(found) > 0 {
					assert.Equal(t, notChecked, found)
					unchecked.Add(1)
				}
				assert.Less(t, time.Since(started), checkTimeout)
			}()
		}
		time.Sleep(checkTimeout)
		synctest.Wait()
		longest := checkTimeout - requestTimeout
		assert.InDelta(t, requestBurst+requestsPerSecond*longest.Seconds(), len(server.tried), maxInFlight)
		assert.Equal(t, count, len(server.tried)+int(unchecked.Load()))
		assert.LessOrEqual(t, most.Load(), int32(maxInFlight))
	})
}

func TestS15ANamespaceWithManyTemplatesKeepsNoOtherWaiting(t *testing.T) {
	for name, answer := range map[string]func(ctx context.Context, job *batchv1.Job) error{
		"that are tried at once": validation,
		"that hang": func(ctx context.Context, job *batchv1.Job) error {
			if job.Namespace == "many" {
				<-ctx.Done()
			}
			return ctx.Err()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v, _ := validatorOf(&apiServer{answer: answer})
				v.builtinConflicts = nil
				ctx, cancel := context.WithCancel(t.Context())
				var flood sync.WaitGroup
				defer flood.Wait()
				defer cancel()
				for i := range 2 * requestBurst {
					flood.Go(func() {
						for number := i; ctx.Err() == nil; number += 2 * requestBurst {
							_, _ = v.ValidateCreate(ctx, in("many", numbered(number)))
							time.Sleep(time.Millisecond) // by the test's own clock
						}
					})
				}
				other := "other"
				for v.templates.limiter.lineOf(other) == v.templates.limiter.lineOf("many") {
					other += "s"
				}
				for i := range 20 {
					time.Sleep(time.Second)
					started := time.Now()
					found, err := v.ValidateCreate(t.Context(), in(other, numbered(i)))
					require.NoError(t, err)
					require.Empty(t, found)
					require.Less(t, time.Since(started), time.Second)
				}
			})
		})
	}
}

func TestR1BuiltInCronJobsAreNotLookedForWithoutEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &apiServer{builtins: map[client.ObjectKey]error{{Namespace: "ns", Name: "c"}: nil}}
		v, _ := validatorOf(server)
		ctx, cancel := context.WithTimeout(t.Context(), checkTimeout)
		defer cancel()
		for range 10 * requestBurst {
			v.builtinConflicts.warn(ctx, wrong())
		}
		assert.InDelta(t, requestBurst+requestsPerSecond*checkTimeout.Seconds(), server.gets, requestsPerSecond)
	})
}

func TestR1WhenManyTemplatesHangTheNextIsAnsweredInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limiter := newRequestLimiter()
		v := validator{templates: newTemplateChecker(hanging{}, limiter)}
		for i := range 100 {
			go func() { _, _ = v.ValidateCreate(t.Context(), in(strconv.Itoa(i), numbered(i))) }()
		}
		synctest.Wait()
		started := time.Now()
		found, err := v.ValidateCreate(t.Context(), numbered(100))
		require.NoError(t, err)
		assert.Equal(t, notChecked, found)
		assert.Equal(t, checkTimeout-requestTimeout, time.Since(started))

		time.Sleep(checkTimeout)
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		assert.True(t, limiter.do(ctx, "ns", func(context.Context) {}), "those that hung are given up")
	})
}

func TestTheAnswerComesBeforeTheAPIServerStopsWaitingForIt(t *testing.T) {
	scheme := runtime.NewScheme()
	require.NoError(t, v1.AddToScheme(scheme))
	validating := serve(newMendable(scheme, validator{templates: newTemplateChecker(hanging{}, newRequestLimiter())}))
	for query, want := range map[string]time.Duration{"": requestTimeout, "?timeout=10s": requestTimeout, "?timeout=2s": 1600 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			recorder, started := httptest.NewRecorder(), time.Now()
			request := httptest.NewRequest(http.MethodPost, "/"+query, strings.NewReader(reviewOf(admissionv1.Create, typicalCronJob, "null")))
			request.Header.Set("Content-Type", "application/json")
			validating.ServeHTTP(recorder, request)
			assert.Contains(t, recorder.Body.String(), `"warnings":["spec.jobTemplate: not checked, as the API server did not answer in time"]`)
			assert.Equal(t, want, time.Since(started), query)
		})
	}
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
