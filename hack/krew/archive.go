// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"io/fs"
	"time"
)

// file is a file in an archive.
type file struct {
	name       string
	executable bool
	content    []byte
}

func (f *file) mode() fs.FileMode {
	if f.executable {
		return 0o755
	}
	return 0o644
}

// packed is when all files of all archives were last changed: the first moment that a zip file can express.
var packed = time.Date(1980, time.January, 1, 0, 0, 0, 0, time.UTC)

// tarGz packs files. The same files make the same bytes.
func tarGz(files []file) ([]byte, error) {
	buffer := &bytes.Buffer{}
	compressor, err := gzip.NewWriterLevel(buffer, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	archive := tar.NewWriter(compressor)
	for i := range files {
		f := &files[i]
		header := &tar.Header{Typeflag: tar.TypeReg, Name: f.name, Mode: int64(f.mode()), Size: int64(len(f.content)), ModTime: packed}
		if err := archive.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := archive.Write(f.content); err != nil {
			return nil, err
		}
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	if err := compressor.Close(); err != nil {
		return nil, err
	}
	return buffer.Bytes(), nil
}

// zipped packs files. The same files make the same bytes.
func zipped(files []file) ([]byte, error) {
	buffer := &bytes.Buffer{}
	archive := zip.NewWriter(buffer)
	for i := range files {
		f := &files[i]
		header := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: packed}
		header.SetMode(f.mode())
		entry, err := archive.CreateHeader(header)
		if err != nil {
			return nil, err
		}
		if _, err := entry.Write(f.content); err != nil {
			return nil, err
		}
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	return buffer.Bytes(), nil
}
