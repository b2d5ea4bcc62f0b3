// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/cache"
	"k8s.io/apimachinery/pkg/util/validation/field"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/test/builders"
)

// apiServer is a fake API server that answers dry-run creations of Jobs.
type apiServer struct {
	client.Client
	answer   func(ctx context.Context, job *batchv1.Job) error
	mutex    sync.Mutex // of tried
	tried    []*batchv1.Job
	builtins map[client.ObjectKey]error // the result of reading one; not found by default
	gets     int
}

func (s *apiServer) Create(ctx context.Context, object client.Object, opts ...client.CreateOption) error {
	job := object.(*batchv1.Job)
	if applied := (&client.CreateOptions{}).ApplyOptions(opts); len(applied.DryRun) != 1 || applied.DryRun[0] != metav1.DryRunAll {
		return errors.New("this is no dry run")
	}
	s.mutex.Lock()
	s.tried = append(s.tried, job)
	s.mutex.Unlock()
	return s.answer(ctx, job)
}

func (s *apiServer) Get(_ context.Context, key client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
	s.gets++
	if err, ok := s.builtins[key]; ok {
		return err
	}
	return apierrors.NewNotFound(schema.GroupResource{Group: "batch", Resource: "cronjobs"}, key.Name)
}

// validatorOf returns a validator that uses this API server, and the clock of its cache.
func validatorOf(server *apiServer, namespaces ...string) (validator, *testingclock.FakeClock) {
	limiter := newRequestLimiter()
	clock := testingclock.NewFakeClock(time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC))
	return validator{
		templates:        &templateChecker{client: server, limiter: limiter, accepted: cache.NewLRUExpireCacheWithClock(maxAccepted, clock)},
		builtinConflicts: &builtinConflicts{live: server, limiter: limiter},
		namespaces:       namespaces,
	}, clock
}

// validation is the answer of an API server that finds an error in each field that the Job's
// annotation names.
func validation(_ context.Context, job *batchv1.Job) error {
	var errs field.ErrorList
	for wrong := range strings.FieldsSeq(job.Annotations["wrong"]) {
		errs = append(errs, field.Required(field.NewPath(wrong), "so it is"))
	}
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: "batch", Kind: "Job"}, "cronjob-trial-x", errs)
}

// wrong makes a CronJob in whose template these fields of a Job are wrong.
func wrong(fields ...string) *v1.CronJob {
	c := builders.MakeCronJob("c").Namespace("ns").Obj()
	c.Spec.JobTemplate.Annotations = map[string]string{"wrong": strings.Join(fields, " ")}
	return c
}

func TestATemplateThatJobsCanNotHaveIsRefusedAtItsField(t *testing.T) {
	job := schema.GroupKind{Group: "batch", Kind: "Job"}
	path := field.NewPath("spec", "template", "spec", "containers").Index(0)
	for name, tc := range map[string]struct {
		err  *field.Error
		want string
	}{
		"a missing field": {field.Required(field.NewPath("spec", "template", "spec", "restartPolicy"), "valid values: \"Never\""),
			`spec.jobTemplate.spec.template.spec.restartPolicy: Required value: valid values: "Never"`},
		"a value": {field.Invalid(path.Child("name"), "A:B", "no label"),
			`spec.jobTemplate.spec.template.spec.containers[0].name: Invalid value: "A:B": no label`},
		"a whole object": {field.Invalid(field.NewPath("spec", "selector"), map[string]string{"a": "b"}, "not auto-generated"),
			`spec.jobTemplate.spec.selector: Invalid value: {"a":"b"}: not auto-generated`},
		"one of several values": {field.NotSupported(path.Child("imagePullPolicy"), "Maybe", []string{"Always"}),
			`spec.jobTemplate.spec.template.spec.containers[0].imagePullPolicy: Unsupported value: "Maybe": supported values: "Always"`},
		"a label of the Job": {field.Invalid(field.NewPath("metadata", "labels"), "!", "no label"),
			`spec.jobTemplate.metadata.labels: Invalid value: "!": no label`},
		"too much": {field.TooLong(field.NewPath("metadata", "annotations"), "", 262144),
			`spec.jobTemplate.metadata.annotations: Too long: may not be more than 262144 bytes`},
		"twice": {field.Duplicate(path.Child("name"), "a"),
			`spec.jobTemplate.spec.template.spec.containers[0].name: Duplicate value: "a"`},
		"forbidden": {field.Forbidden(field.NewPath("spec", "x"), "not yet"), `spec.jobTemplate.spec.x: Forbidden: not yet`},
		"a word for it that is yet to come": {&field.Error{Type: "FieldValueStrange", Field: "spec.x", BadValue: 1, Detail: "strange"},
			`spec.jobTemplate.spec.x: Invalid value: ` + (&field.Error{Type: "FieldValueStrange", BadValue: 1, Detail: "strange"}).ErrorBody()},
	} {
		t.Run(name, func(t *testing.T) {
			server := &apiServer{answer: func(context.Context, *batchv1.Job) error {
				return apierrors.NewInvalid(job, "cronjob-trial-x", field.ErrorList{tc.err})
			}}
			v, _ := validatorOf(server)
			want := `CronJob.batch.tutorial.kubebuilder.io "c" is invalid: ` + tc.want
			c := builders.MakeCronJob("c").Namespace("ns").Obj()
			found, err := v.ValidateCreate(t.Context(), c)
			assert.EqualError(t, err, want)
			assert.True(t, apierrors.IsInvalid(err))
			assert.Empty(t, found)
		})
	}
}

