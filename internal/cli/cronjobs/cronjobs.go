// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package cronjobs is shared by the commands about CronJobs in the cluster: their names on the
// command line, common flags, reading them and their Jobs, and their schedules.
package cronjobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/env"
	"tutorial.kubebuilder.io/project/internal/plan"
	"tutorial.kubebuilder.io/project/internal/schedule"
)

// Resource is the name of the resource for kubectl.
const Resource = "cronjobs.batch.tutorial.kubebuilder.io"

// ParseName returns the name in an argument, which is NAME or the output of kubectl get -o name,
// cronjob.batch.tutorial.kubebuilder.io/NAME.
func ParseName(arg string) (string, error) {
	kind, name, ok := strings.Cut(arg, "/")
	if !ok {
		kind, name = "cronjob", arg
	}
	switch strings.TrimSuffix(strings.ToLower(kind), "."+v1.GroupVersion.Group) {
	case "cronjob", "cronjobs", "tcj":
	default:
		return "", fmt.Errorf("%q is not a CronJob of %s: give its NAME, or cronjob/NAME", arg, v1.GroupVersion.Group)
	}
	if name == "" || strings.Contains(name, "/") {
		return "", fmt.Errorf("%q is not the name of a CronJob", arg)
	}
	return name, nil
}

// Named reads the CronJob that an argument names, in the namespace of the flags, and returns it and
// the client. It reads v1, which is always served.
func Named(ctx context.Context, e *env.Env, arg string) (client.WithWatch, *v1.CronJob, error) {
	name, err := ParseName(arg)
	if err != nil {
		return nil, nil, err
	}
	namespace, err := e.Namespace()
	if err != nil {
		return nil, nil, err
	}
	cluster, err := e.Client()
	if err != nil {
		return nil, nil, err
	}
	cronJob := &v1.CronJob{}
	err = Explain(cluster.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, cronJob))
	return cluster, cronJob, err
}

// Explain adds a hint to the error of a missing CRD. It returns other errors unchanged.
func Explain(err error) error {
	if meta.IsNoMatchError(err) {
		return fmt.Errorf("the cluster has no %s in version v1: is the operator's CRD installed? %w", Resource, err)
	}
	return err
}

// JobsOf returns the Jobs that a CronJob of either kind controls, by its UID as in the controller,
// sorted by CompareAge.
func JobsOf(ctx context.Context, c client.Reader, cronJob client.Object) ([]*batchv1.Job, error) {
	jobs, err := JobsByOwner(ctx, c, cronJob.GetNamespace(), cronJob)
	return jobs[cronJob.GetUID()], err
}

// ReadWithJobs returns the Jobs of a CronJob, and then reads the CronJob again: by then its status
// has the results of Jobs that were deleted before the list.
func ReadWithJobs(ctx context.Context, c client.Reader, cronJob *v1.CronJob) ([]*batchv1.Job, error) {
	jobs, err := JobsOf(ctx, c, cronJob)
	if err != nil {
		return nil, err
	}
	key := client.ObjectKeyFromObject(cronJob)
	*cronJob = v1.CronJob{}
	return jobs, c.Get(ctx, key, cronJob)
}

// JobsByOwner returns the Jobs of several CronJobs, by UID, from one list of a namespace; "" for
// all.
func JobsByOwner[T client.Object](ctx context.Context, c client.Reader, namespace string, cronJobs ...T) (
	map[types.UID][]*batchv1.Job, error,
) {
	jobs := make(map[types.UID][]*batchv1.Job, len(cronJobs))
	for _, cronJob := range cronJobs {
		jobs[cronJob.GetUID()] = nil
	}
	err := Each(ctx, c, &batchv1.JobList{}, func(object runtime.Object) error {
		job := object.(*batchv1.Job) //nolint:forcetypeassert // the list has no others
		if controller := metav1.GetControllerOfNoCopy(job); controller != nil {
			if _, isAsked := jobs[controller.UID]; isAsked {
				jobs[controller.UID] = append(jobs[controller.UID], job)
			}
		}
		return nil
	}, client.InNamespace(namespace))
	if err != nil {
		return nil, fmt.Errorf("listing the Jobs: %w", err)
	}
	for _, owned := range jobs {
		slices.SortStableFunc(owned, CompareAge)
	}
	return jobs, nil
}

// CompareAge compares Jobs by their tick, or else by their creation.
func CompareAge(a, b *batchv1.Job) int {
	return cmp.Or(plan.AgeFrom(a).Compare(plan.AgeFrom(b)), cmp.Compare(a.Name, b.Name))
}

