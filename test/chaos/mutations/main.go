// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Command mutations shows that the checker of test/chaos can fail: it runs a short storm on each
// mutation, and the checker has to find the law broken that the mutation breaks.
//
// Run it by "make chaos-mutations".
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"tutorial.kubebuilder.io/project/hack/localcluster"
	"tutorial.kubebuilder.io/project/test/chaos/checker"
	"tutorial.kubebuilder.io/project/test/chaos/history"
	"tutorial.kubebuilder.io/project/test/chaos/mutation"
	"tutorial.kubebuilder.io/project/test/chaos/page"
	"tutorial.kubebuilder.io/project/test/plane"
)

func main() { plane.Main("mutations", run) }

// table names the table's place in a page.
const table = "mutations"

// parallel is how many storms there are at once.
const parallel = 2

// result is what the checker found of a mutation.
type result struct {
	mutation.Mutation
	found int         // violations of the laws that it breaks
	first checker.Law // of which most
}

// run tries the mutations that the command line names.
func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("mutations", flag.ContinueOnError)
	only := flags.String("only", "", "`text` that is in the names of the mutations to try; all if empty")
	out := flags.String("out", filepath.Join("bin", "chaos", "mutations"), "`directory` for the programs and the histories")
	docs := flags.String("docs", "", "`file` of Markdown into which the table is to be written, between the lines "+
		page.Begin(table)+" and "+page.End(table))
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *docs != "" && *only != "" {
		return errors.New("-docs wants all mutations to be tried: leave out -only")
	}
	dir, err := filepath.Abs(*out)
	if err != nil {
		return err
	}
	if err := build(ctx, dir); err != nil {
		return err
	}
	var results []*result
	for _, m := range mutation.All {
		if strings.Contains(m.Name, *only) {
			results = append(results, &result{Mutation: m})
		}
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for i, r := range results {
		group.Go(func() error {
			if err := r.try(ctx, dir, filepath.Join(dir, fmt.Sprintf("%02d", i))); err != nil {
				return fmt.Errorf("mutation %q: %w", r.Name, err)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return report(results, *docs)
}

// build builds the storm and the manager.
func build(ctx context.Context, dir string) error {
	root, err := localcluster.FindRoot()
	if err != nil {
		return err
	}
	args := []string{"build", "-o", dir + string(filepath.Separator), "./test/chaos", "./test/chaos/manager"}
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir = root
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	if said, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("building the storm: %w: %s", err, said)
	}
	return nil
}

// try runs a storm on the mutation, and counts what the checker finds.
func (r *result) try(ctx context.Context, programs, out string) error {
	begin := time.Now()
	args := append([]string{
		"-seed=1", "-duration=40s", "-calm=0", "-patience=30s", "-cronjobs=80", "-faults=none",
		"-manager=" + filepath.Join(programs, "manager"), "-out=" + out, "-mutation=" + r.Name,
	}, r.Flags...)
	storm := exec.CommandContext(ctx, filepath.Join(programs, "chaos"), args...) //nolint:gosec // what was built here
	storm.Cancel = func() error { return storm.Process.Signal(syscall.SIGTERM) }
	storm.WaitDelay = time.Minute
	said, err := storm.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return fmt.Errorf("the storm: %w: %s", err, said)
	}
	records, err := history.Read(filepath.Join(out, "history-1.jsonl"))
	if err != nil {
		return fmt.Errorf("%w: %s", err, said)
	}
	verdict, most := checker.Check(records, 1), 0
	for _, law := range r.Laws {
		n := verdict.Count(law)
		r.found += n
		if n > most {
			most, r.first = n, law
		}
	}
	fmt.Fprintf(os.Stderr, "%-65s %4d violations in %v\n", r.Name, r.found, time.Since(begin).Round(time.Second))
	if r.found == 0 {
		fmt.Fprintf(os.Stderr, "%s\n", said)
	}
	return nil
}

// report writes the table, and fails if the checker did not catch a mutation.
func report(results []*result, docs string) error {
	var text strings.Builder
	text.WriteString("| mutation | caught by | times |\n|---|---|--:|\n")
	var survivors []string
	for _, r := range results {
		if r.found == 0 {
			survivors = append(survivors, r.Name)
		}
		fmt.Fprintf(&text, "| %s | %s | %d |\n", r.Name, r.first, r.found)
	}
	fmt.Print(text.String())
	if len(survivors) > 0 {
		return fmt.Errorf("the checker did not catch: %s", strings.Join(survivors, "; "))
	}
	if docs == "" {
		return nil
	}
	return page.Replace(docs, table, func(w io.Writer) error {
		_, err := io.WriteString(w, text.String())
		return err
	})
}
