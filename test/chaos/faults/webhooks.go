// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"
)

// webhooks is the address of the webhooks for the API server. Like a Service, it forwards
// connections to the running managers in turn. The zero value does not listen.
type webhooks struct {
	listener net.Listener
	managers []*manager
	down     atomic.Bool
	nth      atomic.Int64
}

func (w *webhooks) listen(port int, managers []*manager) (err error) {
	w.managers = managers
	if w.listener, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err != nil {
		return fmt.Errorf("taking the port of the webhooks: %w", err)
	}
	go func() {
		for {
			conn, err := w.listener.Accept()
			if err != nil {
				return
			}
			go w.pass(conn)
		}
	}()
	return nil
}

func (w *webhooks) close() {
	if w.listener != nil {
		_ = w.listener.Close()
	}
}

func (w *webhooks) pass(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	first := int(w.nth.Add(1))
	for i := range w.managers {
		m := w.managers[(first+i)%len(w.managers)]
		if !w.serves(m) {
			continue
		}
		backend, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", m.webhookPort), time.Second)
		if err == nil {
			w.join(conn, backend, m)
			return
		}
	}
}

func (w *webhooks) serves(m *manager) bool { return !w.down.Load() && m.runs() }

// join copies in both directions until one ends, the webhooks are down, or the manager is frozen.
// In the last case a Service's clients notice after a while that the connection is useless.
func (w *webhooks) join(conn, backend net.Conn, m *manager) {
	defer func() { _ = backend.Close() }()
	ended := make(chan struct{}, 2)
	for _, pair := range [][2]net.Conn{{conn, backend}, {backend, conn}} {
		go func() {
			_, _ = io.Copy(pair[0], pair[1])
			ended <- struct{}{}
		}()
	}
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for w.serves(m) {
		select {
		case <-ended:
			return
		case <-ticker.C:
		}
	}
}
