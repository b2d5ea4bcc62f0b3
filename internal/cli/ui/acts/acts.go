// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package acts is what a user can do on the pages. Each act is a command of the plugin: the page
// shows its command line, runs it with --dry-run=server to say what it will do, and then as it is.
package acts

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

// Act is something that a user can do with a CronJob.
type Act struct {
	// Name is the one in links, Title the text of the button, and Says what is done.
	Name, Title, Says string

	// Right is what the user needs to be allowed to.
	Right Right

	// Fields are what the user can say about it.
	Fields []Field

	// IsDangerous says that it stops what would go on, or does anew what was done.
	IsDangerous bool

	command string
}

// Field is a flag of the command that a user can set.
type Field struct {
	// Name is that of the flag, Label what a reader calls it, and Hint says what it may be.
	Name, Label, Hint string

	// Required says that the command needs it.
	Required bool

	// Options are the values that it may have; any if there are none. Default is the one that the
	// command takes if none is given. Checkbox says that they are "true" and nothing.
	Options  []string
	Default  string
	Checkbox bool
}

const timeHint = "2026-06-01T02:30 in the time zone of the schedule, or a time as in RFC 3339"

// All are the acts, in the order of their buttons.
var All = []*Act{
	{
		Name: "run", Title: "Run now", command: "run", Right: createJobs,
		Says: "A Job is started now, from the template, whether or not the CronJob is suspended. The schedule goes on as if nothing had been.",
	},
	{
		Name: "tick", Title: "Run a tick again", command: "run", Right: createJobs, IsDangerous: true,
		Says: "A Job is started for a tick of the past, as the schedule would have done.",
		Fields: []Field{
			{Name: "tick", Label: "Tick", Hint: timeHint, Required: true},
			{Name: "again", Label: "Even if it has run", Checkbox: true},
		},
	},
	{
		Name: "backfill", Title: "Backfill", command: "backfill", Right: createJobs, IsDangerous: true,
		Says: "The ticks of a range of the past that have no successful run are run, oldest first. " +
			"It takes as long as the Jobs do, and stops when kubectl cronjob ui ends; what runs then goes on.",
		Fields: []Field{
			{Name: "from", Label: "From", Hint: timeHint, Required: true},
			{Name: "to", Label: "To", Hint: timeHint, Required: true},
			{Name: "only", Label: "Only those that", Options: []string{"all", "missed", "failed"}, Default: "all"},
			{Name: "parallel", Label: "How many at once", Options: []string{"1", "2", "4", "8"}, Default: "2"},
		},
	},
	{
		Name: "suspend", Title: "Suspend", command: "suspend", Right: patchCronJobs, IsDangerous: true,
		Says: "Nothing is started until the CronJob is resumed. Jobs that run go on, and ticks that pass in the meantime never run.",
		Fields: []Field{
			{Name: "until", Label: "Until", Hint: "a duration such as 6h, or a time such as 2026-12-24T18:00:00Z; for good if empty"},
			{Name: "reason", Label: "Reason", Hint: "it stands in an annotation, with your user name"},
		},
	},
	{
		Name: "resume", Title: "Resume", command: "resume", Right: patchCronJobs,
		Says: "The schedule goes on with its next tick. Those that have passed meanwhile never run.",
	},
}

// Find returns an act by its name, and reports whether there is one.
func Find(name string) (*Act, bool) {
	i := slices.IndexFunc(All, func(act *Act) bool { return act.Name == name })
	if i < 0 {
		return nil, false
	}
	return All[i], true
}

// Call is an act on a CronJob.
type Call struct {
	Act             *Act
	Namespace, Name string

	// Values are those of the fields.
	Values url.Values
}

// StartsOneJob reports whether the act starts a Job and does not wait for its end.
func (c Call) StartsOneJob() bool { return c.Act.command == "run" }

// IsPointless reports whether nothing is to be done, by what the command has printed when it was
// tried.
func (c Call) IsPointless(output string) bool {
	return c.Act.Right == createJobs && len(JobsIn(output)) == 0
}

// JobsIn returns the names of the Jobs that a command has printed, as kubectl prints objects.
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

// IsComplete reports whether the user has said all that the act needs.
func (c Call) IsComplete() bool {
	return !slices.ContainsFunc(c.Act.Fields, func(f Field) bool { return f.Required && c.Values.Get(f.Name) == "" })
}

// Value is what a field is filled with.
func (c Call) Value(f Field) string { return cmp.Or(c.Values.Get(f.Name), f.Default) }

// args are the command and its arguments. The name is that of a CronJob, and so no flag.
func (c Call) args() []string {
	args := []string{c.Act.command, c.Name, "--namespace=" + c.Namespace}
	for _, f := range c.Act.Fields {
		if value := c.Values.Get(f.Name); value != "" {
			args = append(args, "--"+f.Name+"="+value)
		}
	}
	return args
}

// Link is the query of a link with the fields.
func (c Call) Link() string {
	query := url.Values{}
	for _, f := range c.Act.Fields {
		if value := c.Values.Get(f.Name); value != "" {
			query.Set(f.Name, value)
		}
	}
	return "?" + query.Encode()
}

// Plugin runs commands of the plugin with the kubeconfig and the rights that the user has given to
// the command ui.
type Plugin struct {
	newCommand func(*env.Env) *cobra.Command
	clock      clock.Clock
	global     []string
}

// NewPlugin takes what makes the plugin's root command, and the command ui as it was called.
func NewPlugin(newCommand func(*env.Env) *cobra.Command, c clock.Clock, called *cobra.Command) *Plugin {
	p := &Plugin{newCommand: newCommand, clock: c}
	called.Flags().Visit(func(flag *pflag.Flag) {
		if called.Root().PersistentFlags().Lookup(flag.Name) != nil && flag.Name != "namespace" { // of which each call has its own
			p.global = append(p.global, cronjobs.FlagArgs(flag)...)
		}
	})
	return p
}

// Preview returns what a call will do: what its command prints when the API server tries it.
func (p *Plugin) Preview(ctx context.Context, call Call) (string, error) {
	out := &strings.Builder{}
	err := p.run(ctx, out, append(call.args(), "--dry-run="+string(cronjobs.DryRunServer)))
	return out.String(), err
}

// Do does what a call says. What its command prints goes to out, as it comes.
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

// CommandLine is how a user does the same in a shell.
func (p *Plugin) CommandLine(call Call) string {
	return cronjobs.CommandLine(append(call.args(), p.global...)...)
}
