// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package checker

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"tutorial.kubebuilder.io/project/test/chaos/history"
)

// What is written of a violation: from shortly before the tick, or the end, to a while after it.
const (
	before = 5 * time.Second
	after  = 25 * time.Second
)

// Explain writes what happened to the CronJob of a violation around its tick, and to everything
// else that all depend on: the records of the history, one a line.
func Explain(w io.Writer, records []history.Record, v Violation) error {
	around := v.Tick
	if around.IsZero() && len(records) > 0 {
		around = records[len(records)-1].At
	}
	e := explainer{object: v.Object, uids: map[string]bool{}}
	for i := range records {
		if c := records[i].CronJob; c != nil && c.Namespace+"/"+c.Name == v.Object {
			e.uids[c.UID] = true
		}
	}
	if _, err := fmt.Fprintln(w, v); err != nil {
		return err
	}
	for i := range records {
		rec := &records[i]
		if rec.At.Before(around.Add(-before)) || rec.At.After(around.Add(after)) || !e.concerns(rec) {
			continue
		}
		line, err := json.Marshal(rec)
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "    %s\n", line); err != nil {
			return err
		}
	}
	return nil
}

// explainer finds what concerns one CronJob.
type explainer struct {
	object string // namespace/name
	uids   map[string]bool
}

// concerns reports whether a record is about the CronJob, or about what all depend on.
func (e *explainer) concerns(rec *history.Record) bool {
	switch {
	case rec.CronJob != nil:
		return e.uids[rec.CronJob.UID]
	case rec.Job != nil:
		return e.uids[rec.Job.Owner]
	case rec.Event != nil:
		return e.uids[rec.Event.UID]
	case rec.Create != nil:
		return e.isJobOf(rec.Create.Job)
	case rec.Report != nil:
		return e.uids[rec.Report.Event.UID]
	case rec.Act != nil:
		return rec.Act.Name == e.object || e.isJobOf(rec.Act.Name)
	case rec.Refusal != nil:
		return strings.HasPrefix(e.object, rec.Refusal.Namespace+"/")
	case rec.Fault != nil:
		return e.isStruck(rec.Fault)
	}
	return rec.Metrics == nil
}

// isJobOf reports whether a Job, as namespace/name, is the CronJob's by its name.
func (e *explainer) isJobOf(job string) bool {
	at := strings.LastIndexByte(job, '-')
	return at > 0 && job[:at] == e.object
}

// isStruck reports whether a fault is of a machine, or of a request about the CronJob: those name a
// path.
func (e *explainer) isStruck(fault *history.Fault) bool {
	_, path, isRequest := strings.Cut(fault.Detail, ": ")
	if !isRequest {
		return true
	}
	namespace, name, _ := strings.Cut(e.object, "/")
	parts := strings.Split(path, "/")
	return name != "" && slices.Contains(parts, namespace) &&
		slices.ContainsFunc(parts, func(part string) bool { return part == name || strings.HasPrefix(part, name+"-") })
}
