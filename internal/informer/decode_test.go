// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// cronJob returns the JSON of a stored CronJob.
func cronJob(name, spec, status string) string {
	return fmt.Sprintf(`{"apiVersion":"batch.tutorial.kubebuilder.io/v1","kind":"CronJob","metadata":{"name":%q,"namespace":"n","uid":"u-%s",`+
		`"generation":3,"resourceVersion":"7","annotations":{"a":"b"}},"spec":%s,"status":%s}`, name, name, spec, status)
}

const (
	goodSpec   = `{"schedule":"@hourly","jobTemplate":{}}`
	goodStatus = `{"observedGeneration":2,"observedSchedule":"@hourly","nextScheduleTime":"2026-01-01T00:00:00Z"}`
)

// mistakes are specs and statuses that can't be decoded, and what is said about each.
var mistakes = map[string]struct{ spec, status, want string }{
	"a boolean of letters": {
		spec: `{"schedule":"@hourly","suspend":"yes"}`, want: "cannot unmarshal string into Go struct field CronJobSpec.spec.suspend of type bool",
	},
	"a schedule of fields": {
		spec: `{"schedule":{"minute":"0"}}`, want: "cannot unmarshal object into Go struct field CronJobSpec.spec.schedule of type string",
	},
	"a spec that is a list": {spec: `[]`, want: "cannot unmarshal array into Go struct field CronJob.spec of type v1.CronJobSpec"},
	"a limit beyond 32 bits": {
		spec: `{"failedJobsHistoryLimit":4294967296}`, want: "cannot unmarshal number 4294967296 into Go struct field CronJobSpec.spec.failedJobsHistoryLimit of type int32",
	},
	"a quantity of letters, deep in the template": {
		spec: `{"jobTemplate":{"spec":{"template":{"spec":{"containers":[{"name":"a"},{"name":"b","resources":{"limits":{"cpu":"many"}}}]}}}}}`,
		want: "quantities must match the regular expression",
	},
	"a port that is a boolean": {
		spec: `{"jobTemplate":{"spec":{"template":{"spec":{"containers":[{"livenessProbe":{"httpGet":{"port":true}}}]}}}}}`,
		want: "cannot unmarshal bool into Go struct field HTTPGetAction.spec.jobTemplate.spec.template.spec.containers.livenessProbe.ProbeHandler.httpGet.port",
	},
	"a template's time of letters": {
		spec: `{"jobTemplate":{"metadata":{"creationTimestamp":"noon"}}}`, want: `parsing time "noon"`,
	},
	"a status that is a number": {spec: goodSpec, status: `5`, want: "cannot unmarshal number into Go struct field CronJob.status of type v1.CronJobStatus"},
	"an active Job that is a name": {
		spec: goodSpec, status: `{"active":["c-1"],"observedGeneration":2}`, want: "cannot unmarshal string into Go struct field CronJobStatus.status.active",
	},
	"a value as long as can be stored": {
		spec: `{"jobTemplate":{"metadata":{"creationTimestamp":"` + strings.Repeat("é", 500_000) + `"}}}`, want: "parsing time ",
	},
}

func TestACronJobThatCanNotBeDecodedIsItsMetadataAndWhyItCanNotBe(t *testing.T) {
	for name, tc := range mistakes {
		t.Run(name, func(t *testing.T) {
			status := tc.status
			if status == "" {
				status = goodStatus
			}
			c, err := decode([]byte(cronJob("c", tc.spec, status)))
			require.NoError(t, err)
			assert.Equal(t, []any{"c", "n", "7", int64(3)}, []any{c.Name, c.Namespace, c.ResourceVersion, c.Generation})
			assert.EqualValues(t, "u-c", c.UID)
			assert.Zero(t, c.Spec)
			assert.True(t, strings.HasPrefix(DecodingError(c), tc.want), DecodingError(c))
			assert.LessOrEqual(t, len(DecodingError(c)), maxErrorBytes)
			if tc.status == "" {
				assert.EqualValues(t, 2, c.Status.ObservedGeneration, "what is known of the status is kept")
				assert.Equal(t, "@hourly", c.Status.ObservedSchedule)
			}
		})
	}
}

func TestWhatCanBeDecodedOfAStatusIsKept(t *testing.T) {
	c, err := decode([]byte(cronJob("c", goodSpec, `{"active":["c-1"],"observedGeneration":2}`)))
	require.NoError(t, err)
	assert.Equal(t, v1.CronJobStatus{ObservedGeneration: 2}, c.Status)
}

