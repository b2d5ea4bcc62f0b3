// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"strings"

	"tutorial.kubebuilder.io/project/test/chaos/checker"
	"tutorial.kubebuilder.io/project/test/history"
)

// shown is how many violations of a law are printed.
const shown = 10

// judge checks the history in a file. It returns an error if a law was broken.
func (o *options) judge(file string) error {
	records, err := history.Read(file)
	if err != nil {
		return err
	}
	verdict := checker.Check(records, o.slowness)
	fmt.Print(verdict.Markdown())
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
