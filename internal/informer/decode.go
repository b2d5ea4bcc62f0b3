// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package informer

import (
	"encoding/json"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
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

// negotiated is a serializer with tolerant decoders.
type negotiated struct{ runtime.NegotiatedSerializer }

// DecoderToVersion returns a tolerantDecoder.
func (n negotiated) DecoderToVersion(decoder runtime.Decoder, version runtime.GroupVersioner) runtime.Decoder {
	return tolerantDecoder{n.NegotiatedSerializer.DecoderToVersion(decoder, version)}
}

// tolerantDecoder wraps a decoder. Of a CronJob that this fails on it decodes what it can.
type tolerantDecoder struct{ runtime.Decoder }

// Decode decodes an object.
func (d tolerantDecoder) Decode(
	data []byte, defaults *schema.GroupVersionKind, into runtime.Object,
) (runtime.Object, *schema.GroupVersionKind, error) {
	object, kind, err := d.Decoder.Decode(data, defaults, into)
	switch {
	case err != nil && kind != nil && kind.Kind == "CronJob":
		c := &v1.CronJob{}
		if decodeParts(data, c, err) == nil {
			return c, kind, nil
		}
	case err != nil:
		if list, ok := into.(*v1.CronJobList); ok && decodeItems(data, list) == nil {
			return list, kind, nil
		}
	default:
		dropForged(object)
	}
	return object, kind, err
}

// dropForged drops errorAnnotation from decoded CronJobs: only the decoder may set it.
func dropForged(object runtime.Object) {
	switch o := object.(type) {
	case *v1.CronJob:
		delete(o.Annotations, errorAnnotation)
	case *v1.CronJobList:
		for i := range o.Items {
			delete(o.Items[i].Annotations, errorAnnotation)
		}
	}
}

// decodeItems decodes a list in which some CronJobs can't be decoded.
func decodeItems(data []byte, list *v1.CronJobList) error {
	raw := struct {
		metav1.ListMeta `json:"metadata"`
		Items           []json.RawMessage `json:"items"`
	}{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &raw); err != nil {
		return err
	}
	*list = v1.CronJobList{ListMeta: raw.ListMeta, Items: make([]v1.CronJob, len(raw.Items))}
	for i, item := range raw.Items {
		c := &list.Items[i]
		if err := kjson.UnmarshalCaseSensitivePreserveInts(item, c); err == nil {
			dropForged(c)
		} else if err := decodeParts(item, c, err); err != nil {
			return err
		}
	}
	return nil
}

// decodeParts decodes the metadata of a CronJob that can't be decoded as a whole, and those fields
// of its status that can be. It sets errorAnnotation to the error, which says why.
func decodeParts(data []byte, c *v1.CronJob, why error) error {
	raw := struct {
		metav1.ObjectMeta `json:"metadata"`
		Status            json.RawMessage `json:"status"`
	}{}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(data, &raw); err != nil {
		return err
	}
	*c = v1.CronJob{ObjectMeta: raw.ObjectMeta}
	message := strings.TrimPrefix(why.Error(), "json: ")
	c.Annotations = map[string]string{errorAnnotation: strings.ToValidUTF8(message[:min(len(message), maxErrorBytes)], "")}
	members := map[string]json.RawMessage{}
	_ = kjson.UnmarshalCaseSensitivePreserveInts(raw.Status, &members) // none if the status is not an object
	for name, member := range members {
		one, err := json.Marshal(map[string]json.RawMessage{name: member})
		if err == nil && kjson.UnmarshalCaseSensitivePreserveInts(one, &v1.CronJobStatus{}) == nil {
			_ = kjson.UnmarshalCaseSensitivePreserveInts(one, &c.Status) // it succeeded on the line above
		}
	}
	return nil
}
