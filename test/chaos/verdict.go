// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
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
	Seed     uint64           `json:"seed"`
	Duration string           `json:"duration"`
	CronJobs int              `json:"cronJobs"` // how many at a time
	Summary  *checker.Summary `json:"summary"`
}

// judge decides about the history in a file. It fails if a promise was broken.
func (o *options) judge(file string) error {
	records, err := history.Read(file)
	if err != nil {
		return err
	}
	verdict := checker.Check(records, o.slowness)
	summary := verdict.Summary()
	if err := summary.Text(os.Stdout); err != nil {
		return err
	}
	if o.check == "" {
		if err := o.save(summary); err != nil {
			return err
		}
	}
	if len(verdict.Violations) == 0 {
		return nil
	}
	explained := strings.TrimSuffix(file, ".jsonl") + ".violations.txt"
	if err := explain(explained, records, verdict); err != nil {
		return err
	}
	for _, violation := range shortened(verdict) {
		fmt.Println(violation)
	}
	return fmt.Errorf("%d promises broken: %s tells what happened around each", len(verdict.Violations), explained)
}

// save writes the figures.
func (o *options) save(summary *checker.Summary) error {
	r := result{Seed: o.seed, Duration: o.duration.String(), CronJobs: o.cronJobs, Summary: summary}
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
		return errors.Join(err, summary.Markdown(w))
	})
}

// explain writes what happened around each violation.
func explain(path string, records []history.Record, verdict *checker.Verdict) (err error) {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	for _, violation := range verdict.Violations {
		if err := checker.Explain(file, records, violation); err != nil {
			return err
		}
	}
	return nil
}

// shown is how many violations of a law are shown on the terminal.
const shown = 10

// shortened returns a line for each of the first violations of each law, and says of how many more there are.
func shortened(verdict *checker.Verdict) []string {
	var lines []string
	seen := map[checker.Law]int{}
	for _, violation := range verdict.Violations {
		seen[violation.Law]++
		switch n := seen[violation.Law]; {
		case n <= shown:
			lines = append(lines, violation.String())
		case n == shown+1:
			lines = append(lines, fmt.Sprintf("%s: and %d more", violation.Law, verdict.Count(violation.Law)-shown))
		}
	}
	return lines
}
