// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	svmv1 "k8s.io/api/storagemigration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	watchtools "k8s.io/client-go/tools/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/env"
)

const migrateLong = `Store every CronJob in the storage version of the CRD. Each is written without changes; then the other
versions are removed from status.storedVersions, so that the CRD may drop them.

The cluster does this by a StorageVersionMigration, which Kubernetes has since 1.37. If the cluster has
none, or does not begin within half a minute, the command withdraws its request and writes each CronJob
itself. This requires the rights to list and update CronJobs of all namespaces, and to update
customresourcedefinitions/status.

The command can be interrupted and repeated. After an interrupt, a request that the cluster has not
begun is deleted, and one that it has begun continues.`

const (
	pollInterval = time.Second

	// clusterTimeout is how long the cluster may take to begin, and at the end to update the list.
	clusterTimeout = 30 * time.Second

	// withdrawTimeout limits the time to delete a request, also after an interrupt.
	withdrawTimeout = 10 * time.Second
)

func newMigrateCommand(e *env.Env) *cobra.Command {
	m := &migrator{Env: e}
	command := &cobra.Command{
		Use:   "migrate",
		Short: "Have every CronJob stored in the storage version",
		Long:  migrateLong,
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if m.timeout < 0 {
				return fmt.Errorf("--timeout=%s: use 0 or more", m.timeout)
			}
			var err error
			if m.client, err = e.Client(); err != nil {
				return err
			}
			return m.run(command.Context())
		},
	}
	command.Flags().DurationVar(&m.timeout, "timeout", 0, "How long to wait for the cluster; 0 for as long as it takes.")
	return command
}

// migrator migrates by the cluster's migrator, or itself if there is none.
type migrator struct {
	*env.Env
	client  client.Client
	timeout time.Duration
}

// errNotBegun is the error if probably no controller processes StorageVersionMigrations.
var errNotBegun = fmt.Errorf("the cluster has not begun with it for %s: "+
	"does kube-controller-manager run its storage-version-migrator-controller?", clusterTimeout)

func (m *migrator) run(ctx context.Context) error {
	crd, version, err := readCRD(ctx, m.client)
	if err != nil {
		return err
	}
	migration, err := m.request(ctx)
	switch {
	case meta.IsNoMatchError(err):
		m.say("the cluster has no StorageVersionMigration")
		return m.rewrite(ctx, crd, version)
	case err != nil:
		return err
	}
	err = m.await(ctx, migration)
	switch {
	case err == nil:
		return m.awaitStoredVersions(ctx, version)
	case stateOf(migration).Type == running:
		return fmt.Errorf("%s: %w; the cluster goes on: repeat the command to see its progress", nameOf(migration), err)
	case stateOf(migration).Type == pending:
		if withdrawErr := m.withdraw(ctx, migration); withdrawErr != nil {
			err = errors.Join(err, withdrawErr)
		} else if errors.Is(err, errNotBegun) {
			m.say("%v", err)
			return m.rewrite(ctx, crd, version)
		}
	}
	return fmt.Errorf("%s: %w", nameOf(migration), err)
}

func (m *migrator) request(ctx context.Context) (*svmv1.StorageVersionMigration, error) {
	list := &svmv1.StorageVersionMigrationList{}
	if err := m.client.List(ctx, list); err != nil {
		return nil, fmt.Errorf("listing StorageVersionMigrations: %w", err)
	}
	for i := range list.Items {
		if list.Items[i].Spec.Resource == resource && stateOf(&list.Items[i]).Type == running {
			m.say("joined %s", nameOf(&list.Items[i]))
			return &list.Items[i], nil
		}
	}
	migration := &svmv1.StorageVersionMigration{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "kubectl-cronjob-"},
		Spec:       svmv1.StorageVersionMigrationSpec{Resource: resource},
	}
	if err := m.client.Create(ctx, migration); err != nil {
		return nil, fmt.Errorf("creating a StorageVersionMigration: %w", err)
	}
	m.say("created %s", nameOf(migration))
	return migration, nil
}

func nameOf(migration *svmv1.StorageVersionMigration) string {
	return "storageversionmigration.storagemigration.k8s.io/" + migration.Name
}

