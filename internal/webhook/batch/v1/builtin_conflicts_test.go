// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiversion "k8s.io/apimachinery/pkg/version"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

func TestABuiltInCronJobOfTheSameNameIsWarnedOf(t *testing.T) {
	server := &apiServer{answer: validation, builtins: map[client.ObjectKey]error{
		{Namespace: "ns", Name: "c"}:      nil,
		{Namespace: "ns", Name: "hidden"}: apierrors.NewForbidden(schema.GroupResource{Resource: "cronjobs"}, "hidden", errors.New("no")),
	}}
	v, _ := validatorOf(server)
	for name, want := range map[string]bool{"c": true, "another": false, "hidden": false} {
		c := wrong()
		c.Name = name
		found, err := v.ValidateCreate(t.Context(), c)
		require.NoError(t, err)
		if want {
			assert.Equal(t, admission.Warnings{"metadata.name: the namespace has a built-in CronJob (batch/v1) of this name; up to Kubernetes 1.36, " +
				"its controller counts the Jobs of both for its history limits, and may delete those of this one"}, found)
		} else {
			assert.Empty(t, found, name)
		}
	}
}

func TestBuiltInCronJobsAreLookedForWhereTheirControllerGoesByNames(t *testing.T) {
	for gitVersion, want := range map[string]bool{
		"v1.30.4": true, "v1.36.9": true, "v1.36.2-eks-1234567": true, "v1.36.0+k3s1": true, "v0.9.1": true,
		"v1.37.0": false, "v1.37.0-alpha.1": false, "v1.40.1-gke.100": false, "v2.0.0": false,
		"": true, "unknown": true, "v1": true,
	} {
		t.Run(gitVersion, func(t *testing.T) {
			assert.Equal(t, want, mayPruneByName(serverVersion{info: &apiversion.Info{GitVersion: gitVersion}}))
		})
	}
	assert.True(t, mayPruneByName(serverVersion{err: errors.New("no")}), "nobody says")

	server := &apiServer{answer: validation, builtins: map[client.ObjectKey]error{{Namespace: "ns", Name: "c"}: nil}}
	v, _ := validatorOf(server)
	v.builtinConflicts = nil
	found, err := v.ValidateCreate(t.Context(), wrong())
	require.NoError(t, err)
	assert.Empty(t, found, "they do no harm")
	assert.Zero(t, server.gets)
}

// serverVersion is an API server's.
type serverVersion struct {
	info *apiversion.Info
	err  error
}

func (v serverVersion) ServerVersion() (*apiversion.Info, error) { return v.info, v.err }