func TestAllMistakesAreToldAtOnce(t *testing.T) {
	v, _ := validatorOf(&apiServer{answer: validation})
	c := wrong("spec.a", "spec.b")
	c.Spec.Schedule = "sometimes"
	_, err := v.ValidateCreate(t.Context(), c)
	for _, want := range []string{"spec.schedule: ", "spec.jobTemplate.spec.a: Required value: so it is", "spec.jobTemplate.spec.b: "} {
		assert.ErrorContains(t, err, want)
	}
}

func TestWhatRefusesAJobButItsTemplateIsAWarning(t *testing.T) {
	jobs := schema.GroupResource{Group: "batch", Resource: "jobs"}
	invalid := apierrors.NewInvalid(schema.GroupKind{Group: "batch", Kind: "Job"}, "x", field.ErrorList{field.Required(field.NewPath("spec"), "by us")})
	byWebhook := invalid.Status()
	byWebhook.Message = `admission webhook "jobs.example" denied the request: ` + byWebhook.Message
	byPolicy := apierrors.NewForbidden(jobs, "x", errors.New("ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no")).Status()
	byPolicy.Code, byPolicy.Reason, byPolicy.Details.Causes = 422, metav1.StatusReasonInvalid, []metav1.StatusCause{{Message: "no"}}
	withoutCauses := apierrors.NewInvalid(schema.GroupKind{Group: "batch", Kind: "Job"}, "x", nil)
	withoutDetails := metav1.Status{Code: 422, Reason: metav1.StatusReasonInvalid, Message: "Job.batch is invalid"}

	atPresent := "spec.jobTemplate: at present no Job can be created from it: "
	for name, tc := range map[string]struct {
		answer error
		want   admission.Warnings
	}{
		"a quota": {apierrors.NewForbidden(jobs, "x", errors.New("exceeded quota: q")),
			admission.Warnings{atPresent + `jobs.batch "x" is forbidden: exceeded quota: q`}},
		"another webhook": {&apierrors.StatusError{ErrStatus: byWebhook},
			admission.Warnings{atPresent + `admission webhook "jobs.example" denied the request: Job.batch "x" is invalid: spec: Required value: by us`}},
		"a policy": {&apierrors.StatusError{ErrStatus: byPolicy},
			admission.Warnings{atPresent + `jobs.batch "x" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no`}},
		"invalid, but not where":      {withoutCauses, admission.Warnings{atPresent + `Job.batch "x" is invalid`}},
		"invalid, and nothing else":   {&apierrors.StatusError{ErrStatus: withoutDetails}, admission.Warnings{atPresent + `Job.batch is invalid`}},
		"no namespace":                {apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "ns"), admission.Warnings{atPresent + `namespaces "ns" not found`}},
		"too much to do":              {apierrors.NewTooManyRequests("busy", 1), admission.Warnings{atPresent + "busy"}},
		"a failure":                   {apierrors.NewInternalError(errors.New("oh")), admission.Warnings{atPresent + "Internal error occurred: oh"}},
		"no answer":                   {context.DeadlineExceeded, admission.Warnings{"spec.jobTemplate: not checked, as the API server did not answer in time"}},
		"nobody there":                {errors.New("dial tcp 10.0.0.1: refused"), admission.Warnings{"spec.jobTemplate: not checked, as the API server did not answer in time"}},
		"a webhook with side effects": {apierrors.NewBadRequest(`admission webhook "jobs.example" does not support dry run`), nil},
	} {
		t.Run(name, func(t *testing.T) {
			v, _ := validatorOf(&apiServer{answer: func(context.Context, *batchv1.Job) error { return tc.answer }})
			found, err := v.ValidateCreate(t.Context(), builders.MakeCronJob("c").Namespace("ns").Obj())
			require.NoError(t, err)
			assert.Equal(t, tc.want, found)
		})
	}
}

