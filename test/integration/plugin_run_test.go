// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/env"
	suspendcli "tutorial.kubebuilder.io/project/internal/cli/suspend"
	"tutorial.kubebuilder.io/project/internal/plan"
)

const instantiateAnnotation = "cronjob.kubernetes.io/instantiate"

// pluginRun is a command of the plugin, in the namespace of a test.
type pluginRun struct {
	t           *testing.T
	out, errOut lockedBuffer
	err         error
	done        chan struct{}
}

// plugin runs a command of the plugin as administrator, and returns when it has ended.
func (s *space) plugin(args ...string) *pluginRun {
	s.t.Helper()
	return s.startPlugin(s.t.Context(), args...).wait()
}

// startPlugin starts a command of the plugin.
func (s *space) startPlugin(ctx context.Context, args ...string) *pluginRun {
	p := &pluginRun{t: s.t, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.err = s.runPlugin(ctx, &p.out, &p.errOut, append([]string{"--namespace=" + s.ns}, args...)...)
	}()
	return p
}

// wait waits until the command has ended.
func (p *pluginRun) wait() *pluginRun {
	<-p.done
	return p
}

// succeeds checks that the command did what it was asked to, and returns what it printed.
func (p *pluginRun) succeeds() string {
	p.t.Helper()
	require.NoError(p.t, p.err, "%s%s", p.out.String(), p.errOut.String())
	return p.out.String()
}

// fails checks that the command ended with an error and a code, and returns all that it said.
func (p *pluginRun) fails(code int) string {
	p.t.Helper()
	require.Error(p.t, p.err, "%s", p.out.String())
	assert.Equal(p.t, code, env.ExitCode(p.err))
	return p.out.String() + p.errOut.String() + p.err.Error()
}

// eachWay runs a test with both versions served and webhooks, and with v1 alone.
func eachWay(t *testing.T, test func(s *space)) {
	t.Helper()
	t.Run("with both versions", func(t *testing.T) {
		t.Parallel()
		test(newSpace(t))
	})
	t.Run("with v1 alone", func(t *testing.T) {
		t.Parallel()
		s := newSpaceOn(t, plainControlPlane(t), nil)
		s.startOwnManager()
		test(s)
	})
}

// runNow starts a Job by hand with the plugin, and returns it.
func (s *space) runNow(name string, args ...string) *batchv1.Job {
	s.t.Helper()
	out := s.plugin(append([]string{"run", name, "-o", "name"}, args...)...).succeeds()
	jobName, ok := strings.CutPrefix(strings.TrimSpace(out), "job.batch/")
	require.True(s.t, ok, out)
	job := &batchv1.Job{}
	require.NoError(s.t, s.Client.Get(s.t.Context(), s.key(jobName), job))
	return job
}

// activeNames returns the Jobs that the status says run.
func (s *space) activeNames(name string) []string {
	s.t.Helper()
	var names []string
	for _, ref := range s.get(name).Status.Active {
		names = append(names, ref.Name)
	}
	return names
}

