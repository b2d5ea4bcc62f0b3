// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// label puts the label team, whose value is the namespace, on CronJobs.
func (s *space) label(names ...string) {
	s.t.Helper()
	for _, name := range names {
		s.edit(name, func(c *v1.CronJob) { c.Labels = map[string]string{"team": s.ns} })
	}
}

// runLater runs a CronJob by hand, in another second than the runs before, so that it is known which
// is the newest.
func (s *space) runLater(name string) *batchv1.Job {
	s.t.Helper()
	for _, job := range s.jobs(name) {
		s.eventually(func() bool { return time.Now().Unix() > job.CreationTimestamp.Unix() }, "time stands still")
	}
	return s.runNow(name)
}

// runUntilKnown runs a CronJob by hand. It returns the Job when the status tells of it.
func (s *space) runUntilKnown(name string) *batchv1.Job {
	s.t.Helper()
	job := s.runLater(name)
	s.eventually(func() bool {
		runs := s.get(name).Status.RecentRuns
		return len(runs) > 0 && runs[0].JobName == job.Name
	}, "the status does not tell of it")
	return job
}

// runToEnd runs a CronJob by hand, and ends the Job. It returns it when the status tells of its end.
func (s *space) runToEnd(name string, result batchv1.JobConditionType, want v1.RunResult) *batchv1.Job {
	s.t.Helper()
	job := s.runLater(name)
	s.eventually(func() bool { return slices.Contains(s.activeNames(name), job.Name) }, "it is not counted as active")
	s.end(job, result)
	s.eventually(func() bool {
		runs := s.get(name).Status.RecentRuns
		return len(runs) > 0 && runs[0].JobName == job.Name && runs[0].Result == want
	}, "the status does not tell of the end")
	return job
}

func TestPluginListWatchesUntilItIsInterrupted(t *testing.T) {
	t.Parallel()
	eachWay(t, func(s *space) {
		s.create(s.cronJob("a").Schedule(nextYear).Obj())
		s.awaitReady("a", metav1.ConditionTrue, v1.ReasonScheduled)
		ctx, interrupt := context.WithCancel(s.t.Context())
		defer interrupt()
		running := s.startPlugin(ctx, "list", "--watch", "--sort-by=next")
		s.eventually(func() bool { return strings.Count(running.out.String(), "\na ") == 1 }, "the table does not come")
		s.edit("a", suspend)
		s.eventually(func() bool { return strings.Contains(running.out.String(), " Suspended ") }, "the change does not come")
		interrupt()
		assert.Regexp(s.t, `^NAME .*\na .+, in .*\n(a .*\n)*a .+ Suspended .*\n$`, running.wait().fails(130))
	})
}

