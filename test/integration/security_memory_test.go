// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/procfs"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/webhook/limit"
)

// containerMemory is how many bytes the manager has where it is deployed.
const containerMemory = 512 << 20

// TestR1StrangersTakeLittleMemoryAndDelayNobody has 200 of them connect again and again, while the
// API server has objects converted by the same manager. It does not run beside other tests, as it
// measures.
func TestR1StrangersTakeLittleMemoryAndDelayNobody(t *testing.T) {
	if withRaceDetector() {
		t.Skip("with the race detector, the manager needs many times the memory")
	}
	s := newSpace(t)
	s.create(s.cronJob("c").Schedule("@hourly").Suspend(true).Obj())
	s.awaitReady("c", metav1.ConditionTrue, v1.ReasonSuspended)
	const head = "POST /convert HTTP/1.1\r\nHost: webhook\r\nContent-Type: application/json\r\n"
	body := fmt.Sprintf("Content-Length: %d\r\n\r\n", limit.MaxBody)
	garbage := `{"request":{"uid":"u","objects":[{"kind":"`
	tests := map[string]string{
		"bodies that stall":         head + body + strings.Repeat("x", limit.MaxBody-1),
		"bodies of unknown length":  head + "Transfer-Encoding: chunked\r\n\r\n" + fmt.Sprintf("%x\r\n", limit.MaxBody) + strings.Repeat("x", limit.MaxBody-1),
		"small bodies that stall":   head + fmt.Sprintf("Content-Length: %d\r\n\r\n", limit.SmallBody) + strings.Repeat("x", limit.SmallBody-1),
		"headers that stall":        head + "X-Long: " + strings.Repeat("x", 1<<20-1000),
		"garbage":                   head + body + garbage + strings.Repeat("x", limit.MaxBody-len(garbage)-6) + `"}]}}` + "\n",
		"answers that nobody reads": head + body + largeReview(limit.MaxBody),
	}
	for name, says := range tests {
		t.Run(name, func(t *testing.T) { s.holdAgainst(t, says) })
	}
}

// largeReview asks for the conversion of one object, in so many bytes.
func largeReview(size int) string {
	const begin = `{"request":{"uid":"u","desiredAPIVersion":"batch.tutorial.kubebuilder.io/v2","objects":[` +
		`{"apiVersion":"batch.tutorial.kubebuilder.io/v1","kind":"CronJob","metadata":{"labels":{"a":"`
	const end = `"}}}]}}`
	return begin + strings.Repeat("x", size-len(begin)-len(end)) + end
}

// holdAgainst measures the manager while 200 strangers say something and then stall.
func (s *space) holdAgainst(t *testing.T, says string) {
	t.Helper()
	const strangers, duration, conversions = 200, 5 * time.Second, 100 // both at least
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	before := len(shared.manager.log())
	var running sync.WaitGroup
	for range strangers {
		running.Go(func() { stall(ctx, fmt.Sprintf("127.0.0.1:%d", shared.WebhookPort), says) })
	}
	process, err := procfs.NewProc(shared.manager.PID())
	require.NoError(t, err)
	most := 0
	var delays []time.Duration
	for start := time.Now(); time.Since(start) < duration || len(delays) < conversions; {
		begin := time.Now()
		s.get("c")
		stored := time.Now()
		s.getV2("c")
		delays = append(delays, time.Since(stored)-stored.Sub(begin)) // on a busy machine, both take long
		stat, err := process.Stat()
		require.NoError(t, err)
		most = max(most, stat.ResidentMemory())
	}
	cancel()
	running.Wait()
	slices.Sort(delays)
	delay, longest := delays[len(delays)*95/100], delays[len(delays)-1]
	logged := len(shared.manager.log()) - before
	t.Logf("%d MiB resident at most; %d conversions, of which 95 %% took %v longer than to read what is stored, and all %v; %d bytes logged",
		most>>20, len(delays), delay, longest, logged)
	assert.Less(t, most, containerMemory/10*6, "resident memory")
	assert.Less(t, delay, time.Second, "95 % of the conversions")
	assert.Less(t, logged, 1<<20, "bytes of log")
}

// stall connects, says something, reads one byte of the answer, and waits. When it is cut off, it
// begins again, until the context ends. It leaves little to the kernel and the processors, so that
// the test measures the manager.
func stall(ctx context.Context, address, says string) {
	dialer := &tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, ClientSessionCache: tls.NewLRUClientSessionCache(1)}}
	again := time.NewTicker(2 * time.Second)
	defer again.Stop()
	for ctx.Err() == nil {
		if connection, err := dialer.DialContext(ctx, "tcp", address); err == nil {
			sayAndWait(ctx, connection, says)
		}
		select {
		case <-ctx.Done():
		case <-again.C:
		}
	}
}

// sayAndWait says something and waits until it is cut off or the context ends.
func sayAndWait(ctx context.Context, connection net.Conn, says string) {
	defer context.AfterFunc(ctx, func() { _ = connection.Close() })()
	defer func() { _ = connection.Close() }()
	if tcp, ok := connection.(*tls.Conn).NetConn().(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(limit.SmallBody)
	}
	if _, err := io.WriteString(connection, says); err != nil {
		return
	}
	if _, err := connection.Read(make([]byte, 1)); err == nil {
		<-ctx.Done()
	}
}