func TestPluginRunStartsAJobThatTheStatusTellsOfAndTheHistoryLimitsDoNotCount(t *testing.T) {
	t.Parallel()
	eachWay(t, func(s *space) {
		s.create(s.cronJob("c").Schedule(nextYear).History(0, 0).Obj())
		before := s.awaitReady("c", metav1.ConditionTrue, v1.ReasonScheduled)
		first := s.runNow("c")
		assert.True(s.t, metav1.IsControlledBy(first, before))
		assert.Equal(s.t, map[string]string{instantiateAnnotation: "manual", v1.TriggerAnnotation: "Manual"}, first.Annotations)
		assert.Contains(s.t, first.Spec.Template.Annotations, v1.ScheduledAtAnnotation, "its Pods read when they were started")
		assert.Regexp(s.t, `^c-manual-[a-z0-9]{5}$`, first.Name)
		s.eventually(func() bool { return len(s.activeNames("c")) == 1 }, "it is not counted as active")
		assert.Equal(s.t, []string{first.Name}, s.activeNames("c"))

		s.end(first, batchv1.JobComplete)
		s.eventually(func() bool { return len(s.activeNames("c")) == 0 }, "it is still counted as active")
		// Which of two is the newer is told by the second.
		s.eventually(func() bool { return time.Now().Unix() > first.CreationTimestamp.Unix() }, "time stands still")
		second := s.runNow("cronjob.batch.tutorial.kubebuilder.io/c")
		s.end(second, batchv1.JobComplete)
		s.eventually(func() bool {
			runs := s.get("c").Status.RecentRuns
			return len(runs) == 2 && runs[0].JobName == second.Name && runs[0].Result == v1.RunSucceeded
		}, "the status does not tell of it")
		s.audit.settle(s.t, s.ns)
		assert.Len(s.t, s.jobs("c"), 2, "the history limits count it")

		after := s.get("c").Status
		assert.Equal(s.t, v1.TriggerManual, after.RecentRuns[0].Trigger)
		assert.Nil(s.t, after.LastScheduleTime, "it was no tick")
		assert.NotNil(s.t, after.LastSuccessfulTime)
		assert.Equal(s.t, before.Status.NextScheduleTime, after.NextScheduleTime)
		assert.Empty(s.t, s.events("c", plan.EventMissSchedule))
	})
}

func TestPluginRunTakesNoTicksPlace(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.watchLastScheduleTime("c")
	s.endJobs(batchv1.JobComplete)
	s.create(s.cronJob("c").Schedule("@every 1s").History(100, 100).Obj())
	s.awaitJobs("c", 2)
	manual := s.runNow("c")
	s.awaitJobs("c", 6)
	s.edit("c", suspend)
	s.awaitReady("c", metav1.ConditionTrue, v1.ReasonSuspended)
	var ticks []int64
	for _, job := range s.jobs("c") {
		if job.Name != manual.Name {
			ticks = append(ticks, tickOf(t, &job).Unix())
		}
	}
	reported := map[int64]bool{} // a machine with much to do may miss some all the same
	for _, tick := range s.missedTicks("c") {
		reported[tick.Unix()] = true
	}
	for i := range ticks[1:] {
		next := ticks[i] + 1
		assert.True(t, next == ticks[i+1] || reported[next], "a tick was left out after %d: %v", ticks[i], ticks)
	}
	assert.Equal(t, ticks[len(ticks)-1], s.get("c").Status.LastScheduleTime.Unix())
	assert.Equal(t, []string{manual.Name}, s.activeNames("c"), "it runs on")
}

