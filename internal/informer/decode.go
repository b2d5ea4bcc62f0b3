// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	kjson "sigs.k8s.io/json"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// maxErrorBytes limits a decoding error, which may quote stored values.
const maxErrorBytes = 1024

// errorAnnotation has the decoding error of a cached CronJob. It is dropped from stored ones.
const errorAnnotation = "batch.tutorial.kubebuilder.io/decoding-error"

// DecodingError returns why a cached CronJob can't be decoded, mostly with the field; "" if it can
// be.
func DecodingError(c *v1.CronJob) string { return c.Annotations[errorAnnotation] }

// TrimAnnotations keeps, of a CronJob's annotations, the one that DecodingError reads and others; nil
// if it has none of them.
func TrimAnnotations(annotations map[string]string, others ...string) map[string]string {
	var rest map[string]string
	for _, key := range append(others, errorAnnotation) {
		if value, ok := annotations[key]; ok {
			if rest == nil {
				rest = map[string]string{}
			}
			rest[key] = value
		}
	}
	return rest
}

// lenient has the fast decoder accept what the API server's does.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// decode decodes a CronJob; if that fails, what it can of it.
func decode(data []byte) (*v1.CronJob, error) {
	c := &v1.CronJob{}
	err := json.Unmarshal(data, c, lenient)
	if err != nil { // the words of its errors vary, and this one is written to the status
		c = &v1.CronJob{}
		err = kjson.UnmarshalCaseSensitivePreserveInts(data, c)
	}
	if err == nil {
		delete(c.Annotations, errorAnnotation) // only decodeParts may set it
	} else if err := decodeParts(data, c, err); err != nil {
		return nil, err
	}
	if c.Kind != "CronJob" {
		return nil, fmt.Errorf("decoding a CronJob: it is of kind %q", c.Kind)
	}
	c.TypeMeta = metav1.TypeMeta{} // as client-go leaves it
	return c, nil
}

// decodeList decodes a list of CronJobs, each by itself.
func decodeList(data []byte) (*v1.CronJobList, error) {
	raw := struct {
		metav1.ListMeta `json:"metadata"`
		Items           []jsontext.Value `json:"items"`
	}{}
	if err := json.Unmarshal(data, &raw, lenient); err != nil {
		return nil, fmt.Errorf("decoding a list of CronJobs: %w", err)
	}
	list := &v1.CronJobList{ListMeta: raw.ListMeta, Items: make([]v1.CronJob, len(raw.Items))}
	for i, item := range raw.Items {
		c, err := decode(item)
		if err != nil {
			return nil, err
		}
		list.Items[i] = *c
	}
	return list, nil
}

// eventDecoder is a watch.Decoder of CronJobs.
type eventDecoder struct {
	stream io.Closer
	json   *jsontext.Decoder
}

func newEventDecoder(stream io.ReadCloser) eventDecoder {
	return eventDecoder{stream, jsontext.NewDecoder(stream, lenient)}
}

// Decode waits for the next event.
func (d eventDecoder) Decode() (watch.EventType, runtime.Object, error) {
	event := struct {
		Type   watch.EventType `json:"type"`
		Object jsontext.Value  `json:"object"`
	}{}
	switch err := json.UnmarshalDecode(d.json, &event); {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "", nil, io.ErrUnexpectedEOF // by this alone a watch knows that its stream was cut off
	case err != nil:
		return "", nil, err
	}
	if event.Type == watch.Error {
		status := &metav1.Status{}
		return event.Type, status, json.Unmarshal(event.Object, status, lenient)
	}
	c, err := decode(event.Object)
	return event.Type, c, err
}

// Close ends the watch.
func (d eventDecoder) Close() { _ = d.stream.Close() }

// decodeParts decodes the metadata of a CronJob that can't be decoded as a whole, and those fields
// of its status that can be. It sets errorAnnotation to the error, which says why.
func decodeParts(data []byte, c *v1.CronJob, why error) error {
	raw := struct {
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata"`
		Status            jsontext.Value `json:"status"`
	}{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &raw); err != nil {
		return err
	}
	*c = v1.CronJob{TypeMeta: raw.TypeMeta, ObjectMeta: raw.ObjectMeta}
	message := strings.TrimPrefix(why.Error(), "json: ")
	c.Annotations = map[string]string{errorAnnotation: strings.ToValidUTF8(message[:min(len(message), maxErrorBytes)], "")}
	members := map[string]jsontext.Value{}
	_ = kjson.UnmarshalCaseSensitivePreserveInts(raw.Status, &members) // none if the status is not an object
	for name, member := range members {
		one, err := json.Marshal(map[string]jsontext.Value{name: member})
		if err == nil && kjson.UnmarshalCaseSensitivePreserveInts(one, &v1.CronJobStatus{}) == nil {
			_ = kjson.UnmarshalCaseSensitivePreserveInts(one, &c.Status) // it succeeded on the line above
		}
	}
	return nil
}
