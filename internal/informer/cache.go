// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package informer makes the cache one that a single object can't stop, and that is up to date
// again a few seconds after the API server is back.
//
// What passes another schema than ours, or is stored past the API server, may not decode into Go
// types: suspend: "yes". A typed list or watch fails as a whole on the first such object. Here it
// is cached by its metadata and its status alone, with what is wrong in an annotation, and all
// others as usual.
package informer

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// NewCache returns a cache as cache.New does, which also holds the CronJobs that can't be decoded:
// [DecodingError] tells them. The options have to say which informers and which HTTP client it
// uses.
//
// controller-runtime's informers have no option for how to decode. So the CronJobs' ask for the
// same lists and watches by a client of their own, whose decoder looks again at what can't be
// decoded, and only at that.
func NewCache(config *rest.Config, opts cache.Options) (cache.Cache, error) {
	client, err := newClient(config, opts.HTTPClient, opts.Scheme)
	if err != nil {
		return nil, fmt.Errorf("making a client for the cache of CronJobs: %w", err)
	}
	opts.HTTPClient = observe(opts.HTTPClient)
	opts.NewInformer = func(
		lw toolscache.ListerWatcher, example runtime.Object, resync time.Duration, indexers toolscache.Indexers,
	) toolscache.SharedIndexInformer {
		if _, ok := example.(*v1.CronJob); ok {
			lw = tolerant(client, runtime.NewParameterCodec(opts.Scheme), lw)
		}
		return newInformer(lw, example, resync, indexers)
	}
	return cache.New(config, opts)
}

// newClient returns a client for CronJobs, whose decoder fails on none.
func newClient(config *rest.Config, httpClient *http.Client, scheme *runtime.Scheme) (rest.Interface, error) {
	config = rest.CopyConfig(config)
	config.APIPath = "/apis"
	config.GroupVersion = &v1.GroupVersion
	config.NegotiatedSerializer = negotiated{serializer.WithoutConversionCodecFactory{CodecFactory: serializer.NewCodecFactory(scheme)}}
	return rest.RESTClientForConfigAndClient(config, httpClient)
}

// tolerant returns a ListerWatcher that asks for what another one asks for, by a client of its own.
func tolerant(client rest.Interface, codec runtime.ParameterCodec, lw toolscache.ListerWatcher) toolscache.ListerWatcher {
	asked, err := urlOf(lw)
	if err != nil {
		ctrl.Log.Error(err, "A CronJob that can't be decoded will stop the cache: could not find out which CronJobs it is to have")
		return lw
	}
	path := strings.TrimPrefix(asked.Path, client.Get().URL().Path)
	get := func(opts metav1.ListOptions) *rest.Request {
		request := client.Get().Suffix(path).VersionedParams(&opts, codec)
		for name, values := range asked.Query() {
			request.Param(name, values[0])
		}
		return request
	}
	return &toolscache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, opts metav1.ListOptions) (runtime.Object, error) {
			list := &v1.CronJobList{}
			if err := get(opts).Do(ctx).Into(list); err != nil {
				return nil, err
			}
			return list, nil
		},
		WatchFuncWithContext: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
			opts.Watch = true
			opts.AllowWatchBookmarks = true
			return get(opts).Watch(ctx)
		},
	}
}

// urlKey is the key of the context's value that a request leaves its URL in.
type urlKey struct{}

// urlOf returns the URL of the lists that a ListerWatcher makes, with its selectors. No request is
// sent.
func urlOf(lw toolscache.ListerWatcher) (*url.URL, error) {
	asked := &url.URL{}
	ctx := context.WithValue(context.Background(), urlKey{}, asked)
	_, err := toolscache.ToListerWatcherWithContext(lw).ListWithContext(ctx, metav1.ListOptions{})
	if asked.Path == "" {
		return nil, fmt.Errorf("no request was made: %w", err)
	}
	return asked, nil
}

// observe returns an HTTP client for urlOf.
func observe(httpClient *http.Client) *http.Client {
	observed := *httpClient
	if observed.Transport == nil {
		observed.Transport = http.DefaultTransport
	}
	observed.Transport = observable{observed.Transport}
	return &observed
}

// observable leaves the URL of a request in its context if that asks for it, and sends all others.
type observable struct{ next http.RoundTripper }

// RoundTrip sends a request.
func (o observable) RoundTrip(request *http.Request) (*http.Response, error) {
	asked, ok := request.Context().Value(urlKey{}).(*url.URL)
	if !ok {
		return o.next.RoundTrip(request)
	}
	*asked = *request.URL
	return &http.Response{
		Status: "204 No Content", StatusCode: http.StatusNoContent, Request: request, Body: io.NopCloser(strings.NewReader("")),
	}, nil
}