func TestPluginRunFollowsTheConcurrencyPolicy(t *testing.T) {
	t.Parallel()
	t.Run("Allow starts it beside the others", func(t *testing.T) {
		t.Parallel()
		s := newSpace(t)
		s.create(s.cronJob("c").Schedule(nextYear).Obj())
		s.runNow("c")
		s.runNow("c")
		assert.Len(t, s.jobs("c"), 2)
	})
	t.Run("Forbid refuses while one runs, unless forced", func(t *testing.T) {
		t.Parallel()
		s := newSpace(t)
		s.create(s.cronJob("c").Schedule(nextYear).Policy(v1.ForbidConcurrent).Obj())
		first := s.runNow("c")
		assert.Contains(t, s.plugin("run", "c").fails(1), "is Forbid, and job.batch/"+first.Name+" runs: wait until it has ended, or use --force")
		assert.Contains(t, s.plugin("run", "c", "--dry-run=client").fails(1), "is Forbid")
		assert.Len(t, s.jobs("c"), 1)
		s.runNow("c", "--force")
		assert.Len(t, s.jobs("c"), 2)
		for _, job := range s.jobs("c") {
			s.end(&job, batchv1.JobComplete)
		}
		s.runNow("c")
	})
	t.Run("Allow refuses while as many run as maxConcurrency says, unless forced", func(t *testing.T) {
		t.Parallel()
		s := newSpace(t)
		s.create(s.cronJob("c").Schedule(nextYear).MaxConcurrency(2).Obj())
		s.runNow("c")
		s.runNow("c")
		assert.Contains(t, s.plugin("run", "c").fails(1), "maxConcurrency of CronJob c is 2, and 2 Jobs run: wait until fewer do, or use --force")
		s.runNow("c", "--force")
		assert.Len(t, s.jobs("c"), 3)
	})
	t.Run("Forbid lets the tick wait for it", func(t *testing.T) {
		t.Parallel()
		s := newSpace(t)
		s.create(s.cronJob("c").Schedule("@every 2s").Suspend(true).Policy(v1.ForbidConcurrent).Obj())
		s.awaitReady("c", metav1.ConditionTrue, v1.ReasonSuspended)
		manual := s.runNow("c")
		s.eventually(func() bool { return len(s.activeNames("c")) == 1 }, "it is not counted as active")
		s.plugin("resume", "c").succeeds()
		s.eventually(func() bool { return len(s.events("c", plan.EventJobAlreadyActive)) > 0 }, "no tick waits")
		assert.Contains(t, s.events("c", plan.EventJobAlreadyActive)[0].Note, manual.Name)
		assert.Len(t, s.jobs("c"), 1)
		s.end(manual, batchv1.JobFailed)
		s.awaitJobs("c", 2)
	})
	t.Run("Replace deletes those that run first", func(t *testing.T) {
		t.Parallel()
		s := newSpace(t)
		s.create(s.cronJob("c").Schedule(nextYear).Policy(v1.ReplaceConcurrent).Obj())
		first := s.runNow("c")
		for _, dryRun := range []string{"client", "server"} {
			out := s.plugin("run", "c", "--dry-run="+dryRun).succeeds()
			assert.Regexp(t, `^job\.batch/`+first.Name+` deleted \((server )?dry run\)\njob\.batch/c-manual-\w+ created \((server )?dry run\)\n$`, out)
		}
		require.Len(t, s.jobs("c"), 1)
		assert.Nil(t, s.jobs("c")[0].DeletionTimestamp)
		out := s.plugin("run", "c").succeeds()
		assert.Regexp(t, `^job\.batch/`+first.Name+` deleted\njob\.batch/c-manual-\w+ created\n$`, out)
		require.Len(t, s.jobs("c"), 1)
		assert.NotEqual(t, first.Name, s.jobs("c")[0].Name)
	})
	t.Run("Replace deletes nothing for a Job that would be refused", func(t *testing.T) {
		t.Parallel()
		s := newSpaceOn(t, shared, map[string]string{webhooksLabel: webhooksOff}) // which would refuse the template
		s.create(s.cronJob("c").Schedule(nextYear).Policy(v1.ReplaceConcurrent).Obj())
		first := s.runNow("c")
		s.edit("c", func(c *v1.CronJob) { c.Spec.JobTemplate.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyAlways })
		assert.Contains(t, s.plugin("run", "c").fails(1), "so nothing was replaced")
		assert.Equal(t, first.UID, s.jobs("c")[0].UID)
	})
}

func TestPluginRunStartsWhatIsSuspendedAndNotWhatIsBeingDeleted(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(s.cronJob("suspended").Suspend(true).Obj())
	s.runNow("suspended")
	deleted := s.cronJob("deleted").Schedule(nextYear).Obj()
	deleted.Finalizers = []string{"test.example/held"}
	s.create(deleted)
	s.delete("deleted")
	assert.Contains(t, s.plugin("run", "deleted").fails(1), "CronJob deleted is being deleted: it starts nothing any more")
	assert.Empty(t, s.jobs("deleted"))
	assert.Contains(t, s.plugin("run", "nobody").fails(1), `"nobody" not found`)
}

