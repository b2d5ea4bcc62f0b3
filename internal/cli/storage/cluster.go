// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	svmv1 "k8s.io/api/storagemigration/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// glance is how often it is looked how far the cluster is.
	glance = time.Second

	// startTimeout is how long the cluster may take to begin.
	startTimeout = time.Minute

	// withdrawTimeout is how long it may take to delete a request, after an interruption too.
	withdrawTimeout = 10 * time.Second

	// trimTimeout is how long it may take to trim the list after the migration.
	trimTimeout = 30 * time.Second
)

// clusterMigrates reports whether the cluster has StorageVersionMigration as of Kubernetes 1.37.
func (m *migrator) clusterMigrates() (bool, error) {
	kind := svmv1.SchemeGroupVersion.WithKind("StorageVersionMigration")
	_, err := m.client.RESTMapper().RESTMapping(kind.GroupKind(), kind.Version)
	if meta.IsNoMatchError(err) {
		return false, nil
	}
	return err == nil, err
}

// runInCluster has the cluster write every object. It does not care for managedFields: they are cleaned here.
func (m *migrator) runInCluster(ctx context.Context) error {
	if err := m.visit(ctx, "looked at", "", m.clean); err != nil {
		return err
	}
	m.say("managedFields of %d cleaned", m.cleaned)
	migration, joined, err := m.startInCluster(ctx)
	if err != nil {
		return err
	}
	if err := m.awaitCluster(ctx, migration); err != nil {
		if !joined && migrationState(migration).State == pending {
			if failed := m.withdraw(ctx, migration); failed != nil {
				err = fmt.Errorf("%w; it was not deleted: %w", err, failed)
			}
		}
		return fmt.Errorf("storageversionmigration.storagemigration.k8s.io/%s: %w", migration.Name, err)
	}
	return m.awaitTrim(ctx)
}

// withdraw deletes a migration that nobody has begun with: it would otherwise run at some later time,
// when nobody expects it. After an interruption too.
func (m *migrator) withdraw(ctx context.Context, migration *svmv1.StorageVersionMigration) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), withdrawTimeout)
	defer cancel()
	unchanged := client.Preconditions{UID: &migration.UID, ResourceVersion: &migration.ResourceVersion}
	if err := m.client.Delete(ctx, migration, unchanged); err != nil {
		return client.IgnoreNotFound(err)
	}
	m.say("deleted storageversionmigration.storagemigration.k8s.io/%s", migration.Name)
	return nil
}

// clean writes an object only if its managedFields are to be cleaned.
func (m *migrator) clean(ctx context.Context, object *metav1.PartialObjectMetadata) error {
	if _, stale := cleanManagedFields(object.ManagedFields, m.served, m.storage); stale == 0 {
		return nil
	}
	return m.rewrite(ctx, object)
}

// startInCluster creates a migration, or joins one that has not ended, and reports whether it joined
// one.
func (m *migrator) startInCluster(ctx context.Context) (migration *svmv1.StorageVersionMigration, joined bool, err error) {
	list := &svmv1.StorageVersionMigrationList{}
	if err := m.client.List(ctx, list); err != nil {
		return nil, false, fmt.Errorf("listing StorageVersionMigrations: %w", err)
	}
	for i := range list.Items {
		migration := &list.Items[i]
		if migration.Spec.Resource == resource && !hasEnded(migration) && !migration.CreationTimestamp.Before(changeOf(m)) {
			m.say("joined storageversionmigration.storagemigration.k8s.io/%s", migration.Name)
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
	m.say("created storageversionmigration.storagemigration.k8s.io/%s", migration.Name)
	return migration, false, nil
}

// changeOf is when the CRD was changed last: a migration from before that may have written the version before.
func changeOf(m *migrator) *metav1.Time { return &metav1.Time{Time: changedAt(m.crd)} }

func hasEnded(migration *svmv1.StorageVersionMigration) bool {
	state := migrationState(migration).State
	return state == string(svmv1.MigrationSucceeded) || state == string(svmv1.MigrationFailed)
}

// awaitCluster waits until the migration has ended, and says how far it is.
func (m *migrator) awaitCluster(ctx context.Context, migration *svmv1.StorageVersionMigration) error {
	begin, said := m.clock.Now(), ""
	for {
		if err := m.client.Get(ctx, client.ObjectKeyFromObject(migration), migration); err != nil {
			return err
		}
		state := migrationState(migration)
		if text := state.String(); text != said {
			m.say("%s", text)
			said = text
		}
		waited := m.clock.Since(begin)
		switch {
		case state.State == string(svmv1.MigrationSucceeded):
			return nil
		case state.State == string(svmv1.MigrationFailed):
			return errors.New("failed: " + state.Detail)
		case state.State == pending && (waited > startTimeout || m.deadline > 0 && waited > m.deadline):
			return fmt.Errorf("nobody has begun with it for %s: does kube-controller-manager run its "+
				"storage-version-migrator-controller? --method=client does without", waited.Round(time.Second))
		case m.deadline > 0 && waited > m.deadline:
			return fmt.Errorf("not done after %s; the cluster goes on: repeat the command to see how far it is", m.deadline)
		}
		switch err := m.sleep(ctx, glance); {
		case err != nil && state.State == pending:
			return fmt.Errorf("interrupted: %w", err)
		case err != nil:
			return fmt.Errorf("interrupted; the cluster goes on: repeat the command to see how far it is: %w", err)
		}
	}
}

// awaitTrim waits until the cluster has trimmed the list, and does it itself where that does not come.
func (m *migrator) awaitTrim(ctx context.Context) error {
	end := m.clock.Now().Add(trimTimeout)
	for m.clock.Now().Before(end) {
		crd, err := getCRD(ctx, m.client)
		if err != nil {
			return err
		}
		if slices.Equal(crd.Status.StoredVersions, []string{m.storage}) || crd.Generation != m.crd.Generation {
			break
		}
		if err := m.sleep(ctx, glance); err != nil {
			return err
		}
	}
	return m.trim(ctx)
}

func (m *migrator) sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-m.clock.After(d):
		return nil
	}
}
