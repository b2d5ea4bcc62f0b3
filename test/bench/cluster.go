// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"

	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"tutorial.kubebuilder.io/project/hack/localcluster"
	"tutorial.kubebuilder.io/project/test/plane"
)

const (
	// workers is how many requests at a time create things.
	workers = 32

	// namespaceCount is the number of namespaces over which CronJobs are spread.
	namespaceCount = 10

	// neighbour is a further namespace. Only the stage tenants has CronJobs there.
	neighbour = "bench-neighbour"
)

// cluster is the control plane of a run: etcd and the API server, with the operator's CRD and
// webhooks.
type cluster struct {
	*localcluster.Cluster

	// namespaces are those over which CronJobs are spread.
	namespaces []string

	// program is the operator's binary, and memoryLimit the memory, in bytes, of its deployment.
	program     string
	memoryLimit int64

	// json sends and takes JSON, for CronJobs of any kind.
	json *rest.RESTClient
	etcd *clientv3.Client

	// metrics reads the operator's metrics, which it serves at metricsAddress.
	metrics        *plane.MetricsReader
	metricsAddress string
}

// startCluster starts the control plane. Its flags are Kubernetes' defaults, except for a faster
// deletion of collections, which is not measured. If it fails, what it returns must be stopped too.
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
	return c, c.prepare(ctx)
}

func (p *cluster) prepare(ctx context.Context) (err error) {
	for i := range namespaceCount {
		p.namespaces = append(p.namespaces, fmt.Sprintf("bench-%d", i))
	}
	if p.json, err = plane.RESTClient(p.Config); err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	if p.etcd, err = plane.EtcdClient(p.EtcdURL); err != nil {
		return err
	}
	for _, name := range append(p.namespaces, neighbour) {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if err := p.Client.Create(ctx, namespace); err != nil {
			return fmt.Errorf("creating a namespace: %w", err)
		}
	}
	port, err := localcluster.FreePort()
	if err != nil {
		return err
	}
	p.metricsAddress = fmt.Sprintf("127.0.0.1:%d", port)
	p.metrics, err = plane.NewMetricsReader(ctx, p.Client, p.namespaces[0])
	return err
}

// metric returns a metric of the operator, added up over all labels.
func (p *cluster) metric(ctx context.Context, name string) (float64, error) {
	families, err := p.metrics.Read(ctx, p.metricsAddress, name)
	return plane.Sum(families[name]), err
}

// clear deletes all CronJobs, Jobs and events, also from etcd's history: every measurement begins
// in the same state.
func (p *cluster) clear(ctx context.Context) error {
	for _, namespace := range append(p.namespaces, neighbour) {
		for _, collection := range []string{
			operatorV1.in(namespace), builtin.in(namespace), plainCRD.in(namespace),
			"/apis/batch/v1/namespaces/" + namespace + "/jobs", "/api/v1/namespaces/" + namespace + "/events",
		} {
			if err := p.deleteAll(ctx, collection); err != nil {
				return err
			}
		}
	}
	return p.compact(ctx)
}

// deleteAll deletes a collection, in the background, as no garbage collector runs here. The API
// server answers after a minute at the latest, even if it is not done: then it is asked again.
func (p *cluster) deleteAll(ctx context.Context, collection string) error {
	for {
		err := p.json.Delete().AbsPath(collection).Param("propagationPolicy", "Background").Do(ctx).Error()
		switch {
		case err == nil, apierrors.IsNotFound(err): // the plain CRD exists in one stage only
			return nil
		case !apierrors.IsTimeout(err) && !apierrors.IsServerTimeout(err):
			return fmt.Errorf("deleting %s: %w", collection, err)
		}
	}
}

// collectGarbage has the API server collect its garbage. With many objects that takes both
// processors for a second or more. If it came at a tick, chance would decide which contender waits.
func (p *cluster) collectGarbage(ctx context.Context) error {
	if _, err := p.json.Get().AbsPath("/debug/pprof/heap").Param("gc", "1").DoRaw(ctx); err != nil {
		return fmt.Errorf("having the API server collect its garbage: %w", err)
	}
	return nil
}

// compact drops etcd's history and frees the space.
func (p *cluster) compact(ctx context.Context) error {
	revision, err := p.revision(ctx)
	if err != nil {
		return err
	}
	if _, err := p.etcd.Compact(ctx, revision, clientv3.WithCompactPhysical()); err != nil {
		return fmt.Errorf("compacting etcd: %w", err)
	}
	if _, err := p.etcd.Defragment(ctx, p.EtcdURL); err != nil {
		return fmt.Errorf("defragmenting etcd: %w", err)
	}
	return nil
}

func (p *cluster) revision(ctx context.Context) (int64, error) {
	answer, err := p.etcd.Get(ctx, "-", clientv3.WithCountOnly())
	if err != nil {
		return 0, fmt.Errorf("asking etcd for its revision: %w", err)
	}
	return answer.Header.Revision, nil
}
