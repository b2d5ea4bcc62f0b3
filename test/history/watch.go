// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"context"
	"errors"
	"fmt"

	clientv3 "go.etcd.io/etcd/client/v3"

	"tutorial.kubebuilder.io/project/test/plane"
)

// Watch adds each change of CronJobs, Jobs and events from a revision on to a log until the context
// ends. It watches etcd, so no fault between the managers and etcd hides a change. etcd's revisions
// are the API server's resourceVersions, and the watch continues after a restart of etcd. It fails
// if etcd has compacted revisions that it has not seen.
func Watch(ctx context.Context, etcdURL string, from int64, log *Log) error {
	etcd, err := plane.EtcdClient(etcdURL)
	if err != nil {
		return err
	}
	defer func() { _ = etcd.Close() }()
	changes := etcd.Watch(ctx, root, clientv3.WithPrefix(), clientv3.WithRev(from), clientv3.WithPrevKV())
	for message := range changes {
		if ctx.Err() != nil {
			return nil
		}
		if err := message.Err(); err != nil {
			return fmt.Errorf("watching etcd: %w", err)
		}
		for _, event := range message.Events {
			if err := log.change(event); err != nil {
				return fmt.Errorf("reading %s at revision %d: %w", event.Kv.Key, event.Kv.ModRevision, err)
			}
		}
	}
	if ctx.Err() == nil {
		return errors.New("the watch of etcd has ended")
	}
	return nil
}

// change adds the new state of a key; for a deletion the last state, except for an event's, which
// is in the history already.
func (l *Log) change(event *clientv3.Event) error {
	decode := decoderOf(string(event.Kv.Key))
	if decode == nil {
		return nil
	}
	state, isDeleted := event.Kv, event.Type == clientv3.EventTypeDelete
	if isDeleted {
		state = event.PrevKv
	}
	if state == nil {
		return errors.New("etcd has dropped its last state")
	}
	record, err := decode(state.Value)
	if err != nil {
		return err
	}
	switch {
	case record.CronJob != nil:
		record.CronJob.Deleted = isDeleted
	case record.Job != nil:
		record.Job.Deleted = isDeleted
	case isDeleted || record.Event == nil:
		return nil
	}
	record.Revision = event.Kv.ModRevision
	l.Add(*record)
	return nil
}
