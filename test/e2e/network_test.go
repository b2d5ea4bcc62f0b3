//go:build e2e

/*
Copyright 2026 The project authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package e2e

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const healthPort = 8081

func TestTheNetworkPoliciesClosePodsToAllButTheirCallers(t *testing.T) {
	deployed(t)
	kubectl(t, "apply", "-k", "config/network-policy")
	t.Cleanup(func() {
		assert.NoError(t, kubectlCommand(context.Background(), "delete", "-k", "config/network-policy").Run())
	})
	s := newSpace(t)
	s.applySamplesAndReadThem() // the API server still reaches the webhooks
	prometheus, stranger := newVisitor(t, map[string]string{"metrics": "enabled"}), newVisitor(t, nil)
	if !policiesAreEnforced(t, stranger) {
		t.Skip("this cluster's network enforces no policies")
	}
	ip := readyPods(t)[0].Status.PodIP
	tests := map[string]struct {
		visitor *visitor
		want    map[int]bool
	}{
		"from a namespace with metrics=enabled": {prometheus, map[int]bool{webhookPort: true, metricsPort: true, healthPort: false}},
		"from any other":                        {stranger, map[int]bool{webhookPort: true, metricsPort: false, healthPort: false}},
	}
	for name, test := range tests {
		for port, want := range test.want {
			await(t, func(context.Context) error { // the network takes a moment to hear of policies and labels
				if reached, out := test.visitor.reaches(ip, port); reached != want {
					return fmt.Errorf("port %d %s: reached: %t, want %t: %s", port, name, reached, want, out)
				}
				return nil
			})
		}
	}
}

// visitor is a Pod from which to connect to others.
type visitor struct {
	*space
}

// newVisitor starts one, in a namespace with labels.
func newVisitor(t *testing.T, labels map[string]string) *visitor {
	t.Helper()
	v := &visitor{newSpace(t)}
	for key, value := range labels {
		kubectl(t, "label", "namespace", v.ns, key+"="+value)
	}
	v.kubectl("run", "visitor", "--image=busybox", "--labels=app=visitor", "--restart=Never", "--command", "--", "sleep", "3600")
	v.kubectl("wait", "--for=condition=Ready", "--timeout=1m", "pod/visitor")
	return v
}

// reaches reports whether something answers HTTP at an address, if only with an error, and what wget says.
func (v *visitor) reaches(ip string, port int) (reached bool, out string) {
	v.t.Helper()
	url := "http://" + ip + ":" + strconv.Itoa(port) + "/"
	out, err := tryRun(v.t, kubectlCommand, []string{"-n", v.ns, "exec", "visitor", "--", "wget", "-T", "3", "-O", "-", url})
	return err == nil || strings.Contains(out, "server returned error"), out
}

// policiesAreEnforced reports whether the network stops what policies do not allow, as not every network does: whether
// a Pod that answers does so no more once a policy closes its namespace.
func policiesAreEnforced(t *testing.T, from *visitor) bool {
	t.Helper()
	s := newSpace(t)
	// A manager with no rights has nothing to do, but answers probes.
	s.kubectl("run", "closed", "--image="+image, "--", "--enable-webhooks=false", fmt.Sprintf("--health-probe-bind-address=:%d", healthPort))
	pod := &corev1.Pod{}
	await(t, func(ctx context.Context) error {
		if err := cluster.Get(ctx, s.key("closed"), pod); err != nil {
			return err
		}
		if reached, out := from.reaches(pod.Status.PodIP, healthPort); !reached {
			return errors.New(out)
		}
		return nil
	})
	require.NoError(t, cluster.Create(t.Context(), &networkingv1.NetworkPolicy{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: "closed"},
		Spec:       networkingv1.NetworkPolicySpec{PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}},
	}))
	for range 10 { // each waits for seconds where it is stopped, and the network takes a moment to hear of it
		if reached, _ := from.reaches(pod.Status.PodIP, healthPort); !reached {
			return true
		}
		time.Sleep(glance)
	}
	return false
}
