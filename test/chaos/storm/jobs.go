// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package storm

import (
	"context"
	"encoding/json"
	"hash/fnv"
	"math/rand/v2"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tutorial.kubebuilder.io/project/test/chaos/history"
	"tutorial.kubebuilder.io/project/test/plane"
)

// Jobs does what becomes of Jobs when nobody runs their Pods: it ends them, as the Job controller
// would, after a while that is random but the same for the same name and seed; and it deletes those
// whose owner is gone, as the garbage collector would.
type Jobs struct {
	ctx    context.Context //nolint:containedctx // its work begins with what it hears
	client client.Client
	log    *history.Log
	seed   uint64

	mu      sync.Mutex
	live    map[string]*history.Job // by UID
	owners  map[string]bool         // the UIDs of CronJobs; false for those that are gone
	names   map[string]string       // of CronJobs, by UID
	hurry   chan struct{}           // closed when Jobs are to end at once
	hurried bool
}

// NewJobs returns one which listens to a history.
func NewJobs(ctx context.Context, c client.Client, log *history.Log, seed uint64) *Jobs {
	j := &Jobs{
		ctx: ctx, client: c, log: log, seed: seed,
		live: map[string]*history.Job{}, owners: map[string]bool{}, names: map[string]string{}, hurry: make(chan struct{}),
	}
	log.Listen(j.hear)
	return j
}

// Hurry has all Jobs end at once from now on, or in their own time again.
func (j *Jobs) Hurry(hurry bool) {
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
func (j *Jobs) Running() int {
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

// DeleteOne deletes a Job of a CronJob, if it has any, as a user does.
func (j *Jobs) DeleteOne(namespace, cronJob string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	var newest *history.Job
	for _, job := range j.live {
		if job.Namespace == namespace && j.names[job.Owner] == cronJob && (newest == nil || job.Tick.After(newest.Tick)) {
			newest = job
		}
	}
	if newest != nil {
		go j.remove(*newest, history.DeleteJob)
	}
}

// hear takes note of a record.
func (j *Jobs) hear(record history.Record) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if c := record.CronJob; c != nil {
		j.owners[c.UID], j.names[c.UID] = !c.Deleted, c.Name
		if c.Deleted {
			for _, job := range j.live {
				if job.Owner == c.UID {
					go j.remove(*job, history.CollectJob)
				}
			}
		}
	}
	job := record.Job
	if job == nil {
		return
	}
	_, known := j.live[job.UID]
	if job.Deleted {
		delete(j.live, job.UID)
		return
	}
	j.live[job.UID] = job
	if known {
		return
	}
	if alive, heard := j.owners[job.Owner]; heard && !alive {
		go j.remove(*job, history.CollectJob)
		return
	}
	go j.end(*job, j.hurry)
}

// fate says how long a Job runs and how it ends: most for a second or so, some for longer than the
// next tick.
func (j *Jobs) fate(name string) (after time.Duration, succeeds bool) {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(name))
	random := rand.New(rand.NewPCG(j.seed, hash.Sum64())) //nolint:gosec // to be reproducible
	succeeds = random.IntN(4) > 0
	switch random.IntN(10) {
	case 0:
		return time.Duration(random.Int64N(int64(30 * time.Second))), succeeds
	case 1, 2:
		return time.Duration(random.Int64N(int64(8 * time.Second))), succeeds
	case 3:
		return 0, succeeds
	}
	return time.Duration(random.Int64N(int64(2 * time.Second))), succeeds
}

// end ends a Job when its time has come.
func (j *Jobs) end(job history.Job, hurry <-chan struct{}) {
	after, succeeds := j.fate(job.Name)
	select {
	case <-time.After(after):
	case <-hurry:
	case <-j.ctx.Done():
	}
	patch, err := json.Marshal(ending(&job, succeeds))
	if err != nil {
		return
	}
	target := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: job.Namespace, Name: job.Name}}
	j.insist(func(ctx context.Context) error {
		return j.client.Status().Patch(ctx, target, client.RawPatch(types.MergePatchType, patch))
	})
}

// ending returns the patch that ends a Job: this one, and no other of its name.
func ending(job *history.Job, succeeds bool) map[string]any {
	now := metav1.Now()
	criterion, condition := batchv1.JobFailureTarget, batchv1.JobFailed
	status := map[string]any{"startTime": metav1.NewTime(job.Created)}
	if succeeds {
		criterion, condition = batchv1.JobSuccessCriteriaMet, batchv1.JobComplete
		status["completionTime"] = now
	}
	var conditions []batchv1.JobCondition
	for _, kind := range []batchv1.JobConditionType{criterion, condition} {
		conditions = append(conditions, batchv1.JobCondition{
			Type: kind, Status: corev1.ConditionTrue, Reason: "Chaos", LastProbeTime: now, LastTransitionTime: now,
		})
	}
	status["conditions"] = conditions
	return map[string]any{"metadata": map[string]any{"uid": job.UID}, "status": status}
}

// remove deletes a Job.
func (j *Jobs) remove(job history.Job, act string) {
	j.log.Add(history.Record{Act: &history.Act{Kind: act, Name: job.Namespace + "/" + job.Name, UID: job.UID}})
	target := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: job.Namespace, Name: job.Name}}
	uid := types.UID(job.UID)
	j.insist(func(ctx context.Context) error {
		return j.client.Delete(ctx, target,
			client.PropagationPolicy(metav1.DeletePropagationBackground), client.Preconditions{UID: &uid})
	})
}

// insist tries until it works, or the Job is gone, or another has its name.
func (j *Jobs) insist(try func(ctx context.Context) error) {
	_ = plane.Insist(j.ctx, func(ctx context.Context) error {
		err := try(ctx)
		if apierrors.IsNotFound(err) || apierrors.IsConflict(err) || apierrors.IsInvalid(err) {
			return nil
		}
		return err
	})
}
