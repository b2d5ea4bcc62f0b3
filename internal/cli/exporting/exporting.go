// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package exporting is the command export, which makes built-in CronJobs from ours.
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
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/builtin"
	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/env"
	"tutorial.kubebuilder.io/project/internal/cli/handover"
)

const long = `Hand over from CronJobs of batch.tutorial.kubebuilder.io to built-in ones (batch/v1) of the same name. It is the way
back from kubectl cronjob import.

Ours is suspended, and the built-in starts when ours is known to have stopped; no tick runs twice. The
CronJob that ours was imported from, if it is still there, is resumed as it was before; else one is
created. It stays suspended if it was before, or if ours is. Ours stays, suspended, until you delete it.

Where the spec of ours was changed since the import, say with --spec whose the built-in shall have.

Resuming takes the right to patch cronjobs/status of batch: without it, the built-in would at once run the
last tick, which ours has run.`

const example = `  # Go back
  kubectl cronjob export backup

  # Go back with what was changed since the import
  kubectl cronjob export backup --spec=ours

  # Print the manifest of the built-in CronJob, and touch nothing
  kubectl cronjob export backup -o yaml`

// Whose spec a built-in CronJob gets.
const (
	specOurs     = "ours"
	specOriginal = "original"
)

// NewCommand returns the command.
func NewCommand(e *env.Env) *cobra.Command {
	options, spec := &handover.Options{}, ""
	command := &cobra.Command{
		Use:               "export NAME...",
		Short:             "Hand over from CronJobs of ours to the built-in ones",
		Long:              long,
		Example:           example,
		Args:              func(_ *cobra.Command, names []string) error { return options.CheckChosen(names) },
		ValidArgsFunction: cronjobs.CompleteNames(e, 0),
		RunE: func(command *cobra.Command, names []string) error {
			if spec != "" && spec != specOurs && spec != specOriginal {
				return fmt.Errorf("--spec=%s: use %s or %s", spec, specOurs, specOriginal)
			}
			batch, err := handover.NewBatch(e, options, names)
			if err != nil {
				return err
			}
			x := &exporter{Batch: batch, spec: spec}
			return batch.Each(command.Context(), builtin.OursGVK, names, x.run)
		},
	}
	command.Flags().StringVar(&spec, "spec", "",
		`Whose spec the built-in shall have where they differ: "ours", or "original" for what it had when it was imported.`)
	options.AddFlags(command, "Export")
	return command
}

// exporter exports one CronJob after the other.
type exporter struct {
	*handover.Batch
	spec string
}

// run exports one.
func (x *exporter) run(ctx context.Context, object *unstructured.Unstructured) error {
	ours := &v1.CronJob{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, ours); err != nil {
		return fmt.Errorf("not a CronJob of %s: %w", v1.GroupVersion, err)
	}
	exported, notes := builtin.Export(ours)
	metav1.SetMetaDataAnnotation(&exported.ObjectMeta, handover.ExportedFromAnnotation, string(ours.UID))
	if x.Printer != nil {
		return x.Printer.PrintObj(exported, x.Env.Out)
	}
	existing := &batchv1.CronJob{}
	found, err := x.Find(ctx, existing)
	switch {
	case err != nil:
		return err
	case !found:
		return x.create(ctx, handover.Ours(ours), exported, notes)
	case !handover.ArePair(existing, ours):
		return fmt.Errorf("%s is there already and has nothing to do with this one: it is left alone", handover.BuiltIn(existing))
	default:
		return x.goBack(ctx, ours, existing)
	}
}

// create exports one that has no counterpart yet.
func (x *exporter) create(ctx context.Context, ours *handover.Participant, exported *batchv1.CronJob, notes []string) error {
	if err := ours.RefuseKeeper(); err != nil {
		return err
	}
	if err := x.Check(ctx, exported); err != nil {
		return err
	}
	missed, err := x.HandOver(ctx, ours, func(ctx context.Context, _ time.Time, suspended bool) (*handover.Participant, error) {
		exported.Spec.Suspend = &suspended
		return x.Create(ctx, exported)
	})
	if err != nil {
		return err
	}
	done := "exported and running, ours is suspended"
	if ours.SuspendedByOthers() {
		done = "exported, suspended as ours is"
	}
	x.Done(done, missed, notes...)
	return nil
}

// goBack hands over to one that is there.
func (x *exporter) goBack(ctx context.Context, c *v1.CronJob, original *batchv1.CronJob) error {
	ours, to := handover.Ours(c), handover.BuiltIn(original)
	if ours.Suspended() && !to.SuspendedByUs() {
		x.Done("already exported, ours is suspended", time.Time{})
		return nil
	}
	if err := ours.RefuseKeeper(); err != nil {
		return err
	}
	wanted, changed, err := x.specFor(ctx, c, original)
	if err != nil {
		return err
	}
	suspended := ours.SuspendedByOthers() || to.SuspendedByOthers()
	missed, err := x.HandOver(ctx, ours, func(ctx context.Context, stoppedAt time.Time, suspended bool) (*handover.Participant, error) {
		return x.resume(ctx, original, wanted, stoppedAt, suspended)
	})
	if err != nil {
		return err
	}
	done := "handed back, the built-in runs and ours is suspended"
	if suspended {
		done = "handed back; the built-in stays suspended, as it was before or as ours is"
	}
	var notes []string
	if len(changed) > 0 {
		notes = append(notes, fmt.Sprintf("%s: as of %s", strings.Join(changed, ", "), x.spec))
	}
	x.Done(done, missed, notes...)
	return nil
}

// specFor returns the original with the spec that it is to get, and the fields in which ours
// differs.
func (x *exporter) specFor(ctx context.Context, ours *v1.CronJob, original *batchv1.CronJob) (*batchv1.CronJob, []string, error) {
	wanted := builtin.Onto(original, ours)
	if x.DryRun != cronjobs.DryRunClient {
		// The API server fills in defaults, which are no difference.
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

// resume has the built-in take over, with the wanted spec and with all ticks marked as run that
// were ours. It would run the newest of them otherwise.
func (x *exporter) resume(ctx context.Context, original, wanted *batchv1.CronJob, stoppedAt time.Time, suspended bool,
) (*handover.Participant, error) {
	to := handover.BuiltIn(original)
	if !to.SuspendedByUs() {
		return to, nil
	}
	if wanted != original {
		changed := original.DeepCopy()
		changed.Spec = wanted.Spec
		if err := x.Client.Patch(ctx, changed, client.MergeFrom(original)); err != nil {
			return nil, fmt.Errorf("updating %s: %w", to, err)
		}
		original = changed
	}
	// The newest tick that is not the built-in's any more, if it has not run that itself.
	if tick := handover.BuiltIn(original).LastTick(stoppedAt); !tick.IsZero() {
		changed := original.DeepCopy()
		changed.Status.LastScheduleTime = &metav1.Time{Time: tick}
		if err := x.Client.Status().Patch(ctx, changed, client.MergeFrom(original)); err != nil {
			return nil, fmt.Errorf("setting status.lastScheduleTime of %s: %w", to, err)
		}
		original = changed
	}
	return x.Resume(handover.BuiltIn(original))(ctx, stoppedAt, suspended)
}
