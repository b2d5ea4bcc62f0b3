// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/env"
	"tutorial.kubebuilder.io/project/internal/plan"
	"tutorial.kubebuilder.io/project/test/builders"
)

func TestAJobStartedByHandIsOwnedAndIsNoTicks(t *testing.T) {
	now := time.Date(2027, 6, 1, 14, 30, 5, 0, time.FixedZone("", 2*60*60))
	c := builders.MakeCronJob("c").Obj()
	stray := map[string]string{v1.ScheduledAtAnnotation: "2027-01-01T00:00:00Z", "note": "kept"}
	c.Spec.JobTemplate.Annotations = stray
	c.Spec.JobTemplate.Spec.Template.Annotations = stray
	c.Spec.JobTemplate.Labels = map[string]string{"app": "c"}
	job := newJob(c, now)
	assert.True(t, metav1.IsControlledBy(job, c))
	_, isTicks := plan.TickOf(job)
	assert.False(t, isTicks, "%v", job.Annotations)
	assert.Equal(t, map[string]string{"cronjob.kubernetes.io/instantiate": "manual", v1.TriggerAnnotation: "Manual", "note": "kept"}, job.Annotations)
	assert.Equal(t, map[string]string{v1.ScheduledAtAnnotation: "2027-06-01T12:30:05Z", v1.TriggerAnnotation: "Manual", "note": "kept"},
		job.Spec.Template.Annotations,
		"its Pods read when they were started where those of a tick read their tick")
	assert.Equal(t, map[string]string{"app": "c"}, job.Labels)
	assert.Nil(t, job.OwnerReferences[0].BlockOwnerDeletion)
	assert.Equal(t, "2027-01-01T00:00:00Z", c.Spec.JobTemplate.Annotations[v1.ScheduledAtAnnotation], "the CronJob is left alone")
}

func TestOneRunHasOtherArgumentsAndVariables(t *testing.T) {
	value := func(name, value string) corev1.EnvVar { return corev1.EnvVar{Name: name, Value: value} }
	for name, tc := range map[string]struct {
		override  override
		sidecar   bool
		want      corev1.Container
		wantError string
	}{
		"nothing":              {want: corev1.Container{Name: "main", Args: []string{"old"}, Env: []corev1.EnvVar{value("A", "1"), value("B", "2")}}},
		"arguments":            {override: override{args: []string{"new"}}, want: corev1.Container{Name: "main", Args: []string{"new"}, Env: []corev1.EnvVar{value("A", "1"), value("B", "2")}}},
		"variables":            {override: override{env: []string{"C=3", "A=", "C=4"}}, want: corev1.Container{Name: "main", Args: []string{"old"}, Env: []corev1.EnvVar{value("A", ""), value("B", "2"), value("C", "4")}}},
		"of the one named":     {sidecar: true, override: override{container: "main", args: []string{"new"}}, want: corev1.Container{Name: "main", Args: []string{"new"}, Env: []corev1.EnvVar{value("A", "1"), value("B", "2")}}},
		"of one of several":    {sidecar: true, override: override{args: []string{"new"}}, wantError: "name one of them with --container: main, sidecar"},
		"of one there is not":  {override: override{container: "x", env: []string{"A=1"}}, wantError: `--container "x" is not a container of the Pods: they have main`},
		"a sidecar is as good": {sidecar: true, want: corev1.Container{Name: "main", Args: []string{"old"}, Env: []corev1.EnvVar{value("A", "1"), value("B", "2")}}},
	} {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Args: []string{"old"}, Env: []corev1.EnvVar{value("A", "1"), value("B", "2")}}}}
			if tc.sidecar {
				pod.Containers = append(pod.Containers, corev1.Container{Name: "sidecar"})
			}
			err := tc.override.apply(pod)
			if tc.wantError != "" {
				assert.ErrorContains(t, err, tc.wantError)
				return
			}
			assert.NoError(t, err)
			assert.Equal(t, tc.want, pod.Containers[0])
		})
	}
}

func TestTheNameIsAJobsWhateverTheCronJobIsCalled(t *testing.T) {
	for _, owner := range []string{
		"c", strings.Repeat("a", 52), strings.Repeat("a", 253), strings.Repeat("a.", 26), strings.Repeat("a-", 100) + "a",
	} {
		cronJob := builders.MakeCronJob(owner).Obj()
		name := newJob(cronJob, time.Now()).Name
		assert.Empty(t, validation.IsDNS1123Subdomain(name), name)
		assert.LessOrEqual(t, len(name), 63, name)
		assert.Regexp(t, `^a?c?.*-manual-[a-z0-9]{5}$`, name)
		assert.NotEqual(t, name, newJob(cronJob, time.Now()).Name, "two runs have two names")
	}
}

