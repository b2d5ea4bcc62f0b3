// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package suspend implements the commands suspend and resume.
package suspend

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/printers"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/env"
	"tutorial.kubebuilder.io/project/internal/cli/handover"
	"tutorial.kubebuilder.io/project/internal/plan"
)

// words has the texts in which the two commands differ.
type words struct {
	verb, done, short, long, example string
}

var suspending = words{
	verb: "suspend", done: "suspended", short: "Suspend CronJobs",
	long: `Suspend CronJobs: no Job is started until they are resumed. Running Jobs continue, and ticks that pass
in the meantime never run.

The command changes only spec.suspend, or with --until spec.suspendUntil. If a CronJob can't be changed,
the others still are: repeat the command for those that it names.

With --all or -l, the command skips CronJobs that are suspended already, and those that have stopped
after failures, since an edit of the spec would restart them. It records who suspended the others, and
the --reason, in their annotations. resume --all or -l resumes only these.`,
	example: `  # Suspend the CronJob "backup"
  kubectl cronjob suspend backup

  # Suspend it for the next six hours
  kubectl cronjob suspend backup --until 6h

  # Suspend all of the cluster during a maintenance
  kubectl cronjob suspend --all -A --until 6h --reason "storage is moved"

  # Suspend those of a team, in all namespaces
  kubectl cronjob suspend -l team=data -A

  # See what would be suspended in this namespace
  kubectl cronjob suspend --all --dry-run=client`,
}

var resuming = words{
	verb: "resume", done: "resumed", short: "Resume CronJobs that are suspended, or have stopped after failures",
	long: `Resume CronJobs that are suspended, or that have stopped because of spec.stopAfterFailures. Ticks that
have passed until then never run; the next one does.

The command changes only spec.suspend and spec.suspendUntil, or for a stopped CronJob only the
annotation batch.tutorial.kubebuilder.io/resumed-at. If a CronJob can't be changed, the others still
are: repeat the command for those that it names.

With --all or -l, the command resumes only the CronJobs that suspend --all or -l has suspended, unless
somebody has changed that field since, or suspended them by name. Name the others.`,
	example: `  # Resume the CronJob "backup"
  kubectl cronjob resume backup

  # Resume those of a team, in all namespaces
  kubectl cronjob resume -l team=data -A`,
}

type command struct {
	*env.Env
	words

	// suspend is whether to suspend or to resume. until is the end of the suspension; zero for
	// none.
	suspend bool
	until   time.Time

	// reason and user are recorded in annotations.
	reason, user string

	selection cronjobs.Selection
	all       bool
	dryRun    cronjobs.DryRun
	print     *genericclioptions.PrintFlags
}

// NewSuspendCommand returns the command suspend.
func NewSuspendCommand(e *env.Env) *cobra.Command {
	return newCommand(&command{Env: e, words: suspending, suspend: true})
}

// NewResumeCommand returns the command resume.
func NewResumeCommand(e *env.Env) *cobra.Command {
	return newCommand(&command{Env: e, words: resuming})
}

func newCommand(c *command) *cobra.Command {
	c.print = genericclioptions.NewPrintFlags(c.done)
	var until string
	cmd := &cobra.Command{
		Use:               c.verb + " (NAME... | -l SELECTOR | --all) [-A]",
		Short:             c.short,
		Long:              c.long,
		Example:           c.example,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: cronjobs.CompleteNames(c.Env, 0),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.check(args); err != nil {
				return err
			}
			if cmd.Flags().Changed("until") {
				var err error
				if c.until, err = parseUntil(until, c.Clock.Now()); err != nil {
					return err
				}
			}
			return c.run(cmd.Context(), args)
		},
	}
	c.selection.AddFlags(cmd, strings.ToUpper(c.verb[:1])+c.verb[1:])
	cmd.Flags().BoolVar(&c.all, "all", false, "All of the namespace.")
	if c.suspend {
		cmd.Flags().StringVar(&until, "until", "",
			"When they go on by themselves: a `time` as in RFC 3339, a local one in your zone such as 2026-12-24T18:00, or a duration such as 6h.")
		cronjobs.CompleteFlag(cmd, "until", cobra.NoFileCompletions)
		cmd.Flags().StringVar(&c.reason, "reason", "", "Why, which stands in an annotation with your user name.")
	}
	c.dryRun.AddFlag(cmd)
	c.print.AddFlags(cmd)
	return cmd
}

