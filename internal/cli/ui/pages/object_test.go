// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package pages

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

func TestTheTextOfAnObjectLeavesOutWhatNobodyWritesInAManifest(t *testing.T) {
	stored := &unstructured.Unstructured{Object: map[string]any{
		"kind": "CronJob", "metadata": map[string]any{"name": "c", "generation": int64(2)}, "status": map[string]any{"a": "b"},
	}}
	const want = "kind: CronJob\nmetadata:\n  name: c\n"
	stored.SetAnnotations(map[string]string{v1.EditedAnnotation: "{}"})
	text, status := textsOf(stored)
	assert.Equal(t, want, text)
	assert.Equal(t, "a: b\n", status)

	stored.SetAnnotations(map[string]string{v1.EditedAnnotation: "{}", "mine": "stays"})
	text, _ = textsOf(stored)
	assert.Equal(t, "kind: CronJob\nmetadata:\n  annotations:\n    mine: stays\n  name: c\n", text)
}
