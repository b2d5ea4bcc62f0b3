// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Command release makes those parts of a release that a shell does not make well: the image and the
// chart as OCI layouts, and the provenance. The script build beside it makes the rest and calls it.
//
//	release image -out=DIR -version=VERSION -commit=COMMIT -time=SECONDS ROOT.tar...
//	release chart -out=DIR -version=VERSION -commit=COMMIT -time=SECONDS CHART.tgz
//	release provenance -version=VERSION -commit=COMMIT -source=URI -builder=URI -registry=REGISTRY <SHA256SUMS
//
// The first two print the digest of what a registry will have. The same input makes the same bytes.
//
// These were considered in its place:
//
//   - goreleaser (v2.17.1) makes images with docker's buildx or with ko, and no provenance; it
//     takes the binaries of hack/build only in its paid edition, and is 370 modules.
//   - ko (v0.19.1) runs go build itself, gets the base of an image from a registry, and puts
//     licences elsewhere than the Dockerfile does.
//   - crane append (go-containerregistry v0.21.7) makes images, but no artifact whose config is
//     that of a chart, and an index only in a registry. crane pushes the layouts.
//   - helm package and helm push put the time of the files into what they make, and need a
//     registry.
//
// The signatures are cosign's. This module has it as a tool, and crane.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"
)

// release identifies a release.
type release struct {
	version string
	commit  string
	created time.Time
}

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New("want a command: image, chart or provenance")
	}
	flags := flag.NewFlagSet(args[0], flag.ExitOnError)
	r, b := release{}, build{}
	flags.StringVar(&r.version, "version", "", "`version` of the release")
	flags.StringVar(&r.commit, "commit", "", "`commit` of the source")
	seconds := flags.Int64("time", 0, "time of that commit, in `seconds` since 1970")
	out := flags.String("out", "", "`directory` for the OCI layout")
	flags.StringVar(&b.source, "source", "", "`URI` of the repository with the source")
	flags.StringVar(&b.builder, "builder", "", "`URI` that identifies who builds")
	flags.StringVar(&b.registry, "registry", "", "`registry` and path below which the image and the chart will be")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	r.created = time.Unix(*seconds, 0).UTC()
	switch {
	case args[0] == "image" && flags.NArg() > 0:
		return writeImage(ctx, *out, &r, flags.Args())
	case args[0] == "chart" && flags.NArg() == 1:
		return writeChart(ctx, *out, &r, flags.Arg(0))
	case args[0] == "provenance" && flags.NArg() == 0:
		return writeProvenance(os.Stdout, os.Stdin, &r, &b)
	default:
		return fmt.Errorf("%q: want image with root file systems, chart with a packed chart, or provenance", args)
	}
}