func TestPluginListShowsHowTheLastRunsWent(t *testing.T) {
	t.Parallel()
	const resource = "cronjob.batch.tutorial.kubebuilder.io/"
	eachWay(t, func(s *space) {
		for _, name := range []string{"bad", "good", "off"} {
			s.create(s.cronJob(name).Schedule(nextYear).Suspend(name == "off").Obj())
		}
		s.label("bad", "good")
		s.awaitReady("off", metav1.ConditionTrue, v1.ReasonSuspended)
		s.runToEnd("bad", batchv1.JobComplete, v1.RunSucceeded)
		s.runToEnd("bad", batchv1.JobFailed, v1.RunFailed)
		s.runToEnd("good", batchv1.JobComplete, v1.RunSucceeded)

		table := s.plugin("list").succeeds()
		assert.Regexp(s.t, `^NAME +SCHEDULE +TIMEZONE +LAST RUN +NEXT RUN +STREAK\n`, table)
		const next = ` +\d{4}-01-01 00:00, in \w+ +`
		assert.Regexp(s.t, `\nbad +At 00:00, .+ UTC +Failed \w+ ago`+next+`✔✘\n`, table)
		assert.Regexp(s.t, `\ngood +At 00:00, .+ UTC +Succeeded \w+ ago`+next+`✔\n`, table)
		assert.Regexp(s.t, `\noff +At 00:00, .+ UTC +<none> +Suspended +<none>\n`, table)
		assert.Regexp(s.t, `\nbad .* 0 0 1 1 \* +0 +1 +\w+ ago +<none> +✔✘\n`, s.plugin("list", "-o", "wide").succeeds())
		assert.Regexp(s.t, `^bad .*\noff .*\n$`, s.plugin("list", "bad", "off", "--no-headers").succeeds())
		assert.Regexp(s.t, `^good .*\n.*"nobody" not found$`, s.plugin("list", "good", "nobody", "--no-headers").fails(1))
		everywhere := s.plugin("list", "-A", "-l", "team="+s.ns).succeeds()
		assert.Regexp(s.t, `\n`+s.ns+` +bad .*\n`+s.ns+` +good .*\n$`, everywhere)

		assert.Equal(s.t, resource+"bad\n", s.plugin("list", "--failing", "-o", "name").succeeds())
		assert.Equal(s.t, resource+"off\n", s.plugin("list", "--suspended", "-o", "name").succeeds())
		for args, want := range map[string]string{
			"--failing --suspended": "No resources found in " + s.ns + " namespace.\n",
			"-A -l team=nobody":     "No resources found\n",
		} {
			none := s.plugin(append([]string{"list"}, strings.Fields(args)...)...)
			assert.Empty(s.t, none.succeeds(), args)
			assert.Equal(s.t, want, none.errOut.String(), args)
		}
	})
}

func TestPluginListPrintsObjectsAsKubectlGetDoes(t *testing.T) {
	t.Parallel()
	eachWay(t, func(s *space) {
		for _, name := range []string{"a", "b"} {
			s.create(s.cronJob(name).Schedule(nextYear).Obj())
			s.awaitReady(name, metav1.ConditionTrue, v1.ReasonScheduled)
		}
		for _, format := range []string{"json", "yaml", "name"} {
			s.eventually(func() bool { // a status may be written between the two
				return s.kubectl(s.t, "get", crdName, "-n", s.ns, "-o", format) == s.plugin("list", "-o", format).succeeds()
			}, "-o %s differs from kubectl's", format)
			s.eventually(func() bool {
				return s.kubectl(s.t, "get", crdName, "a", "-n", s.ns, "-o", format) == s.plugin("list", "a", "-o", format).succeeds()
			}, "-o %s of one differs from kubectl's", format)
		}
	})
}

func TestPluginListReadsMoreThanAPage(t *testing.T) {
	t.Parallel()
	s := newSpaceOn(t, plainControlPlane(t), nil) // where nobody is busy with them
	const count = 501
	for i := range count {
		s.create(s.cronJob(fmt.Sprint("c", i)).Schedule(nextYear).Obj())
	}
	assert.Equal(t, count+1, strings.Count(s.plugin("list").succeeds(), "\n"))
	assert.Equal(t, count, strings.Count(s.plugin("list", "-o", "name").succeeds(), "\n"))
}

func TestPluginListShowsTheOthersBesideOneThatCanNotBeDecoded(t *testing.T) {
	t.Parallel()
	s := newSpaceOn(t, plainControlPlane(t), nil)
	s.storeRaw("bad", suspendedInWords)
	s.create(s.cronJob("good").Schedule(nextYear).Obj())
	failed := s.plugin("list")
	assert.Contains(t, failed.fails(1), "CronJob bad: ")
	assert.Contains(t, failed.out.String(), "\ngood ")
	s.mend("bad", "v1")
}

