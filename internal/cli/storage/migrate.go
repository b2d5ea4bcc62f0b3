// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tutorial.kubebuilder.io/project/internal/cli/env"
)

const migrateLong = `Have every CronJob stored in the storage version of the CRD, and take all other versions off the list
status.storedVersions, so that the CRD may drop them.

Each object is written as it is; what is stored as it should be already costs a request and no write.
managedFields about versions that are not served are moved to the storage version. Where the cluster
has StorageVersionMigration (Kubernetes 1.37 and later), the cluster does it.

It can be interrupted and repeated. A request that the cluster has not begun with is deleted when it
gives up. The list is trimmed only when all objects were written and the CRD was not changed meanwhile.`

// Ways to migrate.
const (
	methodAuto    = "auto"
	methodCluster = "cluster"
	methodClient  = "client"
)

// failuresInARow is how many objects may fail one after the other before it is given up.
const failuresInARow = 10

// options are the flags.
type options struct {
	method   string
	qps      float32
	page     int64
	goOn     string
	deadline time.Duration
}

func newMigrateCommand(e *env.Env) *cobra.Command {
	o := options{}
	command := &cobra.Command{
		Use:   "migrate",
		Short: "Have every CronJob stored in the storage version",
		Long:  migrateLong,
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			if err := o.validate(); err != nil {
				return err
			}
			c, err := e.Client()
			if err != nil {
				return err
			}
			return newMigrator(e, c, o).run(command.Context())
		},
	}
	flags := command.Flags()
	flags.StringVar(&o.method, "method", methodAuto,
		`Must be "auto", "cluster", or "client". "cluster" has the cluster do it with a StorageVersionMigration, "client" writes from here, `+
			`"auto" takes the first if there is one.`)
	flags.Float32Var(&o.qps, "qps", 50, "How many objects are written in a second, from here.")
	flags.Int64Var(&o.page, "page-size", defaultPage, "How many objects are listed at a time.")
	flags.StringVar(&o.goOn, "continue", "", "Go on where an interrupted run stopped: what that has printed.")
	flags.DurationVar(&o.deadline, "timeout", 0, "How long to wait for the cluster; 0 for as long as it takes.")
	return command
}

func (o options) validate() error {
	switch {
	case !slices.Contains([]string{methodAuto, methodCluster, methodClient}, o.method):
		return fmt.Errorf("--method=%s: use auto, cluster or client", o.method)
	case o.qps <= 0:
		return fmt.Errorf("--qps=%g: use more than 0", o.qps)
	case o.page <= 0:
		return fmt.Errorf("--page-size=%d: use 1 or more", o.page)
	case o.deadline < 0:
		return fmt.Errorf("--timeout=%s: use 0 or more", o.deadline)
	case o.goOn != "" && o.method == methodCluster:
		return errors.New("--continue is for --method=client: the cluster goes on by itself")
	}
	return nil
}

// migrator migrates.
type migrator struct {
	options
	env    *env.Env
	client client.Client
	clock  clock.Clock

	// crd is as it was at the start.
	crd     *apiextensionsv1.CustomResourceDefinition
	storage string
	served  []string

	limiter  flowcontrol.RateLimiter
	progress *progress

	rewritten, same, cleaned, failed, inARow int

	// last is the key of the last object up to which all is done.
	last string
}

func newMigrator(e *env.Env, c client.Client, o options) *migrator {
	burst := max(1, int(o.qps/10))
	return &migrator{options: o, env: e, client: c, clock: e.Clock, limiter: flowcontrol.NewTokenBucketRateLimiter(o.qps, burst)}
}

// run migrates in the way that was asked for.
func (m *migrator) run(ctx context.Context) error {
	var err error
	if m.crd, err = getCRD(ctx, m.client); err != nil {
		return err
	}
	if m.storage, err = storageVersion(m.crd); err != nil {
		return err
	}
	m.served = servedVersions(m.crd)
	inCluster := m.method == methodCluster
	if m.method == methodAuto && m.goOn == "" {
		if inCluster, err = m.clusterMigrates(); err != nil {
			return err
		}
	}
	if inCluster {
		return m.runInCluster(ctx)
	}
	return m.runHere(ctx)
}

// runHere writes every object.
func (m *migrator) runHere(ctx context.Context) error {
	after, err := m.readToken()
	if err != nil {
		return err
	}
	m.last = after
	if err := m.visit(ctx, "done", after, m.rewrite); err != nil {
		return fmt.Errorf("%w; go on with --method=client --continue=%s", err, m.token())
	}
	m.say("%d written as %s, %d were so already, managedFields of %d cleaned", m.rewritten, m.storage, m.same, m.cleaned)
	return m.trim(ctx)
}

// visit calls back for each object behind a key, at the rate that is allowed, and counts the failures.
func (m *migrator) visit(ctx context.Context, doing, after string,
	handle func(context.Context, *metav1.PartialObjectMetadata) error,
) error {
	m.progress = newProgress(m.env.ErrOut, doing)
	defer m.progress.finish()
	m.failed, m.inARow = 0, 0
	p := &pages{client: m.client, version: m.storage, limit: m.page, onPage: m.progress.total}
	err := p.each(ctx, func(object *metav1.PartialObjectMetadata) error {
		defer m.progress.add()
		key := keyOf(object)
		if key <= after {
			return nil
		}
		if err := m.limiter.Wait(ctx); err != nil {
			return fmt.Errorf("interrupted: %w", err)
		}
		return m.count(ctx, key, handle(ctx, object))
	})
	if err == nil && m.failed > 0 {
		err = fmt.Errorf("%d objects could not be written", m.failed)
	}
	return err
}

