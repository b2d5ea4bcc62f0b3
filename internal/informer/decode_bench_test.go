// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	restwatch "k8s.io/client-go/rest/watch"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/test/builders"
)

// repeated reads the same text again and again.
type repeated struct {
	text string
	at   int
}

func (r *repeated) Read(to []byte) (int, error) {
	count := copy(to, r.text[r.at:])
	r.at = (r.at + count) % len(r.text)
	return count, nil
}

// BenchmarkEventOfAWatch decodes an event of 1.5 KB, as client-go does it and as the cache does.
func BenchmarkEventOfAWatch(b *testing.B) {
	c := builders.MakeCronJob("c").Obj()
	c.TypeMeta = metav1.TypeMeta{APIVersion: v1.GroupVersion.String(), Kind: "CronJob"}
	fields := `{"f:spec":{".":{},"f:jobTemplate":{".":{},"f:spec":{".":{},"f:template":{".":{},"f:spec":{".":{},` +
		`"f:containers":{".":{},"k:{\"name\":\"main\"}":{".":{},"f:command":{},"f:image":{},"f:name":{}}},"f:restartPolicy":{}}}}},"f:schedule":{}}}`
	for _, manager := range []string{"kubectl", "manager", "other"} {
		c.ManagedFields = append(c.ManagedFields, metav1.ManagedFieldsEntry{
			Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: c.APIVersion,
			FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields),
		})
	}
	object, err := json.Marshal(c)
	require.NoError(b, err)
	stream := func() io.ReadCloser {
		return io.NopCloser(&repeated{text: fmt.Sprintf(`{"type":"ADDED","object":%s}`+"\n", object)})
	}
	scheme := runtime.NewScheme()
	utilruntime.Must(v1.AddToScheme(scheme))
	codecs := serializer.WithoutConversionCodecFactory{CodecFactory: serializer.NewCodecFactory(scheme)}
	info, _ := runtime.SerializerInfoForMediaType(codecs.SupportedMediaTypes(), runtime.ContentTypeJSON)
	for name, decoder := range map[string]watch.Decoder{
		"client-go": restwatch.NewDecoder(streaming.NewDecoder(info.StreamSerializer.NewFrameReader(stream()), info.StreamSerializer.Serializer),
			codecs.DecoderToVersion(info.Serializer, v1.GroupVersion)),
		"cache": newEventDecoder(stream()),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(object)))
			b.ReportAllocs()
			for b.Loop() {
				_, decoded, err := decoder.Decode()
				if err != nil || !strings.HasPrefix(decoded.(*v1.CronJob).Name, "c") {
					b.Fatal(decoded, err)
				}
			}
		})
	}
}
