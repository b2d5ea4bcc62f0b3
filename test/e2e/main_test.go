//go:build e2e

// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package e2e holds the tests of the operator as it is deployed: they use the cluster that the
// current kubeconfig names, with kubectl and make, as its users do.
//
//	make docker-build docker-push deploy IMG=…   # once, and for kind: load instead of push
//	go test -tags e2e ./test/e2e -count=1 -timeout 45m -v
//
// The tests deploy and undeploy, and with that delete every CronJob of the group: they refuse to
// begin where there are any. They leave the operator deployed.
//
// Each begins with what it needs, deployed or undeployed, so that each can run alone; their order
// only saves deployments. Those that only use what is deployed, and wait for long, run side by side
// at the end.
package e2e

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/client/config"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	v2 "tutorial.kubebuilder.io/project/apis/batch/v2"
	"tutorial.kubebuilder.io/project/test/localcluster"
)

const (
	// patience is how long a test waits for what has to come; it comes much sooner on most
	// machines.
	patience = 3 * time.Minute

	// glance is how often it looks.
	glance = 250 * time.Millisecond
)

// The surroundings of the tests, made by TestMain.
var (
	// root is the project's directory.
	root string

	// kubectlPath is the kubectl that the Makefile uses, too.
	kubectlPath string

	// image is the operator's.
	image string

	// config says where the cluster is, and cluster asks it.
	config  *rest.Config
	cluster client.Client
)

func TestMain(m *testing.M) {
	flag.Parse()
	ctrl.SetLogger(logr.Discard())
	if err := setUp(context.Background()); err != nil {
		fmt.Println("FAIL:", err)
		os.Exit(1)
	}
	code := m.Run()
	if err := tearDown(context.Background()); err != nil {
		fmt.Println("FAIL:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// setUp finds the cluster and the operator's image, and clears what an interrupted run has left.
func setUp(ctx context.Context) error {
	var err error
	if root, err = filepath.Abs(filepath.Join("..", "..")); err != nil {
		return err
	}
	if kubectlPath, err = exec.LookPath("kubectl"); err != nil {
		kubectlPath = filepath.Join(localcluster.BinDir(root), "kubectl") // make builds it
	}
	if config, err = ctrlconfig.GetConfig(); err != nil {
		return fmt.Errorf("no cluster is configured: %w", err)
	}
	config.QPS = -1
	if cluster, err = client.New(config, client.Options{Scheme: newScheme()}); err != nil {
		return fmt.Errorf("no cluster answers at %s: %w", config.Host, err)
	}
	if image, err = imageToTest(ctx); err != nil {
		return err
	}
	if err := clearUp(ctx); err != nil {
		return err
	}
	return refuseToDeleteCronJobs(ctx)
}

// newScheme has the types that the tests know.
func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(apiextensionsv1.AddToScheme(scheme))
	utilruntime.Must(v1.AddToScheme(scheme))
	utilruntime.Must(v2.AddToScheme(scheme))
	return scheme
}

// imageToTest is what E2E_IMG says, or what is deployed.
func imageToTest(ctx context.Context) (string, error) {
	if named := os.Getenv("E2E_IMG"); named != "" {
		return named, nil
	}
	deployment := &appsv1.Deployment{}
	if err := cluster.Get(ctx, inOperatorNamespace(deploymentName), deployment); err != nil {
		return "", fmt.Errorf("deploy the operator first (make deploy IMG=…), or name its image in E2E_IMG: %w", err)
	}
	return deployment.Spec.Template.Spec.Containers[0].Image, nil
}

// refuseToDeleteCronJobs fails if there are CronJobs, as they are not the tests'.
func refuseToDeleteCronJobs(ctx context.Context) error {
	list := &v1.CronJobList{}
	if err := cluster.List(ctx, list); err != nil {
		if meta.IsNoMatchError(err) {
			return nil
		}
		return err
	}
	if len(list.Items) > 0 {
		first := &list.Items[0]
		return fmt.Errorf("these tests would delete the %d CronJobs of %s there are, such as %s/%s: use another cluster, or delete them",
			len(list.Items), v1.GroupVersion.Group, first.Namespace, first.Name)
	}
	return nil
}

// clearUp deletes the namespaces of tests, and waits until they are gone.
func clearUp(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	list := &corev1.NamespaceList{}
	for {
		if err := cluster.List(ctx, list, client.HasLabels{testLabel}); err != nil {
			return fmt.Errorf("looking for what tests have left: %w", err)
		}
		if len(list.Items) == 0 {
			return nil
		}
		for i := range list.Items {
			if err := client.IgnoreNotFound(cluster.Delete(ctx, &list.Items[i])); err != nil {
				return fmt.Errorf("deleting what tests have left: %w", err)
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("namespace %s does not go: %w", list.Items[0].Name, ctx.Err())
		case <-time.After(glance):
		}
	}
}

// tearDown leaves the operator deployed, and nothing else.
func tearDown(ctx context.Context) error {
	return errors.Join(deploy(ctx), clearUp(ctx))
}
