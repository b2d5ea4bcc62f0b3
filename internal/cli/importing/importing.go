// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package importing is the command import: it makes CronJobs of ours from the built-in ones.
package importing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/builtin"
	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/env"
	"tutorial.kubebuilder.io/project/internal/cli/handover"
)

const long = `Make a CronJob of batch.tutorial.kubebuilder.io of the same name from each built-in CronJob (batch/v1):
those named, or all of the namespace.

Labels, annotations and the spec are kept; what has no counterpart is said. The new one is suspended, and
the original goes on, until you hand over with --suspend-original. Then the original is suspended, and the
new one starts when the original is known to have stopped, at a moment at which no tick is lost. No tick
runs twice.

What was imported already is left as it is, so that the command can be repeated, also after an
interruption. kubectl cronjob export is the way back.`

const example = `  # See what would be done in the namespace shop
  kubectl cronjob import -n shop --dry-run=server

  # Import, look at the result, then hand over
  kubectl cronjob import backup
  kubectl get tcj backup -o yaml
  kubectl cronjob import backup --suspend-original

  # Hand over all of the cluster, and wait for Jobs that must not run side by side
  kubectl cronjob import -A --suspend-original --wait`

// NewCommand returns the command.
func NewCommand(e *env.Env) *cobra.Command {
	options, suspendOriginal := &handover.Options{}, false
	command := &cobra.Command{
		Use:               "import [NAME...]",
		Short:             "Make CronJobs of ours from the built-in ones, and hand over to them",
		Long:              long,
		Example:           example,
		ValidArgsFunction: cronjobs.CompleteBuiltinNames(e),
		RunE: func(command *cobra.Command, names []string) error {
			batch, err := handover.NewBatch(e, options, names)
			if err != nil {
				return err
			}
			i := &importer{Batch: batch, suspendOriginal: suspendOriginal}
			return batch.Each(command.Context(), builtin.GVK, names, i.run)
		},
	}
	command.Flags().BoolVar(&suspendOriginal, "suspend-original", false, "Suspend the original and have the new one run instead.")
	options.AddFlags(command, "Import")
	return command
}

// importer imports one CronJob after the other.
type importer struct {
	*handover.Batch
	suspendOriginal bool
}

// run imports one.
func (i *importer) run(ctx context.Context, object *unstructured.Unstructured) error {
	original, lost, err := builtin.Decode(object)
	if err != nil {
		return err
	}
	ours, notes := builtin.Import(original)
	notes = append(lost, notes...)
	metav1.SetMetaDataAnnotation(&ours.ObjectMeta, handover.ImportedFromAnnotation, string(original.UID))
	if i.Printer != nil {
		return i.Printer.PrintObj(ours, i.Env.Out)
	}
	existing := &v1.CronJob{}
	found, err := i.Find(ctx, existing)
	switch {
	case err != nil:
		return err
	case !found:
		return i.create(ctx, handover.BuiltIn(original), ours, notes)
	case !handover.ArePair(original, existing):
		return fmt.Errorf("%s is there already and was not imported from this one: it is left alone", handover.Ours(existing))
	default:
		return i.goOn(ctx, handover.BuiltIn(original), handover.Ours(existing))
	}
}

// create imports one that has no counterpart yet.
func (i *importer) create(ctx context.Context, original *handover.Participant, ours *v1.CronJob, notes []string) error {
	// An interrupted hand-over goes on, with the flag or without.
	handsOver := !original.SuspendedByOthers() && (i.suspendOriginal || original.SuspendedByUs())
	if handsOver {
		if err := original.RefuseKeeper(); err != nil {
			return err
		}
	}
	if err := i.Check(ctx, ours); err != nil {
		return err
	}
	missed, err := i.start(ctx, original, ours, handsOver)
	if err != nil {
		return err
	}
	done := "imported, suspended while the original goes on; --suspend-original hands over"
	switch {
	case original.SuspendedByOthers():
		done = "imported, suspended as the original is; kubectl cronjob resume starts it"
	case handsOver:
		done = "imported and running, the original is suspended"
	}
	i.Done(done, missed, notes...)
	return nil
}

// start creates ours, and hands over to it if handsOver says so.
func (i *importer) start(ctx context.Context, original *handover.Participant, ours *v1.CronJob, handsOver bool) (time.Time, error) {
	if handsOver {
		return i.HandOver(ctx, original, func(ctx context.Context, _ time.Time, suspended bool) (*handover.Participant, error) {
			ours.Spec.Suspend = &suspended
			return i.Create(ctx, ours)
		})
	}
	if i.DryRun != cronjobs.DryRunNone {
		return time.Time{}, nil
	}
	ours.Spec.Suspend = new(true)
	if !original.SuspendedByOthers() { // the import has it suspended, and nobody else
		metav1.SetMetaDataAnnotation(&ours.ObjectMeta, handover.SuspendBeforeAnnotation, "false")
	}
	_, err := i.Create(ctx, ours)
	return time.Time{}, err
}

// goOn is for one that was imported before.
func (i *importer) goOn(ctx context.Context, original, ours *handover.Participant) error {
	switch {
	case original.Suspended() && !ours.SuspendedByUs():
		i.Done("already imported, the original is suspended", time.Time{})
		return nil
	case !i.suspendOriginal && !original.SuspendedByUs() && ours.Suspended():
		i.Done("already imported, suspended while the original goes on; --suspend-original hands over", time.Time{})
		return nil
	case !i.suspendOriginal && !original.SuspendedByUs():
		return errors.New("already imported, but both run: --suspend-original suspends the original")
	}
	if err := original.RefuseKeeper(); err != nil {
		return err
	}
	suspended := original.SuspendedByOthers() || ours.SuspendedByOthers()
	missed, err := i.HandOver(ctx, original, i.Resume(ours))
	if err != nil {
		return err
	}
	done := "handed over, it runs and the original is suspended"
	if suspended {
		done = "handed over, both are suspended as one was; kubectl cronjob resume starts ours"
	}
	i.Done(done, missed)
	return nil
}
