/*
Copyright 2026 The project authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

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
