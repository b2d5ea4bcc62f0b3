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

import "strings"

// table is the history for programs: cells separated by tabs, "-" where there is nothing.
func table(h History, headers bool) string {
	text := &strings.Builder{}
	if headers {
		text.WriteString("TICK\tJOB\tRESULT\tSTART\tDELAY\tDURATION\tMESSAGE\n")
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
		text.WriteString(strings.Join(cells, "\t") + "\n")
	}
	return text.String()
}
