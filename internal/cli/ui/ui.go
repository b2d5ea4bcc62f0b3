// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package ui is the command that shows CronJobs on a page in the browser.
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
	"tutorial.kubebuilder.io/project/internal/cli/ui/acts"
	"tutorial.kubebuilder.io/project/internal/cli/ui/feed"
	"tutorial.kubebuilder.io/project/internal/cli/ui/guard"
	"tutorial.kubebuilder.io/project/internal/cli/ui/pages"
)

const (
	long = `Show CronJobs on a page in your browser: how their runs went, what runs, and what is going to, as a list
and as a timeline; of each its runs, logs and events.

The page is served by this command, on a port of 127.0.0.1, until an interrupt. It reads and does
what your kubeconfig allows you, and nothing is installed in the cluster. Whoever has the link has your
rights for as long as the command runs: do not pass it on.

What can be done there, such as to run a CronJob now, are commands of this plugin. The page says first
what they will do, and shows their command lines.`

	example = `  # Show the CronJobs of the namespace
  kubectl cronjob ui

  # Show those of all namespaces, and only print the link
  kubectl cronjob ui -A --no-browser`
)

// browserTimeout is how long to wait for the news that no browser can be opened.
const browserTimeout = time.Second

type command struct {
	*env.Env

	newPlugin func(*env.Env) *cobra.Command
	selection cronjobs.Selection
	noBrowser bool
	port      uint16
}

// NewCommand returns the command ui. It takes what makes the plugin's root command, whose other
// commands the page runs.
func NewCommand(e *env.Env, newPlugin func(*env.Env) *cobra.Command) *cobra.Command {
	c := &command{Env: e, newPlugin: newPlugin}
	cmd := &cobra.Command{
		Use:                   "ui [-A] [-l SELECTOR] [--no-browser] [--port PORT]",
		DisableFlagsInUseLine: true,
		Short:                 "Show CronJobs on a page in the browser",
		Long:                  long,
		Example:               example,
		Args:                  cobra.NoArgs,
		ValidArgsFunction:     cobra.NoFileCompletions,
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

// run serves the pages until an interrupt, which is how the command ends well.
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
	site.Feed, site.Cluster, site.Rights = &feed.Feed{}, cluster, acts.NewRights(cluster, c.Clock)
	site.Plugin = acts.NewPlugin(c.newPlugin, c.Clock, cmd)
	site.Tasks = acts.NewTasks(site.Plugin)
	site.Where, site.Scope = c.Where(config), feed.Scope{Namespace: namespace, Selector: selector}
	group.Go(func() error {
		return site.Feed.Watch(ctx, config, cluster, site.Scope, c.Env)
	})
	return nil
}

// openBrowser opens the link in the user's browser. It is passed in a file that nobody else may
// read: arguments of a program can be read by all users of the machine. The file is to be removed in
// the end.
func openBrowser(link string, e *env.Env) (done func(), err error) {
	file, err := os.CreateTemp("", "kubectl-cronjob-*.html") // which nobody else may read
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
