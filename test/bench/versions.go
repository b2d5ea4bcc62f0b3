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
	// mostCreates is how many CronJobs are created to measure the rate.
	mostCreates = 5000

	// listings and readings are how often all are listed, and one is read. The median counts.
	listings = 5
	readings = 200

	// chunk is kubectl's page size, and everything a list without a limit.
	chunk      = "500"
	everything = "0"
)

// plainGroup is the API group of custom resources with the schema of v1 and nothing else: no
// webhook, no other version, no controller.
const plainGroup = "plain.bench.example"

const plainCRD kind = plainGroup + "/v1"

// versions measures creating and reading CronJobs in each version. It also measures creates with
// just the CRD, and without webhooks, to show what each part costs.
func (b *bench) versions(ctx context.Context) error {
	options, err := plainCRDs(b.root)
	if err != nil {
		return err
	}
	if _, err := envtest.InstallCRDs(b.Config, options); err != nil {
		return fmt.Errorf("installing a CRD: %w", err)
	}
	if err := b.takeLease(ctx); err != nil {
		return err
	}
	for _, m := range []struct {
		of    string
		kind  kind
		flags []string // of the operator, if it runs
	}{
		{"builtin", builtin, nil},
		{"crd", plainCRD, nil},
		{"admission", operatorV1, []string{"--leader-elect", "--leader-election-namespace=" + neighbour}},
		{"v2", operatorV2, []string{}},
		{"v1", operatorV1, []string{}},
	} {
		if err := b.timeCreates(ctx, m.of, m.kind, m.flags); err != nil {
			return fmt.Errorf("%s: %w", m.of, err)
		}
	}
	if err := envtest.UninstallCRDs(b.Config, options); err != nil {
		return fmt.Errorf("deleting a CRD: %w", err)
	}
	r, err := b.ready(ctx, operator, b.notDue(operatorV1))
	if err != nil {
		return err
	}
	return errors.Join(b.timeReads(ctx), b.End(r.Process))
}

// takeLease takes the operator's Lease in the neighbour namespace, so that an operator that waits
// for it does not reconcile.
func (p *cluster) takeLease(ctx context.Context) error {
	now := metav1.NowMicro()
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: neighbour, Name: "cronjob-controller.tutorial.kubebuilder.io"},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: new("bench"), LeaseDurationSeconds: new(int32(24 * time.Hour / time.Second)), RenewTime: &now,
		},
	}
	if err := p.Client.Create(ctx, lease); err != nil {
		return fmt.Errorf("taking the Lease: %w", err)
	}
	return nil
}

// plainCRDs returns the operator's CRD in another group, with v1 alone, and how long to wait for
// it.
func plainCRDs(root string) (envtest.CRDInstallOptions, error) {
	options := envtest.CRDInstallOptions{Paths: []string{filepath.Join(root, "config", "crd", "bases")}, MaxTime: time.Minute}
	if err := envtest.ReadCRDFiles(&options); err != nil {
		return options, fmt.Errorf("reading the CRD: %w", err)
	}
	options.Paths = nil
	crd := options.CRDs[0]
	crd.Spec.Group, crd.Name, crd.Spec.Conversion = plainGroup, crd.Spec.Names.Plural+"."+plainGroup, nil
	crd.Spec.Versions = slices.DeleteFunc(crd.Spec.Versions, func(version apiextensionsv1.CustomResourceDefinitionVersion) bool {
		return version.Name != "v1"
	})
	return options, nil
}

// timeCreates measures how fast CronJobs are created, with an operator if flags are given.
func (b *bench) timeCreates(ctx context.Context, of string, k kind, flags []string) error {
	if err := b.clear(ctx); err != nil {
		return err
	}
	var r *running
	if flags != nil {
		var err error
		if r, err = b.settled(ctx, operator, flags...); err != nil {
			return err
		}
	}
	some := b.notDue(k)
	some.count = min(some.count, mostCreates)
	took, err := b.create(ctx, some)
	if r != nil {
		err = errors.Join(err, b.End(r.Process))
	}
	if err != nil {
		return err
	}
	result := results.New(results.Versions, of, b.objects)
	result.Values["creates"] = float64(some.count) / took.Seconds()
	return b.keep(*result)
}

func (b *bench) timeReads(ctx context.Context) error {
	kinds := map[string]kind{"v1": operatorV1, "v2": operatorV2}
	for name, measurement := range map[string]struct {
		times int
		read  func(k kind, i int) error
	}{
		"list":   {listings, func(k kind, _ int) error { return b.list(ctx, k, everything) }},
		"chunks": {listings, func(k kind, _ int) error { return b.list(ctx, k, chunk) }},
		"get": {readings, func(k kind, i int) error {
			i %= b.objects
			return b.REST.Get().AbsPath(k.in(b.namespaceOf(i)), nameOf(benchPrefix, i)).Do(ctx).Error()
		}},
	} {
		took := map[string][]time.Duration{}
		for i := range measurement.times + 1 { // the first one does not count
			for version, k := range kinds {
				begin := time.Now()
				if err := measurement.read(k, i); err != nil {
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

// median returns the median; of an even number of values, the larger one.
func median[T cmp.Ordered](values []T) T { return slices.Sorted(slices.Values(values))[len(values)/2] }

// continues matches the continue token of a list. No object here has such a field.
var continues = regexp.MustCompile(`"continue":"([^"]+)"`)

// list reads all CronJobs in pages of a size.
func (p *cluster) list(ctx context.Context, k kind, limit string) error {
	for token := ""; ; {
		answer, err := p.REST.Get().AbsPath(k.everywhere()).Param("limit", limit).Param("continue", token).DoRaw(ctx)
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