func TestPluginRunTriesItOnly(t *testing.T) {
	t.Parallel()
	eachWay(t, func(s *space) {
		s.create(s.cronJob("c").Schedule(nextYear).Obj())
		for _, dryRun := range []string{"client", "server"} {
			job := &batchv1.Job{}
			require.NoError(s.t, json.Unmarshal([]byte(s.plugin("run", "c", "--dry-run="+dryRun, "-o", "json").succeeds()), job))
			assert.Equal(s.t, "Job", job.Kind)
			assert.Equal(s.t, s.get("c").UID, metav1.GetControllerOf(job).UID)
			assert.Equal(s.t, dryRun == "server", job.Spec.Completions != nil, "the API server's defaults")
		}
		assert.Empty(s.t, s.jobs("c"))
	})
}

// runInBackground starts a Job by hand with the plugin, which then waits for it, and returns both.
func (s *space) runInBackground(ctx context.Context, name string, args ...string) (*pluginRun, *batchv1.Job) {
	s.t.Helper()
	before := map[string]bool{}
	for _, job := range s.jobs(name) {
		before[job.Name] = true
	}
	running := s.startPlugin(ctx, append([]string{"run", name}, args...)...)
	for _, job := range s.awaitJobs(name, len(before)+1) {
		if !before[job.Name] {
			return running, &job
		}
	}
	require.Fail(s.t, "the Job is gone")
	return nil, nil
}

func TestPluginRunWaitsForTheEnd(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	for _, name := range []string{"good", "bad", "gone", "slow", "interrupted"} {
		s.create(s.cronJob(name).Schedule(nextYear).Obj())
	}
	t.Run("0 when it has completed", func(t *testing.T) {
		running, job := s.runInBackground(t.Context(), "good", "--wait")
		s.end(job, batchv1.JobComplete)
		assert.Equal(t, fmt.Sprintf("job.batch/%[1]s created\njob.batch/%[1]s completed\n", job.Name), running.wait().succeeds())
	})
	t.Run("1 when it has failed", func(t *testing.T) {
		running, job := s.runInBackground(t.Context(), "bad", "--wait", "--timeout=1h")
		s.end(job, batchv1.JobFailed)
		assert.Contains(t, running.wait().fails(1), "job.batch/"+job.Name+" failed: Test: ")
	})
	t.Run("1 when it is gone", func(t *testing.T) {
		running, job := s.runInBackground(t.Context(), "gone", "--wait")
		require.NoError(t, s.Client.Delete(t.Context(), job, client.PropagationPolicy(metav1.DeletePropagationBackground)))
		assert.Contains(t, running.wait().fails(1), "waiting for job.batch/"+job.Name+": was deleted")
	})
	t.Run("1 when the time is over", func(t *testing.T) {
		running, job := s.runInBackground(t.Context(), "slow", "--wait", "--timeout=100ms")
		assert.Contains(t, running.wait().fails(1), "job.batch/"+job.Name+" has not ended after 100ms; it runs on")
		assert.Nil(t, s.jobs("slow")[0].DeletionTimestamp)
	})
	t.Run("130 when it is interrupted, and the Job runs on", func(t *testing.T) {
		for _, flag := range []string{"--wait", "--follow"} {
			ctx, interrupt := context.WithCancel(t.Context())
			running, job := s.runInBackground(ctx, "interrupted", flag)
			s.eventually(func() bool { return strings.Contains(running.out.String()+running.errOut.String(), " created\n") }, "it says nothing")
			interrupt()
			assert.Contains(t, running.wait().fails(130), "interrupted: job.batch/"+job.Name+" runs on: kubectl logs -n "+s.ns)
			require.NoError(t, s.Client.Get(t.Context(), client.ObjectKeyFromObject(job), job))
			assert.Nil(t, job.DeletionTimestamp)
		}
	})
}

