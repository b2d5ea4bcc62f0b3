// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package convert

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/cli-runtime/pkg/resource"
)

// stdinName is how -f names the standard input.
const stdinName = "-"

// file is a file to convert.
type file struct {
	// name is as the user would write it.
	name string

	// path is the file itself, where name is a symbolic link.
	path string

	// err is why it can't be read.
	err error
}

// expand returns the files that the arguments of -f name, each but once.
func expand(names []string, recursive bool) ([]file, error) {
	var files []file
	for _, name := range names {
		found, err := expandOne(name, recursive)
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(files, func(f file) bool {
		again := seen[f.path]
		seen[f.path] = true
		return again
	}), nil
}

// expandOne returns the files that one argument names: as kubectl takes it, but for URLs.
func expandOne(name string, recursive bool) ([]file, error) {
	switch {
	case name == stdinName:
		return []file{{name: "<stdin>", path: stdinName}}, nil
	case strings.HasPrefix(name, "http://"), strings.HasPrefix(name, "https://"):
		return nil, fmt.Errorf("-f %s: URLs are not read: download it, and pipe it into -f -", name)
	}
	names := []string{name}
	_, err := os.Stat(name)
	if matches, _ := filepath.Glob(name); err != nil && len(matches) > 0 { // a pattern that the shell has left as it is
		names, err = matches, nil
	}
	if err != nil {
		return nil, fmt.Errorf("-f %s: %w", name, unwrapPath(err))
	}
	var files []file
	for _, name := range names {
		if info, err := os.Stat(name); err == nil && info.IsDir() {
			files = append(files, walk(name, recursive)...)
		} else {
			files = append(files, newFile(name))
		}
	}
	return files, nil
}

// walk returns the manifests in a directory.
func walk(dir string, recursive bool) []file {
	var files []file
	visit := func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			files = append(files, file{name: name, path: name, err: unwrapPath(err)})
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
	if err := filepath.WalkDir(dir, visit); err != nil { // can't be: visit returns none
		files = append(files, file{name: dir, path: dir, err: err})
	}
	return files
}

// isVersionControl reports whether a directory is a repository's own, and not for users to change.
func isVersionControl(name string) bool { return name == ".git" || name == ".hg" || name == ".svn" }

// isLinkedDir reports whether an entry is a symbolic link to a directory, which is not followed.
func isLinkedDir(name string, entry fs.DirEntry) bool {
	if entry.Type()&fs.ModeSymlink == 0 {
		return false
	}
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// newFile follows symbolic links, as what is written is the file that they lead to.
func newFile(name string) file {
	path, err := filepath.EvalSymlinks(name)
	if err != nil {
		return file{name: name, path: name, err: unwrapPath(err)}
	}
	return file{name: name, path: path}
}

// unwrapPath is the error without the path, which the message has already.
func unwrapPath(err error) error {
	if pathErr, ok := err.(*fs.PathError); ok { //nolint:errorlint // only the outermost one is taken off
		return pathErr.Err
	}
	return err
}
