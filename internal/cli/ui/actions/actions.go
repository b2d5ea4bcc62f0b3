// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package actions has the actions of the pages. Each is a command of the plugin: the page shows its
// command line, runs it with --dry-run=server to show its effect, and then runs it.
package actions

import (
	"cmp"
	"context"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/env"
)

// Action is an action on a CronJob.
type Action struct {
	// Name is used in links, Title is the text of the button, and Effect describes the effect.
	Name, Title, Effect string

	// Right is the right that the user needs.
	Right Right

	// Fields are the fields of the form.
	Fields []Field

	// IsDangerous is whether the action stops something, or repeats what was done.
	IsDangerous bool

	command string
}

// Field is a field of the form that sets a flag of the command.
type Field struct {
	// Name is the name of the flag, Label the text of the field, and Hint describes its values.
	Name, Label, Hint string

	// Required is whether the command needs the flag.
	Required bool

	// Options are the allowed values; none for any. Default is the default of the command. Checkbox
	// is whether the only value is "true".
	Options  []string
	Default  string
	Checkbox bool
}

const timeHint = "2026-06-01T02:30 in the time zone of the schedule, or a time as in RFC 3339"

// All has the actions in the order of their buttons.
var All = []*Action{
	{
		Name: "run", Title: "Run now", command: "run", Right: createJobs,
		Effect: "A Job is started now, from the template, even if the CronJob is suspended. The schedule does not change.",
	},
	{
		Name: "tick", Title: "Run a tick again", command: "run", Right: createJobs, IsDangerous: true,
		Effect: "A Job is started for a tick of the past, as the schedule would have done.",
		Fields: []Field{
			{Name: "tick", Label: "Tick", Hint: timeHint, Required: true},
			{Name: "again", Label: "Even if it has run", Checkbox: true},
		},
	},
	{
		Name: "backfill", Title: "Backfill", command: "backfill", Right: createJobs, IsDangerous: true,
		Effect: "The ticks of a past range that have no successful run are run, oldest first. " +
			"This takes as long as the Jobs do, and stops when kubectl cronjob ui ends. Running Jobs continue.",
		Fields: []Field{
			{Name: "from", Label: "From", Hint: timeHint, Required: true},
			{Name: "to", Label: "To", Hint: timeHint, Required: true},
			{Name: "only", Label: "Only those that", Options: []string{"all", "missed", "failed"}, Default: "all"},
			{Name: "parallel", Label: "How many at once", Options: []string{"1", "2", "4", "8"}, Default: "2"},
		},
	},
	{
		Name: "suspend", Title: "Suspend", command: "suspend", Right: patchCronJobs, IsDangerous: true,
		Effect: "No Job is started until the CronJob is resumed. Running Jobs continue, and ticks that pass in the meantime never run.",
		Fields: []Field{
			{Name: "until", Label: "Until", Hint: "a duration such as 6h, or a time such as 2026-12-24T18:00:00Z; for good if empty"},
			{Name: "reason", Label: "Reason", Hint: "recorded in an annotation, with your user name"},
		},
	},
	{
		Name: "resume", Title: "Resume", command: "resume", Right: patchCronJobs,
		Effect: "The next tick runs. Ticks that have passed in the meantime never run.",
	},
}

// Find returns an action by its name; false if there is none.
func Find(name string) (*Action, bool) {
	i := slices.IndexFunc(All, func(action *Action) bool { return action.Name == name })
	if i < 0 {
		return nil, false
	}
	return All[i], true
}

// Call is an action on a CronJob, with the values of its form.
type Call struct {
	Action          *Action
	Namespace, Name string

	// Values are the values of the fields, by name.
	Values url.Values
}

// StartsOneJob reports whether the action starts one Job and does not wait for it to end.
func (c Call) StartsOneJob() bool { return c.Action.command == "run" }

// IsPointless reports whether the action would do nothing, according to the output of its dry run.
func (c Call) IsPointless(output string) bool {
	return c.Action.Right == createJobs && len(JobsIn(output)) == 0
}

// JobsIn returns the names of the Jobs in the output of a command.
func JobsIn(output string) []string {
	var names []string
	for line := range strings.Lines(output) {
		if object, ok := strings.CutPrefix(line, "job.batch/"); ok {
			name, _, _ := strings.Cut(object, " ")
			names = append(names, name)
		}
	}
	return names
}

// IsComplete reports whether all required fields are filled in.
func (c Call) IsComplete() bool {
	return !slices.ContainsFunc(c.Action.Fields, func(f Field) bool { return f.Required && c.Values.Get(f.Name) == "" })
}

// Value returns the value of a field, or else its default.
func (c Call) Value(f Field) string { return cmp.Or(c.Values.Get(f.Name), f.Default) }

// args returns the command and its arguments. The name of a CronJob can't be mistaken for a flag.
func (c Call) args() []string {
	args := []string{c.Action.command, c.Name, "--namespace=" + c.Namespace}
	for _, f := range c.Action.Fields {
		if value := c.Values.Get(f.Name); value != "" {
			args = append(args, "--"+f.Name+"="+value)
		}
	}
	return args
}

// Link returns the values as the query of a link.
func (c Call) Link() string {
	query := url.Values{}
	for _, f := range c.Action.Fields {
		if value := c.Values.Get(f.Name); value != "" {
			query.Set(f.Name, value)
		}
	}
	return "?" + query.Encode()
}

// Plugin runs commands of the plugin with the global flags of the command ui, and so with the same
// kubeconfig and rights.
type Plugin struct {
	newCommand func(*env.Env) *cobra.Command
	clock      clock.Clock
	global     []string
}

// NewPlugin returns a Plugin. newCommand makes the plugin's root command; called is the command ui.
func NewPlugin(newCommand func(*env.Env) *cobra.Command, c clock.Clock, called *cobra.Command) *Plugin {
	p := &Plugin{newCommand: newCommand, clock: c}
	called.Flags().Visit(func(flag *pflag.Flag) {
		if called.Root().PersistentFlags().Lookup(flag.Name) != nil && flag.Name != "namespace" { // each call sets it
			p.global = append(p.global, cronjobs.FlagArgs(flag)...)
		}
	})
	return p
}

// Preview returns the output of a dry run of a call.
func (p *Plugin) Preview(ctx context.Context, call Call) (string, error) {
	out := &strings.Builder{}
	err := p.run(ctx, out, append(call.args(), "--dry-run="+string(cronjobs.DryRunServer)))
	return out.String(), err
}

// Do runs a call. It writes the output of the command to out as it comes.
func (p *Plugin) Do(ctx context.Context, call Call, out io.Writer) error {
	return p.run(ctx, out, call.args())
}

func (p *Plugin) run(ctx context.Context, out io.Writer, args []string) error {
	e := env.New(genericiooptions.IOStreams{In: strings.NewReader(""), Out: out, ErrOut: out})
	e.Clock = p.clock
	cmd := p.newCommand(e)
	cmd.SetArgs(append(args, p.global...))
	return cmd.ExecuteContext(ctx)
}

// CommandLine returns the command line of a call for a shell.
func (p *Plugin) CommandLine(call Call) string {
	return cronjobs.CommandLine(append(call.args(), p.global...)...)
}
