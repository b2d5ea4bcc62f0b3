// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// server is an API server in memory, and the manager's cache, which lags behind. It has one CronJob
// at a time, and Jobs.
type server struct {
	w *world

	version int64 // the newest resourceVersion
	cronJob *v1.CronJob
	jobs    map[string]*batchv1.Job

	// changes has the changes that the cache lacks, oldest first: of CronJobs and of Jobs.
	changes [2][]change

	cachedCronJob *v1.CronJob
	cachedJobs    map[string]*batchv1.Job

	refusals []refusal
}

// change is the new state of an object; nil after its deletion.
type change struct {
	name        string
	object      client.Object
	at, visible time.Time
}

const ofCronJobs, ofJobs = 0, 1

// The kinds of requests.
const (
	create = "create"
	remove = "delete"
	status = "status"
	read   = "read"
)

// refusal is a fault of the requests of a kind, until an instant or for a number of requests.
type refusal struct {
	request string
	until   time.Time
	count   int // the number of requests, unless until is set

	how    string // an HTTP code as text, or "timeout"
	isDone bool   // whether the request is carried out anyway
	tried  int    // the number of requests so far
}

var jobsResource = schema.GroupResource{Group: "batch", Resource: "jobs"}

func (s *server) fault(request, name string) (isDone bool, answer error) {
	for i := range s.refusals {
		r := &s.refusals[i]
		lasts := r.until.After(s.w.now) || r.count > 0
		if r.request != request || !lasts {
			continue
		}
		r.count--
		r.tried++
		return r.isDone, s.refuse(r, name)
	}
	return true, nil
}

// refuse returns the answer of a refusal. A request without an answer takes all of its time.
func (s *server) refuse(r *refusal, name string) error {
	switch r.how {
	case "403":
		return apierrors.NewForbidden(jobsResource, name, fmt.Errorf("exceeded quota: used: count/jobs.batch=%d, limited: 3", r.tried))
	case "409":
		return apierrors.NewConflict(jobsResource, name, errors.New("try again"))
	case "422":
		return apierrors.NewInvalid(schema.GroupKind{Group: "batch", Kind: "Job"}, name, nil)
	case "429":
		return apierrors.NewTooManyRequests("busy", 1)
	case "500":
		return apierrors.NewInternalError(errors.New("trouble"))
	}
	wait := 5 * time.Second
	if r.request == create {
		wait = 15 * time.Second
	}
	s.w.advance(wait)
	return fmt.Errorf("no answer: %w", context.DeadlineExceeded)
}

// put stores an object with a new resourceVersion; nil deletes it. The cache gets the change later.
func (s *server) put(kind int, name string, object client.Object) {
	s.version++
	if kind == ofCronJobs {
		c, _ := object.(*v1.CronJob)
		s.cronJob = c
	} else {
		job, _ := object.(*batchv1.Job)
		if s.jobs[name] = job; job == nil {
			delete(s.jobs, name)
		}
	}
	if object != nil {
		object.SetResourceVersion(strconv.FormatInt(s.version, 10))
	}
	s.changes[kind] = append(s.changes[kind], change{name, object, s.w.now, s.w.now.Add(s.w.lags[kind])})
}

func (s *server) deleteJob(job *batchv1.Job, by string) {
	s.w.judge.deleted(job, by)
	s.put(ofJobs, job.Name, nil)
}

// deliver updates the cache with the oldest change of a kind.
func (s *server) deliver(kind int) {
	c := s.changes[kind][0]
	s.changes[kind] = s.changes[kind][1:]
	s.show(kind, c.name, c.object)
}

// relist updates the cache with all changes at once, as after a broken watch.
func (s *server) relist(kind int) {
	names := map[string]bool{}
	for _, c := range s.changes[kind] {
		names[c.name] = true
	}
	s.changes[kind] = nil
	for _, name := range slices.Sorted(maps.Keys(names)) {
		switch {
		case kind == ofCronJobs && s.cronJob != nil:
			s.show(kind, name, s.cronJob)
		case kind == ofJobs && s.jobs[name] != nil:
			s.show(kind, name, s.jobs[name])
		default:
			s.show(kind, name, nil)
		}
	}
}

