//go:build e2e

// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

const (
	metricsPort = 8443
	metricsHost = "project-controller-manager-metrics-service.project-system.svc"
)

func TestMetricsAnswerToThoseWhoAreBoundToTheirReaderAndToNobodyElse(t *testing.T) {
	deployed(t)
	s := newSpace(t)
	s.create(s.cronJob("c").Schedule("@every 1s"))
	reader, stranger := s.metricsReader(), s.token("stranger")

	scraper := newScraper(t, awaitLeader(t, "").Name)
	for who, test := range map[string]struct {
		token string
		want  int
	}{
		"nobody":     {"", http.StatusUnauthorized},
		"a stranger": {stranger, http.StatusForbidden},
		"the reader": {reader, http.StatusOK},
	} {
		code, _ := scraper.scrape(t, test.token)
		assert.Equal(t, test.want, code, who)
	}
	await(t, func(context.Context) error {
		_, text := scraper.scrape(t, reader)
		for _, series := range []string{
			`cronjob_controller_runs_total{result="succeeded"} `,
			`cronjob_controller_job_creation_skew_duration_seconds_bucket{`,
			`cronjob_controller_missed_ticks_total{`,
			`cronjob_controller_jobs_active `,
			"cronjob_controller_webhook_certificate_expiration_timestamp_seconds 1.",
			"go_gc_gomemlimit_bytes 4.83183819e+08\n", // nine tenths of the container's 512Mi
		} {
			if !strings.Contains(text, "\n"+series) {
				return fmt.Errorf("there is no %s", series)
			}
		}
		return nil
	})
}

// token makes a service account, and returns a token of it.
func (s *space) token(account string) string {
	s.t.Helper()
	s.kubectl("create", "serviceaccount", account)
	return strings.TrimSpace(s.kubectl("create", "token", account))
}

// metricsReader returns the token of a service account that may read metrics until the test ends.
func (s *space) metricsReader() string {
	s.t.Helper()
	token, binding := s.token("reader"), s.ns+"-metrics-reader"
	kubectl(s.t, "create", "clusterrolebinding", binding, "--clusterrole=project-metrics-reader", "--serviceaccount="+s.ns+":reader")
	s.t.Cleanup(func() {
		assert.NoError(s.t, kubectlCommand(context.Background(), "delete", "clusterrolebinding", binding).Run())
	})
	await(s.t, func(context.Context) error { // the API server's authorizer hears of the binding, too
		out, err := tryRun(s.t, kubectlCommand, []string{"auth", "can-i", "get", "/metrics", "--as=system:serviceaccount:" + s.ns + ":reader"})
		if err != nil {
			return errors.New(out)
		}
		return nil
	})
	return token
}

// scraper reads the metrics of a replica.
type scraper struct {
	client *http.Client
	url    string
}

// newScraper makes one that trusts the authority of the operator's certificates, and no other.
func newScraper(t *testing.T, pod string) *scraper {
	t.Helper()
	secret := &corev1.Secret{}
	require.NoError(t, cluster.Get(t.Context(), inOperatorNamespace(servingSecret), secret))
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(secret.Data["ca.crt"]))
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: metricsHost}}
	t.Cleanup(transport.CloseIdleConnections)
	return &scraper{client: &http.Client{Transport: transport}, url: "https://" + forward(t, pod, metricsPort) + "/metrics"}
}

// scrape asks for the metrics with a token, and returns the status and the text of the answer.
func (s *scraper) scrape(t *testing.T, token string) (code int, text string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url, http.NoBody)
	require.NoError(t, err)
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := s.client.Do(request)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(body)
}
