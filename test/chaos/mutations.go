// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"tutorial.kubebuilder.io/project/test/chaos/checker"
	"tutorial.kubebuilder.io/project/test/chaos/mutations"
	"tutorial.kubebuilder.io/project/test/history"
	"tutorial.kubebuilder.io/project/test/plane"
)

const parallelStorms = 2

// tryMutations shows that the checker can fail: for each selected mutation it runs a short storm,
// in which the checker must find the mutation's law broken.
func (o *options) tryMutations(ctx context.Context) error {
	if err := o.build(ctx); err != nil {
		return err
	}
	tried := slices.DeleteFunc(slices.Clone(mutations.All), func(m mutations.Mutation) bool {
		return o.mutations != all && !strings.Contains(m.Name, o.mutations)
	})
	found := make([]int, len(tried))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(parallelStorms)
	for i := range tried {
		group.Go(func() (err error) {
			found[i], err = o.tryMutation(groupCtx, &tried[i], filepath.Join(o.out, fmt.Sprintf("mutation-%02d", i)))
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	var survivors []string
	fmt.Print("| mutation | caught by | times |\n|---|---|--:|\n")
	for i, m := range tried {
		if found[i] == 0 {
			survivors = append(survivors, m.Name)
		}
		fmt.Printf("| %s | %s | %d |\n", m.Name, m.Law, found[i])
	}
	if len(survivors) > 0 {
		return fmt.Errorf("the checker did not catch: %s", strings.Join(survivors, "; "))
	}
	return nil
}

// tryMutation runs a storm with a mutation, and counts the violations of its law.
func (o *options) tryMutation(ctx context.Context, m *mutations.Mutation, out string) (int, error) {
	short, err := parseFlags(append([]string{
		"-seed=1", "-duration=40s", "-calm=0", "-patience=30s", "-cronjobs=80", "-faults=none", "-out=" + out,
	}, m.Flags...))
	if err != nil {
		return 0, err
	}
	if err := os.MkdirAll(out, 0o750); err != nil {
		return 0, err
	}
	short.manager, short.plugin, short.mutation = o.manager, o.plugin, m
	file := filepath.Join(out, "history.jsonl")
	failure := short.storm(ctx, file) // it may not settle
	if ctx.Err() != nil {
		return 0, failure
	}
	records, err := history.Read(file)
	if err != nil {
		return 0, errors.Join(failure, err)
	}
	found := checker.Check(records, 1).Count(m.Law)
	plane.Logf("%s: %d violations; the storm: %v", m.Name, found, failure)
	return found, nil
}
