// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package files finds and reads the files of the flag -f, and configures the commands that have it.
package files

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/resource"

	"tutorial.kubebuilder.io/project/internal/cli/env"
)

// Stdin is the value of -f for the standard input.
const Stdin = "-"

// exitFailure is the exit code of a command that failed. 1 is for findings.
const exitFailure = 2

// Failure returns an error with the exit code for a failure.
func Failure(err error) error { return &env.ExitError{Code: exitFailure, Err: err} }

// Configure adds the flags -f and -R to a command, which takes no arguments. A wrong command line
// is Failure.
func Configure(cmd *cobra.Command, names *[]string, recursive *bool) {
	cmd.Args = func(_ *cobra.Command, args []string) error {
		if len(args) > 0 {
			return Failure(fmt.Errorf("unexpected argument %q: name files with -f", args[0]))
		}
		return nil
	}
	cmd.ValidArgsFunction = cobra.NoFileCompletions
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return Failure(err) })
	AddFlags(cmd, names, recursive)
}

// AddFlags adds the flags -f and -R to a command.
func AddFlags(cmd *cobra.Command, names *[]string, recursive *bool) {
	flags := genericclioptions.FileNameFlags{
		Usage:     "Files or directories with manifests, or - for the standard input. Of directories, .yaml, .yml and .json files.",
		Filenames: names,
		Recursive: recursive,
	}
	flags.AddFlags(cmd.Flags())
	cmd.Flags().Lookup("recursive").Usage = "Go into the directories below those that -f names, but for .git and its like."
}

// File is a file of the flag -f.
type File struct {
	// Name is the name for messages.
	Name string

	// Path is the path with symbolic links resolved.
	Path string

	// Err is why the file can't be read.
	Err error
}

// Read returns the content of the file.
func (f File) Read(stdin io.Reader) ([]byte, error) {
	switch {
	case f.Err != nil:
		return nil, f.Err
	case f.Path == Stdin:
		return io.ReadAll(stdin)
	}
	text, err := os.ReadFile(f.Path)
	return text, UnwrapPath(err)
}

// Expand returns the files of the values of -f, without duplicates.
func Expand(names []string, recursive bool) ([]File, error) {
	var files []File
	for _, name := range names {
		found, err := expandOne(name, recursive)
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(files, func(f File) bool {
		again := seen[f.Path]
		seen[f.Path] = true
		return again
	}), nil
}

// expandOne returns the files of one value of -f, which may be anything that kubectl accepts but a
// URL.
func expandOne(name string, recursive bool) ([]File, error) {
	switch {
	case name == Stdin:
		return []File{{Name: "standard input", Path: Stdin}}, nil
	case strings.HasPrefix(name, "http://"), strings.HasPrefix(name, "https://"):
		return nil, fmt.Errorf("-f %s: URLs are not read: download it, and pipe it into -f -", name)
	}
	names := []string{name}
	_, err := os.Stat(name)
	if matches, _ := filepath.Glob(name); err != nil && len(matches) > 0 { // a pattern that the shell did not expand
		names, err = matches, nil
	}
	if err != nil {
		return nil, fmt.Errorf("-f %s: %w", name, UnwrapPath(err))
	}
	var files []File
	for _, name := range names {
		if info, err := os.Stat(name); err == nil && info.IsDir() {
			files = append(files, walk(name, recursive)...)
		} else {
			files = append(files, newFile(name))
		}
	}
	return files, nil
}

func walk(dir string, recursive bool) []File {
	dir += string(filepath.Separator) // WalkDir follows no symbolic link otherwise
	var files []File
	visit := func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			files = append(files, File{Name: filepath.Clean(name), Path: name, Err: UnwrapPath(err)})
			if entry != nil && entry.IsDir() {
				return fs.SkipDir
			}
		case entry.IsDir():
			if name != dir && (!recursive || isVersionControl(entry.Name())) {
				return fs.SkipDir
			}
		case slices.Contains(resource.FileExtensions, filepath.Ext(name)) && !isLinkedDir(name, entry):
			files = append(files, newFile(name))
		}
		return nil
	}
	_ = filepath.WalkDir(dir, visit) // visit returns no error
	return files
}

// isVersionControl reports whether a directory belongs to a version control system.
func isVersionControl(name string) bool { return name == ".git" || name == ".hg" || name == ".svn" }

// isLinkedDir reports whether an entry is a symbolic link to a directory. Such links are not
// followed.
func isLinkedDir(name string, entry fs.DirEntry) bool {
	if entry.Type()&fs.ModeSymlink == 0 {
		return false
	}
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// newFile resolves symbolic links, since --in-place has to write the file itself.
func newFile(name string) File {
	path, err := filepath.EvalSymlinks(name)
	if err != nil {
		return File{Name: name, Path: name, Err: UnwrapPath(err)}
	}
	return File{Name: name, Path: path}
}

// UnwrapPath returns the error without the path, which the message has already.
func UnwrapPath(err error) error {
	if pathErr, ok := err.(*fs.PathError); ok { //nolint:errorlint // only the outermost one is taken off
		return pathErr.Err
	}
	return err
}
