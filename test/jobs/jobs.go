// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package jobs ends and deletes Jobs where no Job controller and no garbage collector run.
package jobs

import (
	"context"
	"encoding/json"
	"hash/fnv"
	"math/rand/v2"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tutorial.kubebuilder.io/project/test/builders"
	"tutorial.kubebuilder.io/project/test/history"
	"tutorial.kubebuilder.io/project/test/plane"
)

// Controller acts for the Job controller and the garbage collector: it ends Jobs after some time,
// and deletes those whose owner is gone.
type Controller struct {
	ctx    context.Context //nolint:containedctx // its work begins with what it hears
	client client.Client
	log    *history.Log
	fate   func(name string) (after time.Duration, succeeds bool)

	mu      sync.Mutex
	live    map[string]*history.Job     // by UID
	owners  map[string]*history.CronJob // by UID
	hurry   chan struct{}               // closed when Jobs must end at once
	hurried bool
}

// New returns a Controller that listens to a history until ctx ends. fate says how long a Job runs
// and how it ends.
func New(ctx context.Context, c client.Client, log *history.Log, fate func(name string) (time.Duration, bool)) *Controller {
	j := &Controller{
		ctx: ctx, client: c, log: log, fate: fate,
		live: map[string]*history.Job{}, owners: map[string]*history.CronJob{}, hurry: make(chan struct{}),
	}
	log.Listen(j.hear)
	return j
}

// Fate returns a fate that depends on the name and the seed alone: most Jobs run for about a
// second, some for longer than until the next tick.
func Fate(seed uint64) func(name string) (after time.Duration, succeeds bool) {
	return func(name string) (after time.Duration, succeeds bool) {
		hash := fnv.New64a()
		_, _ = hash.Write([]byte(name))
		random := rand.New(rand.NewPCG(seed, hash.Sum64())) //nolint:gosec // to be reproducible
		succeeds = random.IntN(4) > 0
		longest := 2 * time.Second
		switch random.IntN(10) {
		case 0:
			longest = 30 * time.Second
		case 1, 2:
			longest = 8 * time.Second
		case 3:
			return 0, succeeds
		}
		return time.Duration(random.Int64N(int64(longest))), succeeds
	}
}

// Hurry makes all Jobs end at once from now on, or in their own time again.
func (j *Controller) Hurry(hurry bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case hurry && !j.hurried:
		close(j.hurry)
	case !hurry && j.hurried:
		j.hurry = make(chan struct{})
	}
	j.hurried = hurry
}

// Running returns how many Jobs run.
func (j *Controller) Running() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	running := 0
	for _, job := range j.live {
		if job.Result == "" {
			running++
		}
	}
	return running
}

// DeleteOne deletes a Job of a CronJob, if it has one, as a user does.
func (j *Controller) DeleteOne(namespace, cronJob string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	var newest *history.Job
	for _, job := range j.live {
		owner := j.owners[job.Owner]
		isIts := owner != nil && owner.Namespace == namespace && owner.Name == cronJob
		if isIts && (newest == nil || job.Tick.After(newest.Tick)) {
			newest = job
		}
	}
	if newest != nil {
		go j.remove(newest, history.DeleteJob)
	}
}

func (j *Controller) hear(record history.Record) {
	j.mu.Lock()
	defer j.mu.Unlock()
	switch {
	case record.CronJob != nil:
		j.owners[record.CronJob.UID] = record.CronJob
		if record.CronJob.Deleted {
			for _, job := range j.live {
				if job.Owner == record.CronJob.UID {
					go j.remove(job, history.CollectJob)
				}
			}
		}
	case record.Job != nil && record.Job.Deleted:
		delete(j.live, record.Job.UID)
	case record.Job != nil:
		_, isKnown := j.live[record.Job.UID]
		j.live[record.Job.UID] = record.Job
		owner := j.owners[record.Job.Owner]
		switch {
		case isKnown:
		case owner != nil && owner.Deleted:
			go j.remove(record.Job, history.CollectJob)
		default:
			go j.end(record.Job, j.hurry)
		}
	}
}

// end ends a Job in time, by its UID.
func (j *Controller) end(job *history.Job, hurry <-chan struct{}) {
	after, succeeds := j.fate(job.Name)
	select {
	case <-time.After(after):
	case <-hurry:
	case <-j.ctx.Done():
	}
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": job.UID},
		"status":   builders.EndedJob(metav1.NewTime(job.Created), metav1.Now(), succeeds),
	})
	if err != nil {
		return
	}
	j.insist(job, func(ctx context.Context, target client.Object) error {
		return j.client.Status().Patch(ctx, target, client.RawPatch(types.MergePatchType, patch))
	})
}

func (j *Controller) remove(job *history.Job, act string) {
	j.log.Add(history.Record{Act: &history.Act{Kind: act, Name: job.Namespace + "/" + job.Name, UID: job.UID}})
	uid := types.UID(job.UID)
	j.insist(job, func(ctx context.Context, target client.Object) error {
		return j.client.Delete(ctx, target,
			client.PropagationPolicy(metav1.DeletePropagationBackground), client.Preconditions{UID: &uid})
	})
}

// insist retries until it works, or the Job is gone or was created anew.
func (j *Controller) insist(job *history.Job, try func(ctx context.Context, target client.Object) error) {
	_ = plane.Insist(j.ctx, func(ctx context.Context) error {
		err := try(ctx, &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: job.Namespace, Name: job.Name}})
		if apierrors.IsNotFound(err) || apierrors.IsConflict(err) || apierrors.IsInvalid(err) {
			return nil
		}
		return err
	})
}
