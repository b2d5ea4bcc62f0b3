// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
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

	// json sends and takes JSON, for CronJobs of either kind.
	json    *rest.RESTClient
	etcd    *clientv3.Client
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
	if p.etcd, err = plane.EtcdClient(p.EtcdURL); err != nil {
		return err
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

// clear deletes all CronJobs, Jobs and events, and has etcd forget that they were ever there: what
// is measured next begins as the first did.
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

// deleteAll deletes a collection. Nothing here collects garbage, so that the deletion is in the
// background for good. The API server answers after a minute at the latest: then there is more to
// do.
func (p *cluster) deleteAll(ctx context.Context, collection string) error {
	for {
		err := p.json.Delete().AbsPath(collection).Param("propagationPolicy", "Background").Do(ctx).Error()
		switch {
		case err == nil, apierrors.IsNotFound(err): // the plain CRD is there for a while only
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

// revision returns etcd's.
func (p *cluster) revision(ctx context.Context) (int64, error) {
	answer, err := p.etcd.Get(ctx, "-", clientv3.WithCountOnly())
	if err != nil {
		return 0, fmt.Errorf("asking etcd for its revision: %w", err)
	}
	return answer.Header.Revision, nil
}
