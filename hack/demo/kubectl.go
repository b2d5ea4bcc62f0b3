// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"
)

// versions are the API's versions.
var versions = []string{"v1", "v2"}

// cronJobs names the resource of a version as kubectl understands it.
func cronJobs(version string) string {
	return "cronjobs." + version + ".batch.tutorial.kubebuilder.io"
}

// kubectl prints a command line as one would type it, then runs it and prints what it says.
func (d *demo) kubectl(ctx context.Context, args ...string) error {
	d.printf("$ kubectl %s\n", strings.Join(args, " "))
	command := d.cluster.Kubectl(ctx, args...)
	command.Stdout, command.Stderr = d.out, d.out
	if err := command.Run(); err != nil {
		return failed(ctx, args, err)
	}
	return nil
}

// quietly runs kubectl and prints nothing unless it fails.
func (d *demo) quietly(ctx context.Context, args ...string) error {
	output, err := d.cluster.Kubectl(ctx, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w\n%s", failed(ctx, args, err), output)
	}
	return nil
}

// failed says what failed, and the reason if it was an end of the context: then the error is only
// that kubectl was killed.
func failed(ctx context.Context, args []string, err error) error {
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return fmt.Errorf("kubectl %s: %w", strings.Join(args, " "), err)
}

// excerpt is what showSchedules shows of a CronJob, in whatever version.
type excerpt struct {
	APIVersion string `json:"apiVersion"`
	Metadata   struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		Schedule any `json:"schedule"`
	} `json:"spec"`
}

// showSchedules prints the schedule of every CronJob in every version.
func (d *demo) showSchedules(ctx context.Context) error {
	for _, version := range versions {
		args := []string{"get", cronJobs(version), "-o", "yaml"}
		d.printf("$ kubectl %s   # an excerpt\n", strings.Join(args, " "))
		output, err := d.cluster.Kubectl(ctx, args...).Output()
		if err != nil {
			return failed(ctx, args, err)
		}
		text, err := excerpts(output)
		if err != nil {
			return fmt.Errorf("reading %s: %w", cronJobs(version), err)
		}
		d.printf("%s\n", text)
	}
	return nil
}

// excerpts makes of a list in YAML a stream with what is worth showing of each item.
func excerpts(list []byte) (string, error) {
	var parsed struct {
		Items []excerpt `json:"items"`
	}
	if err := yaml.Unmarshal(list, &parsed); err != nil {
		return "", fmt.Errorf("parsing a list: %w", err)
	}
	var documents []string
	for _, item := range parsed.Items {
		document, err := yaml.Marshal(item)
		if err != nil {
			return "", fmt.Errorf("writing an excerpt: %w", err)
		}
		documents = append(documents, string(document))
	}
	return strings.Join(documents, "---\n"), nil
}
