// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package informer provides a cache that one undecodable object can't stop, and that is up to date
// again a few seconds after the API server is back.
//
// An object may not decode into the Go types, such as one with suspend: "yes", if it was stored
// under another schema or past the API server. A typed list or watch fails as a whole on such an
// object. This cache keeps its metadata and status, and the error in an annotation. Other objects
// are cached as usual.
package informer

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// NewCache is cache.New, but the cache also holds CronJobs that can't be decoded: [DecodingError]
// returns why. The options must have an HTTP client, and no NewInformer. If the cache could not hold
// them, GetInformer returns an error.
//
// controller-runtime's informers have no option for the decoder. So the informer of CronJobs makes
// the same lists and watches with a client of its own. client-go would also read each event of a
// watch ten times, from the stream to the object; here it is read twice, which counts at a start.
func NewCache(config *rest.Config, opts cache.Options) (cache.Cache, error) {
	client, err := newClient(config, opts.HTTPClient, opts.Scheme)
	if err != nil {
		return nil, fmt.Errorf("making a client for the cache of CronJobs: %w", err)
	}
	opts.HTTPClient = withInterceptor(opts.HTTPClient)
	opts.NewInformer = func(
		lw toolscache.ListerWatcher, example runtime.Object, resync time.Duration, indexers toolscache.Indexers,
	) toolscache.SharedIndexInformer {
		if _, ok := example.(*v1.CronJob); !ok {
			return newInformer(lw, example, resync, indexers)
		}
		lw, err := tolerant(client, runtime.NewParameterCodec(opts.Scheme), lw)
		return checkedInformer{newInformer(lw, example, resync, indexers), err}
	}
	return cache.New(config, opts)
}

// checkedInformer is an informer, or an error: the cache returns it from GetInformer.
type checkedInformer struct {
	toolscache.SharedIndexInformer
	err error
}

// SetTransform sets the transform. The cache calls it before it uses a new informer.
func (i checkedInformer) SetTransform(transform toolscache.TransformFunc) error {
	return cmp.Or(i.err, i.SharedIndexInformer.SetTransform(transform))
}

// newClient returns a client for CronJobs, whose answers are decoded here.
func newClient(config *rest.Config, httpClient *http.Client, scheme *runtime.Scheme) (rest.Interface, error) {
	config = rest.CopyConfig(config)
	config.APIPath = "/apis"
	config.GroupVersion = &v1.GroupVersion
	config.NegotiatedSerializer = serializer.WithoutConversionCodecFactory{CodecFactory: serializer.NewCodecFactory(scheme)} // of errors
	return rest.RESTClientForConfigAndClient(config, httpClient)
}

// tolerant returns a ListerWatcher that sends the requests of another one with the given client.
func tolerant(client rest.Interface, codec runtime.ParameterCodec, lw toolscache.ListerWatcher) (toolscache.ListerWatcher, error) {
	asked, err := urlOf(lw)
	if err != nil {
		return lw, fmt.Errorf("finding the URL of the list of CronJobs, without which one that can't be decoded stops the cache: %w", err)
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
			result := get(opts).Do(ctx)
			data, err := result.Raw()
			if err := cmp.Or(result.Error(), err); err != nil {
				return nil, err
			}
			return decodeList(data)
		},
		WatchFuncWithContext: func(ctx context.Context, opts metav1.ListOptions) (watch.Interface, error) {
			opts.Watch, opts.AllowWatchBookmarks = true, true
			stream, err := get(opts).Stream(ctx)
			if err != nil {
				return nil, err
			}
			reporter := apierrors.NewClientErrorReporter(http.StatusInternalServerError, http.MethodGet, "ClientWatchDecoding")
			return watch.NewStreamWatcherWithLogger(klog.FromContext(ctx), newEventDecoder(stream), reporter), nil
		},
	}, nil
}

// urlKey is the context key of a URL that interceptor sets.
type urlKey struct{}

// urlOf returns the URL of the list request of a ListerWatcher, with its selectors. The request is
// not sent: interceptor answers it.
func urlOf(lw toolscache.ListerWatcher) (*url.URL, error) {
	asked := &url.URL{}
	ctx := context.WithValue(context.Background(), urlKey{}, asked)
	_, err := toolscache.ToListerWatcherWithContext(lw).ListWithContext(ctx, metav1.ListOptions{})
	if asked.Path == "" {
		return nil, fmt.Errorf("no request was made: %w", err)
	}
	return asked, nil
}

func withInterceptor(httpClient *http.Client) *http.Client {
	intercepted := *httpClient
	if intercepted.Transport == nil {
		intercepted.Transport = http.DefaultTransport
	}
	intercepted.Transport = interceptor{intercepted.Transport}
	return &intercepted
}

// interceptor stores the URL of a request whose context has urlKey, and sends all other requests.
type interceptor struct{ next http.RoundTripper }

// RoundTrip sends a request.
func (i interceptor) RoundTrip(request *http.Request) (*http.Response, error) {
	asked, ok := request.Context().Value(urlKey{}).(*url.URL)
	if !ok {
		return i.next.RoundTrip(request)
	}
	*asked = *request.URL
	return &http.Response{
		Status: "204 No Content", StatusCode: http.StatusNoContent, Request: request, Body: io.NopCloser(strings.NewReader("")),
	}, nil
}
