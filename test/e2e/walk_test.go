//go:build e2e

// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	"sigs.k8s.io/yaml"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	v2 "tutorial.kubebuilder.io/project/apis/batch/v2"
)

// cronJobsIn is what kubectl calls the CronJobs in a version.
func cronJobsIn(version string) string {
	return "cronjobs." + version + ".batch.tutorial.kubebuilder.io"
}

func TestTheSampleRunsOnTheMinuteAndReadsInBothVersions(t *testing.T) {
	t.Parallel()
	deployed(t)
	s := newSpace(t)
	s.kubectl("apply", "-f", "config/samples/batch_v2_cronjob.yaml")
	asV1, asV2 := &v1.CronJob{}, &v2.CronJob{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(s.kubectl("get", cronJobsIn("v1"), "cronjob-sample-v2", "-o", "yaml")), asV1))
	require.NoError(t, yaml.UnmarshalStrict([]byte(s.kubectl("get", cronJobsIn("v2"), "cronjob-sample-v2", "-o", "yaml")), asV2))
	assert.Equal(t, "*/1 * * * *", asV1.Spec.Schedule)
	assert.Equal(t, v2.CronSchedule{Minute: new(v2.CronField("*/1"))}, asV2.Spec.Schedule)

	job := s.awaitJobs(1)[0]
	tick := tickOf(t, &job)
	assert.Zero(t, tick.Second(), "on the minute, not at %s", tick)
	assert.False(t, job.CreationTimestamp.Time.Before(tick), "not before its tick")
	s.kubectl("wait", "--for=condition=Complete", "--timeout="+patience.String(), "job/"+job.Name)
	assert.Contains(t, s.kubectl("logs", "job/"+job.Name), "Hello from the Kubernetes cluster")
	await(t, func(context.Context) error {
		if s.v1("cronjob-sample-v2").Status.LastSuccessfulTime == nil {
			return errors.New("the status does not know of the success")
		}
		return nil
	})
}

func TestS12APodSeesItsTick(t *testing.T) {
	t.Parallel()
	deployed(t)
	s := newSpace(t)
	_, example, _ := strings.Cut(readFile(t, "docs/api-v1.md"), "```yaml\n")
	example, _, _ = strings.Cut(example, "```")
	c := &v1.CronJob{}
	require.NoError(t, yaml.UnmarshalStrict([]byte(example), c))
	c.Namespace, c.Spec.Schedule, c.Spec.TimeZone = s.ns, "@every 5s", nil
	require.NoError(t, cluster.Create(t.Context(), c))
	job := s.awaitJobs(1)[0]
	s.kubectl("wait", "--for=condition=Complete", "--timeout="+patience.String(), "job/"+job.Name)
	assert.Equal(t, "for "+tickOf(t, &job).UTC().Format(time.RFC3339)+"\n", s.kubectl("logs", "job/"+job.Name))
}

func TestHistoryIsPrunedToItsLimit(t *testing.T) {
	deployed(t)
	const limit, ticks = 1, 4
	s := newSpace(t)
	s.create(s.cronJob("c").Schedule("@every 2s").History(limit, limit))
	first := tickOf(t, &s.awaitJobs(1)[0])
	await(t, func(context.Context) error {
		if last := s.v1("c").Status.LastScheduleTime; last == nil || last.Sub(first).Seconds() < 2*ticks {
			return fmt.Errorf("not %d ticks yet: the last was at %v", ticks, last)
		}
		return nil
	})
	s.edit("c", func(c *v1.CronJob) { c.Spec.Suspend = new(true) })
	await(t, func(ctx context.Context) error {
		jobs, err := s.jobs(ctx)
		if err == nil && (len(jobs) != limit || !isComplete(&jobs[0])) {
			err = fmt.Errorf("there are %d Jobs, not %d that is complete", len(jobs), limit)
		}
		return err
	})
	assert.Greater(t, tickOf(t, &s.awaitJobs(1)[0]), first, "the newest is kept")
}

// isComplete reports whether a Job ended with success.
func isComplete(job *batchv1.Job) bool { return job.Status.CompletionTime != nil }

func TestAnInvalidScheduleIsRefusedAtItsField(t *testing.T) {
	deployed(t)
	s := newSpace(t)
	tests := map[string]struct{ file, good, bad, want string }{
		"v1": {"config/samples/batch_v1_cronjob.yaml", `schedule: "*/1 * * * *"`, `schedule: sometimes`, `spec.schedule: Invalid value: "sometimes"`},
		"v2": {"config/samples/batch_v2_cronjob.yaml", `minute: "*/1"`, `minute: "99"`, `spec.schedule.minute: Invalid value:`},
	}
	for version, test := range tests {
		sample := readFile(t, test.file)
		bad := strings.Replace(sample, test.good, test.bad, 1)
		require.NotEqual(t, sample, bad)
		command := kubectlCommand(t.Context(), "-n", s.ns, "apply", "-f", "-")
		command.Stdin = strings.NewReader(bad)
		out, err := command.CombinedOutput()
		assert.Error(t, err)
		assert.Contains(t, string(out), test.want, version)
	}
	assert.Empty(t, s.list())
}
