// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package plane

import (
	"fmt"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
)

// EtcdClient returns a client of an etcd that may be away for a while, and that is then asked again
// soon.
func EtcdClient(url string) (*clientv3.Client, error) {
	const pause = 200 * time.Millisecond
	reconnect := grpc.ConnectParams{
		Backoff:           backoff.Config{BaseDelay: pause, Multiplier: 1, MaxDelay: pause},
		MinConnectTimeout: tryTimeout,
	}
	client, err := clientv3.New(clientv3.Config{
		Endpoints: []string{url}, Logger: zap.NewNop(), DialOptions: []grpc.DialOption{grpc.WithConnectParams(reconnect)},
	})
	if err != nil {
		return nil, fmt.Errorf("making a client of etcd: %w", err)
	}
	return client, nil
}
