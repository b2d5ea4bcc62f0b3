// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"tutorial.kubebuilder.io/project/hack/localcluster"
	"tutorial.kubebuilder.io/project/test/bench/measure"
	"tutorial.kubebuilder.io/project/test/plane"
)

// workers is how many requests the bench has under way at once when it creates things.
const workers = 32

// neighbour is a namespace in which there is something only in the stage tenants.
const neighbour = "bench-neighbour"

// cluster is the one control plane of a run: etcd and the API server, with the operator's CRD and
// webhooks.
type cluster struct {
	*localcluster.Cluster

	// namespaces are where the CronJobs are, spread evenly.
	namespaces []string

	// program is the operator's, and memoryLimit how much memory, in bytes, it may take, as it is
	// deployed.
	program     string
	memoryLimit int64

	// json sends and takes JSON, for CronJobs of either kind. typed speaks protobuf, as controllers
	// do.
	json    *rest.RESTClient
	typed   kubernetes.Interface
	metrics *plane.MetricsReader
}

// startCluster starts the control plane. Its flags are Kubernetes' own defaults, but for a faster
// deletion of collections, which is not measured.
func startCluster(ctx context.Context, o *options) (*cluster, error) {
	if _, err := os.Stat(o.manager); err != nil {
		return nil, fmt.Errorf("the manager is not built, run \"make build\": %w", err)
	}
	limit, err := memoryLimit(o.root)
	if err != nil {
		return nil, err
	}
	started, err := localcluster.Start(ctx, localcluster.Options{
		Webhooks:  true,
		ExtraArgs: map[localcluster.Component][]string{localcluster.APIServer: {"--delete-collection-workers=16"}},
		Logf:      plane.Logf,
	})
	if err != nil {
		return nil, err
	}
	c := &cluster{Cluster: started, program: o.manager, memoryLimit: limit}
	for i := range namespaces {
		c.namespaces = append(c.namespaces, fmt.Sprintf("bench-%d", i))
	}
	if err := c.prepare(ctx); err != nil {
		return nil, errors.Join(err, started.Stop())
	}
	return c, nil
}

func (p *cluster) prepare(ctx context.Context) (err error) {
	if p.json, err = plane.RESTClient(p.Config); err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	compact := rest.CopyConfig(p.Config)
	compact.QPS = -1
	compact.AcceptContentTypes, compact.ContentType = runtime.ContentTypeProtobuf, runtime.ContentTypeProtobuf
	if p.typed, err = kubernetes.NewForConfig(compact); err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	for _, name := range append(p.namespaces, neighbour) {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if err := p.Client.Create(ctx, namespace); err != nil {
			return fmt.Errorf("creating a namespace: %w", err)
		}
	}
	p.metrics, err = plane.NewMetricsReader(ctx, p.Client, p.namespaces[0])
	return err
}

// requests returns what the API server has answered so far.
func (p *cluster) requests(ctx context.Context) (measure.Requests, error) {
	return measure.RequestsSoFar(ctx, p.json)
}

// clear deletes all CronJobs, Jobs and events, and has etcd forget that they were ever there: what
// is measured next begins as the first did.
func (p *cluster) clear(ctx context.Context) error {
	for _, resource := range []string{operatorV1.path, builtin.path, "/apis/batch/v1/%s/jobs", "/api/v1/%s/events"} {
		for _, namespace := range append(p.namespaces, neighbour) {
			if err := p.deleteAll(ctx, fmt.Sprintf(resource, "namespaces/"+namespace)); err != nil {
				return err
			}
		}
	}
	return p.compact(ctx)
}

// deleteAll deletes a collection. Nothing here collects garbage, so that the deletion is in the
// background for good. The API server answers after a minute at the latest: then there is more to
// do.
func (p *cluster) deleteAll(ctx context.Context, collection string) error {
	for {
		err := p.json.Delete().AbsPath(collection).Param("propagationPolicy", "Background").Do(ctx).Error()
		switch {
		case err == nil:
			return nil
		case !apierrors.IsTimeout(err) && !apierrors.IsServerTimeout(err):
			return fmt.Errorf("deleting %s: %w", collection, err)
		}
	}
}

// collectGarbage has the API server collect its garbage. With many objects that takes it a second
// of both processors or more: who creates Jobs just then has to wait, and it should not be chance
// who that is.
func (p *cluster) collectGarbage(ctx context.Context) error {
	if _, err := p.json.Get().AbsPath("/debug/pprof/heap").Param("gc", "1").DoRaw(ctx); err != nil {
		return fmt.Errorf("having the API server collect its garbage: %w", err)
	}
	return nil
}

// compact drops etcd's history and gives back the space.
func (p *cluster) compact(ctx context.Context) error {
	var answer struct {
		Header struct {
			Revision string `json:"revision"`
		} `json:"header"`
	}
	if err := p.etcd(ctx, "kv/range", map[string]any{"key": "AA=="}, &answer); err != nil {
		return err
	}
	if err := p.etcd(ctx, "kv/compaction", map[string]any{"revision": answer.Header.Revision, "physical": true}, nil); err != nil {
		return err
	}
	return p.etcd(ctx, "maintenance/defragment", map[string]any{}, nil)
}

// etcd calls a method of etcd's by way of its JSON gateway.
func (p *cluster) etcd(ctx context.Context, method string, question, answer any) error {
	body, err := json.Marshal(question)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.EtcdURL+"/v3/"+method, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("calling etcd's %s: %w", method, err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("calling etcd's %s: %w", method, err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("calling etcd's %s: %s", method, response.Status)
	}
	if answer == nil {
		return nil
	}
	return json.NewDecoder(response.Body).Decode(answer)
}