// startKubelet makes a Node whose kubelet serves logs, and nothing else, and returns its name.
func (s *space) startKubelet(logs map[string]string) string {
	s.t.Helper()
	kubelet := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		log, ok := logs[strings.TrimPrefix(r.URL.Path, "/containerLogs/"+s.ns+"/")]
		if !ok {
			http.Error(w, "no such container: "+r.URL.Path, http.StatusNotFound)
			return
		}
		_, _ = io.WriteString(w, log)
	}))
	s.t.Cleanup(kubelet.Close)
	address, ok := kubelet.Listener.Addr().(*net.TCPAddr)
	require.True(s.t, ok)
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-of-" + s.ns}}
	s.create(node)
	s.t.Cleanup(func() { _ = s.Client.Delete(context.Background(), node) })
	node.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: address.IP.String()}}
	node.Status.DaemonEndpoints.KubeletEndpoint.Port = int32(address.Port)
	require.NoError(s.t, s.Client.Status().Update(s.t.Context(), node))
	return node.Name
}

// startPod makes a Pod of a Job as the Job controller would, on a node, with containers in some
// state.
func (s *space) startPod(job *batchv1.Job, name, node string, state corev1.ContainerState) {
	s.t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: s.ns, Name: name, Labels: job.Spec.Template.Labels,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(job, batchv1.SchemeGroupVersion.WithKind("Job"))},
		},
		Spec: job.Spec.Template.Spec,
	}
	pod.Spec.NodeName = node
	s.create(pod)
	for _, container := range pod.Spec.Containers {
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, corev1.ContainerStatus{Name: container.Name, State: state})
	}
	require.NoError(s.t, s.Client.Status().Update(s.t.Context(), pod))
}

var (
	runs     = corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}
	hasEnded = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{}}
)

func waits(reason, message string) corev1.ContainerState {
	return corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}
}

func TestPluginRunFollowsTheLogs(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	node := s.startKubelet(map[string]string{"a/main": "one\ntwo\n", "b/main": "three\n", "c/main": "four\n", "c/side": "five\n"})
	s.create(s.cronJob("c").Schedule(nextYear).Obj())

	running, job := s.runInBackground(t.Context(), "c", "--follow")
	s.startPod(job, "a", node, waits("ImagePullBackOff", "no such image"))
	s.eventually(func() bool { return strings.Contains(running.errOut.String(), "ImagePullBackOff") }, "it does not say why nothing runs")
	s.startPod(job, "b", node, runs)
	s.eventually(func() bool { return running.out.String() == "three\n" }, "the log does not come while the Job runs")
	s.startPod(job, "unknown", node, runs)
	s.eventually(func() bool { return strings.Contains(running.errOut.String(), "the log of pod/unknown/main") }, "an error is not told")
	s.startPod(job, "a-2", "", hasEnded)
	s.end(job, batchv1.JobComplete)
	assert.Equal(t, "three\n", running.wait().succeeds(), "nothing but the log")
	said := running.errOut.String()
	assert.Contains(t, said, "job.batch/"+job.Name+" created\n")
	assert.Contains(t, said, "pod/a/main does not start: ImagePullBackOff: no such image\n")
	assert.Equal(t, 1, strings.Count(said, "ImagePullBackOff"), said)
	assert.Contains(t, said, "job.batch/"+job.Name+" completed\n")

	s.edit("c", func(c *v1.CronJob) {
		pod := &c.Spec.JobTemplate.Spec.Template.Spec
		pod.Containers = append(pod.Containers, corev1.Container{Name: "side", Image: "busybox"})
	})
	running, job = s.runInBackground(t.Context(), "c", "--follow")
	s.startPod(job, "c", node, hasEnded)
	s.end(job, batchv1.JobFailed)
	running.wait().fails(1)
	assert.ElementsMatch(t, []string{"[pod/c/main] four", "[pod/c/side] five"}, strings.Split(strings.TrimSpace(running.out.String()), "\n"),
		"what has ended is told, too, and who said it")
}

