// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/plan"
)

// awaitTick waits until a CronJob has a next tick, and returns it.
func (s *space) awaitTick(name string) time.Time {
	s.t.Helper()
	s.eventually(func() bool { return s.get(name).Status.NextScheduleTime != nil }, "%s has no next tick", name)
	return s.get(name).Status.NextScheduleTime.Time
}

// jobName is the name of a tick's Job.
func jobName(owner string, tick time.Time) string {
	return fmt.Sprintf("%s-%d", owner, tick.Unix())
}

func TestS4AStrangersJobOfTheTicksNameIsReportedAndTheScheduleGoesOn(t *testing.T) {
	t.Parallel()
	tests := map[string]func(c *v1.CronJob) []metav1.OwnerReference{
		"nobody's": func(*v1.CronJob) []metav1.OwnerReference { return nil },
		"another CronJob's of the same name": func(c *v1.CronJob) []metav1.OwnerReference {
			other := c.DeepCopy()
			other.UID = "00000000-0000-0000-0000-000000000000"
			return []metav1.OwnerReference{*metav1.NewControllerRef(other, v1.GroupVersion.WithKind("CronJob"))}
		},
	}
	for name, ownersOf := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSpace(t)
			s.create(s.cronJob("c").Schedule("@every 5s").Obj())
			tick := s.awaitTick("c")
			c := s.get("c")
			stranger := &batchv1.Job{
				ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: jobName("c", tick), OwnerReferences: ownersOf(c)},
				Spec:       c.Spec.JobTemplate.Spec,
			}
			s.create(stranger)

			event := s.awaitEvent("c", plan.EventFailedCreate)
			assert.Equal(t, fmt.Sprintf("Error creating job %s: a Job of that name exists that this CronJob does not control", stranger.Name), event.Note)
			s.awaitEvent("c", plan.EventMissSchedule)
			s.awaitReady("c", metav1.ConditionTrue, v1.ReasonScheduled)

			next := jobName("c", tick.Add(5*time.Second))
			s.eventually(func() bool {
				return s.Client.Get(t.Context(), s.key(next), &batchv1.Job{}) == nil
			}, "the schedule does not go on")
			after := &batchv1.Job{}
			require.NoError(t, s.Client.Get(t.Context(), client.ObjectKeyFromObject(stranger), after))
			assert.Equal(t, stranger.UID, after.UID)
			assert.Equal(t, stranger.OwnerReferences, after.OwnerReferences, "the stranger is left alone")
		})
	}
}

func TestS4AJobOfTheTicksNameThatIsOursCountsAsStarted(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(s.cronJob("c").Schedule("@every 5s").Obj())
	tick := s.awaitTick("c")
	c := s.get("c")
	ours := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: s.ns, Name: jobName("c", tick),
			Annotations:     map[string]string{v1.ScheduledAtAnnotation: tick.UTC().Format(time.RFC3339)},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(c, v1.GroupVersion.WithKind("CronJob"))},
		},
		Spec: c.Spec.JobTemplate.Spec,
	}
	s.create(ours)
	s.eventually(func() bool {
		last := s.get("c").Status.LastScheduleTime
		return last != nil && last.Time.Equal(tick)
	}, "the tick does not count as run")
	s.awaitJobs("c", 2)
	assert.Empty(t, s.events("c", plan.EventFailedCreate))
	assert.Empty(t, s.events("c", plan.EventMissSchedule))
}

func TestO2ATemplateThatIsRefusedIsAConditionUntilItIsMended(t *testing.T) {
	t.Parallel()
	s := newSpaceOn(t, shared, map[string]string{webhooksLabel: webhooksOff}) // which would refuse it
	c := s.cronJob("c").Schedule("@every 6s").Obj()
	c.Spec.JobTemplate.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyAlways
	s.create(c)
	tick := s.awaitTick("c")

	event := s.awaitEvent("c", plan.EventFailedCreate)
	assert.Contains(t, event.Note, `spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"`)
	refused := s.awaitReady("c", metav1.ConditionFalse, v1.ReasonJobCreationFailed)
	ready := meta.FindStatusCondition(refused.Status.Conditions, v1.ConditionReady)
	assert.Contains(t, ready.Message, "Creating Job c-*: ", "the same for all ticks")
	assert.Contains(t, ready.Message, "restartPolicy")
	assert.Equal(t, tick.UTC(), refused.Status.NextScheduleTime.UTC(), "the tick waits")

	s.edit("c", func(c *v1.CronJob) { c.Spec.JobTemplate.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever })
	s.awaitReady("c", metav1.ConditionTrue, v1.ReasonScheduled)
	assert.Equal(t, jobName("c", tick), s.awaitJobs("c", 1)[0].Name, "and then runs")
	s.awaitEvent("c", plan.EventFailedCreate)
	assert.Empty(t, s.events("c", plan.EventMissSchedule))
}

