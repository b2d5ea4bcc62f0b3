// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package builtin

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/randfill"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/test/builders"
)

func TestImportReadsTheScheduleAsTheBuiltInDoes(t *testing.T) {
	const kubeControllerManagers = "spec.timeZone: not set: UTC from now on; " +
		"for the built-in it was the time zone of kube-controller-manager, which mostly is UTC"
	for name, test := range map[string]struct {
		schedule     string
		zone         *string
		wantSchedule string
		wantZone     *string
		wantNotes    []string
	}{
		"a time zone":            {schedule: "0 9 * * *", zone: new("Europe/Paris"), wantSchedule: "0 9 * * *", wantZone: new("Europe/Paris")},
		"no time zone":           {schedule: "@daily", wantSchedule: "@daily", wantNotes: []string{kubeControllerManagers}},
		"a prefix":               {schedule: "TZ=Asia/Tokyo 0 9 * * *", wantSchedule: "0 9 * * *", wantZone: new("Asia/Tokyo")},
		"a long prefix":          {schedule: "CRON_TZ=Asia/Tokyo  @daily", wantSchedule: "@daily", wantZone: new("Asia/Tokyo")},
		"an empty prefix is UTC": {schedule: "TZ= 0 9 * * *", wantSchedule: "0 9 * * *"},
		"nothing but a prefix":   {schedule: "TZ=UTC", wantSchedule: "TZ=UTC", wantNotes: []string{kubeControllerManagers}},
		"the prefix wins": {
			schedule: "TZ=Asia/Tokyo 0 9 * * *", zone: new("Europe/Paris"), wantSchedule: "0 9 * * *", wantZone: new("Asia/Tokyo"),
			wantNotes: []string{`spec.timeZone: "Europe/Paris" left out: the schedule says "Asia/Tokyo", which the built-in goes by`},
		},
		"an interval": {
			schedule: "@every 90m", wantSchedule: "@every 90m",
			wantNotes: []string{"spec.schedule: the interval is counted anew, from the creation"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			original := &batchv1.CronJob{Spec: batchv1.CronJobSpec{Schedule: test.schedule, TimeZone: test.zone}}
			before := original.DeepCopy()
			c, notes := Import(original)
			assert.Equal(t, test.wantSchedule, c.Spec.Schedule)
			assert.Equal(t, test.wantZone, c.Spec.TimeZone)
			assert.Equal(t, test.wantNotes, notes)
			assert.Equal(t, before, original, "what is imported is not changed")
		})
	}
}

func TestImportNamesWhatHasNoCounterpart(t *testing.T) {
	original := &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{
			Name: "c", Namespace: "ns", UID: "u", ResourceVersion: "7", Generation: 3,
			Labels: map[string]string{"app": "a", "kustomize.toolkit.fluxcd.io/name": "k"},
			Annotations: map[string]string{
				"example.com/a": "b", corev1.LastAppliedConfigAnnotation: "{}", "argocd.argoproj.io/tracking-id": "t",
				"batch.tutorial.kubebuilder.io/suspend-before": "false",
			},
			OwnerReferences: []metav1.OwnerReference{{Kind: "Shop", Name: "s"}},
			Finalizers:      []string{"example.com/f"},
		},
		Spec: batchv1.CronJobSpec{Schedule: "@every 1m", JobTemplate: batchv1.JobTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Name: "n", Labels: map[string]string{"l": "m"}},
		}},
	}
	original.Spec.JobTemplate.Spec.Template.ObjectMeta = metav1.ObjectMeta{GenerateName: "g", Finalizers: []string{"f"}}
	c, notes := Import(original)
	assert.Equal(t, metav1.ObjectMeta{
		Name: "c", Namespace: "ns", Labels: map[string]string{"app": "a"}, Annotations: map[string]string{"example.com/a": "b"},
	}, c.ObjectMeta)
	assert.Equal(t, metav1.ObjectMeta{Name: "n", Labels: map[string]string{"l": "m"}}, c.Spec.JobTemplate.ObjectMeta)
	assert.Equal(t, metav1.ObjectMeta{Finalizers: []string{"f"}}, c.Spec.JobTemplate.Spec.Template.ObjectMeta)
	assert.Equal(t, []string{
		"metadata.labels[kustomize.toolkit.fluxcd.io/name]: left out: it says that Flux keeps the object",
		"metadata.annotations[argocd.argoproj.io/tracking-id]: left out: it says that Argo CD keeps the object",
		"metadata.ownerReferences: Shop s left out: it knows nothing of this one",
		"metadata.finalizers: example.com/f left out: whoever would remove it knows nothing of this one",
		"spec.schedule: the interval is counted anew, from the creation",
	}, notes)
}

func TestExportSaysInTheBuiltInsWordsWhatOursMeans(t *testing.T) {
	for name, test := range map[string]struct {
		schedule  string
		zone      *string
		wantZone  *string
		wantNotes []string
	}{
		"no time zone is UTC": {schedule: "0 9 * * *", wantZone: new("Etc/UTC")},
		"a time zone":         {schedule: "0 9 * * *", zone: new("Europe/Paris"), wantZone: new("Europe/Paris")},
		"an interval":         {schedule: "@every 90m", wantNotes: []string{"spec.schedule: the interval is counted anew, from the creation"}},
		"a short interval": {schedule: "@every 10s", wantNotes: []string{
			"spec.schedule: the interval is counted anew, from the creation",
			"spec.schedule: the built-in starts no more than one Job a minute",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			original, notes := Export(&v1.CronJob{Spec: v1.CronJobSpec{Schedule: test.schedule, TimeZone: test.zone}})
			assert.Equal(t, test.schedule, original.Spec.Schedule)
			assert.Equal(t, test.wantZone, original.Spec.TimeZone)
			assert.Equal(t, test.wantNotes, notes)
		})
	}
	_, notes := Export(&v1.CronJob{Spec: v1.CronJobSpec{Schedule: "@daily", AdditionalSchedules: []string{"@hourly"}}})
	assert.Equal(t, []string{"spec.additionalSchedules: left out: a built-in CronJob has one schedule; create another for each of these"}, notes)
}

