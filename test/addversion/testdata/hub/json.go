// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kjson "k8s.io/apimachinery/pkg/util/json"
)

// ConvertJSON converts a CronJob to an API version. Package batch, which has them all, sets it.
var ConvertJSON func(object []byte, apiVersion string) ([]byte, error)

// Form is a CronJob whose JSON is that of v1.
type Form CronJob

// FormOf returns the JSON of a CronJob in v1, or anything else as it is.
func FormOf(raw []byte) []byte {
	if converted, err := ConvertJSON(raw, Conversion.APIVersion); err == nil {
		return converted
	}
	return raw
}

// UnmarshalJSON reads a CronJob of any version.
func (c *CronJob) UnmarshalJSON(raw []byte) error {
	if err := kjson.Unmarshal(FormOf(raw), (*Form)(c)); err != nil {
		return err
	}
	c.SetGroupVersionKind(GroupVersion.WithKind(c.Kind))
	return nil
}

// MarshalJSON writes a CronJob as it is stored.
func (c CronJob) MarshalJSON() ([]byte, error) {
	c.APIVersion, c.Kind = Conversion.APIVersion, Conversion.Kind
	raw, err := json.Marshal(Form(c))
	if err != nil {
		return nil, err
	}
	return ConvertJSON(raw, GroupVersion.String())
}

// WebhookScheme knows CronJobs as the webhooks get them: in v1.
func WebhookScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	scheme.AddKnownTypes(schema.GroupVersion{Group: GroupVersion.Group, Version: "v1"}, &CronJob{})
	return scheme
}
