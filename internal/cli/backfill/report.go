// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package backfill

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
)

func (w *work) summary(cronJob *v1.CronJob) string {
	zone := cronjobs.Zone(cronJob)
	var counts []string
	for _, is := range []state{succeeded, running, backfilled, waiting, missed, failed, unknown} {
		if count := w.states[is]; count > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", count, is))
		}
	}
	text := &strings.Builder{}
	fmt.Fprintf(text, "%d ticks from %s to %s: %s\n", len(w.ticks), w.ticks[0].In(zone).Format(time.RFC3339),
		w.ticks[len(w.ticks)-1].In(zone).Format(time.RFC3339), strings.Join(counts, ", "))
	if w.states[unknown] > 0 && w.call.Only == all {
		text.WriteString("The unknown ones are older than what the CronJob remembers, and may have run: --only missed leaves them out.\n")
	}
	fmt.Fprintf(text, "%d to run\n", len(w.wanted))
	return text.String()
}

func createdFor(cronJob *v1.CronJob, tick time.Time) string {
	return "created for " + tick.In(cronjobs.Zone(cronJob)).Format(time.RFC3339)
}

// report prints the progress: a line for each Job; on a terminal a bar, and lines for failures.
type report struct {
	out io.Writer
	bar *progressbar.ProgressBar // nil without a terminal

	succeeded, failed, others int

	// lastWait is the last message of wait.
	lastWait string
}

func newReport(out io.Writer, isTerminal bool, ticks int) *report {
	r := &report{out: out}
	if isTerminal {
		r.bar = progressbar.NewOptions(ticks, progressbar.OptionSetWriter(out), progressbar.OptionShowCount(),
			progressbar.OptionSetPredictTime(true), progressbar.OptionSetWidth(40), progressbar.OptionClearOnFinish())
	}
	return r
}

// note prints a line, unless there is a bar.
func (r *report) note(format string, args ...any) {
	if r.bar == nil {
		fmt.Fprintf(r.out, format+"\n", args...)
	}
}

func (r *report) say(format string, args ...any) {
	if r.bar != nil {
		_ = r.bar.Clear() // the terminal may be gone
	}
	fmt.Fprintf(r.out, format+"\n", args...)
	if r.bar != nil {
		_ = r.bar.RenderBlank()
	}
}

// wait prints why the next tick waits, if that has changed.
func (r *report) wait(why error) {
	if why.Error() != r.lastWait {
		r.say("%v", why)
	}
	r.lastWait = why.Error()
}

func (r *report) done(count *int) {
	*count++
	if r.bar != nil {
		_ = r.bar.Add(1)
	}
}

func (r *report) finish() {
	if r.bar != nil {
		_ = r.bar.Clear()
		r.bar = nil
	}
	text := fmt.Sprintf("%d succeeded, %d failed", r.succeeded, r.failed)
	if r.others > 0 {
		text += fmt.Sprintf(", %d were started by another command", r.others)
	}
	r.say("%s", text)
}
