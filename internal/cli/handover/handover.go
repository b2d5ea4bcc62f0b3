// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package handover lets one CronJob take over from another, the built-in one from ours or the other
// way round, so that no tick runs twice.
//
// The two never run at the same time: the first is suspended, then its controller has to know of
// it, and then the second starts. An annotation on each records whether it was suspended before, so
// that the way back restores that, and a repeat after an interruption continues.
//
//	suspend ──► stopped? ──► its Jobs? ──► the other starts ──► which tick was missed?
//	   │                                        │
//	   └────────────── resume ◄──── refused ────┘
//
// The status of our CronJob has the observed generation, so we know when the manager has observed
// the suspension. The status of the built-in one does not have it. Its controller hears of a
// suspension within milliseconds; to be safe, we wait for a grace, in which nobody runs a tick. The
// hand-over waits for a moment at which no tick falls into the grace, unless the schedule is too
// dense for that.
package handover

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/env"
)

// Handover hands over CronJobs, one after the other. Its fields are the flags of import and export.
type Handover struct {
	cronjobs.Selection
	DryRun  cronjobs.DryRun
	Wait    bool
	Timeout time.Duration

	// Grace is how long a controller may still start Jobs after a suspension of which it has not
	// heard.
	Grace time.Duration

	Env    *env.Env
	Client client.Client

	output cronjobs.Output

	// ahead is by how much the API server's clock is ahead of ours.
	ahead time.Duration
}

// AddFlags adds the flags to a command. The verb is for their help.
func (h *Handover) AddFlags(command *cobra.Command, verb string) {
	h.Selection.AddFlags(command, verb)
	h.DryRun.AddFlag(command)
	h.output.AddFlag(command, "json", "yaml")
	flags := command.Flags()
	flags.Lookup("output").Usage = "Print the manifests, and touch nothing. One of: (json, yaml)."
	flags.BoolVar(&h.Wait, "wait", false,
		"Wait for Jobs that run when the concurrency policy is Forbid or Replace; ticks that pass meanwhile are missed.")
	flags.DurationVar(&h.Timeout, "timeout", 10*time.Minute, "How long --wait waits, for each CronJob; 0 for as long as it takes.")
	flags.DurationVar(&h.Grace, "grace", 5*time.Second,
		"How long after its suspension a controller may not have heard of it yet; nothing is handed over so soon before a tick.")
}

func (h *Handover) check(names []string) error {
	switch {
	case h.Grace < 0:
		return fmt.Errorf("--grace=%s: use 0 or more", h.Grace)
	case h.Timeout < 0:
		return fmt.Errorf("--timeout=%s: use 0 or more", h.Timeout)
	}
	return errors.Join(h.CheckNames(names), h.DryRun.Check(), h.output.Check())
}

// Outcome describes what was done, or in a dry run would be. It is empty if there is nothing to
// print.
type Outcome struct {
	Done string

	// Missed is the tick that neither CronJob runs; zero for none.
	Missed time.Time
	Notes  []string
}

// Each calls handle for each CronJob of a kind that is named or selected, and prints the outcome.
// An error does not prevent the others.
func (h *Handover) Each(ctx context.Context, kind schema.GroupVersionKind, names []string,
	handle func(context.Context, *unstructured.Unstructured) (Outcome, error),
) error {
	if err := h.check(names); err != nil {
		return err
	}
	var err error
	if h.Client, err = h.Env.Client(); err != nil {
		return err
	}
	found := 0
	errs := h.Selection.Each(ctx, h.Env, h.Client, kind, names, func(object *unstructured.Unstructured) error {
		found++
		// The hand-overs before this one may have taken long.
		err := h.Client.Get(ctx, client.ObjectKeyFromObject(object), object)
		if err != nil {
			return err
		}
		outcome, err := handle(ctx, object)
		if err != nil {
			return fmt.Errorf("%s: %w", object.GetName(), err)
		}
		h.print(object, outcome)
		return nil
	})
	if found+len(errs) == 0 {
		h.SayNone(h.Env)
	}
	return cronjobs.Fail(h.Env, errs)
}

func (h *Handover) print(object client.Object, o Outcome) {
	if o.Done == "" {
		return
	}
	if !o.Missed.IsZero() {
		o.Notes = append(o.Notes, fmt.Sprintf("the tick of %s is missed: it came during the hand-over", o.Missed.Format(time.RFC3339)))
	}
	_, _ = fmt.Fprintf(h.Env.Out, "%s: %s\n", h.NameOf(object.GetNamespace(), object.GetName()), h.DryRun.Done(o.Done))
	for _, note := range o.Notes {
		_, _ = fmt.Fprintf(h.Env.Out, "  %s\n", note)
	}
}

// PrintsManifests reports whether to print manifests, and change nothing.
func (h *Handover) PrintsManifests() bool { return h.output.Format != "" }

// PrintManifest prints the manifest of a CronJob.
func (h *Handover) PrintManifest(object client.Object) error {
	if h.output.Format == "yaml" {
		_, _ = fmt.Fprintln(h.Env.Out, "---")
	}
	return h.output.Write(h.Env.Out, object)
}

// Find returns the CronJob that exists under the name of the made one; nil if there is none. It is
// an error if neither it nor from was made from the other.
func (h *Handover) Find(ctx context.Context, from, made *Participant) (*Participant, error) {
	existing, err := h.get(ctx, made)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, cronjobs.Explain(err)
	case from.origin() != string(existing.GetUID()) && existing.origin() != string(from.GetUID()):
		return nil, fmt.Errorf("%s is there already, and neither was made from the other: it is left alone", existing)
	}
	return existing, nil
}

// strict makes the API server refuse unknown fields.
var strict = client.FieldValidation(metav1.FieldValidationStrict)

// try checks whether a CronJob could be created: by a server dry run, or with --dry-run=client by
// the rules that are known here.
func (h *Handover) try(ctx context.Context, made *Participant) error {
	var err error
	switch {
	case h.DryRun != cronjobs.DryRunClient:
		tried := made.DeepCopyObject().(client.Object) //nolint:forcetypeassert // a copy of the same type
		err = h.Client.Create(ctx, tried, strict, client.DryRunAll)
	case !made.isBuiltIn():
		err = cronjobs.CheckNew(made.view)
	}
	if err != nil {
		return fmt.Errorf("creating %s: %w", made, err)
	}
	return nil
}

// Create creates a CronJob, suspended or not. In a dry run it only checks that.
func (h *Handover) Create(ctx context.Context, made *Participant, suspended bool) (*Participant, error) {
	made.setSuspend(suspended)
	if h.DryRun != cronjobs.DryRunNone {
		return made, h.try(ctx, made)
	}
	if err := h.Client.Create(ctx, made.Object, strict); err != nil {
		return nil, fmt.Errorf("creating %s: %w", made, err)
	}
	return participantOf(made.Object), nil
}

// HandOverToNew hands over to a CronJob that is still to be created, after a check that it can be.
func (h *Handover) HandOverToNew(ctx context.Context, from, made *Participant) (missed time.Time, err error) {
	if err := h.try(ctx, made); err != nil {
		return time.Time{}, err
	}
	return h.HandOver(ctx, from, func(ctx context.Context, _ time.Time, suspended bool) (*Participant, error) {
		return h.Create(ctx, made, suspended)
	})
}

func (h *Handover) say(c *Participant, text string) {
	_, _ = fmt.Fprintf(h.Env.ErrOut, "%s: %s\n", h.NameOf(c.GetNamespace(), c.GetName()), text)
}