func TestPluginSuspendsAndResumes(t *testing.T) {
	t.Parallel()
	const resource = "cronjob.batch.tutorial.kubebuilder.io/"
	eachWay(t, func(s *space) {
		for _, name := range []string{"a", "b", "c"} {
			s.create(s.cronJob(name).Schedule(nextYear).Obj())
		}
		s.edit("c", func(c *v1.CronJob) { c.Labels = map[string]string{"team": s.ns} })
		before := s.awaitReady("a", metav1.ConditionTrue, v1.ReasonScheduled)

		assert.Equal(s.t, resource+"a suspended\n", s.plugin("suspend", "a").succeeds())
		after := s.awaitReady("a", metav1.ConditionTrue, v1.ReasonSuspended)
		before.Spec.Suspend = new(true)
		assert.Equal(s.t, before.Spec, after.Spec, "nothing else was changed")

		for _, dryRun := range []string{"client", "server"} {
			out := s.plugin("suspend", "--all", "--dry-run="+dryRun).succeeds()
			assert.Regexp(s.t, "^"+resource+"a already suspended\n"+resource+`b suspended \((server )?dry run\)`+"\n", out)
		}
		out := s.plugin("suspend", "b", "nobody", "cronjob/a", "a", "pod/x")
		assert.Contains(s.t, out.fails(1), resource+"b suspended\n"+resource+"a already suspended\n")
		assert.Contains(s.t, out.errOut.String(), `error: cronjobs.batch.tutorial.kubebuilder.io "nobody" not found`)
		assert.Contains(s.t, out.errOut.String(), `error: "pod/x" is not a CronJob`)

		assert.Equal(s.t, resource+"c suspended in namespace "+s.ns+"\n", s.plugin("suspend", "-l", "team="+s.ns, "-A").succeeds())
		assert.Equal(s.t, resource+"c\n", s.plugin("resume", "-l", "team="+s.ns, "-o", "name").succeeds())
		assert.Equal(s.t, resource+"a left suspended\n"+resource+"b left suspended\n"+resource+"c already resumed\n",
			s.plugin("resume", "--all").succeeds(), "they were suspended by name")
		assert.Equal(s.t, resource+"a resumed\n"+resource+"b resumed\n"+resource+"c already resumed\n", s.plugin("resume", "a", "b", "c").succeeds())
		s.awaitReady("a", metav1.ConditionTrue, v1.ReasonScheduled)

		var printed v1.CronJob
		require.NoError(s.t, json.Unmarshal([]byte(s.plugin("suspend", "a", "--dry-run=server", "-o", "json").succeeds()), &printed))
		assert.Equal(s.t, new(true), printed.Spec.Suspend)
		assert.Equal(s.t, new(false), s.get("a").Spec.Suspend)
	})
}

