// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package mutations

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"tutorial.kubebuilder.io/project/test/chaos/checker"
	"tutorial.kubebuilder.io/project/test/plane"
)

// answering answers each request by a function.
type answering func(*http.Request) (*http.Response, error)

func (a answering) RoundTrip(r *http.Request) (*http.Response, error) { return a(r) }

// Storms run in parallel, each with a control plane of its own, and their CronJobs have the same
// names.
func TestWhatOneStormHasRefusedIsNotRefusedInAnother(t *testing.T) {
	i := slices.IndexFunc(All, func(m Mutation) bool { return m.Law == checker.NotTried })
	require.NotEqual(t, -1, i)
	asked := 0
	refusing := All[i].Mutate(answering(func(r *http.Request) (*http.Response, error) {
		asked++
		return plane.Refuse(r, apierrors.NewForbidden(schema.GroupResource{Resource: "jobs"}, "c", errors.New("quota")))
	}))
	creating := All[i].Mutate(answering(func(r *http.Request) (*http.Response, error) {
		return plane.Reply(r, http.StatusCreated, struct{}{})
	}))

	assert.Equal(t, http.StatusForbidden, createJob(t, refusing))
	assert.Equal(t, http.StatusForbidden, createJob(t, refusing))
	assert.Equal(t, 1, asked, "the second request of the storm is refused by the mutation")
	assert.Equal(t, http.StatusCreated, createJob(t, creating))
}

// createJob asks for a Job of a CronJob, and returns the code of the answer.
func createJob(t *testing.T, transport http.RoundTripper) int {
	t.Helper()
	const job = `{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "c-1", "namespace": "n", "ownerReferences": [{"name": "c"}]}}`
	request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/apis/batch/v1/namespaces/n/jobs", strings.NewReader(job))
	response, err := transport.RoundTrip(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return response.StatusCode
}
