// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Command rename gives a copy of this repository the names of another operator, in the files that
// git tracks. docs/copy.md says when to run it.
//
// It replaces text, in one pass over each file. gonew and go mod edit change only the path of the
// module, and gopls one Go identifier at a time; most of the places are YAML, queries, tests and
// pages.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "rename:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	old, err := present()
	if err != nil {
		return err
	}
	names := old
	flags := flag.NewFlagSet("rename", flag.ContinueOnError)
	flags.StringVar(&names.module, "module", old.module, "`path` of the Go module")
	flags.StringVar(&names.group, "group", old.group, "API `group`: what follows its first dot is the domain")
	flags.StringVar(&names.kind, "kind", old.kind, "`kind` of the API's objects")
	flags.StringVar(&names.plural, "plural", old.plural, "the kind's plural in lower case: the API's `resource`")
	flags.StringVar(&names.short, "short", old.short, "the resource's short `name`")
	flags.StringVar(&names.project, "project", old.project, "`name` of the project: of its chart, and the prefix of its objects")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return nil
	case err != nil:
		return err
	case flags.NArg() > 0:
		return fmt.Errorf("want flags only, got %q", flags.Args())
	}
	if err := names.validate(); err != nil {
		return err
	}
	files, err := tracked()
	if err != nil {
		return err
	}
	if err := names.isFree(old, files); err != nil {
		return err
	}
	return newReplacer(old, names).apply(files)
}
