// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"io"
	"strings"

	"k8s.io/cli-runtime/pkg/printers"
)

// printTable prints the history for programs: columns aligned as kubectl does it, "-" where there is
// nothing. No cell but the last has a blank in it.
func printTable(out io.Writer, h History, headers bool) error {
	w := printers.GetNewTabWriter(out)
	if headers {
		_, _ = io.WriteString(w, "TICK\tJOB\tRESULT\tSTART\tDELAY\tDURATION\tMESSAGE\n") // Flush tells of errors
	}
	for _, e := range h.Entries {
		cells := []string{e.Tick, e.Job, string(e.State), e.Start, "", "", e.Message}
		if e.DelaySeconds != nil {
			cells[4] = e.delay().String()
		}
		if e.DurationSeconds != nil {
			cells[5] = e.duration().String()
		}
		for i, cell := range cells {
			if cells[i] = strings.Join(strings.Fields(strings.Map(printable, cell)), " "); cells[i] == "" {
				cells[i] = "-"
			}
		}
		_, _ = io.WriteString(w, strings.Join(cells, "\t")+"\n")
	}
	return w.Flush()
}
