// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"tutorial.kubebuilder.io/project/test/bench/results"
	"tutorial.kubebuilder.io/project/test/plane"
)

const (
	// mostCreates is how many CronJobs are created to see how fast that is.
	mostCreates = 5000

	// How often all are listed, and one is read: the median counts.
	listings = 5
	readings = 200

	// chunk is how many kubectl lists at once.
	chunk = 500
)

// versions sees what it costs to create and read CronJobs in each version, with the operator's
// webhooks.
func (b *bench) versions(ctx context.Context) error {
	if err := b.clear(ctx); err != nil {
		return err
	}
	v := &results.Versions{
		N: b.objects, Creates: map[string]float64{}, List: map[string]float64{}, ListChunks: map[string]float64{}, Get: map[string]float64{},
	}
	creates := min(b.objects, mostCreates)
	if err := b.timeCreates(ctx, v, results.OfBuiltin, builtin, creates); err != nil {
		return err
	}
	if err := b.timePlainCreates(ctx, v, creates); err != nil {
		return err
	}
	if err := b.timeAdmission(ctx, v, creates); err != nil {
		return err
	}
	r, err := b.settled(ctx, operator)
	if err != nil {
		return err
	}
	if err := b.timeCreates(ctx, v, results.OfV2, operatorV2, creates); err != nil {
		return err
	}
	if err := b.timeCreates(ctx, v, results.OfV1, operatorV1, creates); err != nil {
		return err
	}
	if _, err := b.create(ctx, b.namespaces, operatorV1, "bench", b.objects, notSoon(time.Now())); err != nil {
		return err
	}
	if err := r.AwaitIdle(ctx); err != nil {
		return err
	}
	if err := b.timeReads(ctx, v); err != nil {
		return err
	}
	return errors.Join(b.keep(*v), r.end())
}

// timeCreates creates CronJobs and deletes them again.
func (b *bench) timeCreates(ctx context.Context, v *results.Versions, name string, k kind, count int) error {
	took, err := b.create(ctx, b.namespaces, k, "bench", count, notSoon(time.Now()))
	if err != nil {
		return err
	}
	v.Creates[name] = float64(count) / took.Seconds()
	plane.Logf("%s: %.0f creates a second", name, v.Creates[name])
	return b.clear(ctx)
}

// timePlainCreates creates what has the schema of v1 and nothing besides: no webhook, no other
// version, nobody who reconciles it. That is as fast as the API server takes custom resources of
// this kind.
func (b *bench) timePlainCreates(ctx context.Context, v *results.Versions, count int) error {
	crd, err := b.installPlainCRD(ctx, b.root)
	if err != nil {
		return err
	}
	took, err := b.create(ctx, b.namespaces, plainCRD, "bench", count, notSoon(time.Now()))
	if err != nil {
		return err
	}
	v.Creates[results.OfCRD] = float64(count) / took.Seconds()
	plane.Logf("%s: %.0f creates a second", results.OfCRD, v.Creates[results.OfCRD])
	return b.uninstall(ctx, crd)
}

// timeAdmission creates CronJobs of v1 while the operator serves its webhooks and another leads:
// nobody reconciles.
func (b *bench) timeAdmission(ctx context.Context, v *results.Versions, count int) error {
	lease, err := b.takeLease(ctx)
	if err != nil {
		return err
	}
	r, err := b.settled(ctx, operator, "--leader-elect", "--leader-election-namespace="+lease.Namespace)
	if err != nil {
		return err
	}
	if err := b.timeCreates(ctx, v, results.OfAdmission, operatorV1, count); err != nil {
		return err
	}
	return errors.Join(r.end(), b.Client.Delete(ctx, lease))
}

// timeReads lists and reads what there is, by turns in each version.
func (b *bench) timeReads(ctx context.Context, v *results.Versions) error {
	kinds := map[string]kind{results.OfV1: operatorV1, results.OfV2: operatorV2}
	names := []string{results.OfV1, results.OfV2}
	for _, measurement := range []struct {
		into  map[string]float64
		times int
		read  func(ctx context.Context, k kind, i int) error
	}{
		{v.List, listings, b.list},
		{v.ListChunks, listings, b.listInChunks},
		{v.Get, readings, b.get},
	} {
		took := map[string][]time.Duration{}
		for i := range measurement.times + 1 { // the first time does not count
			for _, name := range names {
				begin := time.Now()
				if err := measurement.read(ctx, kinds[name], i); err != nil {
					return fmt.Errorf("reading %s: %w", name, err)
				}
				if i > 0 {
					took[name] = append(took[name], time.Since(begin))
				}
			}
		}
		for _, name := range names {
			measurement.into[name] = median(took[name]).Seconds()
		}
	}
	return nil
}

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}