// Active returns the Jobs that have not ended, as the controller counts them.
func Active(jobs []*batchv1.Job) []*batchv1.Job {
	return slices.DeleteFunc(slices.Clone(jobs), func(job *batchv1.Job) bool { return plan.ResultOf(job) != "" })
}

// Schedule returns the ticks of a CronJob. Intervals count from the last run or else the creation,
// as in the controller. An error names the wrong field.
func Schedule(c *v1.CronJob) (schedule.Ticks, error) {
	if err := check(c, schedule.Parse); err != nil {
		return schedule.Ticks{}, err
	}
	ticks, err := plan.SpecOf(&c.Spec).Ticks()
	if err != nil {
		return schedule.Ticks{}, fmt.Errorf("spec: %w", err)
	}
	return ticks.Anchored(plan.Anchor(c, c.Status)), nil
}

// IsIdle reports whether a CronJob starts nothing until somebody changes it.
func IsIdle(c *v1.CronJob) bool {
	return ptr.Deref(c.Spec.Suspend, false) || plan.IsStopped(c) || !c.DeletionTimestamp.IsZero()
}

// Coming returns the ticks after an instant that will run unless somebody changes the CronJob.
// ticks is the result of Schedule.
func Coming(c *v1.CronJob, ticks schedule.Ticks, after time.Time) iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		if IsIdle(c) {
			return
		}
		if until := c.Spec.SuspendUntil; until != nil && until.After(after) {
			after = until.Add(-time.Nanosecond) // a tick at the end of the suspension runs
		}
		for tick, ok := ticks.Next(after); ok && yield(tick); {
			tick, ok = ticks.Next(tick)
		}
	}
}

// CheckNew returns an error if admission would refuse a new CronJob for its schedule. It names the
// wrong field.
func CheckNew(c *v1.CronJob) error {
	if err := check(c, schedule.ParseNew); err != nil {
		return err
	}
	_, err := Schedule(c)
	return err
}

func check(c *v1.CronJob, parse schedule.Parser) error {
	spec, zone := field.NewPath("spec"), ptr.Deref(c.Spec.TimeZone, "")
	parsed, err := parse(c.Spec.Schedule, zone)
	if err == nil {
		_, err = parsed.With(c.Spec.AdditionalSchedules)
	}
	additional := &schedule.AdditionalError{}
	switch {
	case errors.As(err, &additional):
		text, path := c.Spec.AdditionalSchedules[additional.Index], spec.Child("additionalSchedules").Index(additional.Index)
		return field.Invalid(path, text, additional.Err.Error())
	case errors.Is(err, schedule.ErrTimeZone):
		return field.Invalid(spec.Child("timeZone"), zone, err.Error())
	case err != nil:
		return field.Invalid(spec.Child("schedule"), c.Spec.Schedule, err.Error())
	}
	return nil
}

// Expressions returns all schedules of a CronJob as one text.
func Expressions(c *v1.CronJob) string {
	return strings.Join(append([]string{c.Spec.Schedule}, c.Spec.AdditionalSchedules...), " | ")
}

// LastRun returns the tick of the newest run, or the start of a manual one; zero for none. An older
// operator records just the last tick.
func LastRun(c *v1.CronJob) time.Time {
	if len(c.Status.RecentRuns) > 0 {
		return c.Status.RecentRuns[0].ScheduledTime.Time
	}
	return ptr.Deref(c.Status.LastScheduleTime, metav1.Time{}).Time
}

// Zone returns the time zone of a CronJob. It is UTC if there is none, or an unknown one.
func Zone(c *v1.CronJob) *time.Location {
	zone, err := schedule.LoadZone(ptr.Deref(c.Spec.TimeZone, ""))
	if err != nil {
		return time.UTC
	}
	return zone
}

// Fail returns one error for several. It returns a single error unchanged; of more, it prints each
// on a line, and returns an error with exit code 1.
func Fail(e *env.Env, errs []error) error {
	switch len(errs) {
	case 0:
		return nil
	case 1:
		return errs[0]
	}
	for _, err := range errs {
		fmt.Fprintln(e.ErrOut, "error:", err)
	}
	return &env.ExitError{Code: 1}
}

// IsSuspended reports whether a CronJob of any version is suspended at an instant.
func IsSuspended(object *unstructured.Unstructured, now time.Time) bool {
	forGood, _, _ := unstructured.NestedBool(object.Object, "spec", "suspend")
	text, _, _ := unstructured.NestedString(object.Object, "spec", "suspendUntil")
	until, _ := time.Parse(time.RFC3339, text)
	return forGood || now.Before(until)
}
