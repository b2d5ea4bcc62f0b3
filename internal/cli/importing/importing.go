// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package importing is the command import: it makes CronJobs of ours from the built-in ones.
package importing

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

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
	i := &importer{Handover: handover.Handover{Env: e}}
	command := &cobra.Command{
		Use:               "import [NAME...]",
		Short:             "Make CronJobs of ours from the built-in ones, and hand over to them",
		Long:              long,
		Example:           example,
		ValidArgsFunction: cronjobs.CompleteBuiltinNames(e),
		RunE: func(command *cobra.Command, names []string) error {
			return i.Each(command.Context(), builtin.GVK, names, i.run)
		},
	}
	command.Flags().BoolVar(&i.suspendOriginal, "suspend-original", false, "Suspend the original and have the new one run instead.")
	i.AddFlags(command, "Import")
	return command
}

type importer struct {
	handover.Handover
	suspendOriginal bool
}

func (i *importer) run(ctx context.Context, object *unstructured.Unstructured) (handover.Outcome, error) {
	decoded, lost, err := builtin.Decode(object)
	if err != nil {
		return handover.Outcome{}, err
	}
	imported, notes := builtin.Import(decoded)
	metav1.SetMetaDataAnnotation(&imported.ObjectMeta, handover.ImportedFromAnnotation, string(decoded.UID))
	if i.PrintsManifests() {
		return handover.Outcome{}, i.PrintManifest(imported)
	}
	original, ours := handover.BuiltIn(decoded), handover.Ours(imported)
	existing, err := i.Find(ctx, original, ours)
	switch {
	case err != nil:
		return handover.Outcome{}, err
	case existing != nil:
		return i.goOn(ctx, original, existing)
	// An interrupted hand-over goes on, with the flag or without.
	case !original.SuspendedByOthers() && (i.suspendOriginal || original.SuspendedByUs()):
		missed, err := i.HandOverToNew(ctx, original, ours)
		return handover.Outcome{Done: "imported and running, the original is suspended", Missed: missed, Notes: append(lost, notes...)}, err
	}
	done := "imported, suspended as the original is; kubectl cronjob resume starts it"
	if !original.SuspendedByOthers() {
		done = "imported, suspended while the original goes on; --suspend-original hands over"
		// The import has it suspended, and nobody else.
		metav1.SetMetaDataAnnotation(&imported.ObjectMeta, handover.SuspendBeforeAnnotation, "false")
	}
	_, err = i.Create(ctx, ours, true)
	return handover.Outcome{Done: done, Notes: append(lost, notes...)}, err
}

// goOn is for one that was imported before.
func (i *importer) goOn(ctx context.Context, original, ours *handover.Participant) (handover.Outcome, error) {
	switch {
	case original.Suspended() && !ours.SuspendedByUs():
		return handover.Outcome{Done: "already imported, the original is suspended"}, nil
	case i.suspendOriginal || original.SuspendedByUs():
		done := "handed over, it runs and the original is suspended"
		if original.SuspendedByOthers() || ours.SuspendedByOthers() {
			done = "handed over, both are suspended as one was; kubectl cronjob resume starts ours"
		}
		missed, err := i.HandOver(ctx, original, func(ctx context.Context, _ time.Time, suspended bool) (*handover.Participant, error) {
			return i.Resume(ctx, ours, suspended)
		})
		return handover.Outcome{Done: done, Missed: missed}, err
	case ours.Suspended():
		return handover.Outcome{Done: "already imported, suspended while the original goes on; --suspend-original hands over"}, nil
	}
	return handover.Outcome{}, errors.New("already imported, but both run: --suspend-original suspends the original")
}
