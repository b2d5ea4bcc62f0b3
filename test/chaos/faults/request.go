// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"bytes"
	"io"
	"net/http"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"

	"tutorial.kubebuilder.io/project/test/history"
	"tutorial.kubebuilder.io/project/test/plane"
)

type asked struct {
	*http.Request
	body []byte

	what    *request.RequestInfo
	target  Target         // "" for a request that no fault strikes
	cronJob string         // namespace/name of the CronJob whose Job or status it is about
	job     string         // namespace/name of the Job to create
	event   *history.Event // to write

	forwarded bool   // whether the API server received it
	answer    []byte // the body of the API server's answer
}

// resolver parses the path of a request.
var resolver = request.RequestInfoFactory{APIPrefixes: map[string]sets.Empty{"apis": {}}}

func read(r *http.Request) (q *asked, err error) {
	q = &asked{Request: r.Clone(r.Context())}
	if r.Body != nil {
		if q.body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		q.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(q.body)), nil }
		q.Body, _ = q.GetBody()
	}
	if q.what, err = resolver.NewRequestInfo(r); err != nil {
		return nil, err
	}
	switch q.what.APIGroup + "/" + q.what.Resource {
	case "batch/jobs":
		q.aboutJobs()
	case "batch.tutorial.kubebuilder.io/cronjobs":
		q.target = Reads
		if r.Method == http.MethodPatch {
			q.target, q.cronJob = Statuses, q.what.Namespace+"/"+q.what.Name
		}
	case "events.k8s.io/events":
		q.target, q.event = Events, &history.Event{Name: q.what.Name}
		if r.Method == http.MethodPost {
			q.event = nil
			if e, err := plane.Decode[*eventsv1.Event](q.body); err == nil {
				q.event = history.EventAbout(e.Regarding, e.Name, e.Reason, e.Note)
			}
		}
	case "coordination.k8s.io/leases":
		if r.Method != http.MethodGet {
			q.target = Leases
		}
	}
	return q, nil
}

func (q *asked) aboutJobs() {
	name := q.what.Name
	switch {
	case q.URL.Query().Has("dryRun"):
		q.target = Trials
		return
	case q.Method == http.MethodPost:
		q.target = Creates
		if job, err := plane.Decode[*batchv1.Job](q.body); err == nil {
			name = job.Name
			q.job = q.what.Namespace + "/" + name
		}
	case q.Method == http.MethodDelete:
		q.target = Deletes
	default:
		q.target = Reads
	}
	if at := strings.LastIndexByte(name, '-'); at > 0 {
		q.cronJob = q.what.Namespace + "/" + name[:at]
	}
}

func (q *asked) isWatch() bool { return q.what.Verb == "watch" }

func (q *asked) isOfCronJobs() bool {
	return q.what.Resource == "cronjobs" && (q.isWatch() || q.what.Verb == "list")
}
