// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"slices"

	"go.yaml.in/yaml/v3"
	batchv1 "k8s.io/api/batch/v1"

	"tutorial.kubebuilder.io/project/internal/cli/builtin"
)

// imported is what becomes of the schedule of a built-in CronJob: our text of it, and the time zone
// to be set, "" if there is none to set.
func (c *conversion) imported(job cronJob, e entry) (text, zone string, err error) {
	original := &batchv1.CronJob{Spec: batchv1.CronJobSpec{Schedule: e.value.Value}}
	timeZone, hasZone := lookup(job.spec, "timeZone")
	if hasZone {
		original.Spec.TimeZone = &resolve(timeZone.value).Value
	}
	ours, notes := builtin.Import(original)
	if ours.Spec.TimeZone != nil {
		zone = *ours.Spec.TimeZone
	}
	if _, _, prefixed := builtin.SplitZone(e.value.Value); !prefixed {
		zone = "" // which is what timeZone says
	} else if hasZone {
		return "", "", troublef(c.offset(e.value), "spec.schedule: has a time zone, and timeZone is set as well: remove one of them")
	}
	if !isPartial(job.spec) {
		for _, note := range notes {
			c.note(c.offset(e.value), note.String())
		}
	}
	c.noteTemplates(job.spec)
	return ours.Spec.Schedule, zone, nil
}

// embeddedFields are those that the metadata in a template has in our CRD.
var embeddedFields = []string{"annotations", "finalizers", "labels", "name", "namespace"}

// noteTemplates tells of what the templates of built-in CronJobs may have, and ours not: kubectl create
// used to write an empty creationTimestamp, which kubectl apply then refuses as an unknown field.
func (c *conversion) noteTemplates(spec *yaml.Node) {
	jobTemplate := child(spec, "jobTemplate")
	podTemplate := child(child(jobTemplate, "spec"), "template")
	c.noteMetadata("spec.jobTemplate.metadata", child(jobTemplate, "metadata"))
	c.noteMetadata("spec.jobTemplate.spec.template.metadata", child(podTemplate, "metadata"))
}

func (c *conversion) noteMetadata(path string, metadata *yaml.Node) {
	if metadata == nil || metadata.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i < len(metadata.Content); i += 2 {
		if key := metadata.Content[i]; key.Tag != mergeTag && !slices.Contains(embeddedFields, key.Value) {
			c.note(c.offset(key), path+"."+key.Value+": ours has no such field: remove it")
		}
	}
}

// child is the value of a key, with aliases followed; nil if there is none.
func child(mapping *yaml.Node, key string) *yaml.Node {
	if e, ok := lookup(mapping, key); ok {
		return resolve(e.value)
	}
	return nil
}