func TestAnAPIServerThatHangsDelaysARequestByFarLessThanTheWebhookMayTake(t *testing.T) {
	v, _ := validatorOf(&apiServer{answer: func(ctx context.Context, _ *batchv1.Job) error {
		deadline, ok := ctx.Deadline()
		assert.True(t, ok)
		assert.LessOrEqual(t, time.Until(deadline), 5*time.Second, "the half of timeoutSeconds")
		return context.DeadlineExceeded
	}})
	_, err := v.ValidateCreate(t.Context(), wrong())
	require.NoError(t, err)
	_, err = v.ValidateUpdate(t.Context(), wrong("spec.a"), wrong())
	require.NoError(t, err)
}

func TestTheJobThatIsTriedIsTheTicksButForItsNameAndOwner(t *testing.T) {
	server := &apiServer{answer: validation}
	v, _ := validatorOf(server)
	c := builders.MakeCronJob(strings.Repeat("n", 52)).Namespace("ns").Obj()
	c.Spec.JobTemplate.Labels = map[string]string{"a": "b"}
	_, err := v.ValidateCreate(t.Context(), c)
	require.NoError(t, err)
	require.Len(t, server.tried, 1)
	job := server.tried[0]
	assert.Equal(t, "ns", job.Namespace)
	assert.Empty(t, job.Name)
	assert.NotEmpty(t, job.GenerateName)
	assert.Empty(t, job.OwnerReferences)
	assert.Equal(t, map[string]string{"a": "b"}, job.Labels)
	assert.Contains(t, job.Annotations, v1.ScheduledAtAnnotation)
	assert.Contains(t, job.Spec.Template.Annotations, v1.ScheduledAtAnnotation)
	assert.Equal(t, c.Spec.JobTemplate.Spec.Template.Spec, job.Spec.Template.Spec)
}

func TestATemplateThatWasAcceptedIsNotTriedAgainForAMinute(t *testing.T) {
	server := &apiServer{answer: validation}
	v, clock := validatorOf(server)
	create := func(c *v1.CronJob) {
		_, err := v.ValidateCreate(t.Context(), c)
		require.NoError(t, err)
	}
	create(wrong())
	create(builders.MakeCronJob("another").Namespace("ns").Schedule("@daily").Obj())
	require.Len(t, server.tried, 2, "another template: it has no annotation")
	other := wrong()
	other.Name, other.Spec.Schedule = "other", "@hourly"
	create(other)
	assert.Len(t, server.tried, 2, "the template is known")
	elsewhere := wrong()
	elsewhere.Namespace = "elsewhere"
	create(elsewhere)
	assert.Len(t, server.tried, 3, "what may be created depends on the namespace")
	clock.Step(acceptedFor + time.Second)
	create(wrong())
	assert.Len(t, server.tried, 4, "and on the time")

	t.Run("one that was refused is", func(t *testing.T) {
		server := &apiServer{answer: validation}
		v, _ := validatorOf(server)
		for range 2 {
			_, err := v.ValidateCreate(t.Context(), wrong("spec.a"))
			require.Error(t, err)
		}
		assert.Len(t, server.tried, 2)
	})
}

func TestTemplatesAreTriedOnlyWhereTheManagerStartsJobs(t *testing.T) {
	server := &apiServer{answer: validation, builtins: map[client.ObjectKey]error{{Namespace: "ns", Name: "c"}: nil}}
	v, _ := validatorOf(server, "elsewhere", "and-there")
	found, err := v.ValidateCreate(t.Context(), wrong("spec.a"))
	require.NoError(t, err)
	assert.Equal(t, admission.Warnings{unwatched("ns")}, found, "and nobody looked for a built-in CronJob")
	assert.Empty(t, server.tried)
	there := wrong("spec.a")
	there.Namespace = "and-there"
	_, err = v.ValidateCreate(t.Context(), there)
	assert.Error(t, err)
}