func (c *command) check(args []string) error {
	ways := 0
	for _, chosen := range []bool{len(args) > 0, c.selection.Selector != "", c.all} {
		if chosen {
			ways++
		}
	}
	switch {
	case ways == 0:
		return errors.New("say which CronJobs: NAME..., -l SELECTOR or --all")
	case ways > 1:
		return errors.New("give NAMEs, -l SELECTOR or --all, not two of them")
	case c.selection.AllNamespaces && len(args) > 0:
		return errors.New("-A goes with -l or --all: a NAME is of one namespace, see -n")
	}
	return errors.Join(c.selection.Check(), c.dryRun.Check())
}

// run changes all selected CronJobs. It returns an error at the end if any could not be changed.
func (c *command) run(ctx context.Context, args []string) error {
	printer, err := c.print.ToPrinter()
	if err != nil {
		return err
	}
	cluster, err := c.Client()
	if err != nil {
		return err
	}
	found, errs := c.find(ctx, cluster, args)
	if len(found) > 0 {
		c.identify(ctx, cluster)
	}
	failed := 0
	for i, object := range found {
		if ctx.Err() != nil { // interrupted: each of the others would say so
			errs, failed = append(errs, context.Cause(ctx)), failed+len(found)-i
			break
		}
		if !c.isBulk() {
			c.warn(object)
		}
		changed, err := c.set(ctx, cluster, object)
		if c.isBulk() && apierrors.IsNotFound(err) { // it was deleted since it was listed
			continue
		}
		if err != nil {
			errs, failed = append(errs, fmt.Errorf("CronJob %s: %w", client.ObjectKeyFromObject(object), err)), failed+1
			continue
		}
		if name, ok := printer.(*printers.NamePrinter); ok {
			name.Operation = c.operation(object, changed)
		}
		if err := printer.PrintObj(object, c.Out); err != nil {
			return err
		}
	}
	if failed > 0 && c.isBulk() {
		errs = append(errs, fmt.Errorf("%d of %d CronJobs were not %s: repeat the command for them", failed, len(found), c.done))
	}
	return cronjobs.Fail(c.Env, errs)
}

// isHandedOver reports whether an object is suspended because the built-in CronJob runs in its
// place.
func isHandedOver(object client.Object) bool {
	_, ok := object.GetAnnotations()[handover.SuspendBeforeAnnotation]
	return ok
}

func (c *command) warn(object client.Object) {
	if isHandedOver(object) && !c.suspend {
		fmt.Fprintf(c.ErrOut, "Warning: CronJob %[1]s was suspended in favour of the built-in CronJob of its name. "+
			"If that runs, both do; to hand over from it, use kubectl cronjob import %[1]s --suspend-original\n", object.GetName())
	}
}

// operation describes what was done to an object, with its namespace if several are selected.
func (c *command) operation(object *unstructured.Unstructured, changed bool) string {
	operation := "already " + c.done
	switch {
	case !c.suspend && cronjobs.IsSuspended(object, c.Clock.Now()):
		operation = "left suspended"
	case changed:
		operation = c.dryRun.Done(c.done + c.untilWhen(object))
	case c.isBulk() && decodeStopped(object) != nil:
		operation = "left stopped after failures"
	}
	if c.selection.AllNamespaces {
		operation += " in namespace " + object.GetNamespace()
	}
	return operation
}

// untilWhen describes when the suspension of an object ends, in the user's time zone; "" for never.
// It may be later than the command line asks for, if the object was suspended for longer before.
func (c *command) untilWhen(object *unstructured.Unstructured) string {
	forGood, _, _ := unstructured.NestedBool(object.Object, "spec", suspendField)
	until := untilOf(object)
	if !c.suspend || forGood || until.IsZero() {
		return ""
	}
	return " until " + until.In(c.Clock.Now().Location()).Format(time.RFC3339)
}

