// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package certs

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"slices"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=cronjobs.batch.tutorial.kubebuilder.io,verbs=list;watch;patch
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=mutatingwebhookconfigurations,resourceNames=mutating-webhook-configuration,verbs=list;watch;patch
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=validatingwebhookconfigurations,resourceNames=validating-webhook-configuration,verbs=list;watch;patch

// Objects names the objects that tell the API server how to call the webhooks.
type Objects struct {
	CRD, Mutating, Validating string
}

// ByObject has a cache watch these objects and no others of their kinds, and keep of the CRD, which is
// large, only what this package reads.
func (o Objects) ByObject() map[client.Object]cache.ByObject {
	only := func(name string) cache.ByObject {
		return cache.ByObject{Field: fields.OneTermEqualSelector(metav1.ObjectNameField, name)}
	}
	crd := only(o.CRD)
	crd.Transform = func(object any) (any, error) {
		if crd, ok := object.(*apiextensionsv1.CustomResourceDefinition); ok {
			crd.Spec.Versions, crd.ManagedFields, crd.Annotations = nil, nil, nil
		}
		return object, nil
	}
	return map[client.Object]cache.ByObject{
		&apiextensionsv1.CustomResourceDefinition{}:               crd,
		&admissionregistrationv1.MutatingWebhookConfiguration{}:   only(o.Mutating),
		&admissionregistrationv1.ValidatingWebhookConfiguration{}: only(o.Validating),
	}
}

// onChange calls a function when one of the objects has changed.
func (o Objects) onChange(informers cache.Informers, call func()) error {
	for object := range o.ByObject() {
		// The cache is not started yet: nothing to wait for.
		informer, err := informers.GetInformer(context.Background(), object, cache.BlockUntilSynced(false))
		if err != nil {
			return fmt.Errorf("watching %T: %w", object, err)
		}
		handler := toolscache.ResourceEventHandlerFuncs{
			AddFunc: func(any) { call() }, UpdateFunc: func(any, any) { call() },
		}
		if _, err := informer.AddEventHandler(handler); err != nil {
			return fmt.Errorf("watching %T: %w", object, err)
		}
	}
	return nil
}

// ClusterTrust is the Trust of a cluster: the caBundle of the CRD's conversion and of each webhook.
type ClusterTrust struct {
	Client client.Client
	Clock  clock.PassiveClock
	Objects
}

// place is an object with the bundles in it.
type place struct {
	object  client.Object
	bundles []*[]byte
}

// places reads the objects.
func (t ClusterTrust) places(ctx context.Context) ([]place, error) {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	mutating := &admissionregistrationv1.MutatingWebhookConfiguration{}
	validating := &admissionregistrationv1.ValidatingWebhookConfiguration{}
	for name, object := range map[string]client.Object{t.CRD: crd, t.Mutating: mutating, t.Validating: validating} {
		if err := t.Client.Get(ctx, client.ObjectKey{Name: name}, object); err != nil {
			return nil, err
		}
	}
	converted, mutated, validated := place{object: crd}, place{object: mutating}, place{object: validating}
	if conversion := crd.Spec.Conversion; conversion != nil && conversion.Webhook != nil && conversion.Webhook.ClientConfig != nil {
		converted.bundles = append(converted.bundles, &conversion.Webhook.ClientConfig.CABundle)
	}
	for i := range mutating.Webhooks {
		mutated.bundles = append(mutated.bundles, &mutating.Webhooks[i].ClientConfig.CABundle)
	}
	for i := range validating.Webhooks {
		validated.bundles = append(validated.bundles, &validating.Webhooks[i].ClientConfig.CABundle)
	}
	return []place{converted, mutated, validated}, nil
}

// Bundles returns the bundle of each place.
func (t ClusterTrust) Bundles(ctx context.Context) ([][]byte, error) {
	places, err := t.places(ctx)
	if err != nil {
		return nil, err
	}
	var bundles [][]byte
	for _, place := range places {
		for _, bundle := range place.bundles {
			bundles = append(bundles, *bundle)
		}
	}
	return bundles, nil
}

// Add adds the authority to each bundle that lacks it. The one before it stays, for the replicas that
// still serve its certificates; those before that go.
func (t ClusterTrust) Add(ctx context.Context, authority []byte) error {
	places, err := t.places(ctx)
	if err != nil {
		return err
	}
	for _, place := range places {
		before := place.object.DeepCopyObject().(client.Object) //nolint:forcetypeassert // a copy of the same type
		changed := false
		for _, bundle := range place.bundles {
			if !has(*bundle, authority) {
				*bundle, changed = withAuthority(*bundle, authority, t.Clock.Now()), true
			}
		}
		if !changed {
			continue
		}
		patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
		if err := t.Client.Patch(ctx, place.object, patch); err != nil {
			return fmt.Errorf("adding the authority to %T %s: %w", place.object, place.object.GetName(), err)
		}
	}
	return nil
}

// withAuthority returns a bundle of the authority and of the first other one in the bundle that is valid.
func withAuthority(bundle, authority []byte, now time.Time) []byte {
	ours := decode(authority)
	for _, other := range decode(bundle) {
		isOurs := slices.ContainsFunc(ours, other.Equal)
		if !isOurs && now.Before(other.NotAfter) {
			return encode(append(ours, other)...)
		}
	}
	return encode(ours...)
}

// has reports whether a bundle has all of an authority.
func has(bundle, authority []byte) bool {
	certificates := decode(bundle)
	for _, certificate := range decode(authority) {
		if !slices.ContainsFunc(certificates, certificate.Equal) {
			return false
		}
	}
	return true
}

// decode returns the certificates of some PEM. What is none is passed over.
func decode(text []byte) []*x509.Certificate {
	var certificates []*x509.Certificate
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if certificate, err := x509.ParseCertificate(block.Bytes); err == nil {
			certificates = append(certificates, certificate)
		}
	}
	return certificates
}

// encode returns certificates as PEM.
func encode(certificates ...*x509.Certificate) []byte {
	var text []byte
	for _, certificate := range certificates {
		text = append(text, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Raw})...)
	}
	return text
}
