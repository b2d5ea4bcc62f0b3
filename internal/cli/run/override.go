// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/env"
)

// override changes the template for one run.
type override struct {
	container string
	env       []string
	args      []string // nil keeps those of the template
}

func (o *override) addFlags(cmd *cobra.Command, e *env.Env) {
	flags := cmd.Flags()
	flags.StringArrayVar(&o.env, "env", nil, "Set a variable in the container, NAME=VALUE. May be given more than once.")
	flags.StringVar(&o.container, "container", "", "The container that --env and the arguments behind -- are for, if there are several.")
	cronjobs.CompleteFlag(cmd, "container", cronjobs.CompleteFrom(e, func(c *v1.CronJob) []cobra.Completion {
		return cronjobs.ContainerNames(c.Spec.JobTemplate.Spec.Template.Spec.Containers)
	}))
}

func (o *override) check() error {
	if o.container != "" && len(o.env)+len(o.args) == 0 {
		return errors.New("--container goes with --env, or with arguments behind --")
	}
	for _, variable := range o.env {
		name, _, ok := strings.Cut(variable, "=")
		if !ok {
			return fmt.Errorf("--env %q: want NAME=VALUE", variable)
		}
		if problems := validation.IsRelaxedEnvVarName(name); len(problems) > 0 {
			return fmt.Errorf("--env %q: the name %q: %s", variable, name, strings.Join(problems, "; "))
		}
	}
	return nil
}

func (o *override) apply(pod *corev1.PodSpec) error {
	if len(o.env)+len(o.args) == 0 {
		return nil
	}
	names := cronjobs.ContainerNames(pod.Containers)
	i := slices.Index(names, o.container)
	switch {
	case o.container == "" && len(names) == 1:
		i = 0
	case o.container == "":
		return fmt.Errorf("the Pods have several containers: name one of them with --container: %s", strings.Join(names, ", "))
	case i < 0:
		return fmt.Errorf("--container %q is not a container of the Pods: they have %s", o.container, strings.Join(names, ", "))
	}
	container := &pod.Containers[i]
	if len(o.args) > 0 {
		container.Args = o.args
	}
	for _, variable := range o.env {
		name, value, _ := strings.Cut(variable, "=")
		replaced := corev1.EnvVar{Name: name, Value: value}
		if i := slices.IndexFunc(container.Env, func(v corev1.EnvVar) bool { return v.Name == name }); i >= 0 {
			container.Env[i] = replaced // at the same index, so that later variables can refer to it
		} else {
			container.Env = append(container.Env, replaced)
		}
	}
	return nil
}