func TestPluginSuspendGoesOnAfterOneThatFails(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	for _, name := range []string{"a", "b", "c"} {
		s.create(s.cronJob(name).Schedule(nextYear).Obj())
	}
	user := "of-" + s.ns
	kubeconfig, err := s.AddUser(user)
	require.NoError(t, err)
	s.kubectl(t, "create", "role", "may-not-patch-b", "-n", s.ns, "--verb=get,list", "--resource="+crdName)
	s.kubectl(t, "create", "role", "may-patch", "-n", s.ns, "--verb=patch", "--resource="+crdName, "--resource-name=a", "--resource-name=c")
	for _, role := range []string{"may-not-patch-b", "may-patch"} {
		s.kubectl(t, "create", "rolebinding", role, "-n", s.ns, "--role="+role, "--user="+user)
	}
	s.eventually(func() bool {
		_, err := s.tryKubectl(t, "auth", "can-i", "patch", crdName+"/c", "-n", s.ns, "--as="+user)
		return err == nil
	}, "the role is not in force")

	failed := s.plugin("suspend", "--all", "--kubeconfig="+kubeconfig).fails(1)
	assert.Contains(t, failed, `CronJob `+s.ns+`/b: `)
	assert.Contains(t, failed, `forbidden`)
	assert.Contains(t, failed, "/a suspended\n")
	for name, want := range map[string]bool{"a": true, "b": false, "c": true} {
		assert.Equal(t, want, ptr.Deref(s.get(name).Spec.Suspend, false), name)
	}
	assert.Contains(t, failed, "error: 1 of 3 CronJobs were not suspended: repeat the command for them\n")
	assert.Equal(t, user, s.get("a").Annotations[suspendcli.SuspendedByAnnotation])
	failed = s.plugin("suspend", "--all", "--kubeconfig="+kubeconfig).fails(1)
	assert.Contains(t, failed, "/a already suspended\n", "as long as it is refused, nothing else is done twice")

	s.kubectl(t, "create", "role", "may-patch-b", "-n", s.ns, "--verb=patch", "--resource="+crdName, "--resource-name=b")
	s.kubectl(t, "create", "rolebinding", "may-patch-b", "-n", s.ns, "--role=may-patch-b", "--user="+user)
	s.eventually(func() bool {
		_, err := s.tryKubectl(t, "auth", "can-i", "patch", crdName+"/b", "-n", s.ns, "--as="+user)
		return err == nil
	}, "the role is not in force")
	s.plugin("suspend", "--all", "--kubeconfig="+kubeconfig).succeeds()
	assert.Equal(t, new(true), s.get("b").Spec.Suspend, "a second call finishes")
}

func TestPluginHistoryShowsRunsOfThePastAndOfTheFuture(t *testing.T) {
	t.Parallel()
	eachWay(t, func(s *space) {
		s.create(s.cronJob("c").Schedule("@every 2s").Policy(v1.ForbidConcurrent).History(2, 2).Obj())
		first := s.awaitJobs("c", 1)[0]
		s.eventually(func() bool { return len(s.events("c", plan.EventJobAlreadyActive)) > 0 }, "no tick waits")
		waiting := historyOf(s.plugin("history", "c", "-o", "json"))
		require.GreaterOrEqual(s.t, len(waiting), 3)
		assert.Equal(s.t, "Running", waiting[0].State)
		assert.Equal(s.t, first.Name, waiting[0].Job)
		assert.Contains(s.t, states(waiting), "Waiting")
		assert.Equal(s.t, []string{"Coming", "Coming", "Coming"}, states(waiting[len(waiting)-3:]))

		s.eventually(func() bool { return len(s.events("c", plan.EventMissSchedule)) > 0 }, "no tick is missed")
		s.edit("c", suspend)
		s.awaitReady("c", metav1.ConditionTrue, v1.ReasonSuspended)
		s.end(&first, batchv1.JobFailed)
		manual := s.runNow("c", "--force")
		s.eventually(func() bool { return len(s.jobs("c")) == 2 }, "there are more or less than those two")
		entries := historyOf(s.plugin("history", "c", "-o", "json"))
		assert.NotContains(s.t, states(entries), "Coming", "it is suspended")
		assert.Contains(s.t, states(entries), "Missed")
		assert.Equal(s.t, "Failed", entries[0].State)
		assert.Equal(s.t, "Test: ", entries[0].Message)
		require.NotNil(s.t, entries[0].DelaySeconds)
		assert.Less(s.t, *entries[0].DelaySeconds, int64(patience.Seconds()))
		byHand := slices.IndexFunc(entries, func(e historyEntry) bool { return e.Job == manual.Name })
		require.NotEqual(s.t, -1, byHand)
		assert.Equal(s.t, historyEntry{State: "Running", Job: manual.Name}, entries[byHand], "it has no tick, and so no delay")

		table := s.plugin("history", "c").succeeds()
		assert.Regexp(s.t, `^TICK +JOB +RESULT +START +DELAY +DURATION +TRIGGER +MESSAGE\n`, table)
		assert.Regexp(s.t, " "+first.Name+" +Failed +", table)
		assert.NotContains(s.t, s.plugin("history", "c", "--no-headers").succeeds(), "TICK")
	})
}