// show changes an object of the cache, and calls the manager's handler.
func (s *server) show(kind int, name string, object client.Object) {
	if kind == ofCronJobs {
		before := s.cachedCronJob
		s.cachedCronJob = nil
		if c, _ := object.(*v1.CronJob); c != nil {
			s.cachedCronJob = s.w.Trim(c.DeepCopy()).(*v1.CronJob)
		}
		s.w.sawCronJob(before, s.cachedCronJob)
		return
	}
	before := s.cachedJobs[name]
	delete(s.cachedJobs, name)
	if job, _ := object.(*batchv1.Job); job != nil {
		s.cachedJobs[name] = s.w.Trim(job.DeepCopy()).(*batchv1.Job)
	}
	s.w.sawJob(before, s.cachedJobs[name])
}

// manager is the manager's client: it reads the cache, and writes to the server.
type manager struct {
	client.Client
	s *server
}

// Get reads the cache.
func (m manager) Get(_ context.Context, key types.NamespacedName, into client.Object, _ ...client.GetOption) error {
	switch into := into.(type) {
	case *v1.CronJob:
		if m.s.cachedCronJob != nil {
			*into = *m.s.cachedCronJob
			m.s.w.observed(into)
			return nil
		}
		m.s.w.observed(nil)
	case *batchv1.Job:
		if job := m.s.cachedJobs[key.Name]; job != nil {
			*into = *job
			return nil
		}
	}
	return apierrors.NewNotFound(jobsResource, key.Name)
}

// List lists the Jobs of a CronJob in the cache.
func (m manager) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	asked := (&client.ListOptions{}).ApplyOptions(options)
	owner, ok := asked.FieldSelector.RequiresExactMatch("cronjob-uid")
	into, isJobs := list.(*batchv1.JobList)
	if !ok || !isJobs {
		return errors.New("the model knows no such list")
	}
	for _, name := range slices.Sorted(maps.Keys(m.s.cachedJobs)) {
		if job := m.s.cachedJobs[name]; ownerOf(job) == types.UID(owner) {
			into.Items = append(into.Items, *job)
		}
	}
	return nil
}

func ownerOf(job *batchv1.Job) types.UID {
	if owner := metav1.GetControllerOf(job); owner != nil {
		return owner.UID
	}
	return ""
}

// Create creates a Job.
func (m manager) Create(_ context.Context, object client.Object, _ ...client.CreateOption) error {
	job, ok := object.(*batchv1.Job)
	if !ok {
		return errors.New("the model creates Jobs alone")
	}
	m.s.w.judge.asked(job)
	m.s.w.request(create)
	isDone, answer := m.s.fault(create, job.Name)
	if isDone {
		err := m.s.create(job, "manager")
		if answer == nil {
			answer = err
		}
	}
	m.s.w.answered(create, job.Name, answer)
	return answer
}

func (s *server) create(job *batchv1.Job, by string) error {
	if s.jobs[job.Name] != nil {
		return apierrors.NewAlreadyExists(jobsResource, job.Name)
	}
	job.UID = types.UID(fmt.Sprintf("job-%d", s.version+1))
	job.CreationTimestamp = metav1.NewTime(s.w.serverNow().Truncate(time.Second))
	stored := job.DeepCopy()
	s.put(ofJobs, job.Name, stored)
	job.ResourceVersion = stored.ResourceVersion
	s.w.judge.created(stored, by)
	return nil
}

// Delete deletes a Job.
func (m manager) Delete(_ context.Context, object client.Object, options ...client.DeleteOption) error {
	asked := (&client.DeleteOptions{}).ApplyOptions(options)
	name := object.GetName()
	m.s.w.request(remove)
	isDone, answer := m.s.fault(remove, name)
	if isDone {
		stored := m.s.jobs[name]
		switch {
		case stored == nil:
			answer = apierrors.NewNotFound(jobsResource, name)
		case asked.Preconditions == nil || *asked.Preconditions.UID != stored.UID:
			answer = apierrors.NewConflict(jobsResource, name, errors.New("another UID"))
		case asked.Preconditions.ResourceVersion != nil && *asked.Preconditions.ResourceVersion != stored.ResourceVersion:
			answer = apierrors.NewConflict(jobsResource, name, errors.New("it has changed"))
		default:
			m.s.deleteJob(stored, "manager")
		}
	}
	m.s.w.answered(remove, name, answer)
	return answer
}

