// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package checker

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"tutorial.kubebuilder.io/project/test/history"
)

// The records to print about a violation: from shortly before the tick, or the end, to some time
// after it.
const (
	before = 5 * time.Second
	after  = 25 * time.Second
)

// Explain prints the records about the CronJob of each violation around its tick, and about what
// all CronJobs depend on, one per line.
func Explain(records []history.Record, violations []Violation) (string, error) {
	lines := make([][]byte, len(records))
	for i := range records {
		var err error
		if lines[i], err = json.Marshal(&records[i]); err != nil {
			return "", err
		}
	}
	var text strings.Builder
	for _, v := range violations {
		around := v.Tick
		if around.IsZero() && len(records) > 0 {
			around = records[len(records)-1].At
		}
		fmt.Fprintln(&text, v)
		names := namesOf(v.Object, records)
		for i := range records {
			rec := &records[i]
			isNear := !rec.At.Before(around.Add(-before)) && !rec.At.After(around.Add(after))
			isNamed := func(name []byte) bool { return bytes.Contains(lines[i], name) }
			if isNear && (concernsAll(rec, v.Object) || slices.ContainsFunc(names, isNamed)) {
				fmt.Fprintf(&text, "    %s\n", lines[i])
			}
		}
	}
	return text.String(), nil
}

// concernsAll reports whether a record is about what all CronJobs depend on, or all of a namespace.
// Faults of single requests are not: they have a path.
func concernsAll(rec *history.Record, object string) bool {
	isMachine := rec.Fault != nil && !strings.Contains(rec.Fault.Detail, ": ")
	isRefused := rec.Refusal != nil && strings.HasPrefix(object, rec.Refusal.Namespace+"/")
	return isMachine || isRefused || rec.Process != nil || rec.Clock != nil || rec.Phase != nil
}

// namesOf returns how records refer to a CronJob, as namespace/name: its UIDs, its name, the names
// of its Jobs, and the paths of requests.
func namesOf(object string, records []history.Record) [][]byte {
	namespace, name, _ := strings.Cut(object, "/")
	names := [][]byte{
		[]byte(`"` + object + `"`), []byte(`"` + object + `-`),
		[]byte("/" + namespace + "/cronjobs/" + name + "/"), []byte("/" + namespace + "/jobs/" + name + "-"),
	}
	uids := map[string]bool{}
	for i := range records {
		if c := records[i].CronJob; c != nil && c.Namespace == namespace && c.Name == name && !uids[c.UID] {
			uids[c.UID] = true
			names = append(names, []byte(`"`+c.UID+`"`))
		}
	}
	return names
}