func TestExportNamesWhatTheBuiltInCanNotDo(t *testing.T) {
	now := time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)
	_, notes := Export(builders.MakeCronJob("c").TimeZone("Etc/UTC").Exclude("--12-25").NotBefore(now).NotAfter(now).Obj())
	assert.Equal(t, []string{
		"spec.exclude: left out: the built-in runs on these days, too",
		"spec.notBefore: left out: the built-in runs from now on",
		"spec.notAfter: left out: the built-in runs until somebody suspends or deletes it",
	}, notes)
}

// TestThereAndBackIsTheSame fills CronJobs with anything at all.
func TestThereAndBackIsTheSame(t *testing.T) {
	fill := randfill.NewWithSeed(rand.Int64()).NilChance(0.3).NumElements(0, 3).MaxDepth(12).Funcs(
		func(m *metav1.ObjectMeta, c randfill.Continue) {
			c.Fill(&m.Labels)
			c.Fill(&m.Annotations)
		},
		func(f *metav1.FieldsV1, _ randfill.Continue) { f.SetRawBytes(nil) },
	)
	for range 1000 {
		c := &v1.CronJob{}
		fill.Fill(&c.Spec)
		c.Spec.TimeZone, c.Spec.AdditionalSchedules = new("Europe/Paris"), nil
		c.Spec.Exclude, c.Spec.NotBefore, c.Spec.NotAfter = nil, nil, nil
		// What has no counterpart is named when it is left out: see below.
		c.Spec.JitterSeconds, c.Spec.MaxConcurrency, c.Spec.StopAfterFailures, c.Spec.SuspendUntil = nil, nil, nil, nil
		c.Spec.CatchUpPolicy, c.Spec.CatchUpLimit = "", nil
		c.Default()
		original, _ := Export(c)
		back, _ := Import(original)
		require.Equal(t, c.Spec, back.Spec)
		require.Empty(t, ChangedFields(&original.Spec, &Onto(original, c).Spec))
	}
}

func TestExportNamesWhatHasNoCounterpart(t *testing.T) {
	c := builders.MakeCronJob("c").TimeZone("Europe/Paris").Jitter(30).MaxConcurrency(2).StopAfterFailures(5).CatchUp(3).Obj()
	c.Spec.SuspendUntil = new(metav1.Now())
	_, notes := Export(c)
	assert.Equal(t, []string{
		"spec.suspendUntil: left out: a built-in CronJob that is suspended stays so until somebody resumes it",
		"spec.jitterSeconds: left out: the built-in starts all CronJobs of a tick at once",
		"spec.maxConcurrency: left out: the built-in lets any number run at once, or one with concurrencyPolicy Forbid",
		"spec.catchUpPolicy: left out: after an outage, the built-in runs the newest tick alone",
		"spec.stopAfterFailures: left out: the built-in goes on whatever fails",
	}, notes)
	_, notes = Export(builders.MakeCronJob("c").TimeZone("Europe/Paris").Policy(v1.ForbidConcurrent).MaxConcurrency(1).Obj())
	assert.Empty(t, notes, "Forbid says the same")
	for schedule, want := range map[string]int{"0 0 L * *": 1, "0 9 * * 1#1": 1, "0 9 1 * 1": 0, "@monthly": 0} {
		_, notes = Export(builders.MakeCronJob("c").Schedule(schedule).TimeZone("Europe/Paris").Jitter(0).Obj())
		assert.Len(t, notes, want, schedule)
	}
}

func TestOntoKeepsTheSpellingOfWhatIsTheSame(t *testing.T) {
	original := &batchv1.CronJob{Spec: batchv1.CronJobSpec{Schedule: "TZ=Asia/Tokyo 0 9 * * *", Suspend: new(true)}}
	c, _ := Import(original)
	c.Default()
	c.Spec.Suspend = new(false)
	same := Onto(original, c)
	assert.Equal(t, original.Spec.Schedule, same.Spec.Schedule)
	assert.Nil(t, same.Spec.TimeZone)
	assert.True(t, *same.Spec.Suspend)

	c.Spec.Schedule = "0 10 * * *"
	changed := Onto(original, c)
	assert.Equal(t, "0 10 * * *", changed.Spec.Schedule)
	assert.Equal(t, "Asia/Tokyo", *changed.Spec.TimeZone)
	assert.Equal(t, []string{"spec.schedule", "spec.timeZone"}, ChangedFields(&same.Spec, &changed.Spec))
}

func TestDecodeNamesTheFieldsThatItDoesNotKnow(t *testing.T) {
	object := func(spec map[string]any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "batch/v1", "kind": "CronJob", "spec": spec}}
	}
	c, notes, err := Decode(object(map[string]any{"schedule": "@daily", "tomorrow": true}))
	require.NoError(t, err)
	assert.Equal(t, "@daily", c.Spec.Schedule)
	assert.Equal(t, []string{`unknown field "spec.tomorrow": left out: this version of kubectl cronjob does not know the field`}, notes)

	_, _, err = Decode(object(map[string]any{"schedule": []any{}}))
	assert.ErrorContains(t, err, "not a CronJob of batch/v1")
}