func TestS10AnInvalidTemplateIsTriedOnceATickAndReportedOnce(t *testing.T) {
	t.Parallel()
	s := newSpaceOn(t, shared, map[string]string{webhooksLabel: webhooksOff}) // which would refuse it
	clock := s.startClock()
	c := s.cronJob("c").Schedule("@every 3s").Obj()
	c.Spec.JobTemplate.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyAlways
	s.create(c)
	s.awaitReady("c", metav1.ConditionFalse, v1.ReasonJobCreationFailed)
	s.awaitRuns(clock, 4)
	s.eventually(func() bool { return len(s.refusedJobs()) >= 3 }, "it is not tried at the next ticks")
	tries := s.refusedJobs()
	for i := range tries[1:] {
		assert.Greater(t, tries[i+1].Received.Sub(tries[i].Received), time.Second, "it is tried again within a tick")
	}
	assert.Len(t, s.events("c", plan.EventFailedCreate), 1)
}

// refusedJobs returns the manager's requests to create Jobs that the API server refused.
func (s *space) refusedJobs() []request {
	s.t.Helper()
	return slices.DeleteFunc(s.audit.in(s.t, s.ns), func(r request) bool {
		return r.Verb+" "+r.Resource != createJob || r.Code == http.StatusCreated
	})
}

func TestS10AJobThatExceedsTheQuotaIsTriedAgainUntilThereIsRoom(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	setQuota := s.quotaOfJobs()
	setQuota(0)
	s.create(s.cronJob("c").Schedule("@every 8s").Obj())
	tick := s.awaitTick("c")

	refused := s.awaitReady("c", metav1.ConditionFalse, v1.ReasonJobCreationFailed)
	assert.Contains(t, meta.FindStatusCondition(refused.Status.Conditions, v1.ConditionReady).Message, "exceeded quota")
	assert.Contains(t, s.awaitEvent("c", plan.EventFailedCreate).Note, "exceeded quota")
	s.eventually(func() bool { return len(s.refusedJobs()) >= 3 }, "it is not tried again")
	assert.Len(t, s.events("c", plan.EventFailedCreate), 1, "the same is not said again")

	setQuota(1)
	assert.Equal(t, jobName("c", tick), s.awaitJobs("c", 1)[0].Name, "the tick runs late, but runs")
	s.awaitReady("c", metav1.ConditionTrue, v1.ReasonScheduled)
}

// quotaOfJobs limits how many Jobs the namespace may have. The quota's controller, which does not
// run, would write its status.
func (s *space) quotaOfJobs() func(count int64) {
	s.t.Helper()
	hard := func(count int64) corev1.ResourceList {
		return corev1.ResourceList{"count/jobs.batch": *resource.NewQuantity(count, resource.DecimalSI)}
	}
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: "jobs"}, Spec: corev1.ResourceQuotaSpec{Hard: hard(0)}}
	s.create(quota)
	probe := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: "probe"}, Spec: s.cronJob("probe").Obj().Spec.JobTemplate.Spec}
	return func(count int64) {
		before := quota.DeepCopy()
		quota.Status = corev1.ResourceQuotaStatus{Hard: hard(count), Used: hard(0)}
		require.NoError(s.t, s.Client.Status().Patch(s.t.Context(), quota, client.MergeFrom(before)))
		s.eventually(func() bool {
			err := s.Client.Create(s.t.Context(), probe.DeepCopy(), client.DryRunAll)
			return (err == nil) == (count > 0)
		}, "the quota is not in force")
	}
}

func TestS2ATickThatCanNotStartWithinItsDeadlineIsMissed(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.quotaOfJobs()(0)
	s.create(s.cronJob("c").Schedule("@every 6s").Deadline(1).Obj())
	tick := s.awaitTick("c")
	s.awaitEvent("c", plan.EventFailedCreate)
	missed := s.awaitEvent("c", plan.EventMissSchedule)
	assert.Equal(t, fmt.Sprintf("Missed scheduled time %s: startingDeadlineSeconds passed before a Job could start", tick.UTC().Format(time.RFC3339)), missed.Note)
	s.awaitReady("c", metav1.ConditionTrue, v1.ReasonScheduled)
	assert.Equal(t, tick.Add(6*time.Second).UTC(), s.get("c").Status.NextScheduleTime.UTC())
	assert.Empty(t, s.jobs("c"))
}

func TestS6ReplaceStartsNothingWhileTheJobThatRunsCanNotBeDeleted(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	allow := s.forbidDeletionOfJobs()
	s.create(s.cronJob("c").Schedule("@every 2s").Policy(v1.ReplaceConcurrent).Obj())
	first := s.awaitJobs("c", 1)[0]

	s.eventually(func() bool { return len(s.events("c", plan.EventFailedDelete)) > 0 }, "the failure is not reported")
	assert.Contains(t, s.events("c", plan.EventFailedDelete)[0].Note, "Error deleting job "+first.Name)
	assert.Len(t, s.jobs("c"), 1, "another is started beside it")

	allow()
	s.eventually(func() bool {
		jobs := s.jobs("c")
		return len(jobs) == 1 && jobs[0].Name != first.Name
	}, "it is not replaced once it can be deleted")
	s.eventually(func() bool { return len(s.events("c", plan.EventSuccessfulDelete)) > 0 }, "the deletion is not reported")
}

