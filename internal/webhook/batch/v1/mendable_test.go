// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v1

import (
	"testing"

	"github.com/stretchr/testify/assert"
	admissionv1 "k8s.io/api/admission/v1"
)

func TestACronJobThatCanNotBeDecodedCanBeEdited(t *testing.T) {
	const good, inWords = `"schedule":"@hourly","suspend":false`, `"schedule":"@hourly","suspend":"yes"`
	for name, tc := range map[string]struct {
		before, after string
		want          string // in the message of a refusal; none if it is allowed
		wantWarning   string
	}{
		"a label of it": {
			before: cronJob(`"name":"c"`, inWords), after: cronJob(`"name":"c","labels":{"a":"b"}`, inWords),
			wantWarning: "spec.suspend of type bool",
		},
		"a finalizer of one that is being deleted": {
			before:      cronJob(`"name":"c","finalizers":["a/b"],"deletionTimestamp":"2026-01-01T00:00:00Z"`, inWords),
			after:       cronJob(`"name":"c","deletionTimestamp":"2026-01-01T00:00:00Z"`, inWords),
			wantWarning: "spec.suspend of type bool",
		},
		"the field that is wrong": {before: cronJob(`"name":"c"`, inWords), after: cronJob(`"name":"c"`, good)},
		"the field that is wrong, with another mistake": {
			before: cronJob(`"name":"c"`, inWords), after: cronJob(`"name":"c"`, `"schedule":"garbage"`), want: "spec.schedule: Invalid value",
		},
		"a good one to what can't be decoded": {
			before: cronJob(`"name":"c"`, good), after: cronJob(`"name":"c"`, inWords), want: "spec.suspend of type bool",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, validating := webhooks(t)
			answer := ask(t, validating, reviewOf(admissionv1.Update, tc.after, tc.before))
			assert.Equal(t, tc.want == "", answer.Allowed)
			if tc.want != "" {
				assert.Contains(t, answer.Result.Message, tc.want)
			}
			if tc.wantWarning == "" {
				assert.Empty(t, answer.Warnings)
				return
			}
			assert.Len(t, answer.Warnings, 1)
			assert.Contains(t, answer.Warnings[0], tc.wantWarning)
		})
	}
}

func TestACronJobThatCanNotBeDecodedIsNotCreated(t *testing.T) {
	_, validating := webhooks(t)
	answer := ask(t, validating, reviewOf(admissionv1.Create, cronJob(`"name":"c"`, `"suspend":"yes"`), "null"))
	assert.False(t, answer.Allowed)
	assert.Contains(t, answer.Result.Message, "spec.suspend of type bool")
}