func untilOf(object *unstructured.Unstructured) time.Time {
	text, _, _ := unstructured.NestedString(object.Object, "spec", untilField)
	until, _ := time.Parse(time.RFC3339, text)
	return until
}

// find reads the selected CronJobs in v1, the storage version, which is always served.
func (c *command) find(ctx context.Context, reader client.Reader, args []string) ([]*unstructured.Unstructured, []error) {
	var found []*unstructured.Unstructured
	errs := c.selection.Each(ctx, c.Env, reader, v1.GroupVersion.WithKind("CronJob"), args, func(object *unstructured.Unstructured) error {
		found = append(found, object)
		return nil
	})
	if len(found)+len(errs) == 0 {
		c.selection.SayNone(c.Env)
	}
	return found, errs
}

// set changes an object, and reports whether that made a difference. After a conflict it reads the
// object again and decides anew.
func (c *command) set(ctx context.Context, cluster client.Client, object *unstructured.Unstructured) (changed bool, err error) {
	err = retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		before := object.DeepCopy()
		if err := c.change(object); err != nil {
			return err
		}
		changed = !equality.Semantic.DeepEqual(before, object)
		if !changed || c.dryRun == cronjobs.DryRunClient {
			return nil
		}
		patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
		err := cluster.Patch(ctx, object, patch, &client.PatchOptions{DryRun: c.dryRun.Values()})
		if apierrors.IsConflict(err) {
			if readErr := cluster.Get(ctx, client.ObjectKeyFromObject(object), object); readErr != nil {
				return readErr
			}
		}
		return err
	})
	return changed, err
}

func (c *command) change(object *unstructured.Unstructured) error {
	// The schema allows only true and false.
	forGood, _, _ := unstructured.NestedBool(object.Object, "spec", suspendField)
	switch {
	case c.isBulk():
		return c.changeBulk(object)
	case c.suspend:
		return c.suspendNamed(object, forGood)
	}
	forget(object)
	// Otherwise a hand-over would take a later suspension for its own, and end it.
	annotate(object, handover.SuspendBeforeAnnotation, "")
	c.resumeStopped(object)
	unstructured.RemoveNestedField(object.Object, "spec", untilField)
	if !forGood {
		return nil
	}
	return unstructured.SetNestedField(object.Object, false, "spec", suspendField)
}

// suspendNamed suspends an object, but never shortens a suspension: --until does not replace one
// without an end or one that ends later. It removes the mark of suspend --all if resume --all would
// otherwise end this suspension too.
func (c *command) suspendNamed(object *unstructured.Unstructured, forGood bool) error {
	until := untilOf(object)
	switch bulk := object.GetAnnotations()[BulkSuspensionAnnotation]; {
	case bulk == "":
	case !c.until.IsZero() && bulk == valueOf(object, suspendField):
		forGood = false // resume --all ends that one, and leaves this one
	default:
		forget(object)
	}
	if !c.until.IsZero() && (forGood || until.After(c.until)) {
		return nil
	}
	_, err := c.setField(object)
	return err
}

// resumeStopped annotates an object that has stopped after failures. It does not edit the spec,
// because a GitOps tool would revert that.
func (c *command) resumeStopped(object *unstructured.Unstructured) {
	stopped := decodeStopped(object)
	if stopped == nil {
		return
	}
	now := c.Clock.Now()
	if failed := stopped.Status.LastFailureTime; failed != nil && failed.After(now) { // by the cluster's clocks
		now = failed.Time
	}
	annotate(object, v1.ResumedAtAnnotation, now.UTC().Format(time.RFC3339))
}

// decodeStopped decodes an object that has stopped after failures. It returns nil for any other
// object, and for one that can't be decoded.
func decodeStopped(object *unstructured.Unstructured) *v1.CronJob {
	cronJob, err := cronjobs.DecodeV1(object)
	if err != nil || !plan.IsStopped(cronJob) {
		return nil
	}
	return cronJob
}

// parseUntil parses a time in the future. A local time is in the time zone of now.
func parseUntil(text string, now time.Time) (time.Time, error) {
	at, err := cronjobs.ParseTime("until", text, now.Location(), now)
	if err == nil && !at.After(now) {
		err = fmt.Errorf("--until %s must be in the future", text)
	}
	return at, err
}
