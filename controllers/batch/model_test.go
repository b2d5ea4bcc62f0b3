// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"context"
	"flag"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/plan"
	"tutorial.kubebuilder.io/project/test/model"
)

var (
	modelDecisions = flag.Int("model.decisions", 10_000, "how many decisions TestModel has judged")
	modelSeed      = flag.Uint64("model.seed", 1, "the seed of its first run")
	modelFailures  = flag.Int("model.failures", 1, "how many runs may fail before it stops")
)

// TestModel has the contract held by random runs, against a model: see test/model.
func TestModel(t *testing.T) {
	setup := model.Setup{Start: startModelled, Trim: trimAny, Stamp: plan.Stamp, IsDeferred: isDeferred}
	decisions, failures := 0, 0
	for seed := *modelSeed; decisions < *modelDecisions && failures < *modelFailures; seed++ {
		verdict := model.Run(setup, seed)
		decisions += verdict.Decisions
		if verdict.Law != "" {
			failures++
			t.Error(verdict)
		}
	}
}

func trimAny(object client.Object) client.Object {
	trim := trimJob
	if _, ok := object.(*v1.CronJob); ok {
		trim = trimCronJob
	}
	trimmed, _ := trim(object)
	return trimmed.(client.Object)
}

// modelled is a reconciler in the model.
type modelled struct{ *CronJobReconciler }

func startModelled(parts model.Parts) model.Process {
	return modelled{&CronJobReconciler{
		Client: parts.Client, APIReader: parts.APIReader, Recorder: parts.Recorder, Clock: parts.Clock, leadingSince: parts.Clock.Now(),
	}}
}

// Stop writes the deferred statuses, as flushDeferredStatuses does in goroutines.
func (m modelled) Stop(ctx context.Context) {
	for _, key := range m.memory.unrecorded() {
		_, _ = m.reconcile(ctx, key)
	}
}

func (m modelled) SawCronJob(before, after *v1.CronJob) bool { return m.sawCronJob(before, after) }

func (m modelled) SawJob(before, after *batchv1.Job) bool { return m.sawJob(before, after) }
