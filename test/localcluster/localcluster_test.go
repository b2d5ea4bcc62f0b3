// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package localcluster

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// TestClusterRunsJobs starts everything, has a Job complete and a namespace go away, and stops.
func TestClusterRunsJobs(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	log.SetLogger(log.Log.WithSink(nil))
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()

	cluster, err := Start(ctx, Options{RunsJobs: true, Logf: t.Logf})
	if errors.Is(err, ErrNoBinaries) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stopAndCheck(t, cluster) })

	create(ctx, t, cluster, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "work"}})
	create(ctx, t, cluster, oneShotJob("work", "once"))
	if err := cluster.kubectl(ctx, "wait", "--for=condition=Complete", "job/once", "--namespace=work", "--timeout=2m"); err != nil {
		t.Fatal(err)
	}
	deleteNamespace(ctx, t, cluster, "work")
}

func TestStartShowsTheLogOfWhatFails(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	log.SetLogger(log.Log.WithSink(nil))
	tests := map[Component]string{
		Etcd:              "etcd --version", // it shows how it is used
		APIServer:         "unknown flag: --no-such",
		ControllerManager: "unknown flag: --no-such",
	}
	for component, wantLog := range tests {
		t.Run(string(component), func(t *testing.T) {
			cluster, err := Start(t.Context(), Options{
				RunsJobs:  true,
				ExtraArgs: map[Component][]string{component: {"--no-such=flag"}},
			})
			if errors.Is(err, ErrNoBinaries) {
				t.Skip(err)
			}
			if err == nil {
				stopAndCheck(t, cluster)
				t.Fatal("Start() succeeded")
			}
			for _, want := range []string{string(component) + ".log", wantLog} {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("Start() = %v, want it to contain %q", err, want)
				}
			}
		})
	}
}

func create(ctx context.Context, t *testing.T, cluster *Cluster, object client.Object) {
	t.Helper()
	if err := cluster.Client.Create(ctx, object); err != nil {
		t.Fatal(err)
	}
}

func oneShotJob(namespace, name string) *batchv1.Job {
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: batchv1.JobSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			Containers:    []corev1.Container{{Name: "main", Image: "busybox", Command: []string{"true"}}},
		}}},
	}
}

// deleteNamespace deletes a namespace with all in it, and waits until it is gone.
func deleteNamespace(ctx context.Context, t *testing.T, cluster *Cluster, name string) {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	watcher, err := cluster.Client.Watch(ctx, &corev1.NamespaceList{}, client.MatchingFields{"metadata.name": name})
	if err != nil {
		t.Fatal(err)
	}
	defer watcher.Stop()
	if err := cluster.Client.Delete(ctx, namespace); err != nil {
		t.Fatal(err)
	}
	for event := range watcher.ResultChan() {
		if event.Type == watch.Deleted {
			break
		}
	}
	if err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(namespace), namespace); !apierrors.IsNotFound(err) {
		t.Errorf("namespace %s is not gone: %v", name, err)
	}
}

// stopAndCheck stops the cluster and checks that no process and no file of it is left.
func stopAndCheck(t *testing.T, cluster *Cluster) {
	t.Helper()
	processes := cluster.processes
	webhookCerts := cluster.WebhookCertDir
	if err := cluster.Stop(); err != nil {
		t.Error(err)
	}
	for _, process := range processes {
		select {
		case <-process.Done():
		default:
			t.Errorf("%s still runs", process.command.Name)
		}
	}
	for _, dir := range []string{cluster.Dir, webhookCerts} {
		if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there: %v", dir, err)
		}
	}
	if cluster.Config != nil && healthy(context.Background(), cluster.Config.Host+"/livez") {
		t.Error("the API server still answers")
	}
}
