// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"encoding/pem"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiserver "k8s.io/apiextensions-apiserver/pkg/apiserver/conversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"tutorial.kubebuilder.io/project/apis/batch"
	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	v2 "tutorial.kubebuilder.io/project/apis/batch/v2"
)

// askingAPIServer returns the API server's own converter, which calls the handler and checks its
// answer.
func askingAPIServer(t *testing.T) runtime.ObjectConvertor {
	t.Helper()
	server := httptest.NewTLSServer(Handler{Convert: batch.Versions.ConvertJSON})
	t.Cleanup(server.Close)
	factory, err := apiserver.NewCRConverterFactory(nil, nil)
	require.NoError(t, err)
	crd := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: strings.ToLower(t.Name())}, // each has metrics of its own
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group:    v1.GroupVersion.Group,
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1"}, {Name: "v2"}},
			Conversion: &apiextensionsv1.CustomResourceConversion{
				Strategy: apiextensionsv1.WebhookConverter,
				Webhook: &apiextensionsv1.WebhookConversion{
					ConversionReviewVersions: []string{"v1"},
					ClientConfig: &apiextensionsv1.WebhookClientConfig{
						URL:      new(server.URL),
						CABundle: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
					},
				},
			},
		},
	}
	converter, _, err := factory.NewConverter(crd)
	require.NoError(t, err)
	return converter
}

// Parts of an object that server-side apply has the API server convert, or that may be stored.
var (
	partialMetadata = map[string]string{
		"no metadata": "", "empty metadata": `"metadata":{},`, "a name": `"metadata":{"name":"c","namespace":"n","uid":"u"},`,
		"labels":              `"metadata":{"name":"c","labels":{"a":"b"}},`,
		"labels of null":      `"metadata":{"labels":null},`,
		"annotations of null": `"metadata":{"annotations":null},`,
		"a kept text":         `"metadata":{"annotations":{"` + v2.ScheduleV1Annotation + `":"@hourly"}},`,
		"kept fields":         `"metadata":{"annotations":{"` + v2.ScheduleV2Annotation + `":"{\"minute\":\"0\",\"hour\":\"*\"}"}},`,
		"kept mistakes":       `"metadata":{"annotations":{"` + v2.ScheduleV2Annotation + `":"{\"minute\":1e999}"}},`,
		"kept depth": `"metadata":{"annotations":{"` + v2.ScheduleV2Annotation + `":"` +
			strings.Repeat("[", 9_996) + strings.Repeat("]", 9_996) + `"}},`,
		"kept depth of objects": `"metadata":{"annotations":{"` + v2.ScheduleV2Annotation + `":"` +
			strings.Repeat(`{\"a\":`, 9_996) + "1" + strings.Repeat("}", 9_996) + `"}},`,
		"an invalid key":       `"metadata":{"annotations":{"no key!":"a"}},`,
		"annotation of null":   `"metadata":{"annotations":{"a":null}},`,
		"annotation of number": `"metadata":{"annotations":{"a":5}},`,
		"label of number":      `"metadata":{"labels":{"a":5}},`,
	}
	partialSpecs = map[string]string{
		"no spec": `"status":{}`, "a spec of null": `"spec":null`, "an empty spec": `"spec":{}`, "no schedule": `"spec":{"suspend":true}`,
		"a schedule of null": `"spec":{"schedule":null}`, "a text": `"spec":{"schedule":"@hourly"}`, "a plain text": `"spec":{"schedule":"0 * * * *"}`,
		"fields": `"spec":{"schedule":{"minute":"0","hour":"*"}}`, "no fields": `"spec":{"schedule":{}}`, "a number": `"spec":{"schedule":{"minute":5}}`,
	}
)

func TestC1TheAPIServerAcceptsWhatIsMadeOfEachPartialObject(t *testing.T) {
	converter := askingAPIServer(t)
	for metadataName, metadata := range partialMetadata {
		for specName, spec := range partialSpecs {
			for from, to := range map[schema.GroupVersion]schema.GroupVersion{v1.GroupVersion: v2.GroupVersion, v2.GroupVersion: v1.GroupVersion} {
				object := &unstructured.Unstructured{}
				require.NoError(t, object.UnmarshalJSON([]byte(`{"apiVersion":"`+from.String()+`","kind":"CronJob",`+metadata+spec+`}`)))
				_, err := converter.ConvertToVersion(object, to)
				require.NoError(t, err, "%s, %s, from %s", metadataName, specName, from.Version)
			}
		}
	}
}
