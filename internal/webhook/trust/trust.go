// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package trust checks that the API server accepts the certificate that this replica's webhooks
// serve.
//
// cert-manager's CA injector writes the trusted CA into the CRD and the webhook configurations.
// This package only reads it.
package trust

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
)

// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=cronjobs.batch.tutorial.kubebuilder.io,verbs=list;watch

// crdName is the CRD whose conversion webhook this replica serves.
const crdName = "cronjobs.batch.tutorial.kubebuilder.io"

// CacheByObject returns the cache options for the CRD that Check reads. They drop its schemas,
// which are large.
func CacheByObject() map[client.Object]cache.ByObject {
	return map[client.Object]cache.ByObject{
		&apiextensionsv1.CustomResourceDefinition{}: {
			Field: fields.OneTermEqualSelector(metav1.ObjectNameField, crdName),
			Transform: func(object any) (any, error) {
				if crd, ok := object.(*apiextensionsv1.CustomResourceDefinition); ok {
					crd.ManagedFields, crd.Annotations = nil, nil
					for i := range crd.Spec.Versions {
						crd.Spec.Versions[i].Schema = nil
					}
				}
				return object, nil
			},
		},
	}
}

// Check returns a readiness check of the webhook server at an address. It makes the TLS handshake
// that the API server would make to convert a CronJob, with the caBundle and the host name of the
// CRD. It passes if the CRD has no conversion webhook.
//
// The check may fail later, when the CA is replaced: the Service then selects only replicas that
// already have their new certificate.
//
// It logs why it fails, because the server of the health checks does not.
func Check(reader client.Reader, address string) healthz.Checker {
	log := ctrl.Log.WithName("trust")
	return func(request *http.Request) error {
		err := check(request.Context(), reader, address)
		if err != nil {
			log.Info("The API server can't call this replica's webhooks", "reason", err.Error())
		}
		return err
	}
}

func check(ctx context.Context, reader client.Reader, address string) error {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := reader.Get(ctx, client.ObjectKey{Name: crdName}, crd); err != nil {
		return fmt.Errorf("reading the CRD %s: %w", crdName, err)
	}
	conversion := crd.Spec.Conversion
	if conversion == nil || conversion.Webhook == nil || conversion.Webhook.ClientConfig == nil {
		return nil
	}
	config, err := tlsConfig(conversion.Webhook.ClientConfig)
	if err != nil {
		return fmt.Errorf("the CRD %s: spec.conversion.webhook.clientConfig: %w", crdName, err)
	}
	dialer := tls.Dialer{Config: config}
	connection, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("the API server does not accept the webhooks' certificate: %w", err)
	}
	return connection.Close()
}

// tlsConfig returns the TLS configuration with which the API server verifies the webhook. Without a
// caBundle, the API server trusts the system's CAs.
func tlsConfig(webhook *apiextensionsv1.WebhookClientConfig) (*tls.Config, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if len(webhook.CABundle) > 0 {
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(webhook.CABundle) {
			return nil, errors.New("caBundle has no certificate")
		}
	}
	switch {
	case webhook.Service != nil:
		config.ServerName = webhook.Service.Name + "." + webhook.Service.Namespace + ".svc"
	case webhook.URL != nil:
		target, err := url.Parse(*webhook.URL)
		if err != nil {
			return nil, fmt.Errorf("url: %w", err)
		}
		config.ServerName = target.Hostname()
	}
	return config, nil
}
