// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"context"
	"fmt"
	"maps"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/plan"
)

// lookup is a reconcile in progress. It answers what a plan asks, from the API server. The input of
// a plan is what was observed, what earlier reconciles kept, and the answers.
type lookup struct {
	*observed

	r     *CronJobReconciler
	known *progress

	// current is the CronJob: as observed, or the answer.
	current *v1.CronJob

	// isRead is whether the CronJob was looked up, and isGone whether it no longer exists. There
	// may be another one of its name.
	isRead, isGone bool

	// answers has the Jobs that were looked up, by name; nil for none.
	answers map[string]*batchv1.Job

	// err is why a read of Jobs failed; nil if none did. No other one is tried, as it would
	// probably fail, too.
	err error

	// isUncertain is whether a Job may exist that is in no answer and not in the cache.
	isUncertain bool

	// failed has the kinds of the requests that failed, and isLeftToDelete is whether there was no
	// time to delete all Jobs that are to be deleted.
	failed         []string
	isLeftToDelete bool
}

func (r *CronJobReconciler) lookup(seen *observed, known *progress) *lookup {
	return &lookup{observed: seen, r: r, known: known, current: seen.stored, answers: map[string]*batchv1.Job{}}
}

func (l *lookup) answer(ctx context.Context, ask plan.Question) {
	if ask.CronJob {
		l.readCronJob(ctx)
		return
	}
	l.ruleOut(ctx, ask.Jobs)
	for i, name := range ask.Jobs {
		if _, isRuledOut := l.answers[name]; isRuledOut {
			continue
		}
		job, err := l.read(ctx, name)
		if err != nil {
			l.isUncertain = l.isUncertain || l.now.Sub(ask.Since) < plan.MaxCacheLag
			l.known.trustCache(l.observed, ask.Jobs[i:])
			return
		}
		l.answers[name] = job
		l.known.learn(l.current, name, job)
	}
}

// readCronJob reads the CronJob. If that fails, the reconcile goes on with the cached one: at worst
// its status write is a conflict, or a tick whose Job is gone runs again.
func (l *lookup) readCronJob(ctx context.Context) {
	l.isRead, l.known.isRead = true, true
	stored := &v1.CronJob{}
	err := l.r.APIReader.Get(ctx, l.key, stored)
	switch {
	case isObjectNotFound(err) || err == nil && stored.UID != l.current.UID:
		l.isGone = true
	case err != nil:
		l.r.failed(ctx, l, requestRead, fmt.Errorf("reading the CronJob: %w", err))
	default:
		l.known.isStale = false
		l.current = stored
		l.r.keepWritten(ctx, l.key, stored)
	}
}

// isObjectNotFound reports whether an object does not exist. The API server also answers with 404
// while it does not serve the version, which says nothing about the object.
func isObjectNotFound(err error) bool {
	return apierrors.IsNotFound(err) && !apierrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// maxLookUps is how many Jobs are looked up one by one. Of more, one list says which ones exist.
const maxLookUps = 10

// ruleOut notes which of many Jobs don't exist. A new leader may have to know that of 100 ticks
// that it would catch up with.
func (l *lookup) ruleOut(ctx context.Context, names []string) {
	if len(names) <= maxLookUps {
		return
	}
	exist, err := l.r.lists.share(l.key.Namespace, func() (sets.Set[string], error) { return l.r.listJobs(ctx, l.key.Namespace) })
	if err != nil {
		l.fail(ctx, fmt.Errorf("listing the Jobs: %w", err))
		return
	}
	for _, name := range names {
		if !exist.Has(name) {
			l.answers[name] = nil
			l.known.learn(l.current, name, nil)
		}
	}
}

// listJobs returns the names of all Jobs of a namespace. Several CronJobs may wait for them, so the
// deadline of this reconcile does not count.
func (r *CronJobReconciler) listJobs(ctx context.Context, namespace string) (sets.Set[string], error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTimeout)
	defer cancel()
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(batchv1.SchemeGroupVersion.WithKind("JobList"))
	err := r.APIReader.List(ctx, list, client.InNamespace(namespace))
	names := sets.New[string]()
	for i := range list.Items {
		names.Insert(list.Items[i].Name)
	}
	return names, err
}

