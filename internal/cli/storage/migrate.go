// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	svmv1 "k8s.io/api/storagemigration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tutorial.kubebuilder.io/project/internal/cli/env"
)

const migrateLong = `Have every CronJob stored in the storage version of the CRD. Each is written as it is; then the other
versions are taken off the list status.storedVersions, so that the CRD may drop them.

The cluster does it, by a StorageVersionMigration, which Kubernetes has from 1.37 on. Where the cluster
has none, or does not begin within half a minute, the command withdraws its request and writes each
CronJob itself. For that it needs the rights to list and update CronJobs of all namespaces, and to update
customresourcedefinitions/status.

The command can be interrupted and repeated. A request that the cluster has not begun with is deleted; one
that the cluster has begun with goes on.`

const (
	// pollInterval is the time between two looks at the migration.
	pollInterval = time.Second

	// startTimeout is how long the cluster may take to begin.
	startTimeout = 30 * time.Second

	// withdrawTimeout is how long the deletion of a request may take, after an interruption too.
	withdrawTimeout = 10 * time.Second

	// trimTimeout is how long the cluster may take to update the list after the migration.
	trimTimeout = 30 * time.Second
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

// migrator has the cluster migrate, and waits for it.
type migrator struct {
	*env.Env
	client  client.Client
	timeout time.Duration
}

// run migrates to the storage version that the CRD has now.
func (m *migrator) run(ctx context.Context) error {
	crd, err := getCRD(ctx, m.client)
	if err != nil {
		return err
	}
	version, err := storageVersion(crd)
	if err != nil {
		return err
	}
	migration, joined, err := m.request(ctx, crd)
	switch {
	case meta.IsNoMatchError(err):
		m.say("the cluster has no StorageVersionMigration")
		return m.rewrite(ctx, crd, version)
	case err != nil:
		return err
	}
	err = m.await(ctx, migration)
	if err == nil {
		return m.awaitStoredVersions(ctx, version)
	}
	var left error
	if !joined && migrationState(migration).State == pending {
		left = m.withdraw(ctx, migration)
	}
	if left == nil && errors.Is(err, errNotBegun) {
		return m.rewrite(ctx, crd, version)
	}
	return fmt.Errorf("%s: %w", nameOf(migration), errors.Join(err, left))
}

// errNotBegun says that the cluster has a StorageVersionMigration, and probably nobody who does it.
var errNotBegun = errors.New("the cluster has not begun with it")

// request creates a migration, or joins one that has not ended. One from before the last change of
// the CRD is not joined, as it may have written the version before.
func (m *migrator) request(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition) (
	migration *svmv1.StorageVersionMigration, joined bool, err error,
) {
	list := &svmv1.StorageVersionMigrationList{}
	if err := m.client.List(ctx, list); err != nil {
		return nil, false, fmt.Errorf("listing StorageVersionMigrations: %w", err)
	}
	for i := range list.Items {
		migration := &list.Items[i]
		isOlder := migration.CreationTimestamp.Time.Before(changedAt(crd))
		if migration.Spec.Resource == resource && !isOlder && !migrationState(migration).hasEnded() {
			m.say("joined %s", nameOf(migration))
			return migration, true, nil
		}
	}
	migration = &svmv1.StorageVersionMigration{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "kubectl-cronjob-"},
		Spec:       svmv1.StorageVersionMigrationSpec{Resource: resource},
	}
	if err := m.client.Create(ctx, migration); err != nil {
		return nil, false, fmt.Errorf("creating a StorageVersionMigration: %w", err)
	}
	m.say("created %s", nameOf(migration))
	return migration, false, nil
}

// nameOf names a migration as kubectl does.
func nameOf(migration *svmv1.StorageVersionMigration) string {
	return "storageversionmigration.storagemigration.k8s.io/" + migration.Name
}

// await waits until the migration has ended, and prints its progress.
func (m *migrator) await(ctx context.Context, migration *svmv1.StorageVersionMigration) error {
	begin, printed := m.Clock.Now(), ""
	for {
		if err := m.client.Get(ctx, client.ObjectKeyFromObject(migration), migration); err != nil {
			return err
		}
		state := migrationState(migration)
		if text := state.String(); text != printed {
			m.say("%s", text)
			printed = text
		}
		waited := m.Clock.Since(begin)
		isLate := m.timeout > 0 && waited > m.timeout
		switch {
		case state.State == string(svmv1.MigrationSucceeded):
			return nil
		case state.State == string(svmv1.MigrationFailed):
			return errors.New("failed: " + state.Detail)
		case state.State == pending && waited > startTimeout:
			m.say("%v for %s: does kube-controller-manager run its storage-version-migrator-controller?", errNotBegun, startTimeout)
			return errNotBegun
		case isLate && state.State == pending:
			return fmt.Errorf("not begun after %s", m.timeout)
		case isLate:
			return fmt.Errorf("not done after %s; the cluster goes on: repeat the command to see its progress", m.timeout)
		}
		if err := m.Sleep(ctx, pollInterval); err != nil {
			if state.State == pending {
				return fmt.Errorf("interrupted: %w", err)
			}
			return fmt.Errorf("interrupted; the cluster goes on: repeat the command to see its progress: %w", err)
		}
	}
}

// withdraw deletes a migration that the cluster has not begun with: it would otherwise run at some
// later time, when nobody expects it.
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

// awaitStoredVersions waits until the cluster has taken the other versions off the list.
func (m *migrator) awaitStoredVersions(ctx context.Context, version string) error {
	for end := m.Clock.Now().Add(trimTimeout); ; {
		crd, err := getCRD(ctx, m.client)
		if err != nil {
			return err
		}
		stored := crd.Status.StoredVersions
		if slices.Equal(stored, []string{version}) {
			m.say("status.storedVersions is %v", stored)
			return nil
		}
		if m.Clock.Now().After(end) {
			return fmt.Errorf("all objects were written, but status.storedVersions of the CRD is %v: was the CRD changed meanwhile? "+
				"Repeat the command", stored)
		}
		if err := m.Sleep(ctx, pollInterval); err != nil {
			return fmt.Errorf("interrupted: %w", err)
		}
	}
}

func (m *migrator) say(format string, args ...any) { _, _ = fmt.Fprintf(m.Out, format+"\n", args...) }