// Status returns the writer of statuses.
func (m manager) Status() client.SubResourceWriter { return statusWriter{s: m.s} }

type statusWriter struct {
	client.SubResourceWriter
	s *server
}

// Patch patches the status.
func (p statusWriter) Patch(_ context.Context, into client.Object, patch client.Patch, _ ...client.SubResourcePatchOption) error {
	data, err := patch.Data(into)
	if err != nil {
		return err
	}
	p.s.w.request(status)
	isDone, answer := p.s.fault(status, cronJobName)
	if isDone {
		err := p.s.patch(data, into)
		if answer == nil {
			answer = err
		}
	}
	p.s.w.answered(status, "", answer)
	return answer
}

// patch applies a merge patch to the status. It replaces each member as a whole.
func (s *server) patch(data []byte, into client.Object) error {
	patch := struct {
		Metadata struct{ ResourceVersion string }
		Status   json.RawMessage
	}{}
	if err := json.Unmarshal(data, &patch); err != nil {
		return err
	}
	resource := schema.GroupResource{Group: v1.GroupVersion.Group, Resource: "cronjobs"}
	switch {
	case s.cronJob == nil:
		return apierrors.NewNotFound(resource, cronJobName)
	case patch.Metadata.ResourceVersion != s.cronJob.ResourceVersion:
		return apierrors.NewConflict(resource, cronJobName, errors.New("the object has been modified"))
	}
	members, given := map[string]json.RawMessage{}, v1.CronJobStatus{}
	if err := errors.Join(json.Unmarshal(patch.Status, &members), json.Unmarshal(patch.Status, &given)); err != nil {
		return err
	}
	next := s.cronJob.DeepCopy()
	from, to := reflect.ValueOf(given), reflect.ValueOf(&next.Status).Elem()
	for i := range from.NumField() {
		name, _, _ := strings.Cut(from.Type().Field(i).Tag.Get("json"), ",")
		if _, ok := members[name]; ok {
			to.Field(i).Set(from.Field(i))
		}
	}
	changed := !equality.Semantic.DeepEqual(s.cronJob.Status, next.Status)
	s.w.judge.wrote(&s.cronJob.Status, &next.Status, changed)
	if changed {
		s.put(ofCronJobs, cronJobName, next)
	}
	meta := next.ObjectMeta
	answer, ok := into.(*metav1.PartialObjectMetadata)
	if !ok {
		return errors.New("the model answers with metadata alone")
	}
	answer.ObjectMeta = meta
	s.w.received(next)
	return nil
}

// reader is the client that reads from the server.
type reader struct {
	client.Reader
	s *server
}

// Get reads what is stored.
func (r reader) Get(_ context.Context, key types.NamespacedName, into client.Object, _ ...client.GetOption) error {
	r.s.w.request(read)
	_, err := r.s.fault(read, key.Name)
	found := false
	switch into := into.(type) {
	case *v1.CronJob:
		if found = r.s.cronJob != nil; found && err == nil {
			r.s.cronJob.DeepCopyInto(into)
			r.s.w.received(into)
		}
	case *batchv1.Job:
		if found = r.s.jobs[key.Name] != nil; found && err == nil {
			r.s.jobs[key.Name].DeepCopyInto(into)
			r.s.w.judge.sawEnd(into, true)
		}
	}
	if err == nil && !found {
		err = apierrors.NewNotFound(jobsResource, key.Name)
	}
	r.s.w.answered(read, key.Name, err)
	return err
}

// List lists the metadata of all Jobs.
func (r reader) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	r.s.w.request(read)
	_, err := r.s.fault(read, "all Jobs")
	if into, ok := list.(*metav1.PartialObjectMetadataList); ok && err == nil {
		for _, name := range slices.Sorted(maps.Keys(r.s.jobs)) {
			into.Items = append(into.Items, metav1.PartialObjectMetadata{ObjectMeta: r.s.jobs[name].ObjectMeta})
		}
	}
	r.s.w.answered(read, "all Jobs", err)
	return err
}

func codeOf(err error) int {
	refused := apierrors.APIStatus(nil)
	switch {
	case err == nil:
		return http.StatusOK
	case errors.As(err, &refused):
		return int(refused.Status().Code)
	}
	return 0
}