func TestTheExitCodeTellsWhatBecameOfTheJob(t *testing.T) {
	c := builders.MakeCronJob("c").Obj()
	tick := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	running := builders.MakeJob(c, tick).Obj()
	failed := builders.MakeJob(c, tick).Failed(tick).Obj()
	failed.Status.Conditions[0].Reason, failed.Status.Conditions[0].Message = "DeadlineExceeded", "It took too long."
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, tc := range map[string]struct {
		ctx, waiting context.Context
		ended        *batchv1.Job
		err          error
		wantCode     int
		want         string
	}{
		"completed":   {ended: builders.MakeJob(c, tick).Succeeded(tick).Obj()},
		"failed":      {ended: failed, wantCode: 1, want: "failed: DeadlineExceeded: It took too long."},
		"deleted":     {err: errGone, wantCode: 1, want: "was deleted"},
		"timed out":   {waiting: ended, err: errors.New("x"), wantCode: 1, want: "has not ended after 5s; it runs on"},
		"interrupted": {ctx: ended, waiting: ended, err: errors.New("x"), wantCode: 130, want: "runs on: kubectl logs -n default -f job/c-1798761600"},
	} {
		t.Run(name, func(t *testing.T) {
			streams, _, _, _ := genericiooptions.NewTestIOStreams()
			cmd := &command{Env: env.New(streams), timeout: 5 * time.Second, print: genericclioptions.NewPrintFlags("")}
			if tc.ctx == nil {
				tc.ctx = t.Context()
			}
			if tc.waiting == nil {
				tc.waiting = t.Context()
			}
			err := cmd.verdict(tc.ctx, tc.waiting, running, tc.ended, tc.err)
			assert.Equal(t, tc.wantCode, env.ExitCode(err))
			if tc.want != "" {
				assert.ErrorContains(t, err, tc.want)
			}
		})
	}
}

func TestAJobThatTheWatchDoesNotKnowYetIsNotTakenForDeleted(t *testing.T) {
	tick := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	running := builders.MakeJob(builders.MakeCronJob("c").Obj(), tick).Obj()
	ended := builders.MakeJob(builders.MakeCronJob("c").Obj(), tick).Succeeded(tick).Obj()
	running.TypeMeta = metav1.TypeMeta{APIVersion: "batch/v1", Kind: "Job"}
	ended.TypeMeta = running.TypeMeta
	for name, wantErr := range map[string]error{"it is there": nil, "it was deleted": errGone} {
		t.Run(name, func(t *testing.T) {
			known := make(chan struct{})
			answer := func(w http.ResponseWriter, object any) {
				w.Header().Set("Content-Type", "application/json")
				assert.NoError(t, json.NewEncoder(w).Encode(object))
			}
			mux := http.NewServeMux()
			const jobs = "/apis/batch/v1/namespaces/default/jobs"
			mux.HandleFunc("GET "+jobs, func(w http.ResponseWriter, r *http.Request) {
				switch query := r.URL.Query(); {
				case query.Get("sendInitialEvents") != "": // as of an API server that does not know it
					http.Error(w, "", http.StatusUnprocessableEntity)
				case query.Get("watch") == "": // from a cache that is behind
					answer(w, &batchv1.JobList{
						TypeMeta: metav1.TypeMeta{APIVersion: "batch/v1", Kind: "JobList"}, ListMeta: metav1.ListMeta{ResourceVersion: "1"},
					})
				default:
					select {
					case <-known:
						answer(w, metav1.WatchEvent{Type: string(watch.Added), Object: runtime.RawExtension{Object: ended}})
					case <-r.Context().Done():
					}
				}
			})
			mux.HandleFunc("GET "+jobs+"/"+running.Name, func(w http.ResponseWriter, r *http.Request) {
				if wantErr != nil {
					http.NotFound(w, r)
					return
				}
				answer(w, running)
				close(known)
			})
			server := httptest.NewServer(mux)
			defer server.Close()
			cluster, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL})
			require.NoError(t, err)
			_, err = awaitEnd(t.Context(), cluster, running)
			assert.ErrorIs(t, err, wantErr)
		})
	}
}

func TestLogsOfSeveralContainersSayWhoseTheyAre(t *testing.T) {
	for name, tc := range map[string]struct {
		prefixed bool
		want     string
	}{
		"one alone does not": {false, "one\ntwo"},
		"several do":         {true, "[pod/p/main] one\n[pod/p/main] two\n"},
	} {
		t.Run(name, func(t *testing.T) {
			out := &bytes.Buffer{}
			f := &follower{prefixed: tc.prefixed, out: out}
			assert.NoError(t, f.copy(strings.NewReader("one\ntwo"), "pod/p/main"))
			assert.Equal(t, tc.want, out.String())
		})
	}
}

func TestDryRunSaysThatItIsOne(t *testing.T) {
	for value, want := range map[cronjobs.DryRun]string{
		cronjobs.DryRunNone: "created", cronjobs.DryRunClient: "created (dry run)", cronjobs.DryRunServer: "created (server dry run)",
	} {
		assert.Equal(t, want, value.Done("created"))
	}
}
