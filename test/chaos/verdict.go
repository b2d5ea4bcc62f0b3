// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"tutorial.kubebuilder.io/project/test/chaos/checker"
	"tutorial.kubebuilder.io/project/test/chaos/history"
	"tutorial.kubebuilder.io/project/test/chaos/page"
)

// figures names their place in a page.
const figures = "storm"

// result is what is written of a storm.
type result struct {
	Seed     uint64 `json:"seed"`
	Duration string `json:"duration"`
	CronJobs int    `json:"cronJobs"` // how many at a time
	*checker.Verdict
}

// judge decides about the history in a file. It fails if a law was broken.
func (o *options) judge(file string) error {
	records, err := history.Read(file)
	if err != nil {
		return err
	}
	verdict := checker.Check(records, o.slowness)
	if err := verdict.Text(os.Stdout); err != nil {
		return err
	}
	if o.check == "" {
		if err := o.save(verdict); err != nil {
			return err
		}
	}
	if len(verdict.Violations) == 0 {
		return nil
	}
	var explained bytes.Buffer
	shownOf := map[checker.Law]int{}
	for _, violation := range verdict.Violations {
		if err := checker.Explain(&explained, records, violation); err != nil {
			return err
		}
		shownOf[violation.Law]++
		if shownOf[violation.Law] <= shown {
			fmt.Println(violation)
		}
	}
	path := strings.TrimSuffix(file, ".jsonl") + ".violations.txt"
	if err := os.WriteFile(path, explained.Bytes(), 0o600); err != nil {
		return err
	}
	return fmt.Errorf("laws were broken %d times: %s has what happened around each", len(verdict.Violations), path)
}

// shown is how many violations of a law are shown on the terminal.
const shown = 10

// save writes the figures.
func (o *options) save(verdict *checker.Verdict) error {
	r := result{Seed: o.seed, Duration: o.duration.String(), CronJobs: o.cronJobs, Verdict: verdict}
	content, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	file := filepath.Join(o.out, fmt.Sprintf("summary-%d.json", o.seed))
	if err := os.WriteFile(file, append(content, '\n'), 0o600); err != nil {
		return err
	}
	if o.docs == "" {
		return nil
	}
	return page.Replace(o.docs, figures, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%v of storm with %d CronJobs at a time, `-seed=%d`:\n\n", o.duration, o.cronJobs, o.seed)
		return errors.Join(err, verdict.Markdown(w))
	})
}
