// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package pages

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/url"
	"time"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/ui/actions"
)

func (s *Site) callOf(r *http.Request) (actions.Call, *v1.CronJob, error) {
	action, ok := actions.Find(r.PathValue("action"))
	if !ok {
		return actions.Call{}, nil, fmt.Errorf("%w: the action %q", errNotFound, r.PathValue("action"))
	}
	_, c, err := s.find(r)
	if err != nil {
		return actions.Call{}, nil, err
	}
	return actions.Call{Action: action, Namespace: c.Namespace, Name: c.Name, Values: r.Form}, c, nil
}

// preset is a suggested range for a backfill.
type preset struct{ Title, From, To string }

func presets(now time.Time) []preset {
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	of := func(title string, from, to time.Time) preset {
		if to.After(now) {
			to = now
		}
		return preset{title, from.Format(time.RFC3339), to.Format(time.RFC3339)}
	}
	return []preset{
		of("Last hour", now.Add(-time.Hour), now), of("Last night", midnight.Add(-6*time.Hour), midnight.Add(6*time.Hour)),
		of("Today", midnight, now), of("Yesterday", midnight.AddDate(0, 0, -1), midnight),
	}
}

type preview struct {
	actions.Call

	// Command is the command line, Output the output of its dry run, and Problem the error.
	// NothingToDo is whether it would do nothing.
	Command, Output, Problem string
	NothingToDo              bool

	Presets []preset

	// ID is the ID of the task that the form starts.
	ID string
}

// preview shows what an action will do, by a dry run.
func (s *Site) preview(r *http.Request) (view, error) {
	if err := r.ParseForm(); err != nil {
		return view{}, err
	}
	call, c, err := s.callOf(r)
	if err != nil {
		return view{}, err
	}
	p := preview{Call: call, ID: rand.Text()}
	if call.IsComplete() {
		ctx, cancel := context.WithTimeout(r.Context(), 4*readTimeout) // a backfill makes a request for each Job
		defer cancel()
		p.Command = s.Plugin.CommandLine(call)
		if p.Output, err = s.Plugin.Preview(ctx, call); err != nil {
			p.Problem = err.Error()
		}
		p.NothingToDo = p.Problem == "" && call.IsPointless(p.Output)
	}
	if call.Action.Name == "backfill" {
		p.Presets = presets(s.Env.Clock.Now().In(cronjobs.Zone(c)))
	}
	return view{Title: call.Action.Title + ": " + call.Namespace + "/" + call.Name, Page: "action", IsStill: true, Content: p}, nil
}

// action starts a task. It ends with ctx at the latest, not with the request.
func (s *Site) action(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	call, _, err := s.callOf(r)
	if err != nil {
		s.write(w, s.build(r, func(*http.Request) (view, error) { return view{}, err }), "layout")
		return
	}
	id := r.Form.Get("id")
	if id == "" || !call.IsComplete() {
		http.Error(w, "The form is not complete: go back, and let the page say first what it will do.", http.StatusBadRequest)
		return
	}
	s.Tasks.Start(ctx, id, call)
	http.Redirect(w, r, s.Base+"/tasks/"+url.PathEscape(id), http.StatusSeeOther)
}

func (s *Site) task(r *http.Request) (view, error) {
	task, ok := s.Tasks.Find(r.PathValue("id"))
	if !ok {
		return view{}, fmt.Errorf("%w: what was done is not remembered any more", errNotFound)
	}
	content := struct {
		actions.Call

		Output, Problem string
		IsEnded         bool
	}{Call: task.Call}
	changed := task.Wait()
	output, isEnded, err := task.State()
	if jobs := actions.JobsIn(output); isEnded && err == nil && task.StartsOneJob() && len(jobs) > 0 {
		started := url.Values{"run": {jobs[len(jobs)-1]}} // the ones before it are replaced
		return view{Page: "message", redirect: s.Base + "/cronjobs/" + task.Namespace + "/" + task.Name + "?" + started.Encode()}, nil
	}
	content.Output, content.IsEnded = output, isEnded
	if err != nil {
		content.Problem = err.Error()
	}
	return view{Title: task.Action.Title + ": " + task.Namespace + "/" + task.Name, Page: "task", Content: content, changed: changed}, nil
}
