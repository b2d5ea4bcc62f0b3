// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package list

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/env"
	"tutorial.kubebuilder.io/project/test/builders"
)

// atVersion is a CronJob as a watch sends it, in the state that a resourceVersion stands for.
func atVersion(t *testing.T, version string, c *v1.CronJob) *unstructured.Unstructured {
	t.Helper()
	c.ResourceVersion = version
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(c)
	require.NoError(t, err)
	return &unstructured.Unstructured{Object: content}
}

func TestAWatchPrintsWhatChangesBelowTheTable(t *testing.T) {
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	c := &command{Env: env.New(streams), names: []string{"a", "b", "c"}}
	c.Clock = clocktesting.NewFakeClock(noon)
	a, b := builders.MakeCronJob("a").Obj(), builders.MakeCronJob("b").Suspend(true).Obj()
	printRows := c.newTable()
	require.NoError(t, printRows(a, b))
	p := changes{command: c, printRows: printRows, printed: map[client.ObjectKey]string{client.ObjectKeyFromObject(a): "1", client.ObjectKeyFromObject(b): "2"}}

	events := watch.NewFakeWithOptions(watch.FakeOptions{ChannelSize: 10})
	events.Add(atVersion(t, "1", a))
	events.Add(atVersion(t, "2", b))
	events.Modify(atVersion(t, "3", builders.MakeCronJob("a").Suspend(true).Obj()))
	events.Add(atVersion(t, "4", builders.MakeCronJob("other").Obj()))
	events.Delete(atVersion(t, "5", b))
	events.Stop()
	require.NoError(t, p.printAll(events))
	assert.Equal(t, `NAME   SCHEDULE       TIMEZONE   LAST RUN   NEXT RUN                  STREAK
a      Every minute   UTC        <none>     2027-01-15 12:00, in 0s   <none>
b      Every minute   UTC        <none>     Suspended                 <none>
a      Every minute   UTC        <none>     Suspended                 <none>
b      Every minute   UTC        <none>     Terminating               <none>
`, string(bytes.ReplaceAll(out.Bytes(), []byte(" \n"), []byte("\n"))))
}

func TestAWatchThatFailsSaysWhy(t *testing.T) {
	events := watch.NewFakeWithOptions(watch.FakeOptions{ChannelSize: 1})
	events.Error(&unstructured.Unstructured{Object: map[string]any{"kind": "Status", "apiVersion": "v1", "message": "too old"}})
	events.Stop()
	assert.ErrorContains(t, (&changes{}).printAll(events), "too old")
}
