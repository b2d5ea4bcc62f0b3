// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package checker

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"tutorial.kubebuilder.io/project/test/chaos/history"
)

// What is told of a violation: from shortly before the tick, or the end, to a while after it.
const (
	before = 5 * time.Second
	after  = 25 * time.Second
)

// Explain writes what happened to the CronJob of a violation around its tick, and to everything else that all depend
// on, a line for each record.
func Explain(w io.Writer, records []history.Record, v Violation) error {
	around := v.Tick
	if around.IsZero() && len(records) > 0 {
		around = records[len(records)-1].At
	}
	t := teller{object: v.Object, uids: map[string]bool{}}
	for i := range records {
		if c := records[i].CronJob; c != nil && c.Namespace+"/"+c.Name == v.Object {
			t.uids[c.UID] = true
		}
	}
	var text strings.Builder
	fmt.Fprintln(&text, v)
	for i := range records {
		rec := &records[i]
		if rec.At.Before(around.Add(-before)) || rec.At.After(around.Add(after)) {
			continue
		}
		if line := t.line(rec); line != "" {
			fmt.Fprintf(&text, "    %s %s\n", rec.At.UTC().Format("15:04:05.000"), line)
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// teller tells of one CronJob.
type teller struct {
	object string // namespace/name
	uids   map[string]bool
}

// line tells a record; "" if it is of no concern.
func (t *teller) line(rec *history.Record) string {
	switch {
	case rec.CronJob != nil && t.uids[rec.CronJob.UID]:
		return fmt.Sprintf("r%d CronJob %s", rec.Revision, cronJobLine(rec.CronJob))
	case rec.Job != nil && t.uids[rec.Job.Owner]:
		return fmt.Sprintf("r%d Job %s %s", rec.Revision, rec.Job.Name, jobState(rec.Job))
	case rec.Event != nil && t.uids[rec.Event.UID]:
		return fmt.Sprintf("r%d event %s: %s", rec.Revision, rec.Event.Reason, rec.Event.Note)
	case rec.Create != nil && t.isOurs(rec.Create.Job):
		return fmt.Sprintf("%s asked for Job %s at %s, decided at %s knowing r%d, answer %d", rec.Create.Manager, rec.Create.Job,
			rec.Create.Asked.UTC().Format("15:04:05.000"), rec.Create.Decided.UTC().Format("15:04:05.000"), rec.Create.Knew, rec.Create.Code)
	case rec.Report != nil && t.uids[rec.Report.Event.UID]:
		return fmt.Sprintf("%s sent event %s %s, answer %d: %s",
			rec.Report.Manager, rec.Report.Event.Name, rec.Report.Event.Reason, rec.Report.Code, rec.Report.Event.Note)
	case rec.Act != nil && (rec.Act.Name == t.object || t.isOurs(rec.Act.Name)):
		return fmt.Sprintf("somebody: %s %s", rec.Act.Kind, rec.Act.Name)
	}
	return t.common(rec)
}

// common tells what concerns all.
func (t *teller) common(rec *history.Record) string {
	switch {
	case rec.Fault != nil && t.concerns(rec.Fault):
		return fmt.Sprintf("FAULT %s %s", rec.Fault.Kind, rec.Fault.Detail)
	case rec.Refusal != nil && strings.HasPrefix(t.object, rec.Refusal.Namespace+"/"):
		if rec.Refusal.Ended {
			return fmt.Sprintf("REFUSAL %s is over, after %d requests", rec.Refusal.Kind, rec.Refusal.Refused)
		}
		return "REFUSAL " + rec.Refusal.Kind
	case rec.Process != nil:
		return fmt.Sprintf("%s %s", rec.Process.Manager, rec.Process.State)
	case rec.Clock != nil:
		return fmt.Sprintf("the clock is stepped by %v", rec.Clock.Step)
	case rec.Phase != nil:
		return "PHASE " + rec.Phase.Name
	}
	return ""
}

// isOurs reports whether a Job, as namespace/name, is the CronJob's by its name.
func (t *teller) isOurs(job string) bool {
	at := strings.LastIndexByte(job, '-')
	return at > 0 && job[:at] == t.object
}

// concerns reports whether a fault is of a machine, or of a request about the CronJob: those name a path.
func (t *teller) concerns(fault *history.Fault) bool {
	_, path, isRequest := strings.Cut(fault.Detail, ": ")
	if !isRequest {
		return true
	}
	namespace, name, _ := strings.Cut(t.object, "/")
	parts := strings.Split(path, "/")
	return name != "" && slices.Contains(parts, namespace) &&
		slices.ContainsFunc(parts, func(part string) bool { return part == name || strings.HasPrefix(part, name+"-") })
}

func cronJobLine(c *history.CronJob) string {
	if c.Deleted {
		return "deleted"
	}
	text := &strings.Builder{}
	fmt.Fprintf(text, "generation %d (seen %d, stamped %s) %q %s, last %s, next %s, active %d", c.Generation, c.ObservedGeneration,
		stamp(c.Edited), c.Schedule, c.Policy, stamp(c.LastSchedule), stamp(c.NextSchedule), len(c.Active))
	if c.Deadline != nil {
		fmt.Fprintf(text, ", deadline %ds", *c.Deadline)
	}
	for _, m := range c.Missed {
		fmt.Fprintf(text, ", missed %d %s from %s to %s", m.Count, m.Reason, stamp(m.First), stamp(m.Last))
	}
	if c.Suspend {
		text.WriteString(", suspended")
	}
	return text.String()
}

func jobState(job *history.Job) string {
	switch {
	case job.Deleted:
		return "deleted"
	case job.Result != "":
		return job.Result
	}
	return "runs"
}