// list reads all CronJobs in one answer.
func (p *cluster) list(ctx context.Context, k kind, _ int) error {
	return p.read(ctx, k.everywhere(), nil, io.Discard)
}

// continues finds where to go on in a list. No object here has such a field.
var continues = regexp.MustCompile(`"continue":"([^"]+)"`)

// listInChunks reads all CronJobs as kubectl does.
func (p *cluster) listInChunks(ctx context.Context, k kind, _ int) error {
	query := url.Values{"limit": {fmt.Sprint(chunk)}}
	for {
		var answer bytes.Buffer
		if err := p.read(ctx, k.everywhere(), query, &answer); err != nil {
			return err
		}
		found := continues.FindSubmatch(answer.Bytes())
		if found == nil {
			return nil
		}
		query.Set("continue", string(found[1]))
	}
}

// get reads one CronJob.
func (p *cluster) get(ctx context.Context, k kind, i int) error {
	return p.read(ctx, k.in(p.namespaceOf(i))+"/"+nameOf("bench", i), nil, io.Discard)
}

// read reads from the API server to the last byte, and does nothing with it that would take time.
func (p *cluster) read(ctx context.Context, path string, query url.Values, into io.Writer) error {
	request := p.json.Get().AbsPath(path)
	for name, values := range query {
		request.Param(name, values[0])
	}
	body, err := request.Stream(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = body.Close() }()
	_, err = io.Copy(into, body)
	return err
}

// What a create costs is told apart by leaving things out: here, all but the CRD, and all but the
// webhooks.
const (
	// plainGroup is the API group of custom resources with the schema of v1 and nothing besides.
	plainGroup = "plain.bench.example"

	// crdPatience is how long the API server may take to serve a CRD, or to delete it with all
	// there is of it.
	crdPatience = 5 * time.Minute

	// leaseName is the operator's Lease.
	leaseName = "cronjob-controller.tutorial.kubebuilder.io"
)

var plainCRD = kind{plainGroup + "/v1", "/apis/" + plainGroup + "/v1/%s/cronjobs", asText}

// crdsPath is where the API server has the CRDs.
const crdsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

// installPlainCRD installs the operator's CRD as another, with v1 alone, and returns its name.
func (p *cluster) installPlainCRD(ctx context.Context, root string) (string, error) {
	raw, err := os.ReadFile(filepath.Join(root, "config", "crd", "bases", "batch.tutorial.kubebuilder.io_cronjobs.yaml"))
	if err != nil {
		return "", fmt.Errorf("reading the CRD: %w", err)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(raw, crd); err != nil {
		return "", fmt.Errorf("reading the CRD: %w", err)
	}
	crd.Spec.Group, crd.Name = plainGroup, crd.Spec.Names.Plural+"."+plainGroup
	crd.Spec.Conversion = nil
	crd.Spec.Versions = slices.DeleteFunc(crd.Spec.Versions, func(version apiextensionsv1.CustomResourceDefinitionVersion) bool {
		return version.Name != "v1"
	})
	manifest, err := json.Marshal(crd)
	if err != nil {
		return "", fmt.Errorf("writing the CRD: %w", err)
	}
	if err := p.post(ctx, crdsPath, manifest); err != nil {
		return "", err
	}
	return crd.Name, wait.PollUntilContextTimeout(ctx, time.Second/10, crdPatience, true, func(ctx context.Context) (bool, error) {
		return p.list(ctx, plainCRD, 0) == nil, nil
	})
}

// uninstall deletes a CRD, and waits until all there is of it is gone.
func (p *cluster) uninstall(ctx context.Context, name string) error {
	if err := p.json.Delete().AbsPath(crdsPath, name).Do(ctx).Error(); err != nil {
		return fmt.Errorf("deleting a CRD: %w", err)
	}
	return wait.PollUntilContextTimeout(ctx, time.Second/10, crdPatience, true, func(ctx context.Context) (bool, error) {
		err := p.json.Get().AbsPath(crdsPath, name).Do(ctx).Error()
		return apierrors.IsNotFound(err), client.IgnoreNotFound(err)
	})
}

// takeLease takes the operator's Lease, so that none of its replicas becomes the leader.
func (p *cluster) takeLease(ctx context.Context) (*coordinationv1.Lease, error) {
	now := metav1.NowMicro()
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: p.namespaces[0], Name: leaseName},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: new("bench"), LeaseDurationSeconds: new(int32(24 * time.Hour / time.Second)), AcquireTime: &now, RenewTime: &now,
		},
	}
	if err := p.Client.Create(ctx, lease); err != nil {
		return nil, fmt.Errorf("taking the Lease: %w", err)
	}
	return lease, nil
}
