// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestTheVersionIsToldWithWhatTheClusterServes(t *testing.T) {
	ours := metav1.APIGroup{Name: "batch.tutorial.kubebuilder.io", Versions: []metav1.GroupVersionForDiscovery{{Version: "v1"}, {Version: "v2"}}}
	for name, tc := range map[string]struct {
		groups []metav1.APIGroup
		want   string
	}{
		"ours":   {[]metav1.APIGroup{{Name: "apps"}, ours}, "it serves batch.tutorial.kubebuilder.io in v1 and v2"},
		"others": {[]metav1.APIGroup{{Name: "apps"}}, "it serves no batch.tutorial.kubebuilder.io"},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				var answer any = metav1.APIVersions{}
				if r.URL.Path == "/apis" {
					answer = metav1.APIGroupList{Groups: tc.groups}
				}
				assert.NoError(t, json.NewEncoder(w).Encode(answer))
			}))
			defer cluster.Close()
			out, err := execute("version", "--server="+cluster.URL)
			require.NoError(t, err)
			assert.Equal(t, "kubectl cronjob version v1.2.3\nTime zones: the IANA database of "+runtime.Version()+"\nCluster: "+tc.want+"\n", out)
		})
	}
}

func TestTheVersionIsToldWithoutACluster(t *testing.T) {
	out, err := execute("version", "--server=http://127.0.0.1:1")
	require.NoError(t, err)
	assert.Contains(t, out, "kubectl cronjob version v1.2.3\n")
	assert.Contains(t, out, "Cluster: not known: ")
}
