// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"tutorial.kubebuilder.io/project/test/localcluster"
	"tutorial.kubebuilder.io/project/test/plane"
)

const (
	// workers is how many creations are in progress at a time.
	workers = 32

	namespaceCount = 10

	// neighbour is a further namespace. Only the stage tenants has CronJobs there.
	neighbour = "bench-neighbour"
)

type cluster struct {
	*plane.Plane

	namespaces []string

	// program is the operator's binary, and memoryLimit its memory limit in bytes.
	program     string
	memoryLimit int64

	// metricsAddress and profilesAddress are where the operator serves its metrics and profiles.
	metricsAddress, profilesAddress string

	etcd *clientv3.Client

	// stored is the batch of CronJobs that exist, as far as that is known.
	stored batch

	// creating is how long it last took to create a CronJob, by kind.
	creating map[kind]time.Duration
}

// startCluster starts the control plane with Kubernetes' default flags, except for a faster
// deletion of collections, which is not measured. After an error, the result must be stopped too.
func startCluster(ctx context.Context, o *options) (*cluster, error) {
	if _, err := os.Stat(o.manager); err != nil {
		return nil, fmt.Errorf("the manager is not built, run \"make build\": %w", err)
	}
	limit, err := memoryLimit(o)
	if err != nil {
		return nil, err
	}
	c := &cluster{program: o.manager, memoryLimit: limit, creating: map[kind]time.Duration{}}
	for i := range namespaceCount {
		c.namespaces = append(c.namespaces, fmt.Sprintf("bench-%d", i))
	}
	for _, address := range []*string{&c.metricsAddress, &c.profilesAddress} {
		port, err := localcluster.FreePort()
		if err != nil {
			return nil, err
		}
		*address = fmt.Sprintf("127.0.0.1:%d", port)
	}
	if c.Plane, err = plane.Start(ctx, append(c.namespaces, neighbour), "--delete-collection-workers=16"); err != nil {
		return nil, err
	}
	c.etcd, err = plane.EtcdClient(c.EtcdURL)
	return c, err
}

func (p *cluster) metric(ctx context.Context, name string) (float64, error) {
	families, err := p.Metrics.Read(ctx, p.metricsAddress, name)
	return plane.Sum(families[name]), err
}

// liveHeap makes the operator collect garbage, and returns the size of its live heap in bytes.
func (p *cluster) liveHeap(ctx context.Context) (float64, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.profilesAddress+"/debug/pprof/heap?gc=1", http.NoBody)
	if err != nil {
		return 0, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, fmt.Errorf("having the operator collect its garbage: %w", err)
	}
	if err := answer.Body.Close(); err != nil || answer.StatusCode != http.StatusOK {
		return 0, errors.Join(fmt.Errorf("having the operator collect its garbage: it answers %s", answer.Status), err)
	}
	return p.metric(ctx, "go_gc_heap_live_bytes")
}

// clear deletes all CronJobs, Jobs and events, also from etcd's history, so that every measurement
// begins in the same state.
func (p *cluster) clear(ctx context.Context) error {
	p.stored = batch{}
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

// deleteAll deletes a collection in the background, since no garbage collector runs here. The API
// server answers after a minute at the latest, even if it is not done: then the request is
// repeated.
func (p *cluster) deleteAll(ctx context.Context, collection string) error {
	for {
		err := p.REST.Delete().AbsPath(collection).Param("propagationPolicy", "Background").Do(ctx).Error()
		switch {
		case err == nil, apierrors.IsNotFound(err): // the plain CRD exists in one stage only
			return nil
		case !apierrors.IsTimeout(err) && !apierrors.IsServerTimeout(err):
			return fmt.Errorf("deleting %s: %w", collection, err)
		}
	}
}

// collectGarbage makes the API server collect garbage. With many objects that takes both CPUs for a
// second or more. At a tick, it would delay one contender by chance.
func (p *cluster) collectGarbage(ctx context.Context) error {
	if _, err := p.REST.Get().AbsPath("/debug/pprof/heap").Param("gc", "1").DoRaw(ctx); err != nil {
		return fmt.Errorf("having the API server collect its garbage: %w", err)
	}
	return nil
}

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