func TestAnUpdateIsRefusedOnlyForWhatItMakesWrong(t *testing.T) {
	suspended := func(c *v1.CronJob) *v1.CronJob { c.Spec.Suspend = new(true); return c }
	labelled := func(c *v1.CronJob) *v1.CronJob { c.Labels = map[string]string{"a": "b"}; return c }
	withoutFinalizer := func(c *v1.CronJob) *v1.CronJob { c.DeletionTimestamp = &metav1.Time{}; c.Finalizers = nil; return c }
	for name, tc := range map[string]struct {
		before, after *v1.CronJob
		wantErr       string
		wantTried     int
	}{
		"a template that turns bad":         {wrong(), wrong("spec.a"), "spec.jobTemplate.spec.a: ", 2},
		"a template that is mended":         {wrong("spec.a"), wrong(), "", 1},
		"a bad template that turns worse":   {wrong("spec.a"), wrong("spec.a", "spec.b"), "spec.jobTemplate.spec.b: ", 2},
		"a bad template, edited elsewhere":  {wrong("spec.a", "spec.b"), wrong("spec.a"), "", 2},
		"a bad template, suspended":         {wrong("spec.a"), suspended(wrong("spec.a")), "", 0},
		"a bad template, labelled":          {wrong("spec.a"), labelled(wrong("spec.a")), "", 0},
		"a bad template, on its way out":    {wrong(), withoutFinalizer(wrong("spec.a")), "", 0},
		"a good template, another schedule": {wrong(), suspended(wrong()), "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			server := &apiServer{answer: validation}
			v, _ := validatorOf(server)
			_, err := v.ValidateUpdate(t.Context(), tc.before, tc.after)
			assert.Len(t, server.tried, tc.wantTried)
			if tc.wantErr == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tc.wantErr)
			assert.NotContains(t, strings.ReplaceAll(err.Error(), tc.wantErr, ""), "spec.jobTemplate", "one mistake alone")
		})
	}
}

// The API server finds a mistake in the new template, and answers about the stored one as it can.
func TestAMistakeThatMayBeStoredIsNoReasonToRefuseAnUpdate(t *testing.T) {
	jobs := schema.GroupResource{Group: "batch", Resource: "jobs"}
	warned := admission.Warnings{"spec.jobTemplate.spec.a: Required value: so it is: " +
		"not refused, as the stored template could not be checked, and may have the same mistake"}
	for name, tc := range map[string]struct {
		aboutStored error
		wantRefused bool
	}{
		"no answer":           {context.DeadlineExceeded, false},
		"too much to do":      {apierrors.NewTooManyRequests("busy", 1), false},
		"a failure":           {apierrors.NewInternalError(errors.New("failed calling webhook")), false},
		"a time-out":          {apierrors.NewTimeoutError("late", 1), false},
		"it has no mistake":   {nil, true},
		"a quota, after that": {apierrors.NewForbidden(jobs, "x", errors.New("exceeded quota: q")), true},
	} {
		t.Run(name, func(t *testing.T) {
			v, _ := validatorOf(&apiServer{answer: func(ctx context.Context, job *batchv1.Job) error {
				if job.Labels["stored"] != "" {
					return tc.aboutStored
				}
				return validation(ctx, job)
			}})
			stored := wrong("spec.a")
			stored.Spec.JobTemplate.Labels = map[string]string{"stored": "yes"}
			found, err := v.ValidateUpdate(t.Context(), stored, wrong("spec.a"))
			if tc.wantRefused {
				assert.ErrorContains(t, err, "spec.jobTemplate.spec.a: ")
				return
			}
			require.NoError(t, err)
			assert.Equal(t, warned, found)
		})
	}
}

func TestTheAPIServersWarningsAboutJobsReachTheUser(t *testing.T) {
	answer := func(ctx context.Context, _ *batchv1.Job) error {
		for _, text := range []string{"would violate PodSecurity \"restricted:latest\"", "spec.template.spec.containers[0].env[1]: hides X"} {
			warningCollector{}.HandleWarningHeaderWithContext(ctx, 299, "-", text)
		}
		warningCollector{}.HandleWarningHeaderWithContext(ctx, 199, "-", "another code")
		return nil
	}
	server := &apiServer{answer: answer}
	v, _ := validatorOf(server)
	want := admission.Warnings{
		`spec.jobTemplate: would violate PodSecurity "restricted:latest"`,
		"spec.jobTemplate.spec.template.spec.containers[0].env[1]: hides X",
	}
	for range 2 {
		found, err := v.ValidateCreate(t.Context(), wrong())
		require.NoError(t, err)
		assert.Equal(t, want, found)
	}
	assert.Len(t, server.tried, 1, "also when the template is known")
	warningCollector{}.HandleWarningHeaderWithContext(t.Context(), 299, "-", "for nobody")
}

func BenchmarkATemplateThatIsKnown(b *testing.B) {
	v, _ := validatorOf(&apiServer{answer: validation})
	c := wrong()
	for b.Loop() {
		if _, err := v.ValidateCreate(b.Context(), c); err != nil {
			b.Fatal(err)
		}
	}
}