// historyEntry is an entry of `history -o json`.
type historyEntry struct {
	State, Tick, Job, Message string
	DelaySeconds              *int64
}

func historyOf(p *pluginRun) []historyEntry {
	p.t.Helper()
	var history struct{ Entries []historyEntry }
	require.NoError(p.t, json.Unmarshal([]byte(p.succeeds()), &history))
	return history.Entries
}

func states(entries []historyEntry) []string {
	var all []string
	for _, e := range entries {
		all = append(all, e.State)
	}
	return all
}

func TestPluginHistoryShowsAUserWhoMayNotListJobsWhatTheStatusHas(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(s.cronJob("c").Schedule(nextYear).Obj())
	ended := s.runToEnd("c", batchv1.JobFailed, v1.RunFailed)
	running := s.runUntilKnown("c")
	viewer := "--kubeconfig=" + s.newUser("viewer", crdName)
	shown := s.plugin("history", "c", "-c", "0", viewer)
	assert.Regexp(t, `\n- +`+ended.Name+` +Failed .*\n- +`+running.Name+` +Running `, shown.succeeds())
	assert.Contains(t, shown.errOut.String(), `Warning: of the runs, only those that status.recentRuns has are shown: listing the Jobs: jobs.batch is forbidden`)
	assert.Contains(t, s.plugin("logs", "c", viewer).fails(1), "jobs.batch is forbidden")
}

func TestPluginNextTellsTheTimesOfACronJob(t *testing.T) {
	t.Parallel()
	eachWay(t, func(s *space) {
		s.create(s.cronJob("c").Schedule("30 2 * * *").TimeZone("Europe/Paris").Suspend(true).Obj())
		out := s.plugin("next", "c", "-c", "1", "--from", "2027-03-28").succeeds()
		assert.Contains(s.t, out, "CronJob c: At 02:30, every day (Europe/Paris).\nIt is suspended")
		assert.Contains(s.t, out, "Sun 2027-03-28 03:00 +02:00")
		assert.Contains(s.t, out, "instead of 02:30")

		// What it says is what the controller does.
		s.create(s.cronJob("interval").Schedule("@every 25h").Obj())
		next := s.awaitReady("interval", metav1.ConditionTrue, v1.ReasonScheduled).Status.NextScheduleTime
		assert.Equal(s.t, fmt.Sprintf("job.batch/interval-%d\n", next.Unix()), s.plugin("next", "interval", "-c", "1", "-o", "name").succeeds())

		assert.Contains(s.t, s.plugin("next", "nobody").fails(1), `"nobody" not found`)
	})
}

func TestPluginCompletesNames(t *testing.T) {
	t.Parallel()
	eachWay(t, func(s *space) {
		for _, name := range []string{"apple", "apricot", "pear"} {
			s.create(s.cronJob(name).Schedule(nextYear).Obj())
		}
		for _, command := range []string{"next", "run", "history", "suspend", "resume", "logs"} {
			assert.Regexp(s.t, `^apple\napricot\n:4\n`, s.complete(command, "ap"), command)
		}
		assert.Regexp(s.t, `^apricot\npear\n:4\n`, s.complete("suspend", "apple", ""))
		assert.Regexp(s.t, `^:4\n`, s.complete("run", "apple", ""))
		assert.Regexp(s.t, `^main\n:4\n`, s.complete("logs", "apple", "-c", ""))
		assert.Regexp(s.t, `^wide\njson\nyaml\nname\n:4\n`, s.complete("list", "-o", ""))
		assert.Regexp(s.t, `^`+s.ns+`\n:4\n`, s.complete("next", "-n", s.ns))
	})
}

// complete asks for what a shell would: the words that complete the last.
func (s *space) complete(words ...string) string {
	s.t.Helper()
	flags := []string{"--kubeconfig=" + s.Kubeconfig, "--namespace=" + s.ns}
	return s.plugin(append(append([]string{"__complete"}, flags...), words...)...).succeeds()
}