const (
	running = string(svmv1.MigrationRunning)

	// pending is the state of a migration that the cluster has not begun.
	pending = "Pending"
)

func stateOf(migration *svmv1.StorageVersionMigration) metav1.Condition {
	for _, state := range []svmv1.MigrationConditionType{svmv1.MigrationFailed, svmv1.MigrationSucceeded, svmv1.MigrationRunning} {
		condition := meta.FindStatusCondition(migration.Status.Conditions, string(state))
		if condition != nil && condition.Status == metav1.ConditionTrue {
			return *condition
		}
	}
	return metav1.Condition{Type: pending}
}

// await prints the progress of a migration until it has succeeded.
func (m *migrator) await(ctx context.Context, migration *svmv1.StorageVersionMigration) error {
	ctx, cancel := watchtools.ContextWithOptionalTimeout(ctx, m.timeout)
	defer cancel()
	start, printed := time.Now(), ""
	return wait.PollUntilContextCancel(ctx, pollInterval, true, func(ctx context.Context) (bool, error) {
		if err := m.client.Get(ctx, client.ObjectKeyFromObject(migration), migration); err != nil {
			return false, err
		}
		state := stateOf(migration)
		if progress := strings.TrimSuffix(state.Type+": "+state.Message, ": "); progress != printed {
			m.say("%s", progress)
			printed = progress
		}
		switch {
		case state.Type == string(svmv1.MigrationFailed):
			return false, errors.New("failed: " + state.Message)
		case state.Type == pending && time.Since(start) > clusterTimeout:
			return false, errNotBegun
		}
		return state.Type == string(svmv1.MigrationSucceeded), nil
	})
}

// withdraw deletes a migration that the cluster has not begun, which might otherwise run much
// later.
func (m *migrator) withdraw(ctx context.Context, migration *svmv1.StorageVersionMigration) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), withdrawTimeout)
	defer cancel()
	unchanged := client.Preconditions{UID: &migration.UID, ResourceVersion: &migration.ResourceVersion}
	if err := client.IgnoreNotFound(m.client.Delete(ctx, migration, unchanged)); err != nil {
		return fmt.Errorf("it was not deleted: %w", err)
	}
	m.say("deleted %s", nameOf(migration))
	return nil
}

func (m *migrator) awaitStoredVersions(ctx context.Context, version string) error {
	var stored []string
	err := wait.PollUntilContextTimeout(ctx, pollInterval, clusterTimeout, true, func(ctx context.Context) (bool, error) {
		crd, _, err := readCRD(ctx, m.client)
		if err != nil {
			return false, err
		}
		stored = crd.Status.StoredVersions
		return slices.Equal(stored, []string{version}), nil
	})
	if err != nil {
		return fmt.Errorf("all objects were written, but status.storedVersions of the CRD is %v: was the CRD changed meanwhile? "+
			"Repeat the command: %w", stored, err)
	}
	m.say("status.storedVersions is %v", stored)
	return nil
}

// rewrite writes each CronJob without changes, which stores it in the storage version, and then
// removes the other versions from status.storedVersions. After an error it still writes the others,
// but keeps the list.
func (m *migrator) rewrite(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, version string) error {
	m.say("writing each CronJob as it is, to store it as %s", version)
	written := 0
	errs := each(ctx, m.Env, m.client, version, func(object *unstructured.Unstructured) error {
		if err := write(ctx, m.client, object); err != nil {
			return fmt.Errorf("CronJob %s: %w", object.GetName(), err)
		}
		written++
		return nil
	})
	m.say("wrote %d CronJobs", written)
	if len(errs) > 0 {
		return cronjobs.Fail(m.Env, append(errs,
			errors.New("status.storedVersions is left as it is: repeat the command when these can be written")))
	}
	crd.Status.StoredVersions = []string{version}
	if err := m.client.Status().Update(ctx, crd); err != nil { // a conflict if the CRD was changed meanwhile
		return fmt.Errorf("all CronJobs are stored as %s, but status.storedVersions was not updated, repeat the command: %w", version, err)
	}
	m.say("status.storedVersions is %v", crd.Status.StoredVersions)
	return nil
}

func (m *migrator) say(format string, args ...any) { _, _ = fmt.Fprintf(m.Out, format+"\n", args...) }
