// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// report writes docs/performance.md, with its charts and the results as they are beside it.
func (b *bench) report(ctx context.Context) error {
	page := &bytes.Buffer{}
	if err := b.results.WritePage(page); err != nil {
		return err
	}
	docs := filepath.Join(b.root, "docs")
	beside := filepath.Join(docs, "performance")
	if err := b.results.Save(filepath.Join(beside, "results.json")); err != nil {
		return err
	}
	if err := b.draw(ctx, beside); err != nil {
		return err
	}
	//nolint:gosec // it is to be read by all
	if err := os.WriteFile(filepath.Join(docs, "performance.md"), page.Bytes(), 0o644); err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	logf("written: docs/performance.md")
	return nil
}

// draw has the charts drawn.
func (b *bench) draw(ctx context.Context, dir string) error {
	charts, err := json.Marshal(b.results.Charts())
	if err != nil {
		return fmt.Errorf("drawing the charts: %w", err)
	}
	//nolint:gosec // the directory is the project's
	command := exec.CommandContext(ctx, "go", "run", "-C", filepath.Join(b.root, "test", "bench", "plots"), ".", dir)
	command.Stdin, command.Stderr = bytes.NewReader(charts), os.Stderr
	if err := command.Run(); err != nil {
		return fmt.Errorf("drawing the charts: %w", err)
	}
	return nil
}
