// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"bytes"
	"io"
	"net/http"
	"regexp"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/client-go/kubernetes/scheme"

	"tutorial.kubebuilder.io/project/test/chaos/history"
)

// asked is a request of a manager's.
type asked struct {
	*http.Request
	body []byte

	target    Target // "" for what is never struck
	namespace string // "" if it is about none, or about several
	watch     bool

	// cronJob is the namespace/name of the CronJob whose Job or status it is about, if it is about
	// one.
	cronJob string
	// job is the namespace/name of the Job that it is to create.
	job string
	// event is the event that it is to write.
	event *history.Event
	// ofCronJobs says that it lists or watches CronJobs.
	ofCronJobs bool
	// initial says that a watch begins with all there is.
	initial bool

	// forwarded says that the API server got it, and answer is the body of its answer.
	forwarded bool
	answer    []byte
}

// path finds in a path what a request is about: the resource, and where there are any the
// namespace, the name and the subresource.
var path = regexp.MustCompile(`^/apis/([^/]+)/v1(?:/namespaces/([^/]+))?/([^/]+)(?:/([^/]+))?(?:/([^/]+))?$`)

// read reads a request and finds out what it asks for.
func read(r *http.Request) (*asked, error) {
	q := &asked{Request: r.Clone(r.Context())}
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		q.body = body
		q.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		q.Body, _ = q.GetBody()
	}
	query := r.URL.Query()
	q.watch = query.Get("watch") == "true" || query.Get("watch") == "1"
	q.initial = query.Get("sendInitialEvents") == "true"
	parts := path.FindStringSubmatch(r.URL.Path)
	if parts == nil {
		return q, nil
	}
	name := parts[4]
	switch q.namespace = parts[2]; parts[1] + "/" + parts[3] {
	case "batch/jobs":
		q.aboutJobs(name)
	case "batch.tutorial.kubebuilder.io/cronjobs":
		q.aboutCronJobs(name)
	case "events.k8s.io/events":
		q.aboutEvents(name)
	case "coordination.k8s.io/leases":
		if r.Method != http.MethodGet {
			q.target = Leases
		}
	}
	return q, nil
}

func (q *asked) aboutJobs(name string) {
	switch {
	case q.URL.Query().Has("dryRun"):
		q.target = Trials
		return
	case q.Method == http.MethodPost:
		q.target = Creates
		if job, ok := decode(q.body).(*batchv1.Job); ok {
			name = job.Name
			q.job = q.namespace + "/" + name
		}
	case q.Method == http.MethodDelete:
		q.target = Deletes
	default:
		q.target = Reads
	}
	if at := strings.LastIndexByte(name, '-'); at > 0 {
		q.cronJob = q.namespace + "/" + name[:at]
	}
}

func (q *asked) aboutCronJobs(name string) {
	if q.Method == http.MethodPatch {
		q.target, q.cronJob = Statuses, q.namespace+"/"+name
		return
	}
	q.target, q.ofCronJobs = Reads, name == ""
}

func (q *asked) aboutEvents(name string) {
	q.target, q.event = Events, &history.Event{Name: name}
	if q.Method == http.MethodPost {
		q.event = history.EventOf(decode(q.body))
	}
}

// decode decodes an object of a type that Kubernetes has itself, as JSON or protobuf; nil if it is
// none.
func decode(body []byte) any {
	object, _, err := scheme.Codecs.UniversalDeserializer().Decode(body, nil, nil)
	if err != nil {
		return nil
	}
	return object
}
