// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package exporting implements the command export, which converts our CronJobs to built-in ones.
package exporting

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/builtin"
	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/env"
	"tutorial.kubebuilder.io/project/internal/cli/handover"
)

const long = `Hand over from CronJobs of batch.tutorial.kubebuilder.io to built-in ones (batch/v1) of the same name.
This reverts kubectl cronjob import.

Our CronJob is suspended, and the built-in one starts when ours is known to have stopped, so that no
tick runs twice. The CronJob that ours was imported from is resumed if it still exists; otherwise one is
created. It stays suspended if it was before the import, or if ours is. Ours stays, suspended, until you
delete it.

If the spec of ours was changed since the import, choose with --spec which of the two the built-in one
gets.

Resuming requires the right to patch cronjobs/status of batch: without it, the built-in would at once
run the last tick, which ours has run.`

const example = `  # Go back
  kubectl cronjob export backup

  # Go back with what was changed since the import
  kubectl cronjob export backup --spec=ours

  # Print the manifest of the built-in CronJob, and touch nothing
  kubectl cronjob export backup -o yaml`

// The values of --spec.
const (
	specOurs     = "ours"
	specOriginal = "original"
)

// NewCommand returns the command export.
func NewCommand(e *env.Env) *cobra.Command {
	x := &exporter{Handover: handover.Handover{Env: e}}
	command := &cobra.Command{
		Use:               "export (NAME... | -l SELECTOR | -A) [--spec ours|original]",
		Short:             "Hand over from CronJobs of ours to the built-in ones",
		Long:              long,
		Example:           example,
		Args:              func(_ *cobra.Command, names []string) error { return x.CheckChosen(names) },
		ValidArgsFunction: cronjobs.CompleteNames(e, 0),
		RunE: func(command *cobra.Command, names []string) error {
			if x.spec != "" && x.spec != specOurs && x.spec != specOriginal {
				return fmt.Errorf("--spec=%s: use %s or %s", x.spec, specOurs, specOriginal)
			}
			return x.Each(command.Context(), builtin.OursGVK, names, x.run)
		},
	}
	command.Flags().StringVar(&x.spec, "spec", "",
		`Whose spec the built-in shall have where they differ: "ours", or "original" for what it had when it was imported.`)
	x.AddFlags(command, "Export")
	return command
}

type exporter struct {
	handover.Handover
	spec string
}

func (x *exporter) run(ctx context.Context, object *unstructured.Unstructured) (handover.Outcome, error) {
	decoded, err := cronjobs.DecodeV1(object)
	if err != nil {
		return handover.Outcome{}, err
	}
	exported, notes := builtin.Export(decoded)
	metav1.SetMetaDataAnnotation(&exported.ObjectMeta, handover.ExportedFromAnnotation, string(decoded.UID))
	if x.PrintsManifests() {
		return handover.Outcome{}, x.PrintManifest(exported)
	}
	ours, to := handover.Ours(decoded), handover.BuiltIn(exported)
	existing, err := x.Find(ctx, ours, to)
	switch {
	case err != nil:
		return handover.Outcome{}, err
	case existing != nil:
		return x.goBack(ctx, ours, existing)
	}
	done := "exported and running, ours is suspended"
	if ours.SuspendedByOthers() {
		done = "exported, suspended as ours is"
	}
	missed, err := x.HandOverToNew(ctx, ours, to)
	return handover.Outcome{Done: done, Missed: missed, Notes: notes}, err
}

func (x *exporter) goBack(ctx context.Context, ours, to *handover.Participant) (handover.Outcome, error) {
	if ours.Suspended() && !to.SuspendedByUs() {
		return handover.Outcome{Done: "already exported, ours is suspended"}, nil
	}
	original := to.Object.(*batchv1.CronJob)                                    //nolint:forcetypeassert // it is the built-in
	wanted, changed, err := x.specFor(ctx, ours.Object.(*v1.CronJob), original) //nolint:forcetypeassert // it is ours
	if err != nil {
		return handover.Outcome{}, err
	}
	result := handover.Outcome{Done: "handed back, the built-in runs and ours is suspended"}
	if ours.SuspendedByOthers() || to.SuspendedByOthers() {
		result.Done = "handed back; the built-in stays suspended, as it was before or as ours is"
	}
	if len(changed) > 0 {
		result.Notes = []string{fmt.Sprintf("%s: as of %s", strings.Join(changed, ", "), x.spec)}
	}
	result.Missed, err = x.HandOver(ctx, ours, func(ctx context.Context, stoppedAt time.Time, suspended bool) (*handover.Participant, error) {
		return x.resume(ctx, original, wanted, stoppedAt, suspended)
	})
	return result, err
}

// specFor returns the original with the spec that it is to have, and the fields that differ between
// it and ours.
func (x *exporter) specFor(ctx context.Context, ours *v1.CronJob, original *batchv1.CronJob) (*batchv1.CronJob, []string, error) {
	wanted := builtin.Onto(original, ours)
	if x.DryRun != cronjobs.DryRunClient {
		// A dry run fills in defaults, which are not differences.
		if err := x.Client.Patch(ctx, wanted, client.MergeFrom(original.DeepCopy()), client.DryRunAll); err != nil {
			return nil, nil, fmt.Errorf("updating %s: %w", handover.BuiltIn(original), err)
		}
	}
	changed := builtin.ChangedFields(&original.Spec, &wanted.Spec)
	switch {
	case len(changed) == 0 || x.spec == specOriginal:
		return original, changed, nil
	case x.spec == "":
		return nil, nil, fmt.Errorf("ours was changed since the import: %s; say with --spec=%s or --spec=%s which the built-in shall have",
			strings.Join(changed, ", "), specOurs, specOriginal)
	}
	return wanted, changed, nil
}

// resume starts the built-in CronJob with the wanted spec. It marks all ticks up to stoppedAt as
// run, since the controller would otherwise run the newest of them.
func (x *exporter) resume(ctx context.Context, original, wanted *batchv1.CronJob, stoppedAt time.Time, suspended bool,
) (*handover.Participant, error) {
	to := handover.BuiltIn(original)
	if !to.SuspendedByUs() {
		return to, nil
	}
	changed := original.DeepCopy()
	changed.Spec = wanted.Spec
	if err := x.Client.Patch(ctx, changed, client.MergeFrom(original)); err != nil {
		return nil, fmt.Errorf("updating %s: %w", to, err)
	}
	// The newest tick of ours, unless the built-in ran it itself.
	if tick := handover.BuiltIn(changed).LastTick(stoppedAt); !tick.IsZero() {
		before := changed.DeepCopy()
		changed.Status.LastScheduleTime = &metav1.Time{Time: tick}
		if err := x.Client.Status().Patch(ctx, changed, client.MergeFrom(before)); err != nil {
			return nil, fmt.Errorf("setting status.lastScheduleTime of %s: %w", to, err)
		}
	}
	return x.Resume(ctx, handover.BuiltIn(changed), suspended)
}
