// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package builtin converts between the built-in CronJob of batch/v1 and ours, and names what has no
// counterpart. Its functions are pure.
//
// The two differ in little. The Job template and the policies are the same. A prefix TZ= of the
// schedule becomes our timeZone. Without a timeZone, ours uses UTC, and the built-in the time zone
// of kube-controller-manager.
package builtin

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/schedule"
)

var (
	// OursGVK is the group, version and kind of the result of Import.
	OursGVK = v1.GroupVersion.WithKind("CronJob")

	// GVK is the group, version and kind of the built-in CronJob.
	GVK = batchv1.SchemeGroupVersion.WithKind("CronJob")
)

const (
	// ourDomain is the prefix of our annotations, which have no meaning on a built-in CronJob.
	ourDomain = "batch.tutorial.kubebuilder.io/"

	// utc is the time zone of a built-in CronJob for one of ours without a time zone.
	utc = "Etc/UTC"
)

// notes collects fields that were left out, or that the other kind interprets differently.
type notes []string

func (n *notes) add(path, text string) { *n = append(*n, path+": "+text) }

// Decode decodes a built-in CronJob. The notes name the fields that the batch/v1 of this program
// does not have, and which would be lost.
func Decode(u *unstructured.Unstructured) (*batchv1.CronJob, []string, error) {
	c := &batchv1.CronJob{}
	err := runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(u.Object, c, true)
	strict, isUnknown := runtime.AsStrictDecodingError(err)
	if err != nil && !isUnknown {
		return nil, nil, fmt.Errorf("not a %s of %s: %w", GVK.Kind, GVK.GroupVersion(), err)
	}
	var found notes
	if isUnknown {
		for _, err := range strict.Errors() {
			found.add(err.Error(), "left out: this version of kubectl cronjob does not know the field")
		}
	}
	return c, found, nil
}

// Import converts a built-in CronJob to ours, in the hub version. The notes say what could not be
// kept. It does not check the schedule: admission does.
func Import(original *batchv1.CronJob) (*v1.CronJob, []string) {
	original = original.DeepCopy()
	var found notes
	c := &v1.CronJob{ObjectMeta: found.metadata(&original.ObjectMeta)}
	c.APIVersion, c.Kind = OursGVK.ToAPIVersionAndKind()
	spec := original.Spec
	c.Spec = v1.CronJobSpec{
		Schedule:                   spec.Schedule,
		TimeZone:                   spec.TimeZone,
		StartingDeadlineSeconds:    spec.StartingDeadlineSeconds,
		ConcurrencyPolicy:          v1.ConcurrencyPolicy(spec.ConcurrencyPolicy),
		Suspend:                    spec.Suspend,
		JobTemplate:                spec.JobTemplate,
		SuccessfulJobsHistoryLimit: spec.SuccessfulJobsHistoryLimit,
		FailedJobsHistoryLimit:     spec.FailedJobsHistoryLimit,
	}
	found.importZone(&c.Spec)
	trimTemplate(&c.Spec.JobTemplate)
	return c, found
}

// View returns a built-in CronJob as one of ours, with its own metadata and its last run, from
// which intervals count.
func View(c *batchv1.CronJob) *v1.CronJob {
	view, _ := Import(c)
	view.ObjectMeta = *c.ObjectMeta.DeepCopy()
	view.Status.LastScheduleTime = c.Status.LastScheduleTime
	return view
}

// importZone moves a time zone from the schedule's prefix to spec.timeZone. The built-in prefers
// the prefix.
func (n *notes) importZone(spec *v1.CronJobSpec) {
	rest, zone, ok := SplitZone(spec.Schedule)
	switch {
	case ok:
		if spec.TimeZone != nil && *spec.TimeZone != zone {
			n.add("spec.timeZone", fmt.Sprintf("%q left out: the schedule says %q, which the built-in goes by", *spec.TimeZone, zone))
		}
		spec.Schedule, spec.TimeZone = rest, nil
		if zone != "" { // an empty zone is UTC, also for the built-in
			spec.TimeZone = &zone
		}
	case spec.TimeZone == nil && !isInterval(spec.Schedule):
		n.add("spec.timeZone", "not set: UTC from now on; for the built-in it was the time zone of kube-controller-manager, which mostly is UTC")
	}
	if isInterval(spec.Schedule) {
		n.add("spec.schedule", "the interval is counted anew, from the creation")
	}
}

