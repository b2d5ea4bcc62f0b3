// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Command krew makes a release of the plugin for krew, kubectl's plugin manager: an archive for each
// platform, their SHA256SUMS, and the manifest cronjob.yaml that tells krew of them. It is run from the
// project's directory.
//
// The same source makes the same bytes.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"
)

// source is the plugin's package, with the script by which kubectl completes it.
const source = "./cmd/kubectl-cronjob"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "krew:", err)
		os.Exit(1)
	}
}

// run makes the release that the command line asks for.
func run(ctx context.Context) error {
	b := &builder{}
	r := release{build: b.build}
	flag.StringVar(&b.audit, "audit", "bin/audit/audit", "the program of hack/audit, which finds the licences")
	flag.StringVar(&r.version, "version", "", "the version of the release, such as v1.2.3")
	flag.StringVar(&r.url, "url", "", "the URL below which the archives are going to be, such as https://example.com/download/v1.2.3")
	out := flag.String("out", "dist/krew", "the directory to write to")
	flag.Parse()
	if flag.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flag.Arg(0))
	}
	if err := r.check(); err != nil {
		return err
	}
	license, err := os.ReadFile("LICENSE")
	if err != nil {
		return err
	}
	completion, err := os.ReadFile(filepath.Join(source, "kubectl_complete-cronjob"))
	if err != nil {
		return err
	}
	r.common = []file{{name: "LICENSE", content: license}}
	r.unix = []file{{name: "kubectl_complete-cronjob", executable: true, content: completion}}
	if err := os.MkdirAll(*out, 0o755); err != nil { //nolint:gosec // for all to read
		return err
	}
	return r.write(ctx, *out)
}

// check says what is wrong with the command line.
func (r *release) check() error {
	if _, err := version.ParseSemantic(r.version); err != nil || !strings.HasPrefix(r.version, "v") {
		return fmt.Errorf("-version %q: krew wants a semantic version, such as v1.2.3", r.version)
	}
	if u, err := url.Parse(r.url); err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
		return fmt.Errorf("-url %q: give the https URL below which the archives are going to be", r.url)
	}
	return nil
}

// builder builds the plugin.
type builder struct {
	audit string // the program of hack/audit
}

// build builds the plugin for a platform, stamped with a version. It returns the executable, and the
// licences of all that is linked into it below licenses/.
func (b *builder) build(ctx context.Context, p platform, stamp string) (files []file, err error) {
	dir, err := os.MkdirTemp("", "krew-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path, licenses := filepath.Join(dir, p.executable()), filepath.Join(dir, "licenses")
	for _, arguments := range [][]string{{"hack/build", source, path}, {b.audit, "-licenses=" + licenses, path}} {
		command := exec.CommandContext(ctx, arguments[0], arguments[1:]...) //nolint:gosec // the maintainer's own
		command.Env = append(os.Environ(), "VERSION="+stamp, "GOOS="+p.os, "GOARCH="+p.arch)
		command.Stdout, command.Stderr = os.Stdout, os.Stderr
		if err := command.Run(); err != nil {
			return nil, fmt.Errorf("building for %s/%s: %s: %w", p.os, p.arch, arguments[0], err)
		}
	}
	executable, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	terms, err := readTree(licenses)
	if err != nil {
		return nil, err
	}
	return append([]file{{name: p.executable(), executable: true, content: executable}}, terms...), nil
}

// readTree returns the files below a directory, in the order of their names, which begin with the directory's.
func readTree(dir string) ([]file, error) {
	var files []file
	tree := os.DirFS(filepath.Dir(dir))
	err := fs.WalkDir(tree, filepath.Base(dir), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(tree, path)
		if err != nil {
			return err
		}
		files = append(files, file{name: path, content: content})
		return nil
	})
	return files, err
}
