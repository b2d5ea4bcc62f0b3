//go:build e2e

// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// forwarding is what kubectl says once it forwards.
var forwarding = regexp.MustCompile(`^Forwarding from (127\.0\.0\.1:\d+) `)

// forward forwards a port of one of the operator's Pods to this machine, until the test ends, and
// returns the address: the tests may run where the cluster's own addresses can't be reached.
func forward(t *testing.T, pod string, port int) string {
	t.Helper()
	forwarder := kubectlCommand(t.Context(), "-n", operatorNamespace, "port-forward", "--address=127.0.0.1", "pod/"+pod, fmt.Sprintf(":%d", port))
	stdout, err := forwarder.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, forwarder.Start())
	t.Cleanup(func() { // the context has ended: kubectl is killed
		var killed *exec.ExitError
		if err := forwarder.Wait(); err != nil && !errors.As(err, &killed) {
			t.Log("kubectl port-forward: ", err)
		}
	})
	reader := bufio.NewReader(stdout)
	line, err := reader.ReadString('\n')
	require.NoError(t, err, "kubectl port-forward to %s", pod)
	found := forwarding.FindStringSubmatch(line)
	require.NotNil(t, found, "kubectl port-forward to %s says %q", pod, line)
	go func() { _, _ = io.Copy(io.Discard, reader) }() // it speaks of each connection
	return found[1]
}

// servedAt returns the certificate that is served at an address. Who signed it is for the caller to
// judge.
func servedAt(ctx context.Context, address string) (*x509.Certificate, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	dialer := &tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}}
	connection, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	defer func() { _ = connection.Close() }()
	return connection.(*tls.Conn).ConnectionState().PeerCertificates[0], nil
}