// SplitZone splits a prefix TZ= or CRON_TZ= off a schedule; false if there is none, or nothing
// after it.
func SplitZone(text string) (rest, zone string, ok bool) {
	if !strings.HasPrefix(text, "TZ=") && !strings.HasPrefix(text, "CRON_TZ=") {
		return text, "", false
	}
	prefix, rest, ok := strings.Cut(text, " ")
	if !ok {
		return text, "", false
	}
	_, zone, _ = strings.Cut(prefix, "=")
	return strings.TrimSpace(rest), zone, true
}

// hasNamedDays reports whether a schedule has days such as L or 5#3, which only ours supports.
func hasNamedDays(text string) bool {
	parsed, err := schedule.Parse(text, "")
	fields, _ := parsed.Fields()
	return err == nil && len(fields.MonthDays)+len(fields.NthWeekdays) > 0
}

func isInterval(text string) bool { return strings.HasPrefix(text, "@every ") }

// Export converts one of ours to the built-in CronJob. The notes say what could not be kept.
func Export(c *v1.CronJob) (*batchv1.CronJob, []string) {
	c = c.DeepCopy()
	c.Default()
	var found notes
	original := &batchv1.CronJob{ObjectMeta: found.metadata(&c.ObjectMeta)}
	original.APIVersion, original.Kind = GVK.ToAPIVersionAndKind()
	spec := c.Spec
	original.Spec = batchv1.CronJobSpec{
		Schedule:                   spec.Schedule,
		TimeZone:                   spec.TimeZone,
		StartingDeadlineSeconds:    spec.StartingDeadlineSeconds,
		ConcurrencyPolicy:          batchv1.ConcurrencyPolicy(spec.ConcurrencyPolicy),
		Suspend:                    spec.Suspend,
		JobTemplate:                spec.JobTemplate,
		SuccessfulJobsHistoryLimit: spec.SuccessfulJobsHistoryLimit,
		FailedJobsHistoryLimit:     spec.FailedJobsHistoryLimit,
	}
	for _, is := range []struct {
		lost        bool
		field, text string
	}{
		{spec.SuspendUntil != nil, "suspendUntil", "left out: a built-in CronJob that is suspended stays so until somebody resumes it"},
		{hasNamedDays(spec.Schedule), "schedule", "the built-in knows no L, W and # as days, and refuses them"},
		{len(spec.AdditionalSchedules) > 0, "additionalSchedules",
			"left out: a built-in CronJob has one schedule; create another for each of these"},
		{len(spec.Exclude) > 0, "exclude", "left out: the built-in runs on these days, too"},
		{spec.NotBefore != nil, "notBefore", "left out: the built-in runs from now on"},
		{spec.NotAfter != nil, "notAfter", "left out: the built-in runs until somebody suspends or deletes it"},
		{spec.JitterSeconds != nil && *spec.JitterSeconds > 0, "jitterSeconds", "left out: the built-in starts all CronJobs of a tick at once"},
		{spec.MaxConcurrency != nil && spec.ConcurrencyPolicy == v1.AllowConcurrent, "maxConcurrency",
			"left out: the built-in lets any number run at once, or one with concurrencyPolicy Forbid"},
		{spec.CatchUpPolicy == v1.CatchUpAll, "catchUpPolicy", "left out: after an outage, the built-in runs the newest tick alone"},
		{spec.StopAfterFailures != nil, "stopAfterFailures", "left out: the built-in goes on whatever fails"},
	} {
		if is.lost {
			found.add("spec."+is.field, is.text)
		}
	}
	if isInterval(spec.Schedule) {
		found.add("spec.schedule", "the interval is counted anew, from the creation")
		if every, err := time.ParseDuration(strings.TrimPrefix(spec.Schedule, "@every ")); err == nil && every < time.Minute {
			found.add("spec.schedule", "the built-in starts no more than one Job a minute")
		}
	} else if spec.TimeZone == nil {
		original.Spec.TimeZone = new(utc)
	}
	trimTemplate(&original.Spec.JobTemplate)
	return original, found
}

// ownedBy has the labels and annotations by which a tool marks its objects. They are not copied,
// since the tool might delete an object that it does not know.
var ownedBy = []struct{ prefix, tool string }{
	{"argocd.argoproj.io/tracking-id", "Argo CD"},
	{"kustomize.toolkit.fluxcd.io/", "Flux"},
	{"helm.toolkit.fluxcd.io/", "Flux"},
}

