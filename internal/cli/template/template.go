// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package template makes CronJobs of one container from the flags of create and import.
package template

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	v2 "tutorial.kubebuilder.io/project/apis/batch/v2"
	"tutorial.kubebuilder.io/project/internal/schedule"
)

// Flags say what CronJobs are made of.
type Flags struct {
	Image    string
	TimeZone string
	V2       bool
}

// AddFlags has a command take the flags.
func (f *Flags) AddFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.Image, "image", "", "The image of the container.")
	flags.StringVar(&f.TimeZone, "time-zone", "", "The time zone of the schedule, such as Europe/Paris; UTC if it is not set.")
	flags.BoolVar(&f.V2, "v2", false, "Make it in v2, where the schedule is in fields.")
}

// Check says what is wrong with the flags.
func (f *Flags) Check() error {
	if f.Image == "" {
		return errors.New("--image is missing: name the image of the container")
	}
	if _, err := schedule.LoadZone(f.TimeZone); err != nil {
		return fmt.Errorf("--time-zone %q: %w", f.TimeZone, err)
	}
	return nil
}

// CronJob makes a CronJob that runs at some ticks, a schedule as v1 has it. Its container has its
// name.
func (f *Flags) CronJob(name, ticks string, command []string, restart corev1.RestartPolicy) *v1.CronJob {
	c := &v1.CronJob{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1.CronJobSpec{Schedule: ticks}}
	if f.TimeZone != "" {
		c.Spec.TimeZone = &f.TimeZone
	}
	c.Spec.JobTemplate.Spec = batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
		// A container's name has no dots, and a CronJob's may.
		Containers:    []corev1.Container{{Name: strings.ReplaceAll(name, ".", "-"), Image: f.Image, Command: command}},
		RestartPolicy: restart,
	}}}
	return c
}

// InVersion returns a CronJob in the version that the flags ask for. In v2, the schedule is in the
// fields alone, as convert has it.
func (f *Flags) InVersion(c *v1.CronJob) (client.Object, error) {
	if !f.V2 {
		c.SetGroupVersionKind(v1.GroupVersion.WithKind("CronJob"))
		return c, nil
	}
	spoke := &v2.CronJob{}
	if err := spoke.ConvertFrom(c); err != nil {
		return nil, err
	}
	delete(spoke.Annotations, v2.ScheduleV1Annotation)
	spoke.SetGroupVersionKind(v2.GroupVersion.WithKind("CronJob"))
	return spoke, nil
}
