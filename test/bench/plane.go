// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"slices"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"tutorial.kubebuilder.io/project/hack/localcluster"
	"tutorial.kubebuilder.io/project/test/bench/measure"
)

// workers is how many requests the bench has under way at once when it creates things.
const workers = 32

// plane is the one control plane of a run: etcd and the API server, with the operator's CRD and webhooks.
type plane struct {
	*localcluster.Cluster

	// namespaces are where the CronJobs are, spread evenly.
	namespaces []string

	// neighbour is one more, in which there is something only in the stage tenants.
	neighbour string

	// manager is the operator's program.
	manager string

	// memoryLimit is how much memory, in bytes, it may take, as it is deployed.
	memoryLimit int64

	// json sends and takes JSON, for CronJobs of either kind. typed speaks protobuf, as controllers do.
	json  *rest.RESTClient
	typed kubernetes.Interface
}

// startPlane starts the control plane. Its flags are Kubernetes' own defaults, but for a faster deletion of
// collections, which is not measured.
func startPlane(ctx context.Context, o *options) (*plane, error) {
	if _, err := os.Stat(o.manager); err != nil {
		return nil, fmt.Errorf("the manager is not built, run \"make build\": %w", err)
	}
	limit, err := memoryLimit(o.root)
	if err != nil {
		return nil, err
	}
	cluster, err := localcluster.Start(ctx, localcluster.Options{
		Webhooks:  true,
		ExtraArgs: map[localcluster.Component][]string{localcluster.APIServer: {"--delete-collection-workers=16"}},
		Logf:      logf,
	})
	if err != nil {
		return nil, err
	}
	p := &plane{Cluster: cluster, neighbour: "bench-neighbour", manager: o.manager, memoryLimit: limit}
	for i := range o.namespaces {
		p.namespaces = append(p.namespaces, fmt.Sprintf("bench-%d", i))
	}
	if err := p.prepare(ctx); err != nil {
		return nil, fmt.Errorf("%w%s", err, suffix(cluster.Stop()))
	}
	return p, nil
}

// suffix is an error that came on top of another.
func suffix(err error) string {
	if err == nil {
		return ""
	}
	return "; " + err.Error()
}

func (p *plane) prepare(ctx context.Context) error {
	asJSON := rest.CopyConfig(p.Config)
	asJSON.QPS = -1
	asJSON.WarningHandler = rest.NoWarnings{} // schedules that are fit for measuring are warned of
	asJSON.APIPath = "/"
	asJSON.GroupVersion = &corev1.SchemeGroupVersion // not used: paths are absolute
	asJSON.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	asProtobuf := rest.CopyConfig(p.Config)
	asProtobuf.QPS = -1
	asProtobuf.AcceptContentTypes, asProtobuf.ContentType = runtime.ContentTypeProtobuf, runtime.ContentTypeProtobuf
	var err error
	if p.json, err = rest.RESTClientFor(asJSON); err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	if p.typed, err = kubernetes.NewForConfig(asProtobuf); err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	for _, name := range p.allNamespaces() {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := p.typed.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("creating a namespace: %w", err)
		}
	}
	return p.addMetricsReader(ctx)
}

// metricsReader is the service account that reads the manager's metrics, which are not for everybody.
const metricsReader = "metrics-reader"

func (p *plane) addMetricsReader(ctx context.Context) error {
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: metricsReader}}
	_, err := p.typed.CoreV1().ServiceAccounts(p.namespaces[0]).Create(ctx, account, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("creating the reader of the metrics: %w", err)
	}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: metricsReader},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: metricsReader, Namespace: p.namespaces[0]}},
	}
	if _, err := p.typed.RbacV1().ClusterRoleBindings().Create(ctx, binding, metav1.CreateOptions{}); err != nil {
		return fmt.Errorf("creating the reader of the metrics: %w", err)
	}
	return nil
}

// requests returns what the API server has answered so far.
func (p *plane) requests(ctx context.Context) (measure.Requests, error) {
	return measure.RequestsSoFar(ctx, p.json)
}

func (p *plane) allNamespaces() []string { return append(slices.Clone(p.namespaces), p.neighbour) }

// clear deletes all CronJobs, Jobs and events, and has etcd forget that they were ever there: what is measured
// next begins as the first did.
func (p *plane) clear(ctx context.Context) error {
	for _, resource := range []string{operatorV1.path, builtin.path, "/apis/batch/v1/%s/jobs", "/api/v1/%s/events"} {
		for _, namespace := range p.allNamespaces() {
			if err := p.deleteAll(ctx, fmt.Sprintf(resource, "namespaces/"+namespace)); err != nil {
				return err
			}
		}
	}
	return p.compact(ctx)
}

// deleteAll deletes a collection. Nothing here collects garbage, so that the deletion is in the background for good.
// The API server answers after a minute at the latest: then there is more to do.
func (p *plane) deleteAll(ctx context.Context, collection string) error {
	for {
		err := p.json.Delete().AbsPath(collection).Param("propagationPolicy", "Background").Do(ctx).Error()
		switch {
		case err == nil:
			return nil
		case !apierrors.IsTimeout(err) && !apierrors.IsServerTimeout(err):
			return fmt.Errorf("deleting %s: %w", collection, err)
		}
	}
}

// collectGarbage has the API server collect its garbage. With many objects that takes it a second of both processors or more:
// who creates Jobs just then has to wait, and it should not be chance who that is.
func (p *plane) collectGarbage(ctx context.Context) error {
	if _, err := p.json.Get().AbsPath("/debug/pprof/heap").Param("gc", "1").DoRaw(ctx); err != nil {
		return fmt.Errorf("having the API server collect its garbage: %w", err)
	}
	return nil
}

// compact drops etcd's history and gives back the space.
func (p *plane) compact(ctx context.Context) error {
	var answer struct {
		Header struct {
			Revision string `json:"revision"`
		} `json:"header"`
	}
	if err := p.etcd(ctx, "kv/range", map[string]any{"key": "AA=="}, &answer); err != nil {
		return err
	}
	if err := p.etcd(ctx, "kv/compaction", map[string]any{"revision": answer.Header.Revision, "physical": true}, nil); err != nil {
		return err
	}
	return p.etcd(ctx, "maintenance/defragment", map[string]any{}, nil)
}

// etcd calls a method of etcd's by way of its JSON gateway.
func (p *plane) etcd(ctx context.Context, method string, question, answer any) error {
	body, err := json.Marshal(question)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.EtcdURL+"/v3/"+method, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("calling etcd's %s: %w", method, err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("calling etcd's %s: %w", method, err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("calling etcd's %s: %s", method, response.Status)
	}
	if answer == nil {
		return nil
	}
	if err := json.NewDecoder(response.Body).Decode(answer); err != nil {
		return fmt.Errorf("calling etcd's %s: %w", method, err)
	}
	return nil
}