// Owner returns the tool that a label or annotation belongs to; "" for none.
func Owner(key string) string {
	for _, owner := range ownedBy {
		if strings.HasPrefix(key, owner.prefix) {
			return owner.tool
		}
	}
	return ""
}

// metadata copies what describes an object, without what identifies it.
func (n *notes) metadata(from *metav1.ObjectMeta) metav1.ObjectMeta {
	to := metav1.ObjectMeta{Namespace: from.Namespace, Name: from.Name}
	to.Labels = n.keep("metadata.labels", from.Labels)
	to.Annotations = n.keep("metadata.annotations", from.Annotations)
	for _, owner := range from.OwnerReferences {
		n.add("metadata.ownerReferences", fmt.Sprintf("%s %s left out: it knows nothing of this one", owner.Kind, owner.Name))
	}
	for _, finalizer := range from.Finalizers {
		n.add("metadata.finalizers", finalizer+" left out: whoever would remove it knows nothing of this one")
	}
	return to
}

// keep copies labels or annotations, except those of a tool and ours.
func (n *notes) keep(path string, from map[string]string) map[string]string {
	kept := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(from)) {
		tool := Owner(key)
		switch {
		case tool != "":
			n.add(path+"["+key+"]", "left out: it says that "+tool+" keeps the object")
		case key == corev1.LastAppliedConfigAnnotation, strings.HasPrefix(key, ourDomain):
		default:
			kept[key] = from[key]
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return kept
}

// trimTemplate reduces the metadata of a template to the fields of our schema, which are all that
// affect Jobs and Pods.
func trimTemplate(template *batchv1.JobTemplateSpec) {
	for _, meta := range []*metav1.ObjectMeta{&template.ObjectMeta, &template.Spec.Template.ObjectMeta} {
		*meta = metav1.ObjectMeta{
			Name: meta.Name, Namespace: meta.Namespace, Labels: meta.Labels, Annotations: meta.Annotations, Finalizers: meta.Finalizers,
		}
	}
}

// Onto returns the built-in CronJob with the spec of ours. It keeps suspend, and the original
// spelling of fields that mean the same.
func Onto(original *batchv1.CronJob, c *v1.CronJob) *batchv1.CronJob {
	changed := original.DeepCopy()
	exported, _ := Export(c)
	was, _ := Import(original)
	changed.Spec = exported.Spec
	changed.Spec.Suspend = original.Spec.Suspend
	_, _, hasPrefix := SplitZone(original.Spec.Schedule)
	sameZone := equality.Semantic.DeepEqual(was.Spec.TimeZone, c.Spec.TimeZone)
	if sameZone && (!hasPrefix || was.Spec.Schedule == c.Spec.Schedule) {
		changed.Spec.TimeZone = original.Spec.TimeZone
	}
	if sameZone && was.Spec.Schedule == c.Spec.Schedule {
		changed.Spec.Schedule = original.Spec.Schedule
	}
	if equality.Semantic.DeepEqual(was.Spec.JobTemplate, c.Spec.JobTemplate) {
		changed.Spec.JobTemplate = original.Spec.JobTemplate
	}
	return changed
}

// ChangedFields names the fields that differ between two built-in CronJobs, except suspend.
func ChangedFields(a, b *batchv1.CronJobSpec) []string {
	var changed []string
	for _, field := range []struct {
		name string
		a, b any
	}{
		{"schedule", a.Schedule, b.Schedule},
		{"timeZone", a.TimeZone, b.TimeZone},
		{"startingDeadlineSeconds", a.StartingDeadlineSeconds, b.StartingDeadlineSeconds},
		{"concurrencyPolicy", a.ConcurrencyPolicy, b.ConcurrencyPolicy},
		{"jobTemplate", a.JobTemplate, b.JobTemplate},
		{"successfulJobsHistoryLimit", a.SuccessfulJobsHistoryLimit, b.SuccessfulJobsHistoryLimit},
		{"failedJobsHistoryLimit", a.FailedJobsHistoryLimit, b.FailedJobsHistoryLimit},
	} {
		if !equality.Semantic.DeepEqual(field.a, field.b) {
			changed = append(changed, "spec."+field.name)
		}
	}
	return changed
}
