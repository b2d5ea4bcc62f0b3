// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package pages serves the pages of kubectl cronjob ui. They are HTML that works without a script;
// ui.js keeps them up to date, counts times down and completes the fields of forms.
//
// A browser gets a page, and an EventSource at the same address gets the part of the page that
// changes, each time it has changed. A library such as htmx would not do more here, and would need
// an extension for server-sent events, settings for the content security policy, and another
// library to merge changes.
package pages

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/env"
	"tutorial.kubebuilder.io/project/internal/cli/ui/actions"
	"tutorial.kubebuilder.io/project/internal/cli/ui/feed"
)

//go:embed templates static
var files embed.FS

const (
	// refreshInterval is the maximum time until a page is rendered again: it shows times relative
	// to now.
	refreshInterval = 10 * time.Second

	// sendTimeout is how long sending a part of a page to a browser may take.
	sendTimeout = 10 * time.Second
)

// Site has what the pages need.
type Site struct {
	// Base is the start of the path of each link.
	Base string

	// Where names the cluster and the user, since the pages of two clusters look alike. Scope
	// selects the CronJobs.
	Where string
	Scope feed.Scope

	// Env has the clock, and the cluster to read logs from.
	Env *env.Env

	// Feed has the CronJobs and their Jobs.
	Feed    *feed.Feed
	Cluster client.Client
	Rights  *actions.Rights
	Plugin  *actions.Plugin
	Tasks   *actions.Tasks
}

type view struct {
	// Page is the name of the template, and Content its data.
	Title, Page string

	Content any

	// IsStill is whether the page does not change by itself.
	IsStill bool

	// changed is closed when the page is to be rendered again; nil if only the feed changes it.
	changed <-chan struct{}

	// status is the HTTP status; 0 for 200.
	status int

	// redirect is the address of the page to show instead; "" for none.
	redirect string
}

// layout is the data of all templates.
type layout struct {
	view

	Base, Where string
	Scope       feed.Scope

	feed.Health
}

// Loading reports whether some CronJobs are not known yet.
func (l layout) Loading() bool { return !l.Complete && l.Problem == "" }

// Handler returns the handler of all pages.
func (s *Site) Handler(ctx context.Context) http.Handler {
	mux := http.NewServeMux()
	static, err := fs.Sub(files, "static")
	if err != nil {
		panic(err) // it is embedded
	}
	mux.Handle("GET /static/", http.StripPrefix("/static/", http.FileServerFS(static)))
	mux.Handle("GET /{$}", s.page(s.overview))
	mux.Handle("GET /timeline", s.page(s.timeline))
	mux.Handle("GET /cronjobs/{namespace}/{name}", s.page(s.cronJob))
	mux.Handle("GET /cronjobs/{namespace}/{name}/object", s.page(s.object))
	mux.HandleFunc("GET /cronjobs/{namespace}/{name}/logs/{job}", s.logs)
	mux.Handle("GET /cronjobs/{namespace}/{name}/actions/{action}", s.page(s.preview))
	mux.HandleFunc("POST /cronjobs/{namespace}/{name}/actions/{action}", func(w http.ResponseWriter, r *http.Request) { s.action(ctx, w, r) })
	mux.Handle("GET /tasks/{id}", s.page(s.task))
	mux.Handle("GET /", s.page(func(r *http.Request) (view, error) {
		return view{}, fmt.Errorf("%w: the page %s", errNotFound, r.URL.Path)
	}))
	return mux
}

var errNotFound = errors.New("not found")

// page serves a page, or to an EventSource the part of it that changes.
func (s *Site) page(build func(*http.Request) (view, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept") == "text/event-stream" {
			s.stream(w, r, build)
			return
		}
		page := s.build(r, build)
		if page.redirect != "" {
			http.Redirect(w, r, page.redirect, http.StatusSeeOther)
			return
		}
		s.write(w, page, "layout")
	})
}

// build builds a page, or one with the error.
func (s *Site) build(r *http.Request, build func(*http.Request) (view, error)) layout {
	v, err := build(r)
	if err != nil {
		v = view{Title: "Error", Page: "message", Content: err.Error(), status: http.StatusBadGateway}
		if errors.Is(err, errNotFound) || client.IgnoreNotFound(err) == nil {
			v.Title, v.status = "Not found", http.StatusNotFound
		}
	}
	return layout{view: v, Base: s.Base, Where: s.Where, Scope: s.Scope, Health: s.Feed.Snapshot().Health}
}

func (s *Site) write(w http.ResponseWriter, page layout, name string) {
	text, err := render(page, name)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if page.status != 0 {
		w.WriteHeader(page.status)
	}
	_, _ = w.Write(text) //nolint:gosec // html/template has escaped it
}

// stream sends the part of a page that changes each time it has changed, until the connection or
// the server is closed.
func (s *Site) stream(w http.ResponseWriter, r *http.Request, build func(*http.Request) (view, error)) {
	w.Header().Set("Content-Type", "text/event-stream")
	control, last := http.NewResponseController(w), []byte(nil)
	for {
		fed := s.Feed.Wait()
		page := s.build(r, build)
		text, err := render(page, "update")
		if err != nil {
			return
		}
		if !bytes.Equal(text, last) {
			last = text
			if send(w, control, text) != nil {
				return
			}
		}
		select {
		case <-r.Context().Done():
			return
		case <-fed:
		case <-page.changed:
		case <-s.Env.Clock.After(refreshInterval):
		}
	}
}

func send(w http.ResponseWriter, control *http.ResponseController, text []byte) error {
	if err := control.SetWriteDeadline(time.Now().Add(sendTimeout)); err != nil {
		return err
	}
	text = bytes.ReplaceAll(text, []byte("\r"), []byte("&#13;")) // for a browser, it would end the line
	for line := range bytes.Lines(text) {
		if _, err := fmt.Fprintf(w, "data: %s\n", bytes.TrimSuffix(line, []byte("\n"))); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprint(w, "\n"); err != nil {
		return err
	}
	return control.Flush()
}

// templates has a template for each page: the layout with the page's own parts "static" and "live".
var templates = parse("overview", "timeline", "cronjob", "object", "logs", "action", "task", "message")

func parse(pages ...string) map[string]*template.Template {
	shared := template.Must(template.New("").Funcs(functions).ParseFS(files, "templates/layout.html", "templates/parts.html"))
	parsed := map[string]*template.Template{}
	for _, page := range pages {
		parsed[page] = template.Must(template.Must(shared.Clone()).ParseFS(files, "templates/"+page+".html"))
	}
	return parsed
}

func render(page layout, name string) ([]byte, error) {
	text := &bytes.Buffer{}
	if err := templates[page.Page].ExecuteTemplate(text, name, page); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}

func (s *Site) find(r *http.Request) (*feed.Snapshot, *v1.CronJob, error) {
	snapshot, namespace, name := s.Feed.Snapshot(), r.PathValue("namespace"), r.PathValue("name")
	c, ok := snapshot.Find(namespace, name)
	switch {
	case ok:
		return snapshot, c, nil
	case !snapshot.Complete:
		return nil, nil, fmt.Errorf("%w yet: the CronJobs are being read", errNotFound)
	}
	return nil, nil, fmt.Errorf("CronJob %s/%s was %w: it may have been deleted", namespace, name, errNotFound)
}
