// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package plane

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// MetricsReader reads the metrics of managers, which are not for everybody.
type MetricsReader struct{ token string }

// NewMetricsReader makes a service account that may read metrics.
func NewMetricsReader(ctx context.Context, c client.Client, namespace string) (*MetricsReader, error) {
	meta := metav1.ObjectMeta{Name: "reads-metrics", Namespace: namespace}
	account := &corev1.ServiceAccount{ObjectMeta: meta}
	role := &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: meta.Name},
		Rules:      []rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}},
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: meta.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: meta.Name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: meta.Name, Namespace: namespace}},
	}
	token := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		ExpirationSeconds: new(int64(12 * time.Hour / time.Second)),
	}}
	err := errors.Join(c.Create(ctx, account), c.Create(ctx, role), c.Create(ctx, binding))
	if err == nil {
		err = c.SubResource("token").Create(ctx, account, token)
	}
	if err != nil {
		return nil, fmt.Errorf("creating the reader of the metrics: %w", err)
	}
	return &MetricsReader{token.Status.Token}, nil
}

// trusting does not verify certificates: the manager makes one for its metrics by itself.
var trusting = &http.Client{
	Timeout: 5 * time.Second,
	Transport: &http.Transport{
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // see above; on the loopback interface
		DisableKeepAlives: true,
	},
}

// Read returns the metrics at an address whose names begin with a prefix.
func (r *MetricsReader) Read(ctx context.Context, address, prefix string) (map[string]*dto.MetricFamily, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+address+"/metrics", http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("reading metrics: %w", err)
	}
	request.Header.Set("Authorization", "Bearer "+r.token)
	response, err := trusting.Do(request)
	if err != nil {
		return nil, fmt.Errorf("reading metrics: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("reading metrics: %s", response.Status)
	}
	return ParseMetrics(response.Body, prefix)
}

// ParseMetrics returns the metrics of an exposition whose names begin with a prefix, and looks at
// no others: the API server has tens of thousands of series.
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

// Value returns the value of a metric, and of a histogram how much it has observed.
func Value(metric *dto.Metric) float64 {
	if histogram := metric.GetHistogram(); histogram != nil {
		return float64(histogram.GetSampleCount())
	}
	return metric.GetCounter().GetValue() + metric.GetGauge().GetValue() + metric.GetUntyped().GetValue()
}

// Sum adds up a metric over all labels.
func Sum(family *dto.MetricFamily) float64 {
	total := 0.0
	for _, metric := range family.GetMetric() {
		total += Value(metric)
	}
	return total
}
