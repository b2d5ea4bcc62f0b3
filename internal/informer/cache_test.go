// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/test/builders"
	"tutorial.kubebuilder.io/project/test/localcluster"
)

// These tests cache what a real API server has.

var cluster *localcluster.Cluster

func TestMain(m *testing.M) {
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// runTests runs the tests on a control plane.
func runTests(m *testing.M) (code int, err error) {
	ctrl.SetLogger(logr.Discard())
	cluster, err = localcluster.Start(context.Background(), localcluster.Options{})
	if errors.Is(err, localcluster.ErrNoBinaries) {
		fmt.Println("skipped:", err)
		return 0, nil
	}
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, cluster.Stop()) }()
	return m.Run(), nil
}

// newNamespace creates a namespace with a CronJob that can be decoded and one that can't, stored
// past the API server.
func newNamespace(t *testing.T) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "t-"}}
	require.NoError(t, cluster.Client.Create(t.Context(), namespace))
	storeBad(t, namespace.Name, `{"schedule":"@hourly","suspend":"yes"}`)
	create(t, namespace.Name, "good")
	return namespace.Name
}

// create creates a CronJob.
func create(t *testing.T, namespace, name string) {
	t.Helper()
	c := builders.MakeCronJob(name).Namespace(namespace).Schedule("@hourly").Obj()
	c.UID, c.Generation = "", 0
	require.NoError(t, cluster.Client.Create(t.Context(), c))
}

// storeBad stores a CronJob past the API server.
func storeBad(t *testing.T, namespace, spec string) {
	t.Helper()
	object := fmt.Sprintf(`{"apiVersion":"batch.tutorial.kubebuilder.io/v1","kind":"CronJob","metadata":{"name":"bad","namespace":%q,"uid":"raw",`+
		`"generation":1,"creationTimestamp":"2026-01-01T00:00:00Z"},"spec":%s}`, namespace, spec)
	body, err := json.Marshal(map[string][]byte{
		"key": []byte("/registry/batch.tutorial.kubebuilder.io/cronjobs/" + namespace + "/bad"), "value": []byte(object),
	})
	require.NoError(t, err)
	response, err := http.Post(cluster.EtcdURL+"/v3/kv/put", "application/json", bytes.NewReader(body))
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusOK, response.StatusCode)
}

// startCache starts a cache of CronJobs until the test ends, and waits until it has all.
func startCache(t *testing.T, config *rest.Config, opts cache.Options) cache.Cache {
	t.Helper()
	var err error
	opts.HTTPClient, err = rest.HTTPClientFor(config)
	require.NoError(t, err)
	opts.Scheme = cluster.Client.Scheme()
	cached, err := NewCache(config, opts)
	require.NoError(t, err)
	stopped := make(chan error, 1)
	go func() { stopped <- cached.Start(t.Context()) }()
	t.Cleanup(func() { assert.NoError(t, <-stopped) })
	bounded, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	_, err = cached.GetInformer(bounded, &v1.CronJob{})
	require.NoError(t, err)
	return cached
}

// awaitMistake waits until the cache has a CronJob with such a mistake; none if it is empty.
func awaitMistake(t *testing.T, cached client.Reader, namespace, name, want string) {
	t.Helper()
	require.EventuallyWithT(t, func(check *assert.CollectT) {
		c := &v1.CronJob{}
		require.NoError(check, cached.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, c))
		if want == "" {
			assert.Empty(check, DecodingError(c))
			return
		}
		assert.Contains(check, DecodingError(c), want)
	}, 30*time.Second, 5*time.Millisecond)
}

func TestACacheHoldsTheCronJobsThatCanNotBeDecodedBesideTheOthers(t *testing.T) {
	first, second := newNamespace(t), newNamespace(t)
	for name, opts := range map[string]cache.Options{
		"of all namespaces": {},
		"of one namespace":  {DefaultNamespaces: map[string]cache.Config{first: {}}},
		"of two namespaces": {DefaultNamespaces: map[string]cache.Config{first: {}, second: {}}},
	} {
		t.Run(name, func(t *testing.T) {
			cached := startCache(t, cluster.Config, opts)
			awaitMistake(t, cached, first, "good", "")
			awaitMistake(t, cached, first, "bad", "spec.suspend ")
			if name == "of one namespace" {
				list := &v1.CronJobList{}
				require.NoError(t, cached.List(t.Context(), list))
				assert.Len(t, list.Items, 2, "it asks for no more than it is to have")
				return
			}
			awaitMistake(t, cached, second, "good", "")
			awaitMistake(t, cached, second, "bad", "spec.suspend ")
		})
	}
}

func TestACronJobThatCanNotBeDecodedDoesNotBreakTheWatch(t *testing.T) {
	namespace := newNamespace(t)
	cached := startCache(t, cluster.Config, cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}})
	awaitMistake(t, cached, namespace, "bad", "spec.suspend ")
	storeBad(t, namespace, `{"schedule":"@hourly","successfulJobsHistoryLimit":"3"}`)
	awaitMistake(t, cached, namespace, "bad", "spec.successfulJobsHistoryLimit ")
	create(t, namespace, "later")
	awaitMistake(t, cached, namespace, "later", "")
	storeBad(t, namespace, `{"schedule":"@hourly","suspend":true}`)
	awaitMistake(t, cached, namespace, "bad", "")
}

func TestACacheThatCouldNotHoldTheCronJobsThatCanNotBeDecodedIsNotUsed(t *testing.T) {
	config := rest.CopyConfig(cluster.Config)
	config.RateLimiter = flowcontrol.NewFakeNeverRateLimiter() // no request is made whose URL could be seen
	httpClient, err := rest.HTTPClientFor(config)
	require.NoError(t, err)
	cached, err := NewCache(config, cache.Options{
		HTTPClient: httpClient, Scheme: cluster.Client.Scheme(), Mapper: cluster.Client.RESTMapper(),
	})
	require.NoError(t, err)
	_, err = cached.GetInformer(t.Context(), &v1.CronJob{})
	assert.ErrorContains(t, err, "one that can't be decoded stops the cache: no request was made: ")
}

func TestACacheKeepsToItsSelectors(t *testing.T) {
	namespace := newNamespace(t)
	cached := startCache(t, cluster.Config, cache.Options{DefaultNamespaces: map[string]cache.Config{
		namespace: {LabelSelector: labels.SelectorFromSet(labels.Set{"of": "nobody"})},
	}})
	list := &v1.CronJobList{}
	require.NoError(t, cached.List(t.Context(), list))
	assert.Empty(t, list.Items)
}

func TestACacheReadsThroughAProxyThatServesTheAPIBelowAPath(t *testing.T) {
	namespace := newNamespace(t)
	target, err := url.Parse(cluster.Config.Host)
	require.NoError(t, err)
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.FlushInterval = -1
	transport, err := rest.TransportFor(cluster.Config)
	require.NoError(t, err)
	proxy.Transport = transport
	server := httptest.NewServer(http.StripPrefix("/clusters/a", proxy))
	t.Cleanup(server.Close)
	config := &rest.Config{Host: server.URL + "/clusters/a"}
	cached := startCache(t, config, cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}})
	awaitMistake(t, cached, namespace, "good", "")
	awaitMistake(t, cached, namespace, "bad", "spec.suspend ")
}
