// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Command mutations shows that the checker of test/chaos can fail: it breaks the operator's promises one by one, each
// in a copy of the source, and runs a short storm on what comes of it. The checker has to find each broken promise.
//
// Run it by "make chaos-mutations".
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"tutorial.kubebuilder.io/project/hack/localcluster"
	"tutorial.kubebuilder.io/project/test/chaos/checker"
	"tutorial.kubebuilder.io/project/test/chaos/history"
	"tutorial.kubebuilder.io/project/test/chaos/page"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "mutations:", err)
		os.Exit(1) //nolint:gocritic // nothing that stop would do matters any more
	}
}

// options are what the command line says.
type options struct {
	only      string
	parallel  int
	applyOnly bool
	tree      string
	keep      string
	docs      string
}

func parseFlags(args []string) (*options, error) {
	o := &options{}
	flags := flag.NewFlagSet("mutations", flag.ContinueOnError)
	flags.StringVar(&o.only, "only", "", "`text` that is in the names of the mutations to try; all if empty")
	flags.IntVar(&o.parallel, "parallel", 2, "`number` of storms at once")
	flags.BoolVar(&o.applyOnly, "apply", false, "only see that the mutations can be made of the source, and that they compile")
	flags.StringVar(&o.tree, "tree", "", "`directory` of the source; that of this project if empty")
	flags.StringVar(&o.keep, "keep", "", "`directory` to keep histories in; they are dropped if empty")
	flags.StringVar(&o.docs, "docs", "", "`file` of Markdown into which the table is to be written, between the lines "+
		page.Begin(figures)+" and "+page.End(figures))
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if o.docs != "" && (o.only != "" || o.applyOnly) {
		return nil, errors.New("-docs wants all mutations to be tried: neither -only nor -apply")
	}
	return o, nil
}

// figures names the table's place in a page.
const figures = "mutations"

// run tries the mutations that the command line names.
func run(ctx context.Context, args []string) error {
	o, err := parseFlags(args)
	if err != nil {
		return err
	}
	lab, err := newLaboratory(ctx, o)
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(lab.dir) }()
	chosen := slices.DeleteFunc(slices.Clone(mutations), func(m mutation) bool { return !strings.Contains(m.name, o.only) })
	results := make([]*result, len(chosen))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(1, o.parallel))
	for i, m := range chosen {
		group.Go(func() error {
			r, err := lab.try(ctx, i, m)
			if err != nil {
				return fmt.Errorf("mutation %q: %w", m.name, err)
			}
			results[i] = r
			return nil
		})
	}
	if err := group.Wait(); err != nil || o.applyOnly {
		return err
	}
	return o.report(results)
}

// report writes the table, and fails if a mutation has survived.
func (o *options) report(results []*result) error {
	if err := writeTable(os.Stdout, results); err != nil {
		return err
	}
	var survivors []string
	for _, r := range results {
		if r.found == 0 {
			survivors = append(survivors, r.name)
		}
	}
	if len(survivors) > 0 {
		return fmt.Errorf("the checker did not catch: %s", strings.Join(survivors, "; "))
	}
	if o.docs == "" {
		return nil
	}
	return page.Replace(o.docs, figures, func(w io.Writer) error { return writeTable(w, results) })
}