// forbidDeletionOfJobs has the API server refuse to delete Jobs in the namespace until the function
// it returns is called.
func (s *space) forbidDeletionOfJobs() func() {
	s.t.Helper()
	policy := &admissionv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "no-deletion-in-" + s.ns},
		Spec: admissionv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionv1.MatchResources{ResourceRules: []admissionv1.NamedRuleWithOperations{{
				RuleWithOperations: admissionv1.RuleWithOperations{
					Operations: []admissionv1.OperationType{admissionv1.Delete},
					Rule:       admissionv1.Rule{APIGroups: []string{"batch"}, APIVersions: []string{"v1"}, Resources: []string{"jobs"}},
				},
			}}},
			Validations: []admissionv1.Validation{{Expression: "false", Message: "not now"}},
		},
	}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: policy.Name},
		Spec: admissionv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName:        policy.Name,
			ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
			MatchResources: &admissionv1.MatchResources{NamespaceSelector: &metav1.LabelSelector{
				MatchLabels: map[string]string{corev1.LabelMetadataName: s.ns},
			}},
		},
	}
	s.create(policy)
	s.create(binding)
	allow := func() {
		s.t.Helper()
		require.NoError(s.t, client.IgnoreNotFound(s.Client.Delete(s.t.Context(), binding)))
		require.NoError(s.t, client.IgnoreNotFound(s.Client.Delete(s.t.Context(), policy)))
	}
	probe := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: "probe"}, Spec: s.cronJob("probe").Obj().Spec.JobTemplate.Spec}
	s.create(probe)
	s.eventually(func() bool { return s.Client.Delete(s.t.Context(), probe, client.DryRunAll) != nil }, "the policy is not in force")
	return func() {
		allow()
		s.eventually(func() bool { return client.IgnoreNotFound(s.Client.Delete(s.t.Context(), probe)) == nil }, "the policy is still in force")
	}
}

func TestS10ATerminatingNamespaceIsQuiet(t *testing.T) {
	t.Parallel()
	s, elsewhere := newSpace(t), newSpace(t)
	clock := elsewhere.startClock()
	s.create(s.cronJob("c").Schedule("@every 2s").Obj())
	s.awaitEvent("c", plan.EventSuccessfulCreate) // so that nothing is on its way until the next tick
	require.NoError(t, s.Client.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.ns}}))
	s.eventually(func() bool {
		err := s.Client.Create(t.Context(), s.cronJob("probe").Obj(), client.DryRunAll)
		return apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause)
	}, "the namespace is not terminating")

	before := s.audit.count(t, s.ns)
	elsewhere.awaitRuns(clock, 5)
	after := s.audit.count(t, s.ns)
	assert.LessOrEqual(t, after[createJob]-before[createJob], 4, "no more than one try for each tick")
	assert.LessOrEqual(t, after[writeStatus]-before[writeStatus], 4)
	for _, r := range s.audit.in(t, s.ns) {
		if r.Verb+" "+r.Resource == createEvent {
			assert.Less(t, r.Code, 300, "events can't be created in it either: %s", r)
		}
	}
	assert.Empty(t, s.manager.errorsAbout(s.ns))
}

func TestO1KubectlShowsTheEvents(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.endJobs(batchv1.JobComplete)
	s.create(s.cronJob("c").Schedule("@every 1s").Obj())
	s.eventually(func() bool { return len(s.events("c", plan.EventSawCompletedJob)) > 0 }, "no Job completes")
	s.assertKubectlShowsTheEvents("c")
	for _, version := range []string{"v1", "v2"} {
		assert.Contains(t, s.kubectl(t, "describe", "-n", s.ns, cronJobsIn(version)+"/c"), "SuccessfulCreate", version)
	}
}

// assertKubectlShowsTheEvents checks that kubectl finds the events of a CronJob that has run,
// whatever it calls it.
func (s *space) assertKubectlShowsTheEvents(name string) {
	s.t.Helper()
	for _, how := range [][]string{
		{"get", "events", "-n", s.ns, "--field-selector", "involvedObject.name=" + name},
		{"events", "-n", s.ns, "--for", "tcj/" + name},
		{"events", "-n", s.ns, "--for", "cronjobs.batch.tutorial.kubebuilder.io/" + name},
		{"events", "-n", s.ns, "--for", "cronjob.batch.tutorial.kubebuilder.io/" + name},
	} {
		out := s.kubectl(s.t, how...)
		assert.Regexp(s.t, `Normal +SuccessfulCreate +(cronjob|CronJob)/c +Created job c-\d+`, out, "kubectl %v", how)
		assert.Regexp(s.t, `Normal +SawCompletedJob +(cronjob|CronJob)/c +Saw completed job: c-\d+, condition: Complete`, out, "kubectl %v", how)
	}
}
