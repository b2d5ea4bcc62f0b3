// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli"
	"tutorial.kubebuilder.io/project/internal/cli/builtin"
	"tutorial.kubebuilder.io/project/internal/cli/env"
	"tutorial.kubebuilder.io/project/internal/cli/handover"
	"tutorial.kubebuilder.io/project/test/localcluster"
)

// migrate runs a command of the plugin as administrator, and returns what it prints and its error.
func (c *controlPlane) migrate(ctx context.Context, args ...string) (stdout, stderr string, err error) {
	var out, errOut lockedBuffer
	err = c.runPlugin(ctx, &out, &errOut, args...)
	return out.String(), errOut.String(), err
}

// runPlugin runs a command of the plugin as administrator, for one who listens.
func (c *controlPlane) runPlugin(ctx context.Context, out, errOut io.Writer, args ...string) error {
	streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: out, ErrOut: errOut}
	command := cli.NewCommand(env.New(streams), version)
	command.SetArgs(append([]string{"--kubeconfig=" + c.Kubeconfig}, args...))
	return command.ExecuteContext(ctx)
}

// imports runs import in the namespace; it must succeed.
func (s *space) imports(args ...string) string { return s.mustMigrate("import", args...) }

// exports runs export in the namespace; it must succeed.
func (s *space) exports(args ...string) string { return s.mustMigrate("export", args...) }

func (s *space) mustMigrate(command string, args ...string) string {
	s.t.Helper()
	out, errOut, err := s.migrate(s.t.Context(), append([]string{command, "-n", s.ns}, args...)...)
	require.NoError(s.t, err, "%s: %s%s", command, out, errOut)
	return out
}

// failsTo runs a command in the namespace, which must fail, and returns what it says about that.
func (s *space) failsTo(command string, args ...string) string {
	s.t.Helper()
	out, errOut, err := s.migrate(s.t.Context(), append([]string{command, "-n", s.ns}, args...)...)
	require.Error(s.t, err, "%s%s", out, errOut)
	assert.Equal(s.t, 1, env.ExitCode(err))
	return errOut + err.Error()
}

// builtinController is Kubernetes' own controller of the built-in CronJobs, for the shared control
// plane.
var builtinController sync.Once

// startBuiltinController starts it, and nothing else of kube-controller-manager.
func startBuiltinController(t *testing.T) {
	t.Helper()
	builtinController.Do(func() { startControllers(t, shared, "cronjob-controller") })
}

// startControllers starts kube-controller-manager with some of its controllers.
func startControllers(t *testing.T, plane *controlPlane, controllers string) {
	t.Helper()
	command, err := plane.KubeCommand(localcluster.ControllerManager, plane.Kubeconfig, "--controllers="+controllers)
	require.NoError(t, err)
	command.Env = []string{"TZ=UTC"}
	_, err = plane.Run(context.WithoutCancel(t.Context()), command)
	require.NoError(t, err)
}

// original stores a built-in CronJob.
func (s *space) original(name, schedule string, change func(*batchv1.CronJob)) *batchv1.CronJob {
	s.t.Helper()
	c, _ := builtin.Export(s.cronJob(name).Schedule(schedule).Obj())
	c.Spec.TimeZone = nil
	if change != nil {
		change(c)
	}
	s.create(c)
	s.t.Cleanup(func() { _ = s.Client.Delete(context.WithoutCancel(s.t.Context()), c) })
	return c
}

// getOriginal reads a built-in CronJob.
func (s *space) getOriginal(name string) *batchv1.CronJob {
	s.t.Helper()
	c := &batchv1.CronJob{}
	require.NoError(s.t, s.Client.Get(s.t.Context(), s.key(name), c))
	return c
}

// assertSuspended compares which of the two are suspended.
func (s *space) assertSuspended(name string, original, ours bool) {
	s.t.Helper()
	assert.Equal(s.t, original, *s.getOriginal(name).Spec.Suspend, "the original of %s", name)
	assert.Equal(s.t, ours, *s.get(name).Spec.Suspend, "ours of %s", name)
}

