// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"fmt"
	"path"

	"github.com/spf13/cobra"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tutorial.kubebuilder.io/project/apis/batch"
	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/env"
)

const checkLong = `Convert every CronJob of the cluster to each version and back, as this version of the plugin does it,
and print those that would change. Then let the API server try to write each in every version that it
serves, and print those that it would refuse. Nothing is stored.

Use the plugin of the release that you are going to install, before you install it.

The command requires the right to list CronJobs of all namespaces, and for the second part to update
them. Without the latter, it does the first part alone.

Exit codes: 0, no CronJob would change or be refused; 1, some would, or an error.`

func newCheckCommand(e *env.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "Try every conversion of every CronJob, without writing",
		Long:  checkLong,
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			c, err := e.Client()
			if err != nil {
				return err
			}
			return (&checker{Env: e, client: c, convert: batch.Versions.ConvertJSON}).run(command.Context())
		},
	}
}

type checker struct {
	*env.Env
	client client.Client

	// convert converts an object, as JSON, to an API version.
	convert func(object []byte, apiVersion string) ([]byte, error)

	// mayWrite is whether the user has the right to update CronJobs.
	mayWrite bool

	served map[string]bool
}

func (c *checker) run(ctx context.Context) error {
	crd, version, err := readCRD(ctx, c.client)
	if err != nil {
		return err
	}
	c.served = servedBy(crd)
	if c.mayWrite, err = c.mayUpdate(ctx); err != nil {
		return err
	}
	count, bad := 0, 0
	errs := each(ctx, c.Env, c.client, version, func(object *unstructured.Unstructured) error {
		count++
		found := c.check(ctx, object)
		for _, text := range found {
			_, _ = fmt.Fprintf(c.Out, "%s/%s: %s\n", object.GetNamespace(), object.GetName(), text)
		}
		bad += min(1, len(found))
		return nil
	})
	tried := ", and tried to write them"
	if !c.mayWrite {
		tried = "; whether they would be refused was not tried: you have no right to update CronJobs of all namespaces"
	}
	_, _ = fmt.Fprintf(c.Out, "converted %d CronJobs to each version and back%s\n", count, tried)
	if bad > 0 {
		errs = append(errs, fmt.Errorf("%d of %d CronJobs would change or be refused", bad, count))
	}
	return cronjobs.Fail(c.Env, errs)
}

func (c *checker) mayUpdate(ctx context.Context) (bool, error) {
	review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
		ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "update", Group: resource.Group, Resource: resource.Resource},
	}}
	if err := c.client.Create(ctx, review); err != nil {
		return false, fmt.Errorf("asking what you may do: %w", err)
	}
	return review.Status.Allowed, nil
}

func (c *checker) check(ctx context.Context, object *unstructured.Unstructured) []string {
	stored, err := object.MarshalJSON()
	if err != nil {
		return []string{err.Error()}
	}
	var found []string
	for _, apiVersion := range batch.Versions.APIVersions() {
		version := path.Base(apiVersion)
		converted, err := c.convert(stored, apiVersion)
		if err != nil {
			found = append(found, fmt.Sprintf("can't be converted to %s: %v", version, err))
			continue
		}
		if changed, err := c.changes(stored, converted, object.GetAPIVersion()); err != nil {
			found = append(found, fmt.Sprintf("can't be converted back from %s: %v", version, err))
		} else if changed != "" {
			found = append(found, fmt.Sprintf("would change by way of %s: %s", version, changed))
		}
		if c.mayWrite && c.served[apiVersion] {
			inVersion := &unstructured.Unstructured{}
			if err = inVersion.UnmarshalJSON(converted); err == nil {
				err = write(ctx, c.client, inVersion, client.DryRunAll)
			}
			if err != nil {
				found = append(found, fmt.Sprintf("would be refused in %s: %v", version, err))
			}
		}
	}
	return found
}

// changes returns the changes after a conversion back, as a merge patch; "" for none.
func (c *checker) changes(stored, converted []byte, apiVersion string) (string, error) {
	back, err := c.convert(converted, apiVersion)
	if err != nil {
		return "", err
	}
	patch, err := jsonpatch.CreateMergePatch(stored, back)
	if err != nil || string(patch) == "{}" {
		return "", err
	}
	return string(patch), nil
}
