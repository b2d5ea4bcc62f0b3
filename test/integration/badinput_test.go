// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/plan"
	"tutorial.kubebuilder.io/project/test/localcluster"
)

// large is how many bytes of arguments a large CronJob has: etcd takes 1.5 MiB in all.
const large = 1_400_000

// largeCronJob begins a CronJob that is about as large as can be stored.
func (s *space) largeCronJob(name, schedule string) *v1.CronJob {
	c := s.cronJob(name).Schedule(schedule).Obj()
	c.Spec.JobTemplate.Spec.Template.Spec.Containers[0].Args = []string{strings.Repeat("x", large)}
	return c
}

func TestALargeCronJobRuns(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.endJobs(batchv1.JobComplete)
	s.create(s.largeCronJob("c", "@every 5s"))
	job := s.awaitJobs("c", 1)[0]
	assert.Len(t, job.Spec.Template.Spec.Containers[0].Args[0], large)
	s.eventually(func() bool { return s.get("c").Status.LastSuccessfulTime != nil }, "its status is not written")
}

func TestALargeCronJobConverts(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(s.largeCronJob("c", "@hourly"))
	require.NoError(t, s.Client.Patch(t.Context(), s.object("v2", "c"),
		client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"touched":"in-v2"}},"spec":{"suspend":true}}`))))
	c := s.awaitReady("c", metav1.ConditionTrue, v1.ReasonSuspended)
	assert.Len(t, c.Spec.JobTemplate.Spec.Template.Spec.Containers[0].Args[0], large)
	assert.Equal(t, "@hourly", c.Spec.Schedule)
}

func TestACronJobOfTheLongestNameRunsAndALongerOneSaysWhyItCanNot(t *testing.T) {
	t.Parallel()
	s := newSpaceOn(t, shared, map[string]string{webhooksLabel: webhooksOff})
	longest, tooLong := strings.Repeat("n", 52), strings.Repeat("n", 53)
	for _, name := range []string{longest, tooLong} {
		s.create(s.cronJob(name).Schedule("@every 1s").Obj())
	}
	assert.Len(t, s.awaitJobs(longest, 1)[0].Name, 63)
	c := s.awaitReady(tooLong, metav1.ConditionFalse, v1.ReasonJobCreationFailed)
	assert.Contains(t, c.Status.Conditions[0].Message, "must be no more than 63")
	s.eventually(func() bool { return len(s.events(tooLong, plan.EventFailedCreate)) > 0 }, "nothing is said about it")
	assert.Empty(t, s.jobs(tooLong))
	s.awaitRuns(longest, 2)
}

func TestATemplateThatLeavesNoRoomForTheTickIsRefused(t *testing.T) {
	t.Parallel()
	const most = 256 << 10 // of all annotations of an object
	s := newSpace(t)
	for name, test := range map[string]struct {
		bytes  int
		wantOK bool
	}{
		"room": {250 << 10, true}, "no-room": {most - len("a"), false},
	} {
		c := s.cronJob(name).Schedule("@every 1s").Obj()
		c.Spec.JobTemplate.Annotations = map[string]string{"a": strings.Repeat("x", test.bytes)}
		err := s.Client.Create(t.Context(), c)
		if !test.wantOK {
			assertTemplateRefused(t, "spec.jobTemplate.metadata.annotations: Too long: ", err)
			continue
		}
		require.NoError(t, err)
		s.awaitJobs(name, 1)
	}
}

// strangeSchedules are not schedules, with what they are refused for, in v1 and as a minute of v2.
var strangeSchedules = map[string]struct{ text, wantV1, wantV2 string }{
	"10,000 characters": {
		strings.Repeat("1,", 5_000) + " * * * *", "spec.schedule: Too long: may not be more than 1024", "spec.schedule.minute: Too long: may not be more than 1024",
	},
	"digits of another script": {"٣ * * * *", `spec.schedule: Invalid value: "٣ * * * *": not a schedule`, "spec.schedule.minute: Invalid value"},
	"a star that is none":      {"＊ * * * *", `spec.schedule: Invalid value: "＊ * * * *": not a schedule`, "spec.schedule.minute: Invalid value"},
	"text from right to left":  {"\u202e* * * * *", "not a schedule", "spec.schedule.minute: Invalid value"},
	"nothing that is seen":     {"\u200b", "not a schedule", "spec.schedule.minute: Invalid value"},
	"an emoji":                 {"⏰ * * * *", "not a schedule", "spec.schedule.minute: Invalid value"},
	"a byte of zero":           {"0\x00 * * * *", "not a schedule", "spec.schedule.minute: Invalid value"},
	"a huge number":            {"99999999999999999999 * * * *", "not a schedule", "spec.schedule.minute: Invalid value"},
	"a step of nothing":        {"*/0 * * * *", "not a schedule: minute \"*/0\": must be a minute from 0 to 59", "spec.schedule.minute: Invalid value"},
}

func TestStrangeSchedulesAreRefusedWithAClearMessage(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	for name, test := range strangeSchedules {
		t.Run(name, func(t *testing.T) {
			inV1 := s.object("v1", "c", jobTemplate)
			inV1.Object["spec"].(map[string]any)["schedule"] = test.text
			inV2 := s.object("v2", "c", jobTemplate)
			minute, _, _ := strings.Cut(test.text, " ")
			inV2.Object["spec"].(map[string]any)["schedule"] = map[string]any{"minute": minute}
			assert.ErrorContains(t, s.Client.Create(t.Context(), inV1), test.wantV1)
			assert.ErrorContains(t, s.Client.Create(t.Context(), inV2), test.wantV2)
		})
	}
}

// wrongTypes are specs whose members have no value that they could have, and what is said about
// each, which is the same in both versions.
var wrongTypes = map[string]struct{ spec, want string }{
	"a schedule that is a number":    {`schedule: 5`, `spec.schedule: Invalid value`},
	"a schedule that is a list":      {`schedule: ["0"]`, `spec.schedule: Invalid value`},
	"a time zone that is a number":   {`timeZone: 7`, `spec.timeZone: Invalid value`},
	"a deadline of letters":          {`startingDeadlineSeconds: "10"`, `spec.startingDeadlineSeconds: Invalid value`},
	"a deadline beyond 64 bits":      {`startingDeadlineSeconds: 1e30`, `spec.startingDeadlineSeconds: Invalid value`},
	"a policy that is an object":     {`concurrencyPolicy: {}`, `spec.concurrencyPolicy: Invalid value`},
	"suspended of letters":           {`suspend: "yes"`, `spec.suspend: Invalid value`},
	"a limit of half a Job":          {`successfulJobsHistoryLimit: 0.5`, `spec.successfulJobsHistoryLimit: Invalid value`},
	"a limit beyond 32 bits":         {`failedJobsHistoryLimit: 4294967296`, beyond32Bits},
	"a template that is a list":      {`jobTemplate: []`, `spec.jobTemplate: Invalid value`},
	"a template of a list":           {`jobTemplate: {spec: {template: []}}`, `spec.jobTemplate.spec.template: Invalid value`},
	"a label of the Job as a number": {`jobTemplate: {metadata: {labels: {a: 5}}, spec: {template: {spec: {containers: []}}}}`, `spec.jobTemplate.metadata`},
}

// beyond32Bits is what the API server says of a number beyond 32 bits. Before 1.36, the webhook
// refuses it.
const beyond32Bits = `must be of type integer with format int32 in spec.failedJobsHistoryLimit`

func TestAMemberOfAnotherTypeIsRefusedByItsName(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	isOld := s.isOlderThan(t, "1.36")
	for name, test := range wrongTypes {
		if isOld && test.want == beyond32Bits {
			test.want = "cannot unmarshal number 4294967296 into Go struct field CronJobSpec.spec.failedJobsHistoryLimit"
		}
		for version := range yearly {
			t.Run(name+" in "+version, func(t *testing.T) {
				err := s.Client.Create(t.Context(), s.object(version, "c", yearly[version], jobTemplate, test.spec))
				assert.ErrorContains(t, err, test.want)
			})
		}
	}
}

// TestA5MetadataOfAStoredCronJobWithoutDefaultsCanBeEditedThoughItsSpecIsInvalid stores one that
// breaks a rule on several fields: the API server lets only a spec that stays the same break it.
func TestA5MetadataOfAStoredCronJobWithoutDefaultsCanBeEditedThoughItsSpecIsInvalid(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	for version := range yearly {
		c := cronJobsIn(version) + "/c"
		s.storeRaw("c", `{"schedule":"0 0 1 1 *","catchUpLimit":5}`)
		s.kubectl(t, "label", "-n", s.ns, c, "touched=yes")
		s.kubectl(t, "annotate", "-n", s.ns, c, "touched=yes")
		s.kubectl(t, "patch", "-n", s.ns, c, "--type=merge", "-p", `{"metadata":{"finalizers":["test.example/held"]}}`)
		s.kubectl(t, "delete", "-n", s.ns, c, "--wait=false")
		s.kubectl(t, "patch", "-n", s.ns, c, "--type=merge", "-p", `{"metadata":{"finalizers":null}}`)
		assert.Empty(t, s.kubectl(t, "get", "-n", s.ns, c, "--ignore-not-found"))
	}
}

// storeRaw stores a CronJob of a spec that the schema does not let in: past the API server, in
// etcd.
func (s *space) storeRaw(name, spec string) {
	s.t.Helper()
	object := fmt.Sprintf(`{"apiVersion":"batch.tutorial.kubebuilder.io/v1","kind":"CronJob","metadata":{"name":%q,"namespace":%q,`+
		`"uid":"raw","generation":1,"creationTimestamp":"2026-01-01T00:00:00Z"},"spec":%s}`, name, s.ns, spec)
	body, err := json.Marshal(map[string][]byte{
		"key":   []byte("/registry/batch.tutorial.kubebuilder.io/cronjobs/" + s.ns + "/" + name),
		"value": []byte(object),
	})
	require.NoError(s.t, err)
	response, err := http.Post(s.EtcdURL+"/v3/kv/put", "application/json", bytes.NewReader(body))
	require.NoError(s.t, err)
	require.NoError(s.t, response.Body.Close())
	require.Equal(s.t, http.StatusOK, response.StatusCode)
}

// nested returns JSON of objects in objects.
func nested(depth int) string {
	return strings.Repeat(`{"a":`, depth) + "1" + strings.Repeat("}", depth)
}

// reviewOf asks for so many CronJobs with a member of their spec to be converted to v2.
func reviewOf(count int, member string) string {
	object := `{"apiVersion":"batch.tutorial.kubebuilder.io/v1","kind":"CronJob","metadata":{"name":"c"},"spec":{"schedule":"@hourly","a":` + member + `}}`
	return `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","request":{"uid":"u","desiredAPIVersion":` +
		`"batch.tutorial.kubebuilder.io/v2","objects":[` + strings.TrimSuffix(strings.Repeat(object+",", count), ",") + `]}}`
}

