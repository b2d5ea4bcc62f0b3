// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// errUnserved is what the API server answers while it does not serve v1.
var errUnserved = apierrors.NewGenericServerResponse(
	http.StatusNotFound, http.MethodGet, v1.GroupVersion.WithResource("cronjobs").GroupResource(), "c", "404 page not found", 0, true)

// unserved finds no CronJob, since its version is not served.
type unserved struct{ client.Reader }

func (u unserved) Get(ctx context.Context, key client.ObjectKey, object client.Object, opts ...client.GetOption) error {
	if _, ok := object.(*v1.CronJob); ok {
		return errUnserved
	}
	return u.Reader.Get(ctx, key, object, opts...)
}

func TestC12ACronJobIsNotGoneWhileTheHubIsNotServed(t *testing.T) {
	s := newStage(t, every())
	s.toNextTick()
	s.reconciler.APIReader = unserved{s.reconciler.APIReader}
	s.interfere(statusFails(errUnserved))
	for range 3 {
		assert.NotZero(t, s.reconcile().RequeueAfter, "it is looked at again")
	}
}

func TestC12NothingStartsWhileTheHubIsKnownToBeMissing(t *testing.T) {
	s := newStage(t, every())
	s.toNextTick()
	isMissing := true
	s.reconciler.IsHubMissing = func() bool { return isMissing }
	assert.Equal(t, hubRecheck, s.reconcile().RequeueAfter)
	assert.Empty(t, s.jobs())
	isMissing = false
	s.reconcile()
	assert.Len(t, s.jobs(), 1, "the tick that is due runs when it is served again")
}
