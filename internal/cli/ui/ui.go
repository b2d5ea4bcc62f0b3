// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package ui implements the command ui, which shows CronJobs on a page in the browser.
package ui

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"os"
	"time"

	"github.com/pkg/browser"
	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/labels"

	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/env"
	"tutorial.kubebuilder.io/project/internal/cli/ui/actions"
	"tutorial.kubebuilder.io/project/internal/cli/ui/feed"
	"tutorial.kubebuilder.io/project/internal/cli/ui/guard"
	"tutorial.kubebuilder.io/project/internal/cli/ui/pages"
)

const (
	long = `Show CronJobs on a page in your browser, as a list and as a timeline: past, running and coming runs. For
each CronJob, it shows its runs, logs and events.

This command serves the page on a port of 127.0.0.1 until an interrupt. It reads and does what your
kubeconfig allows, and installs nothing in the cluster. Anyone who has the link has your rights while
the command runs: do not pass it on.

The actions on the page, such as to run a CronJob now, are commands of this plugin. The page first shows
their command lines and what they will do.`

	example = `  # Show the CronJobs of the namespace
  kubectl cronjob ui

  # Show those of all namespaces, and only print the link
  kubectl cronjob ui -A --no-browser`
)

// browserTimeout is how long to wait for an error of opening the browser.
const browserTimeout = time.Second

type command struct {
	*env.Env

	newPlugin func(*env.Env) *cobra.Command
	selection cronjobs.Selection
	noBrowser bool
	port      uint16
}

// NewCommand returns the command ui. newPlugin makes the plugin's root command, whose other
// commands the page runs.
func NewCommand(e *env.Env, newPlugin func(*env.Env) *cobra.Command) *cobra.Command {
	c := &command{Env: e, newPlugin: newPlugin}
	cmd := &cobra.Command{
		Use:               "ui [-A] [-l SELECTOR] [--no-browser] [--port PORT]",
		Short:             "Show CronJobs on a page in the browser",
		Long:              long,
		Example:           example,
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := c.selection.Check(); err != nil {
				return err
			}
			return c.run(cmd)
		},
	}
	c.selection.AddFlags(cmd, "Show")
	cmd.Flags().BoolVar(&c.noBrowser, "no-browser", false, "Only print the link.")
	cmd.Flags().Uint16Var(&c.port, "port", 0, "Serve the page on this port of 127.0.0.1, such as for a tunnel; 0 is a random one.")
	return cmd
}

// run serves the pages until an interrupt, which is not an error.
func (c *command) run(cmd *cobra.Command) error {
	server, err := guard.Listen(cmd.Context(), c.port)
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(cmd.Context())
	site := &pages.Site{Base: server.Base(), Env: c.Env}
	if err := c.connect(ctx, group, cmd, site); err != nil {
		return err
	}
	fmt.Fprintf(c.Out, "%s\nThe link is yours alone: it gives your rights in the cluster. Ctrl-C ends it.\n", server.Link())
	if !c.noBrowser {
		done, err := openBrowser(server.Link(), c.Env)
		if err != nil {
			fmt.Fprintf(c.ErrOut, "Warning: no browser could be opened: %v\n", err)
		}
		defer done()
	}
	group.Go(func() error { return server.Serve(ctx, site.Handler(ctx)) })
	err = group.Wait()
	return errors.Join(err, site.Tasks.Wait())
}

func (c *command) connect(ctx context.Context, group *errgroup.Group, cmd *cobra.Command, site *pages.Site) error {
	config, err := c.RESTConfig()
	if err != nil {
		return err
	}
	cluster, err := c.Client()
	if err != nil {
		return err
	}
	namespace, err := c.selection.Namespace(c.Env)
	if err != nil {
		return err
	}
	selector, err := labels.Parse(c.selection.Selector)
	if err != nil {
		return err
	}
	site.Feed, site.Cluster, site.Rights = &feed.Feed{}, cluster, actions.NewRights(cluster, c.Clock)
	site.Plugin = actions.NewPlugin(c.newPlugin, c.Clock, cmd)
	site.Tasks = actions.NewTasks(site.Plugin)
	site.Where, site.Scope = c.Where(config), feed.Scope{Namespace: namespace, Selector: selector}
	group.Go(func() error {
		return site.Feed.Watch(ctx, config, cluster, site.Scope, c.Env)
	})
	return nil
}

// openBrowser opens the link in the user's browser. It passes the link in a file that only the user
// can read, since all users of a machine can read the arguments of a program. done removes the
// file.
func openBrowser(link string, e *env.Env) (done func(), err error) {
	file, err := os.CreateTemp("", "kubectl-cronjob-*.html") // readable by this user alone
	if err != nil {
		return func() {}, err
	}
	done = func() { _ = os.Remove(file.Name()) }
	_, err = fmt.Fprintf(file, `<!doctype html><meta http-equiv="refresh" content="0; url=%[1]s"><a href="%[1]s">kubectl cronjob ui</a>`,
		template.HTMLEscapeString(link))
	if err := errors.Join(err, file.Close()); err != nil {
		return done, err
	}
	browser.Stdout, browser.Stderr = e.ErrOut, e.ErrOut
	failed := make(chan error, 1)
	go func() { failed <- browser.OpenFile(file.Name()) }() // it may return only when the browser is closed
	select {
	case err = <-failed:
	case <-e.Clock.After(browserTimeout):
	}
	return done, err
}