// admissionOf asks about a CronJob with a member of its spec.
func admissionOf(member string) string {
	return `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","operation":"CREATE",` +
		`"object":{"apiVersion":"batch.tutorial.kubebuilder.io/v1","kind":"CronJob","metadata":{"name":"c"},"spec":{` + member + `}}}}`
}

// strangeBodies are sent to the webhooks, by path. The JSON library begins some errors with "cannot"
// or "unable to", and each process picks one at random: a wanted answer has neither.
var strangeBodies = map[string]map[string]struct {
	body       string
	wantStatus int
	wantAnswer string
}{
	"/convert": {
		"cut off":              {reviewOf(1, "1")[:100], http.StatusBadRequest, "reading the ConversionReview: jsontext: unexpected EOF"},
		"no JSON":              {"\x00\xff\x1f\x8b", http.StatusBadRequest, "reading the ConversionReview: jsontext: invalid character"},
		"of another type":      {`{"request":{"uid":5}}`, http.StatusBadRequest, "unmarshal JSON number into Go types.UID within \"/request/uid\""},
		"nested deeply":        {reviewOf(1, nested(9_000)), http.StatusOK, `"status":"Success"`},
		"nested too deeply":    {reviewOf(1, nested(1_000_000)), http.StatusBadRequest, "exceeded max depth"},
		"10,000 objects":       {reviewOf(10_000, "1"), http.StatusOK, `"status":"Success"`},
		"10,000 that are none": {strings.Replace(reviewOf(10_000, "1"), "CronJob", "Pod", 1), http.StatusOK, `object 0: converting kind \"Pod\": want CronJob`},
		"as large as may be":   {reviewOf(5, `"`+strings.Repeat("x", 1_600_000)+`"`), http.StatusOK, `"status":"Success"`},
	},
	"/mutate-batch-tutorial-kubebuilder-io-v1-cronjob": {
		"cut off":           {admissionOf("")[:100], http.StatusOK, `"allowed":false`},
		"nested too deeply": {admissionOf(`"a":` + nested(1_000_000)), http.StatusOK, `"allowed":false`},
	},
	"/validate-batch-tutorial-kubebuilder-io-v1-cronjob": {
		"cut off":           {admissionOf("")[:100], http.StatusOK, `"allowed":false`},
		"of another type":   {admissionOf(`"schedule":{"minute":0}`), http.StatusOK, "spec.schedule"},
		"nested too deeply": {admissionOf(`"a":` + nested(1_000_000)), http.StatusOK, `"allowed":false`},
		"as large as may be": {
			admissionOf(`"schedule":"` + strings.Repeat("1,", 3_000_000) + `"`), http.StatusOK, "longer than 1024 characters",
		},
	},
}