func TestAListHoldsTheCronJobsThatCanNotBeDecodedBesideTheOthers(t *testing.T) {
	items := []string{cronJob("good-1", goodSpec, goodStatus)}
	for _, tc := range mistakes {
		items = append(items, cronJob("bad", tc.spec, `{}`))
	}
	items = append(items, cronJob("good-2", goodSpec, goodStatus))
	data := `{"apiVersion":"batch.tutorial.kubebuilder.io/v1","kind":"CronJobList","metadata":{"resourceVersion":"9","continue":"more"},"items":[` +
		strings.Join(items, ",") + `]}`
	list, err := decodeList([]byte(data))
	require.NoError(t, err)
	require.Len(t, list.Items, len(items))
	assert.Equal(t, "9", list.ResourceVersion)
	assert.Equal(t, "more", list.Continue)
	bad := 0
	for _, c := range list.Items {
		if DecodingError(&c) != "" {
			bad++
			continue
		}
		assert.Equal(t, "b", c.Annotations["a"])
	}
	assert.Equal(t, len(mistakes)-2, bad, "all but those whose status alone is wrong, which here is not")
	for _, i := range []int{0, len(items) - 1} {
		want := v1.CronJob{}
		require.NoError(t, json.Unmarshal([]byte(items[i]), &want))
		want.TypeMeta = metav1.TypeMeta{}
		assert.Equal(t, want, list.Items[i], "it is as it is without the others")
	}
}

func TestNobodyCanSayOfAGoodCronJobThatItCanNotBeDecoded(t *testing.T) {
	forged := strings.Replace(cronJob("c", goodSpec, goodStatus), `"a":"b"`, `"a":"b","`+errorAnnotation+`":"no"`, 1)
	c, err := decode([]byte(forged))
	require.NoError(t, err)
	assert.Empty(t, DecodingError(c))
	for name, items := range map[string]string{
		"a list of good ones": forged, "a list with a bad one": forged + "," + cronJob("bad", `5`, `{}`),
	} {
		list, err := decodeList([]byte(`{"apiVersion":"batch.tutorial.kubebuilder.io/v1","kind":"CronJobList","metadata":{},"items":[` + items + `]}`))
		require.NoError(t, err)
		assert.Equal(t, map[string]string{"a": "b"}, list.Items[0].Annotations, name)
	}
}

func TestWhatIsNoCronJobFailsToDecode(t *testing.T) {
	for name, data := range map[string]string{
		"no JSON":          `{"apiVersion":"batch.tutorial.kubebuilder.io/v1","kind":"CronJob"`,
		"another kind":     `{"apiVersion":"v1","kind":"Pod","spec":{}}`,
		"a bad one of it":  `{"apiVersion":"v1","kind":"Pod","spec":5}`,
		"no kind":          `{"spec":5}`,
		"metadata of none": `{"apiVersion":"batch.tutorial.kubebuilder.io/v1","kind":"CronJob","metadata":5}`,
	} {
		_, err := decode([]byte(data))
		require.Error(t, err, name)
		_, err = decodeList([]byte(`{"items":[` + data + `]}`))
		require.Error(t, err, name)
	}
	_, err := decodeList([]byte(`{"apiVersion":"batch.tutorial.kubebuilder.io/v1","kind":"CronJobList","items":5}`))
	assert.Error(t, err)
}

func TestADecodedCronJobIsAsClientGoDecodesIt(t *testing.T) {
	scheme := runtime.NewScheme()
	utilruntime.Must(v1.AddToScheme(scheme))
	codecs := serializer.NewCodecFactory(scheme)
	source := rand.NewSource(1)
	filler := fuzzer.FuzzerFor(metafuzzer.Funcs, source, codecs).NumElements(0, 2).NilChance(0.3)
	for range 200 {
		filled, want := &v1.CronJob{}, &v1.CronJob{}
		filler.Fill(filled)
		filled.TypeMeta = metav1.TypeMeta{APIVersion: v1.GroupVersion.String(), Kind: "CronJob"}
		data, err := json.Marshal(filled)
		require.NoError(t, err)
		require.NoError(t, runtime.DecodeInto(codecs.UniversalDeserializer(), data, want))
		want.TypeMeta = metav1.TypeMeta{} // which its client removes
		got, err := decode(data)
		require.NoError(t, err)
		require.Equal(t, want, got, "%s", data)
		require.Empty(t, DecodingError(got), "%s", data)
	}
}

func TestAWatchThatFailsSaysWhy(t *testing.T) {
	events := newEventDecoder(io.NopCloser(strings.NewReader(
		`{"type":"ERROR","object":{"apiVersion":"v1","kind":"Status","code":410,"reason":"Expired"}}` + "\n" + `{"type":"ADDED","obj`)))
	defer events.Close()
	kind, object, err := events.Decode()
	require.NoError(t, err)
	assert.Equal(t, watch.Error, kind)
	assert.True(t, apierrors.IsResourceExpired(apierrors.FromObject(object)))
	_, _, err = events.Decode()
	assert.Equal(t, io.ErrUnexpectedEOF, err, "as from client-go's decoder")
}

func TestAWatchEndsWithItsStream(t *testing.T) {
	events := newEventDecoder(io.NopCloser(strings.NewReader("\n")))
	defer events.Close()
	_, _, err := events.Decode()
	assert.Equal(t, io.EOF, err, "the one error of which nothing is logged")
}

func TestOnlyTheDecodingErrorIsLeftOfTheAnnotations(t *testing.T) {
	assert.Nil(t, TrimAnnotations(map[string]string{"a": "b"}, "c"))
	assert.Nil(t, TrimAnnotations(nil, "c"))
	both := map[string]string{"c": "d", errorAnnotation: "no"}
	assert.Equal(t, both, TrimAnnotations(map[string]string{"a": "b", "c": "d", errorAnnotation: "no"}, "c"))
}