func TestPluginNextAndHistoryTakeSeveralCronJobs(t *testing.T) {
	t.Parallel()
	eachWay(t, func(s *space) {
		for _, name := range []string{"a", "b", "c"} {
			s.create(s.cronJob(name).Schedule(nextYear).Obj())
		}
		s.label("a", "b")
		job := s.runNow("b")
		for _, which := range [][]string{{"a", "cronjob/b", "a"}, {"-l", "team=" + s.ns}, {"-l", "team=" + s.ns, "-A"}} {
			for _, command := range []string{"next", "history"} {
				var printed struct {
					Items []struct{ Namespace, Name string }
				}
				require.NoError(s.t, json.Unmarshal([]byte(s.plugin(append([]string{command, "-o", "json"}, which...)...).succeeds()), &printed))
				require.Len(s.t, printed.Items, 2, "%s %s", command, which)
				assert.Equal(s.t, s.ns, printed.Items[0].Namespace)
				assert.Equal(s.t, "a", printed.Items[0].Name)
			}
		}
		assert.Contains(s.t, s.plugin("next", "-A", "-l", "team="+s.ns, "-c", "1").succeeds(), "CronJob "+s.ns+"/b: At 00:00")
		table := s.plugin("history", "a", "b", "-c", "0").succeeds()
		assert.Regexp(s.t, `^CRONJOB +TICK .*\nb +- +`+job.Name+` +Running .*\n$`, table)
		failed := s.plugin("next", "a", "nobody", "-o", "name")
		assert.Contains(s.t, failed.fails(1), `"nobody" not found`)
		assert.Contains(s.t, failed.out.String(), "job.batch/a-", "the others are told")
	})
}

func TestPluginLogsAreThoseOfTheRunThatIsAskedFor(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	node := s.startKubelet(map[string]string{"a/main": "one\n", "a-again/main": "two\n", "b/main": "three\n", "t/main": "tick\n"})
	for _, name := range []string{"c", "idle"} {
		s.create(s.cronJob(name).Schedule(nextYear).Obj())
	}
	s.create(s.cronJob("tick").Schedule("@every 1s").Obj())
	ticked := s.awaitJobs("tick", 1)[0]
	s.edit("tick", suspend)
	s.startPod(&ticked, "t", node, hasEnded)
	failed := s.runToEnd("c", batchv1.JobFailed, v1.RunFailed)
	s.startPod(failed, "a", node, hasEnded)
	last := s.runToEnd("c", batchv1.JobComplete, v1.RunSucceeded)
	s.startPod(last, "b", node, hasEnded)

	assert.Equal(t, "three\n", s.plugin("logs", "c").succeeds())
	assert.Equal(t, "one\n", s.plugin("logs", "cronjob/c", "--failed", "-c", "main").succeeds())
	tick := ticked.Annotations[v1.ScheduledAtAnnotation]
	assert.Equal(t, "tick\n", s.plugin("logs", "tick", "--tick", tick).succeeds())
	assert.Contains(t, s.plugin("logs", "c", "-c", "side").fails(1), "-c side: no container has this name: main")
	assert.Contains(t, s.plugin("logs", "c", "--tick", tick).fails(1), "CronJob c: no run of the tick "+tick+" is known")
	several := s.plugin("logs", "c", "idle", "nobody")
	assert.Contains(t, several.fails(1), "error: CronJob idle: no run is known\n")
	assert.Contains(t, several.errOut.String(), `"nobody" not found`)
	assert.Equal(t, "[pod/b/main] three\n", several.out.String(), "the line says of which it is")
	s.label("idle", "tick")
	assert.Equal(t, "no run that failed is known", s.plugin("logs", "-l", "team="+s.ns, "--failed").fails(1))
	s.label("c")
	assert.Equal(t, "[pod/a/main] one\n", s.plugin("logs", "-l", "team="+s.ns, "--failed").succeeds(), "those without a failed run are left out")
	assert.Contains(t, s.plugin("logs", "idle", "--failed").fails(1), "CronJob idle: no run that failed is known")
	assert.Contains(t, s.plugin("logs", "c", "tick", "-f").fails(1), "-f takes one CronJob, and there are 2")

	s.startPod(failed, "a-again", node, hasEnded)
	assert.ElementsMatch(t, []string{"[pod/a/main] one", "[pod/a-again/main] two"},
		strings.Split(strings.TrimSpace(s.plugin("logs", "c", "--failed").succeeds()), "\n"), "the Job tried twice")
	s.startPod(last, "unknown", node, hasEnded)
	unread := s.plugin("logs", "c").fails(1)
	assert.Contains(t, unread, "error: the log of pod/unknown/main: ")
	assert.Contains(t, unread, "some of the log of job.batch/"+last.Name+" could not be read")

	require.NoError(t, s.Client.DeleteAllOf(t.Context(), &corev1.Pod{}, client.InNamespace(s.ns), client.GracePeriodSeconds(0)))
	assert.Regexp(t, `job\.batch/`+last.Name+`: no Pod of it is there, and so no log: Succeeded, started \S+, ended `, s.plugin("logs", "c").fails(1))
	s.startPod(last, "creating", node, waits("ContainerCreating", ""))
	s.startPod(last, "broken", node, corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "StartError", Message: "no such file"}})
	unstarted := s.plugin("logs", "c").fails(1)
	assert.Contains(t, unstarted, "pod/broken/main does not start: StartError: no such file\n")
	assert.Contains(t, unstarted, "none of its containers has started, and so no log: Succeeded, started ")
	require.NoError(t, s.Client.Delete(t.Context(), failed, client.PropagationPolicy(metav1.DeletePropagationBackground)))
	assert.Regexp(t, `job\.batch/`+failed.Name+` is gone, and its log with it: Failed \(Test\), started \S+, ended `,
		s.plugin("logs", "c", "--failed").fails(1), "the status remembers it")
	assert.Contains(t, s.plugin("history", "c", "-c", "0").succeeds(), failed.Name, "so does the history")
}

