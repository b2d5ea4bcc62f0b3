// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"fmt"
	"io"

	"github.com/schollz/progressbar/v3"
	"k8s.io/cli-runtime/pkg/printers"
)

// progress says how many objects are done: a bar on a terminal, and a line for each page elsewhere.
type progress struct {
	out   io.Writer
	doing string
	bar   *progressbar.ProgressBar // nil when not on a terminal

	done, all int
}

func newProgress(out io.Writer, doing string) *progress {
	p := &progress{out: out, doing: doing}
	if printers.IsTerminal(out) {
		p.bar = progressbar.NewOptions(0,
			progressbar.OptionSetWriter(out), progressbar.OptionSetDescription(doing), progressbar.OptionShowCount(),
			progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish(), progressbar.OptionFullWidth())
	}
	return p
}

// total says how many there are. It is called before each page.
func (p *progress) total(all int) {
	p.all = all
	if p.bar != nil {
		p.bar.ChangeMax(all)
		return
	}
	if p.done > 0 {
		_, _ = fmt.Fprintf(p.out, "%d of %d %s\n", p.done, all, p.doing)
	}
}

// add says that one more is done.
func (p *progress) add() {
	p.done++
	if p.bar != nil {
		_ = p.bar.Add(1)
	}
}

// clear makes room for a line.
func (p *progress) clear() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}

// finish ends it.
func (p *progress) finish() {
	if p.bar != nil {
		_ = p.bar.Finish()
		return
	}
	_, _ = fmt.Fprintf(p.out, "%d of %d %s\n", p.done, p.all, p.doing)
}
