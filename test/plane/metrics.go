// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package plane

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// MetricsReader reads the metrics of managers, which require authorization.
type MetricsReader struct{ token string }

func newMetricsReader(ctx context.Context, c client.Client) (*MetricsReader, error) {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "reads-metrics", Namespace: metav1.NamespaceDefault}}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: account.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "system:monitoring"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: account.Name, Namespace: account.Namespace}},
	}
	token := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		ExpirationSeconds: new(int64(12 * time.Hour / time.Second)),
	}}
	err := errors.Join(c.Create(ctx, account), c.Create(ctx, binding))
	if err == nil {
		err = c.SubResource("token").Create(ctx, account, token)
	}
	if err != nil {
		return nil, fmt.Errorf("creating the reader of the metrics: %w", err)
	}
	return &MetricsReader{token.Status.Token}, nil
}

// Read returns the metrics at an address with a prefix. It does not verify the certificate, which
// the manager generates.
func (r *MetricsReader) Read(ctx context.Context, address, prefix string) (map[string]*dto.MetricFamily, error) {
	server, err := restClient(&rest.Config{
		Host: "https://" + address, BearerToken: r.token, Timeout: 5 * time.Second,
		TLSClientConfig: rest.TLSClientConfig{Insecure: true},
	})
	if err != nil {
		return nil, err
	}
	return ReadMetrics(ctx, server, prefix)
}

// ReadMetrics returns the metrics of a server with a prefix.
func ReadMetrics(ctx context.Context, server *rest.RESTClient, prefix string) (map[string]*dto.MetricFamily, error) {
	body, err := server.Get().AbsPath("/metrics").Stream(ctx)
	if err != nil {
		return nil, fmt.Errorf("reading metrics: %w", err)
	}
	defer func() { _ = body.Close() }()
	return ParseMetrics(body, prefix)
}

// ParseMetrics returns the metrics with a prefix. It skips all others, since the API server has
// tens of thousands of series.
func ParseMetrics(exposition io.Reader, prefix string) (map[string]*dto.MetricFamily, error) {
	var wanted bytes.Buffer
	lines := bufio.NewScanner(exposition)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		name := bytes.TrimPrefix(lines.Bytes(), []byte("# TYPE "))
		if bytes.HasPrefix(name, []byte(prefix)) {
			wanted.Write(lines.Bytes())
			wanted.WriteByte('\n')
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading metrics: %w", err)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(&wanted)
	if err != nil {
		return nil, fmt.Errorf("reading metrics: %w", err)
	}
	return families, nil
}

// Value returns the value of a metric; for a histogram, the number of its observations.
func Value(metric *dto.Metric) float64 {
	if histogram := metric.GetHistogram(); histogram != nil {
		return float64(histogram.GetSampleCount())
	}
	return metric.GetCounter().GetValue() + metric.GetGauge().GetValue() + metric.GetUntyped().GetValue()
}

// Sum returns the sum of a metric over all labels.
func Sum(family *dto.MetricFamily) float64 {
	total := 0.0
	for _, metric := range family.GetMetric() {
		total += Value(metric)
	}
	return total
}