// exists reports whether there is one of ours.
func (s *space) exists(name string) bool {
	s.t.Helper()
	err := s.Client.Get(s.t.Context(), s.key(name), &v1.CronJob{})
	require.NoError(s.t, client.IgnoreNotFound(err))
	return err == nil
}

func TestImportKeepsWhatHasACounterpartAndNamesTheRest(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	c := s.original("c", "30 2 * * *", func(c *batchv1.CronJob) {
		c.Labels = map[string]string{"app": "shop"}
		c.Annotations = map[string]string{"example.com/team": "a", "kubectl.kubernetes.io/last-applied-configuration": "{}"}
		c.Finalizers = []string{"example.com/f"}
		c.Spec.TimeZone = new("Europe/Paris")
		c.Spec.StartingDeadlineSeconds = new(int64(17))
		c.Spec.ConcurrencyPolicy = batchv1.ForbidConcurrent
		c.Spec.JobTemplate.Labels = map[string]string{"job": "label"}
	})
	t.Cleanup(func() {
		unbound := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`))
		assert.NoError(t, s.Client.Patch(context.WithoutCancel(t.Context()), c, unbound))
	})

	manifest := s.imports("c", "-o", "yaml")
	assert.Contains(t, manifest, "apiVersion: batch.tutorial.kubebuilder.io/v1\nkind: CronJob\n")
	assert.NotContains(t, manifest, "status")
	for _, how := range []string{"client", "server"} {
		assert.Contains(t, s.imports("c", "--dry-run="+how), "c: imported, suspended while the original goes on")
	}
	require.False(t, s.exists("c"), "a dry run does nothing")

	out := s.imports("c")
	assert.Equal(t, "c: imported, suspended while the original goes on; --suspend-original hands over\n"+
		"  metadata.finalizers: example.com/f left out: whoever would remove it knows nothing of this one\n", out)
	s.assertSuspended("c", false, true)

	ours, original := s.get("c"), s.getOriginal("c")
	assert.Equal(t, map[string]string{"app": "shop"}, ours.Labels)
	assert.Equal(t, "a", ours.Annotations["example.com/team"])
	assert.NotContains(t, ours.Annotations, "kubectl.kubernetes.io/last-applied-configuration")
	assert.Equal(t, "30 2 * * *", ours.Spec.Schedule)
	assert.Equal(t, "Europe/Paris", *ours.Spec.TimeZone)
	assert.Equal(t, original.Spec.JobTemplate, ours.Spec.JobTemplate)
	assert.EqualValues(t, 17, *ours.Spec.StartingDeadlineSeconds)
	assert.Equal(t, v1.ForbidConcurrent, ours.Spec.ConcurrencyPolicy)
	assert.Equal(t, "30", string(*s.getV2("c").Spec.Schedule.Minute), "and v2 reads it")

	// It can be repeated, and goes on when told to.
	assert.Contains(t, s.imports("c"), "c: already imported, suspended while the original goes on")
	assert.Contains(t, s.imports("c", "--suspend-original"), "c: handed over, it runs and the original is suspended\n")
	s.assertSuspended("c", true, false)
	assert.Equal(t, "c: already imported, the original is suspended\n", s.imports("c", "--suspend-original"))
}

func TestImportHandsOverAndExportHandsBack(t *testing.T) {
	t.Parallel()
	startBuiltinController(t)
	s := newSpace(t)
	before := s.original("c", nextYear, nil)
	assert.Equal(t, "c: imported and running, the original is suspended\n"+
		"  spec.timeZone: not set: UTC from now on; for the built-in it was the time zone of kube-controller-manager, which mostly is UTC\n",
		s.imports("c", "--suspend-original"))
	s.assertSuspended("c", true, false)
	s.awaitReady("c", metav1.ConditionTrue, v1.ReasonScheduled)

	assert.Equal(t, "c: handed back, the built-in runs and ours is suspended\n", s.exports("c"))
	s.assertSuspended("c", false, true)
	assert.Equal(t, "c: already exported, ours is suspended\n", s.exports("c"))
	after := s.getOriginal("c")
	assert.Equal(t, before.Spec, after.Spec, "an export undoes an import")
	assert.Equal(t, before.Annotations, after.Annotations)

	assert.Contains(t, s.imports("c", "--suspend-original"), "handed over")
	s.assertSuspended("c", true, false)
}

func TestWhatIsSuspendedStaysSuspended(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.original("c", nextYear, func(c *batchv1.CronJob) { c.Spec.Suspend = new(true) })
	assert.Contains(t, s.imports("c", "--suspend-original"), "c: imported, suspended as the original is")
	s.assertSuspended("c", true, true)
	assert.NotContains(t, s.getOriginal("c").Annotations, handover.SuspendBeforeAnnotation)
	s.edit("c", func(c *v1.CronJob) { c.Spec.Suspend = new(false) })

	assert.Contains(t, s.exports("c"), "c: handed back; the built-in stays suspended")
	s.assertSuspended("c", true, true)

	// Ours that somebody has suspended does not start the built-in either.
	s.original("d", nextYear, nil)
	s.imports("d", "--suspend-original")
	s.edit("d", suspend)
	assert.Contains(t, s.exports("d"), "d: handed back; the built-in stays suspended")
	s.assertSuspended("d", true, true)
}

func TestImportNeverOverwritesWhatIsNotFromIt(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(s.cronJob("b").Schedule("@yearly").Obj())
	for _, name := range []string{"a", "b", "c"} {
		s.original(name, nextYear, nil)
	}
	said := s.failsTo("import", "--suspend-original")
	assert.Contains(t, said, "b: cronjob.batch.tutorial.kubebuilder.io/b is there already, and neither was made from the other: it is left alone")
	assert.Equal(t, "@yearly", s.get("b").Spec.Schedule)
	s.assertSuspended("b", false, false)
	s.assertSuspended("a", true, false)
	s.assertSuspended("c", true, false)
}

func TestWhatAdmissionRefusesLeavesTheOriginalAsItWas(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.original("never", "0 0 30 2 *", nil)
	s.original("owned", nextYear, func(c *batchv1.CronJob) {
		c.OwnerReferences = []metav1.OwnerReference{{
			APIVersion: "v1", Kind: "ConfigMap", Name: "owner", UID: "00000000-0000-0000-0000-000000000000", Controller: new(true),
		}}
	})
	s.original("argo", nextYear, func(c *batchv1.CronJob) {
		c.Annotations = map[string]string{"argocd.argoproj.io/tracking-id": "app:batch/CronJob:ns/argo"}
	})
	for _, how := range []string{"client", "server", "none"} {
		said := s.failsTo("import", "--suspend-original", "--dry-run="+how)
		assert.Contains(t, said, "error: never: creating cronjob.batch.tutorial.kubebuilder.io/never: ")
		assert.Contains(t, said, "never fires")
		assert.Contains(t, said, "error: owned: ConfigMap owner keeps cronjob.batch/owned as it wants it, and would resume it")
		assert.Contains(t, said, "error: argo: Argo CD keeps cronjob.batch/argo as it wants it")
	}
	for _, name := range []string{"never", "owned", "argo"} {
		assert.False(t, s.exists(name))
		original := s.getOriginal(name)
		assert.False(t, *original.Spec.Suspend)
		assert.EqualValues(t, 1, original.Generation, "it was never touched")
	}
}

func TestAnInterruptedImportGoesOnWhereItStopped(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	hold := func(c *batchv1.CronJob) {
		c.Spec.Suspend = new(true)
		c.Annotations = map[string]string{handover.SuspendBeforeAnnotation: "false"}
	}
	s.original("before-the-creation", nextYear, nil)
	held := s.getOriginal("before-the-creation")
	hold(held)
	require.NoError(t, s.Client.Update(t.Context(), held))
	assert.Contains(t, s.imports("before-the-creation"), "imported and running")
	s.assertSuspended("before-the-creation", true, false)

	s.original("before-the-start", nextYear, nil)
	s.imports("before-the-start")
	held = s.getOriginal("before-the-start")
	hold(held)
	require.NoError(t, s.Client.Update(t.Context(), held))
	assert.Contains(t, s.imports("before-the-start"), "handed over")
	s.assertSuspended("before-the-start", true, false)
}

func TestJobsThatMustNotRunSideBySideAreWaitedFor(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	original := s.original("c", nextYear, func(c *batchv1.CronJob) { c.Spec.ConcurrencyPolicy = batchv1.ForbidConcurrent })
	job := &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: s.ns, Name: "c-1", OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(original, builtin.GVK)},
		},
		Spec: original.Spec.JobTemplate.Spec,
	}
	s.create(job)
	for _, how := range []string{"client", "server", "none"} {
		said := s.failsTo("import", "c", "--suspend-original", "--dry-run="+how)
		assert.Contains(t, said, "job.batch/c-1 runs, and spec.concurrencyPolicy is Forbid")
	}
	s.failsTo("import", "c", "--suspend-original", "--wait", "--timeout=1ms")
	assert.False(t, *s.getOriginal("c").Spec.Suspend, "it is resumed when the Job does not end")
	assert.False(t, s.exists("c"))

	var out, errOut lockedBuffer
	done := make(chan error, 1)
	go func() {
		done <- s.runPlugin(t.Context(), &out, &errOut, "import", "-n", s.ns, "c", "--suspend-original", "--wait")
	}()
	warnsFirst := s.isOlderThan(t, "1.37")
	s.eventually(func() bool {
		said, isOver := strings.CutSuffix(errOut.String(), "c: waiting for job.batch/c-1 to end\n")
		return isOver && (said == "" || warnsFirst)
	}, "it does not wait")
	assert.True(t, *s.getOriginal("c").Spec.Suspend)
	assert.False(t, s.exists("c"), "ours waits")
	s.end(job, batchv1.JobComplete)
	require.NoError(t, <-done)
	assert.Contains(t, out.String(), "c: imported and running, the original is suspended")
	s.assertSuspended("c", true, false)
}

func TestExportMakesABuiltInOfOneThatWasNeverImported(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(s.cronJob("c").Schedule(nextYear).Obj())
	assert.Contains(t, s.exports("c", "-o", "yaml"), "apiVersion: batch/v1\nkind: CronJob\n")
	assert.Equal(t, "c: exported and running, ours is suspended\n", s.exports("c"))
	s.assertSuspended("c", false, true)
	assert.Equal(t, "Etc/UTC", *s.getOriginal("c").Spec.TimeZone)
	assert.Equal(t, "c: already exported, ours is suspended\n", s.exports("c"))
	s.imports("c", "--suspend-original")
	s.assertSuspended("c", true, false)
	assert.Contains(t, s.exports("c"), "handed back, the built-in runs")
	s.assertSuspended("c", false, true)
}

func TestExportAsksWhoseSpecTheBuiltInShallHave(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	for _, name := range []string{"theirs", "ours"} {
		s.original(name, nextYear, nil)
		s.imports(name, "--suspend-original")
		s.edit(name, func(c *v1.CronJob) { c.Spec.Schedule = "0 0 2 1 *" })
		assert.Contains(t, s.failsTo("export", name), "ours was changed since the import: spec.schedule; say with --spec=ours or --spec=original")
		s.assertSuspended(name, true, false)
	}
	s.exports("theirs", "--spec=original")
	assert.Equal(t, nextYear, s.getOriginal("theirs").Spec.Schedule)
	assert.Contains(t, s.exports("ours", "--spec=ours"), "spec.schedule: as of ours")
	assert.Equal(t, "0 0 2 1 *", s.getOriginal("ours").Spec.Schedule)
	s.assertSuspended("theirs", false, true)
	s.assertSuspended("ours", false, true)
}

// scheduledAt is the tick of a Job of either kind.
func scheduledAt(t *testing.T, job *batchv1.Job) time.Time {
	t.Helper()
	text := job.Annotations[v1.ScheduledAtAnnotation]
	if text == "" {
		text = job.Annotations[batchv1.CronJobScheduledTimestampAnnotation]
	}
	tick, err := time.Parse(time.RFC3339, text)
	require.NoError(t, err, "Job %s", job.Name)
	return tick
}

// TestNoTickRunsTwiceOrNeverWhileCronJobsAreHandedToAndFro hands over, again and again, around
// three ticks of a minute, with the real controller on the one side and the real manager on the
// other. The second tick finds ours running, and in the very moment of the third they are handed
// back.
func TestNoTickRunsTwiceOrNeverWhileCronJobsAreHandedToAndFro(t *testing.T) {
	t.Parallel()
	startBuiltinController(t)
	s := newSpace(t)
	names := []string{"a", "b", "c"}
	for _, name := range names {
		s.original(name, "* * * * *", func(c *batchv1.CronJob) { c.Spec.SuccessfulJobsHistoryLimit = new(int32(100)) })
	}
	first := time.Now().Truncate(time.Minute).Add(time.Minute)
	second, third := first.Add(time.Minute), first.Add(2*time.Minute)
	var missed []string
	rounds, awaited := 0, 0
	for ; time.Now().Before(third.Add(5 * time.Second)); rounds++ {
		command := []string{"import", "--suspend-original"}
		if rounds%2 == 1 {
			command = append([]string{"export"}, names...)
			if now := time.Now(); now.After(second.Add(-10*time.Second)) && awaited == 0 {
				awaited++
				s.awaitJobsOfTick(second, len(names))
			} else if now.After(third.Add(-10*time.Second)) && awaited == 1 {
				awaited++
				<-time.After(time.Until(third.Add(-50 * time.Millisecond)))
			}
		}
		out, errOut, err := s.migrate(t.Context(), append(command, "-n", s.ns, "--grace=3s")...)
		require.NoError(t, err, "%s%s", out, errOut)
		for line := range strings.Lines(out) {
			if strings.Contains(line, "is missed") {
				missed = append(missed, line)
			}
		}
	}
	s.awaitJobsOfTick(third, len(names)-len(missed))
	ran, byOurs := s.ticksRun()
	t.Logf("%d times handed over, %d CronJobs: %d ticks, %d of them run by ours; missed: %v", rounds, len(names), len(ran), byOurs, missed)
	assert.Equal(t, 2, awaited)
	assert.GreaterOrEqual(t, byOurs, len(names), "the second tick found ours running")
	for tick, jobs := range ran {
		assert.Len(t, jobs, 1, "the tick %s was run by %v", tick, jobs)
	}
	assert.Len(t, ran, 3*len(names)-len(missed), "of three ticks each, but for those that were said to be missed: %v", ran)
}

// awaitJobsOfTick waits until a tick has so many Jobs.
func (s *space) awaitJobsOfTick(tick time.Time, jobs int) {
	s.t.Helper()
	found := func() bool {
		count := 0
		for _, job := range s.jobs("") {
			if scheduledAt(s.t, &job).Equal(tick) {
				count++
			}
		}
		return count >= jobs
	}
	require.Eventually(s.t, found, time.Until(tick)+patience, glance, "the tick %s has no %d Jobs", tick, jobs)
}

// ticksRun returns the Jobs by CronJob and tick, and how many of the ticks ours have run.
func (s *space) ticksRun() (ran map[string][]string, byOurs int) {
	s.t.Helper()
	ran = map[string][]string{}
	for _, job := range s.jobs("") {
		owner := metav1.GetControllerOf(&job)
		tick := owner.Name + " " + scheduledAt(s.t, &job).UTC().Format(time.TimeOnly)
		ran[tick] = append(ran[tick], job.Name)
		if owner.APIVersion == v1.GroupVersion.String() {
			byOurs++
		}
	}
	return ran, byOurs
}
