// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"tutorial.kubebuilder.io/project/test/chaos/checker"
	"tutorial.kubebuilder.io/project/test/chaos/history"
	"tutorial.kubebuilder.io/project/test/chaos/page"
)

// figures names their place in a page.
const figures = "storm"

// shown is how many violations of a law are shown on the terminal.
const shown = 10

// judge decides about the history in a file. It fails if a law was broken.
func (o *options) judge(file string) error {
	records, err := history.Read(file)
	if err != nil {
		return err
	}
	verdict := checker.Check(records, o.slowness)
	fmt.Print(verdict.Text())
	if o.check == "" {
		if err := o.save(verdict); err != nil {
			return err
		}
	}
	if len(verdict.Violations) == 0 {
		return nil
	}
	explained, err := checker.Explain(records, verdict.Violations)
	if err != nil {
		return err
	}
	shownOf := map[checker.Law]int{}
	for _, violation := range verdict.Violations {
		shownOf[violation.Law]++
		if shownOf[violation.Law] <= shown {
			fmt.Println(violation)
		}
	}
	path := strings.TrimSuffix(file, ".jsonl") + ".violations.txt"
	if err := os.WriteFile(path, []byte(explained), 0o600); err != nil {
		return err
	}
	return fmt.Errorf("laws were broken %d times: %s has what happened around each", len(verdict.Violations), path)
}

// save writes the figures.
func (o *options) save(verdict *checker.Verdict) error {
	content, err := json.MarshalIndent(struct {
		Seed     uint64 `json:"seed"`
		Duration string `json:"duration"`
		CronJobs int    `json:"cronJobs"` // how many at a time
		*checker.Verdict
	}{o.seed, o.duration.String(), o.cronJobs, verdict}, "", "  ")
	if err != nil {
		return err
	}
	file := filepath.Join(o.out, fmt.Sprintf("summary-%d.json", o.seed))
	if err := os.WriteFile(file, append(content, '\n'), 0o600); err != nil || o.docs == "" {
		return err
	}
	title := fmt.Sprintf("%v of storm with %d CronJobs at a time, `-seed=%d`:\n\n", o.duration, o.cronJobs, o.seed)
	return page.Replace(o.docs, figures, title+verdict.Markdown())
}
