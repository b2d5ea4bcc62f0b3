// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package trust

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	certutil "k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// servedBy returns a CRD with a conversion webhook.
func servedBy(webhook *apiextensionsv1.WebhookClientConfig) *apiextensionsv1.CustomResourceDefinition {
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: crdName},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{Conversion: &apiextensionsv1.CustomResourceConversion{
			Strategy: apiextensionsv1.WebhookConverter,
			Webhook:  &apiextensionsv1.WebhookConversion{ClientConfig: webhook},
		}},
	}
}

func TestAReplicaIsReadyWhenTheCRDTrustsItsCertificate(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler()) // its certificate is for example.com and 127.0.0.1
	t.Cleanup(server.Close)
	bundle := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	other, _, err := certutil.GenerateSelfSignedCertKey("localhost", nil, nil)
	require.NoError(t, err)
	address := server.Listener.Addr().String()
	url := new("https://example.com:443/convert")

	tests := map[string]struct {
		crd       *apiextensionsv1.CustomResourceDefinition
		address   string
		wantError string
	}{
		"its CA":               {crd: servedBy(&apiextensionsv1.WebhookClientConfig{URL: url, CABundle: bundle})},
		"its CA and another":   {crd: servedBy(&apiextensionsv1.WebhookClientConfig{URL: url, CABundle: append(other, bundle...)})},
		"no webhook converts":  {crd: &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: crdName}}},
		"another CA":           {crd: servedBy(&apiextensionsv1.WebhookClientConfig{URL: url, CABundle: other}), wantError: "unknown authority"},
		"nothing injected yet": {crd: servedBy(&apiextensionsv1.WebhookClientConfig{URL: url}), wantError: "unknown authority"},
		"a bundle of garbage": {
			crd:       servedBy(&apiextensionsv1.WebhookClientConfig{URL: url, CABundle: []byte("garbage")}),
			wantError: "caBundle has no certificate",
		},
		"another host": {
			crd:       servedBy(&apiextensionsv1.WebhookClientConfig{URL: new("https://elsewhere.org"), CABundle: bundle}),
			wantError: "not elsewhere.org",
		},
		"another Service": {
			crd: servedBy(&apiextensionsv1.WebhookClientConfig{
				Service: &apiextensionsv1.ServiceReference{Namespace: "ns", Name: "webhook"}, CABundle: bundle,
			}),
			wantError: "not webhook.ns.svc",
		},
		"nothing serves": {
			crd: servedBy(&apiextensionsv1.WebhookClientConfig{URL: url, CABundle: bundle}), address: "127.0.0.1:1", wantError: "refused",
		},
		"no CRD": {wantError: "reading the CRD " + crdName},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			scheme := runtime.NewScheme()
			require.NoError(t, apiextensionsv1.AddToScheme(scheme))
			objects := fake.NewClientBuilder().WithScheme(scheme)
			if tt.crd != nil {
				objects.WithObjects(tt.crd)
			}
			dialed := address
			if tt.address != "" {
				dialed = tt.address
			}
			err := Check(objects.Build(), dialed)(httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", http.NoBody))
			if tt.wantError == "" {
				assert.NoError(t, err)
			} else {
				assert.ErrorContains(t, err, tt.wantError)
			}
		})
	}
}