// count takes note of the result for an object. It returns an error when it makes no sense to go on.
func (m *migrator) count(ctx context.Context, key string, err error) error {
	switch {
	case err == nil:
		m.inARow = 0
		if m.failed == 0 {
			m.last = key
		}
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("interrupted: %w", context.Cause(ctx))
	}
	m.failed++
	m.inARow++
	m.progress.clear()
	_, _ = fmt.Fprintf(m.env.ErrOut, "error: %s: %v\n", key, err)
	if m.inARow >= failuresInARow {
		return fmt.Errorf("%d objects in a row could not be written", m.inARow)
	}
	return nil
}

// keyOf is the key of an object, in the order of which they are listed.
func keyOf(object *metav1.PartialObjectMetadata) string { return object.Namespace + "/" + object.Name }

// rewrite writes an object as it is, with clean managedFields.
func (m *migrator) rewrite(ctx context.Context, object *metav1.PartialObjectMetadata) error {
	fields, stale := cleanManagedFields(object.ManagedFields, m.served, m.storage)
	before := object.ResourceVersion
	err := m.patch(ctx, object, fields, stale)
	switch {
	case apierrors.IsNotFound(err):
		return nil // deleted
	case apierrors.IsConflict(err) && stale == 0:
		m.rewritten++ // by whoever has written it since it was listed
		return nil
	case apierrors.IsConflict(err):
		return m.rewriteLatest(ctx, object)
	case err != nil:
		return err
	}
	if stale > 0 {
		m.cleaned++
	}
	if object.ResourceVersion == before {
		m.same++
	} else {
		m.rewritten++
	}
	return nil
}

// rewriteLatest is rewrite for an object that has changed.
func (m *migrator) rewriteLatest(ctx context.Context, object *metav1.PartialObjectMetadata) error {
	if err := m.client.Get(ctx, client.ObjectKeyFromObject(object), object); err != nil {
		return client.IgnoreNotFound(err)
	}
	return m.rewrite(ctx, object)
}

// patch writes an object if it is still the one that was listed. A patch that changes nothing is written
// only if what is stored has other bytes, as those of another version.
func (m *migrator) patch(ctx context.Context, object *metav1.PartialObjectMetadata, fields []metav1.ManagedFieldsEntry, stale int) error {
	metadata := map[string]any{"uid": object.UID, "resourceVersion": object.ResourceVersion}
	if stale > 0 {
		metadata["managedFields"] = fields
		if len(fields) == 0 {
			metadata["managedFields"] = []any{map[string]any{}} // which says that nobody owns anything
		}
	}
	patch, err := json.Marshal(map[string]any{"metadata": metadata})
	if err != nil {
		return err
	}
	backoff := wait.Backoff{Duration: 200 * time.Millisecond, Factor: 2, Jitter: 0.1, Steps: 5}
	return retry.OnError(backoff, isTransient, func() error {
		return m.client.Patch(ctx, object, client.RawPatch(types.MergePatchType, patch))
	})
}

// isTransient reports whether the same request may be answered otherwise in a second.
func isTransient(err error) bool {
	return apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) || apierrors.IsTooManyRequests(err) ||
		apierrors.IsServiceUnavailable(err)
}

// trim takes all versions but the storage version off the list, if the CRD is as it was at the start.
func (m *migrator) trim(ctx context.Context) error {
	trimmed := false
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error {
		crd, err := getCRD(ctx, m.client)
		if err != nil {
			return err
		}
		if crd.UID != m.crd.UID || crd.Generation != m.crd.Generation {
			return errors.New("the CRD was changed meanwhile, so that status.storedVersions stays as it is: repeat the command")
		}
		if slices.Equal(crd.Status.StoredVersions, []string{m.storage}) {
			return nil
		}
		crd.Status.StoredVersions = []string{m.storage}
		trimmed = true
		return m.client.Status().Update(ctx, crd)
	})
	if err != nil {
		return fmt.Errorf("trimming status.storedVersions: %w", err)
	}
	if trimmed {
		m.say("status.storedVersions is [%s], it was [%s]", m.storage, strings.Join(m.crd.Status.StoredVersions, ", "))
	} else {
		m.say("status.storedVersions is [%s]", m.storage)
	}
	return nil
}

func (m *migrator) say(format string, args ...any) {
	_, _ = fmt.Fprintf(m.env.Out, format+"\n", args...)
}

// token is where a run has stopped. It is of use only as long as the CRD is the same.
type token struct {
	UID        types.UID `json:"uid"`
	Generation int64     `json:"generation"`
	After      string    `json:"after"`
}

// token says how far all is done.
func (m *migrator) token() string {
	text, _ := json.Marshal(token{UID: m.crd.UID, Generation: m.crd.Generation, After: m.last}) // strings and a number
	return base64.RawURLEncoding.EncodeToString(text)
}

// readToken returns the key behind which to go on; "" for the beginning.
func (m *migrator) readToken() (string, error) {
	if m.goOn == "" {
		return "", nil
	}
	text, err := base64.RawURLEncoding.DecodeString(m.goOn)
	t := token{}
	if err == nil {
		err = json.Unmarshal(text, &t)
	}
	switch {
	case err != nil:
		return "", fmt.Errorf("--continue: not what an interrupted run has printed: %w", err)
	case t.UID != m.crd.UID || t.Generation != m.crd.Generation:
		return "", errors.New("--continue: the CRD was changed since: leave it out, to start anew")
	}
	return t.After, nil
}