// read returns the CronJob's Job of a name; nil if there is none.
func (l *lookup) read(ctx context.Context, name string) (*batchv1.Job, error) {
	if l.err != nil {
		return nil, l.err
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	job := &batchv1.Job{}
	err := l.r.APIReader.Get(ctx, types.NamespacedName{Namespace: l.key.Namespace, Name: name}, job)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil //nolint:nilnil // there is none
	case err != nil:
		l.fail(ctx, fmt.Errorf("looking up Job %s: %w", name, err))
		return nil, l.err
	}
	if owner := metav1.GetControllerOfNoCopy(job); owner == nil || owner.UID != l.current.UID {
		return nil, nil //nolint:nilnil // there is none of ours
	}
	return trimmed(job), nil
}

func (l *lookup) fail(ctx context.Context, err error) {
	l.err = err
	l.r.failed(ctx, l, requestRead, err)
}

// input returns what the plan is made from.
func (l *lookup) input() plan.Input {
	known := l.known
	in := plan.NewInput(l.current, l.now)
	in.SeenAt, in.ScheduleSeenAt = known.noteGeneration(l.current, l.now)
	in.LeadingSince = l.r.leadingSince
	in.ForgottenUntil, in.NameTaken, in.Refusals = known.forgottenUntil, known.nameTaken, known.attempt.recorded
	in.Stale, in.Confirmed, in.Unanswered = known.isStale && !l.isRead, known.isRead, l.err != nil
	in.Unrecordable = known.isUnrecordable()
	in.Doubtful = known.doubtful(l.observed)
	in.Asked = sets.KeySet(l.answers)
	in.Uncertain = l.isUncertain
	for _, held := range known.jobs {
		in.Uncertain = in.Uncertain || held.isUnknown()
		if held.isAbsent() {
			in.Asked.Insert(held.name)
		}
	}
	l.addJobs(&in)
	return in
}

// addJobs adds the Jobs that the CronJob controls: those in the cache, as the API server has them
// if it was asked, and those that the cache lacks.
func (l *lookup) addJobs(in *plan.Input) {
	uids := sets.New[types.UID]()
	add := func(job *batchv1.Job, isOutdated bool) {
		uids.Insert(job.UID)
		in.Jobs = append(in.Jobs, job)
		in.Outdated = in.Outdated || isOutdated
	}
	in.Jobs = make([]*batchv1.Job, 0, len(l.jobs)+1)
	for _, cached := range l.jobs {
		job, isAsked := l.answers[cached.Name]
		switch held := l.known.find(cached.UID); {
		case l.known.pruned.Has(cached.UID):
		case isAsked && (job == nil || job.UID != cached.UID):
			in.Outdated = true
		case isAsked:
			add(job, plan.ResultOf(job) != plan.ResultOf(cached))
		case held != nil && plan.ResultOf(cached) == "" && plan.ResultOf(held.job) != "":
			add(held.job, true) // no Job that has ended runs again
		default:
			add(cached, false)
		}
	}
	addUncached := func(job *batchv1.Job) {
		if !uids.Has(job.UID) {
			add(job, plan.ResultOf(job) != "") // if it has ended, the cache is stale
			in.Uncached = true
		}
	}
	for _, held := range l.known.jobs {
		switch {
		case held.job == nil:
		case held.isGone && !uids.Has(held.job.UID):
			in.Gone = append(in.Gone, held.job)
		default:
			addUncached(held.job)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(l.answers)) {
		if job := l.answers[name]; job != nil {
			addUncached(job)
		}
	}
}
