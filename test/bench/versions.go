// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"tutorial.kubebuilder.io/project/test/bench/results"
)

const (
	// mostCreates is how many CronJobs are created to see how fast that is.
	mostCreates = 5000

	// How often all are listed, and one is read: the median counts.
	listings = 5
	readings = 200

	// chunk is how many kubectl lists at once.
	chunk = "500"
)

// versions sees what it costs to create and read CronJobs in each version, with the operator's
// webhooks.
func (b *bench) versions(ctx context.Context) error {
	if err := b.clear(ctx); err != nil {
		return err
	}
	if err := b.timeCreates(ctx, results.Builtin, builtin); err != nil {
		return err
	}
	if err := b.timePlainCreates(ctx); err != nil {
		return err
	}
	if err := b.timeAdmission(ctx); err != nil {
		return err
	}
	r, err := b.settled(ctx, operator)
	if err != nil {
		return err
	}
	if err := b.timeCreates(ctx, results.V2, operatorV2); err != nil {
		return err
	}
	if err := b.timeCreates(ctx, results.V1, operatorV1); err != nil {
		return err
	}
	if _, err := b.create(ctx, b.namespaces, operatorV1, "bench", b.objects, notSoon(time.Now())); err != nil {
		return err
	}
	if err := r.awaitIdle(ctx); err != nil {
		return err
	}
	if err := b.timeReads(ctx); err != nil {
		return err
	}
	return r.end()
}

// timeCreates creates CronJobs and deletes them again.
func (b *bench) timeCreates(ctx context.Context, of string, k kind) error {
	count := min(b.objects, mostCreates)
	took, err := b.create(ctx, b.namespaces, k, "bench", count, notSoon(time.Now()))
	if err != nil {
		return err
	}
	rate := map[string]float64{results.Creates: float64(count) / took.Seconds()}
	if err := b.keep(results.Result{Stage: results.Versions, Of: of, N: b.objects, Values: rate}); err != nil {
		return err
	}
	return b.clear(ctx)
}

// timePlainCreates creates what has the schema of v1 and nothing besides: no webhook, no other
// version, nobody who reconciles it. That is as fast as the API server takes custom resources of
// this kind.
func (b *bench) timePlainCreates(ctx context.Context) error {
	options, err := plainCRDs(b.root)
	if err != nil {
		return err
	}
	if _, err := envtest.InstallCRDs(b.Config, options); err != nil {
		return fmt.Errorf("installing a CRD: %w", err)
	}
	if err := b.timeCreates(ctx, results.CRD, plainCRD); err != nil {
		return err
	}
	return envtest.UninstallCRDs(b.Config, options)
}

// timeAdmission creates CronJobs of v1 while the operator serves its webhooks and another leads:
// nobody reconciles.
func (b *bench) timeAdmission(ctx context.Context) error {
	lease, err := b.takeLease(ctx)
	if err != nil {
		return err
	}
	r, err := b.settled(ctx, operator, "--leader-elect", "--leader-election-namespace="+lease.Namespace)
	if err != nil {
		return err
	}
	if err := b.timeCreates(ctx, results.Admission, operatorV1); err != nil {
		return err
	}
	return errors.Join(r.end(), b.Client.Delete(ctx, lease))
}

// timeReads lists and reads what there is, by turns in each version.
func (b *bench) timeReads(ctx context.Context) error {
	kinds := map[string]kind{results.V1: operatorV1, results.V2: operatorV2}
	for name, measurement := range map[string]struct {
		times int
		read  func(ctx context.Context, k kind, i int) error
	}{
		results.List: {listings, b.list},
		"chunks":     {listings, b.listInChunks},
		"get":        {readings, b.get},
	} {
		took := map[string][]time.Duration{}
		for i := range measurement.times + 1 { // the first time does not count
			for version, k := range kinds {
				begin := time.Now()
				if err := measurement.read(ctx, k, i); err != nil {
					return fmt.Errorf("reading %s: %w", version, err)
				}
				if i > 0 {
					took[version] = append(took[version], time.Since(begin))
				}
			}
		}
		for version := range kinds {
			b.results.Get(results.Versions, version, 0).Values[name] = median(took[version]).Seconds()
		}
	}
	return b.results.Save(b.file)
}

// median returns the median of some values; of an even number, the larger one.
func median[T cmp.Ordered](values []T) T { return slices.Sorted(slices.Values(values))[len(values)/2] }

// list reads all CronJobs in one answer.
func (p *cluster) list(ctx context.Context, k kind, _ int) error {
	_, err := p.json.Get().AbsPath(k.everywhere()).DoRaw(ctx)
	return err
}

// continues finds where to go on in a list. No object here has such a field.
var continues = regexp.MustCompile(`"continue":"([^"]+)"`)

// listInChunks reads all CronJobs as kubectl does.
func (p *cluster) listInChunks(ctx context.Context, k kind, _ int) error {
	for token := ""; ; {
		answer, err := p.json.Get().AbsPath(k.everywhere()).Param("limit", chunk).Param("continue", token).DoRaw(ctx)
		if err != nil {
			return err
		}
		found := continues.FindSubmatch(answer)
		if found == nil {
			return nil
		}
		token = string(found[1])
	}
}

// get reads one CronJob.
func (p *cluster) get(ctx context.Context, k kind, i int) error {
	_, err := p.json.Get().AbsPath(k.in(p.namespaceOf(i)), nameOf("bench", i)).DoRaw(ctx)
	return err
}

// What a create costs is told apart by leaving things out: here, all but the CRD, and all but the
// webhooks.
const (
	// plainGroup is the API group of custom resources with the schema of v1 and nothing besides.
	plainGroup = "plain.bench.example"

	// leaseName is the operator's Lease.
	leaseName = "cronjob-controller.tutorial.kubebuilder.io"
)

var plainCRD = kind{apiVersion: plainGroup + "/v1"}

// plainCRDs returns the operator's CRD as another, with v1 alone, and how long to wait for it.
func plainCRDs(root string) (envtest.CRDInstallOptions, error) {
	options := envtest.CRDInstallOptions{Paths: []string{filepath.Join(root, "config", "crd", "bases")}, MaxTime: time.Minute}
	if err := envtest.ReadCRDFiles(&options); err != nil {
		return options, fmt.Errorf("reading the CRD: %w", err)
	}
	options.Paths = nil
	crd := options.CRDs[0]
	crd.Spec.Group, crd.Name = plainGroup, crd.Spec.Names.Plural+"."+plainGroup
	crd.Spec.Conversion = nil
	crd.Spec.Versions = slices.DeleteFunc(crd.Spec.Versions, func(version apiextensionsv1.CustomResourceDefinitionVersion) bool {
		return version.Name != "v1"
	})
	return options, nil
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
