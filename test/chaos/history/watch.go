// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The API server's keys in etcd.
const (
	root        = "/registry/"
	cronJobKeys = root + "batch.tutorial.kubebuilder.io/cronjobs/"
	jobKeys     = root + "jobs/"
	eventKeys   = root + "events/"
)

// reconnect is how long the watch waits before it asks an etcd again that does not answer.
const reconnect = 200 * time.Millisecond

// Watch adds every change of CronJobs, Jobs and events to a log until the context ends. It watches
// etcd itself: no fault between the managers and etcd hides anything, etcd's revisions are the API
// server's resourceVersions, and after a restart of etcd it goes on where it was. It fails if etcd
// has dropped revisions that it has not seen.
func Watch(ctx context.Context, etcdURL string, log *Log) error {
	w := &watcher{url: etcdURL, log: log, last: map[string]Record{}, next: 1}
	for {
		err := w.follow(ctx)
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // it was told to end
		case errors.Is(err, errLost):
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(reconnect):
		}
	}
}

var errLost = errors.New("the history has a hole")

// watcher is a watch that survives its connections.
type watcher struct {
	url  string
	log  *Log
	next int64             // the first revision that has not been seen
	last map[string]Record // what was last at a key, for a deletion tells only the key
}

// answer is one message of etcd's JSON gateway.
type answer struct {
	Result struct {
		Header struct {
			Revision number `json:"revision"`
		} `json:"header"`
		Canceled        bool   `json:"canceled"`
		CompactRevision number `json:"compact_revision"`
		CancelReason    string `json:"cancel_reason"`
		Events          []struct {
			Type string `json:"type"`
			KV   struct {
				Key         []byte `json:"key"`
				Value       []byte `json:"value"`
				ModRevision number `json:"mod_revision"`
			} `json:"kv"`
		} `json:"events"`
	} `json:"result"`
	Error json.RawMessage `json:"error"`
}

// number is an int64, which the gateway writes as a string.
type number int64

// UnmarshalJSON reads it.
func (n *number) UnmarshalJSON(text []byte) error {
	value, err := strconv.ParseInt(strings.Trim(string(text), `"`), 10, 64)
	*n = number(value)
	return err
}

// follow watches by one connection until that ends.
func (w *watcher) follow(ctx context.Context) error {
	question, err := json.Marshal(map[string]any{"create_request": map[string]any{
		"key": []byte(root), "range_end": []byte("/registry0"), "start_revision": strconv.FormatInt(w.next, 10),
	}})
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url+"/v3/watch", bytes.NewReader(question))
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("watching etcd: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("watching etcd: %s", response.Status)
	}
	for decoder := json.NewDecoder(response.Body); ; {
		var message answer
		if err := decoder.Decode(&message); err != nil {
			return fmt.Errorf("watching etcd: %w", err)
		}
		if err := w.take(&message); err != nil {
			return err
		}
	}
}

// take adds what a message tells.
func (w *watcher) take(message *answer) error {
	result := &message.Result
	switch {
	case result.CompactRevision > 0 && int64(result.CompactRevision) > w.next:
		return fmt.Errorf("%w: etcd dropped the revisions from %d to %d before they were seen", errLost, w.next, result.CompactRevision-1)
	case len(message.Error) > 0:
		return fmt.Errorf("watching etcd: %s", message.Error)
	case result.Canceled:
		return fmt.Errorf("watching etcd: canceled: %s", result.CancelReason)
	}
	for _, event := range result.Events {
		revision := int64(event.KV.ModRevision)
		if revision < w.next-1 {
			return fmt.Errorf("%w: revision %d came after %d", errLost, revision, w.next-1)
		}
		if err := w.change(string(event.KV.Key), revision, event.KV.Value, event.Type == "DELETE"); err != nil {
			return fmt.Errorf("%w: %s at revision %d: %w", errLost, event.KV.Key, revision, err)
		}
		w.next = revision + 1
	}
	return nil
}

// change adds the new state of a key.
func (w *watcher) change(key string, revision int64, value []byte, deleted bool) error {
	decode := decoderOf(key)
	if decode == nil {
		return nil
	}
	if deleted {
		record, ok := w.last[key]
		delete(w.last, key)
		if ok {
			w.log.Add(gone(record, revision))
		}
		return nil
	}
	record, err := decode(value)
	if err != nil || record == nil {
		return err
	}
	record.At, record.Revision = time.Now(), revision
	w.last[key] = *record
	w.log.Add(*record)
	return nil
}

// gone returns the record of a deletion.
func gone(record Record, revision int64) Record {
	switch {
	case record.CronJob != nil:
		state := *record.CronJob
		state.Deleted = true
		record.CronJob = &state
	case record.Job != nil:
		state := *record.Job
		state.Deleted = true
		record.Job = &state
	}
	record.At, record.Revision = time.Now(), revision
	return record
}