// memoryLimit is that of config/manager, in bytes.
const memoryLimit = 512 << 20

func TestWhateverIsSentToTheWebhooksIsAnsweredClearlyAndInBoundedMemory(t *testing.T) {
	t.Parallel()
	port, err := localcluster.FreePort()
	require.NoError(t, err)
	m := newSpace(t).ownManager("--enable-webhooks", "--webhook-cert-path="+shared.WebhookCertDir, fmt.Sprintf("--webhook-port=%d", port),
		fmt.Sprintf("--memory-limit=%d", memoryLimit))
	require.NoError(t, m.startReady(t.Context()))
	for path, tests := range strangeBodies {
		for name, test := range tests {
			var senders sync.WaitGroup
			for range 2 { // as many large bodies as the manager takes at once
				senders.Go(func() {
					status, answer := post(t, fmt.Sprintf("https://127.0.0.1:%d%s", port, path), test.body)
					assert.Equal(t, test.wantStatus, status, "%s: %s", path, name)
					assert.Contains(t, answer, test.wantAnswer, "%s: %s", path, name)
				})
			}
			senders.Wait()
		}
	}
	assert.NotContains(t, m.log(), "panic")
	if runtime.GOOS == "linux" && !withRaceDetector() {
		assert.Less(t, mostMemory(t, m.PID()), memoryLimit)
	}
}

// mostMemory returns the most memory, in bytes, that a process has had so far.
func mostMemory(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	require.NoError(t, err)
	found := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)
	require.NotNil(t, found)
	kilobytes, err := strconv.Atoi(string(found[1]))
	require.NoError(t, err)
	return kilobytes << 10
}