func TestPluginLogsFollowARunToItsEnd(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	node := s.startKubelet(map[string]string{"a/main": "one\n", "b/main": "two\n"})
	s.create(s.cronJob("c").Schedule(nextYear).Obj())
	job := s.runNow("c")
	assert.Contains(t, s.plugin("logs", "c").fails(1), "no Pod of it is there, and so no log: Running, started ")
	s.startPod(job, "a", node, hasEnded)
	following := s.startPlugin(t.Context(), "logs", "c", "-f")
	s.eventually(func() bool { return following.out.String() == "one\n" }, "what was logged before does not come")
	s.startPod(job, "b", node, runs)
	s.eventually(func() bool { return following.out.String() == "one\ntwo\n" }, "the log of a Pod that starts later does not come")
	ctx, interrupt := context.WithCancel(t.Context())
	interrupted := s.startPlugin(ctx, "logs", "c", "-f", "-c", "main")
	s.eventually(func() bool { return strings.Contains(interrupted.out.String(), "two\n") }, "it does not follow")
	interrupt()
	interrupted.wait().fails(130)
	s.end(job, batchv1.JobComplete)
	following.wait().succeeds()

	job = s.runLater("c")
	following = s.startPlugin(t.Context(), "logs", "c", "-f")
	s.startPod(job, "a-2", node, waits("ImagePullBackOff", "no such image"))
	s.eventually(func() bool { return strings.Contains(following.errOut.String(), "ImagePullBackOff") }, "it does not say why nothing runs")
	require.NoError(t, s.Client.Delete(t.Context(), job, client.PropagationPolicy(metav1.DeletePropagationBackground)))
	assert.Contains(t, following.wait().fails(1), "waiting for job.batch/"+job.Name+": was deleted")
}

// A Job that is created suspended is as one that Kueue holds.
func TestPluginShowsARunAsQueuedWhileItsJobIsSuspended(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	c := s.cronJob("c").Schedule(nextYear).Obj()
	c.Spec.JobTemplate.Spec.Suspend = new(true)
	s.create(c)
	s.awaitReady("c", metav1.ConditionTrue, v1.ReasonScheduled)
	job := s.runNow("c")
	s.eventually(func() bool { return len(s.activeNames("c")) == 1 }, "it is not counted as active")
	assert.Equal(t, v1.RunRunning, s.get("c").Status.RecentRuns[0].Result, "it has not ended")
	assert.Contains(t, s.plugin("history", "c").succeeds(), "Queued")

	require.NoError(t, s.Client.Patch(t.Context(), job, client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"suspend":false}}`))))
	assert.NotContains(t, s.plugin("history", "c").succeeds(), "Queued")
}
