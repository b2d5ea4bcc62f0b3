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
}

// paths of the requests that matter.
var (
	pathOfJobs     = regexp.MustCompile(`^/apis/batch/v1/(?:namespaces/([^/]+)/)?jobs(?:/([^/]+))?$`)
	pathOfCronJobs = regexp.MustCompile(
		`^/apis/batch\.tutorial\.kubebuilder\.io/v1/(?:namespaces/([^/]+)/)?cronjobs(?:/([^/]+)(?:/status)?)?$`)
	pathOfEvents = regexp.MustCompile(`^/apis/events\.k8s\.io/v1/namespaces/([^/]+)/events(?:/([^/]+))?$`)
	pathOfLeases = regexp.MustCompile(`^/apis/coordination\.k8s\.io/v1/namespaces/[^/]+/leases(?:/[^/]+)?$`)
)

// read reads a request and finds out what it asks for.
func read(r *http.Request) (*asked, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	q := &asked{Request: r, body: body}
	query := r.URL.Query()
	q.watch = query.Get("watch") == "true" || query.Get("watch") == "1"
	q.initial = query.Get("sendInitialEvents") == "true"
	path := r.URL.Path
	if match := pathOfJobs.FindStringSubmatch(path); match != nil {
		q.namespace = match[1]
		q.aboutJobs(match[1], match[2])
	} else if match := pathOfCronJobs.FindStringSubmatch(path); match != nil {
		q.namespace = match[1]
		q.aboutCronJobs(match[1], match[2])
	} else if match := pathOfEvents.FindStringSubmatch(path); match != nil {
		q.namespace = match[1]
		q.aboutEvents(match[2])
	} else if pathOfLeases.MatchString(path) && r.Method != http.MethodGet {
		q.target = Leases
	}
	return q, nil
}

func (q *asked) aboutJobs(namespace, name string) {
	switch {
	case q.URL.Query().Has("dryRun"):
		q.target = Trials
		return
	case q.Method == http.MethodPost:
		q.target = Creates
		if job, ok := decode(q.body).(*batchv1.Job); ok {
			name = job.Name
			q.job = namespace + "/" + name
		}
	case q.Method == http.MethodDelete:
		q.target = Deletes
	default:
		q.target = Reads
	}
	if at := strings.LastIndexByte(name, '-'); at > 0 {
		q.cronJob = namespace + "/" + name[:at]
	}
}

func (q *asked) aboutCronJobs(namespace, name string) {
	if q.Method == http.MethodPatch {
		q.target, q.cronJob = Statuses, namespace+"/"+name
		return
	}
	q.target, q.ofCronJobs = Reads, name == ""
}

func (q *asked) aboutEvents(name string) {
	q.target = Events
	if q.Method == http.MethodPost {
		q.event = history.EventOf(decode(q.body))
		return
	}
	q.event = &history.Event{Name: name, Repeats: 1}
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

// again returns the request to be sent on to another server.
func (q *asked) again(host string) *http.Request {
	out := q.Clone(q.Context())
	out.URL.Scheme, out.URL.Host, out.Host, out.RequestURI = "https", host, host, ""
	out.Body = io.NopCloser(bytes.NewReader(q.body))
	out.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(q.body)), nil }
	out.ContentLength = int64(len(q.body))
	if len(q.body) == 0 {
		out.Body, out.GetBody = http.NoBody, nil
	}
	return out
}