// writeTable writes the results as Markdown.
func writeTable(w io.Writer, results []*result) error {
	var text strings.Builder
	text.WriteString("| mutation | caught by | times |\n|---|---|--:|\n")
	for _, r := range results {
		by := "**nothing**"
		if r.found > 0 {
			by = string(r.first)
		}
		fmt.Fprintf(&text, "| %s | %s | %d |\n", r.name, by, r.found)
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// laboratory is where mutants are made and tried.
type laboratory struct {
	*options
	root string // the source
	dir  string // of copies, programs and histories
}

// newLaboratory builds the storm's program.
func newLaboratory(ctx context.Context, o *options) (_ *laboratory, err error) {
	root, err := localcluster.FindRoot()
	if err != nil {
		return nil, err
	}
	lab := &laboratory{options: o, root: root}
	if lab.dir, err = os.MkdirTemp("", "chaos-mutations-"); err != nil {
		return nil, err
	}
	if out, err := command(ctx, root, "go", "build", "-o", lab.storm(), "./test/chaos"); err != nil {
		return nil, errors.Join(fmt.Errorf("building the storm: %w: %s", err, out), os.RemoveAll(lab.dir))
	}
	if o.tree != "" {
		lab.root = o.tree
	}
	return lab, nil
}

func (l *laboratory) storm() string { return filepath.Join(l.dir, "storm") }

// command runs a program and returns what it says.
func command(ctx context.Context, dir, name string, args ...string) (string, error) {
	c := exec.CommandContext(ctx, name, args...) //nolint:gosec // what is built here, with the flags of the list
	c.Dir = dir
	c.Env = append(os.Environ(), "CGO_ENABLED=0")
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay = time.Minute
	out, err := c.CombinedOutput()
	return string(out), err
}

// result is what the checker found of a mutation.
type result struct {
	mutation
	found int         // violations of the laws that it breaks
	first checker.Law // of which most
}

// try makes a mutant and, unless it is only to be made, a storm around it.
func (l *laboratory) try(ctx context.Context, i int, m mutation) (*result, error) {
	dir := filepath.Join(l.dir, fmt.Sprint(i))
	defer func() { _ = os.RemoveAll(dir) }()
	manager, err := l.build(ctx, dir, m)
	if err != nil || l.applyOnly {
		return nil, err
	}
	out := filepath.Join(dir, "out")
	if l.keep != "" {
		out = filepath.Join(l.keep, fmt.Sprintf("%02d", i))
	}
	begin := time.Now()
	args := []string{
		"-seed=1", "-duration=40s", "-calm=0", "-patience=30s", "-cronjobs=80", "-faults=none", "-manager=" + manager, "-out=" + out,
	}
	said, err := command(ctx, l.root, l.storm(), append(args, m.flags...)...)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return nil, fmt.Errorf("the storm: %w: %s", err, said)
	}
	records, err := history.Read(filepath.Join(out, "history-1.jsonl"))
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, said)
	}
	r := judge(m, checker.Check(records, 1))
	fmt.Fprintf(os.Stderr, "%-65s %4d violations in %v\n", m.name, r.found, time.Since(begin).Round(time.Second))
	if r.found == 0 {
		fmt.Fprintln(os.Stderr, said)
	}
	return r, nil
}

// build builds a manager from a copy of the source with a mutation.
func (l *laboratory) build(ctx context.Context, dir string, m mutation) (manager string, err error) {
	tree := filepath.Join(dir, "tree")
	if err := os.MkdirAll(tree, 0o750); err != nil {
		return "", err
	}
	if err := l.copySource(tree); err != nil {
		return "", err
	}
	for _, e := range m.edits {
		if err := e.make(tree); err != nil {
			return "", err
		}
	}
	manager = filepath.Join(dir, "manager")
	if said, err := command(ctx, tree, "go", "build", "-o", manager, "./test/chaos/manager"); err != nil {
		return "", fmt.Errorf("building: %w: %s", err, said)
	}
	return manager, nil
}

// copySource copies what the manager is built from.
func (l *laboratory) copySource(to string) error {
	for _, name := range []string{"apis", "controllers", "internal"} {
		if err := os.CopyFS(filepath.Join(to, name), os.DirFS(filepath.Join(l.root, name))); err != nil {
			return err
		}
	}
	files, err := filepath.Glob(filepath.Join(l.root, "*.go"))
	if err != nil {
		return err
	}
	for _, file := range append(files, filepath.Join(l.root, "go.mod"), filepath.Join(l.root, "go.sum")) {
		content, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, filepath.Base(file)), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// make makes the edit in a copy of the source. It fails if the code is not what it was when the mutation was written.
func (e edit) make(tree string) error {
	file := filepath.Join(tree, e.file)
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if n := bytes.Count(content, []byte(e.before)); n != 1 {
		return fmt.Errorf("%s has %q %d times: the code has moved, and test/chaos/mutations/list.go has to follow", e.file, e.before, n)
	}
	return os.WriteFile(file, bytes.Replace(content, []byte(e.before), []byte(e.after), 1), 0o600)
}

// judge counts what the checker has found.
func judge(m mutation, verdict *checker.Verdict) *result {
	r := &result{mutation: m}
	most := 0
	for _, law := range m.laws {
		n := verdict.Count(law)
		r.found += n
		if n > most {
			most, r.first = n, law
		}
	}
	return r
}
