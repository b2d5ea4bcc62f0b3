// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package importing implements the command import, which converts built-in CronJobs to ours.
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

const long = `Make a CronJob of batch.tutorial.kubebuilder.io with the same name from each built-in CronJob
(batch/v1): those named, or all of the namespace.

Labels, annotations and the spec are kept; the command prints what has no counterpart. The new CronJob
is suspended and the original continues until you hand over with --suspend-original. Then the original
is suspended, and the new one starts when the original is known to have stopped. No tick runs twice, and
the hand-over waits for a moment at which none is lost.

CronJobs that were imported before are left as they are, so the command can be repeated, also after an
interrupt. kubectl cronjob export reverts it.`

const example = `  # See what would be done in the namespace shop
  kubectl cronjob import -n shop --dry-run=server

  # Import, look at the result, then hand over
  kubectl cronjob import backup
  kubectl get tcj backup -o yaml
  kubectl cronjob import backup --suspend-original

  # Hand over all of the cluster, and wait for Jobs that must not run side by side
  kubectl cronjob import -A --suspend-original --wait`

// NewCommand returns the command import.
func NewCommand(e *env.Env) *cobra.Command {
	i := &importer{Handover: handover.Handover{Env: e}}
	command := &cobra.Command{
		Use:               "import [NAME... | -l SELECTOR | -A] [--suspend-original]",
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
	// An interrupted hand-over continues with or without the flag.
	case !original.SuspendedByOthers() && (i.suspendOriginal || original.SuspendedByUs()):
		missed, err := i.HandOverToNew(ctx, original, ours)
		return handover.Outcome{Done: "imported and running, the original is suspended", Missed: missed, Notes: append(lost, notes...)}, err
	}
	done := "imported, suspended as the original is; kubectl cronjob resume starts it"
	if !original.SuspendedByOthers() {
		done = "imported, suspended while the original goes on; --suspend-original hands over"
		// Record that the import suspends it, and nobody else.
		metav1.SetMetaDataAnnotation(&imported.ObjectMeta, handover.SuspendBeforeAnnotation, "false")
	}
	_, err = i.Create(ctx, ours, true)
	return handover.Outcome{Done: done, Notes: append(lost, notes...)}, err
}

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
