// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/procfs"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	v2 "tutorial.kubebuilder.io/project/apis/batch/v2"
	"tutorial.kubebuilder.io/project/internal/webhook/limit"
	"tutorial.kubebuilder.io/project/test/localcluster"
)

// built returns the objects of a kind in what kustomize builds of a directory.
func built[T any](t *testing.T, dir, kind string) []T {
	t.Helper()
	manifests, err := kustomize(t.Context(), dir)
	require.NoError(t, err)
	var objects []T
	for manifest := range strings.SplitSeq(manifests, "\n---\n") {
		head := metav1.TypeMeta{}
		require.NoError(t, yaml.Unmarshal([]byte(manifest), &head))
		if head.Kind == kind {
			var object T
			require.NoError(t, yaml.UnmarshalStrict([]byte(manifest), &object))
			objects = append(objects, object)
		}
	}
	require.NotEmpty(t, objects, "%s has no %s", dir, kind)
	return objects
}

func TestTheNamespaceOfTheManagerAdmitsItsPodsAndNoneWithMorePower(t *testing.T) {
	t.Parallel()
	namespace := built[corev1.Namespace](t, "config/default", "Namespace")[0]
	template := built[appsv1.Deployment](t, "config/default", "Deployment")[0].Spec.Template
	s := newSpaceOn(t, shared, namespace.Labels)
	tests := map[string]struct {
		change func(*corev1.PodSpec)
		want   string
	}{
		"as it is":      {change: func(*corev1.PodSpec) {}},
		"root":          {func(p *corev1.PodSpec) { p.SecurityContext.RunAsNonRoot = nil }, "runAsNonRoot != true"},
		"any syscall":   {func(p *corev1.PodSpec) { p.SecurityContext.SeccompProfile = nil }, "seccompProfile"},
		"capabilities":  {func(p *corev1.PodSpec) { p.Containers[0].SecurityContext.Capabilities = nil }, "unrestricted capabilities"},
		"setuid":        {func(p *corev1.PodSpec) { p.Containers[0].SecurityContext.AllowPrivilegeEscalation = nil }, "allowPrivilegeEscalation != false"},
		"the node's IP": {func(p *corev1.PodSpec) { p.HostNetwork = true }, "host namespaces"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			pod := corev1.Pod{
				TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
				ObjectMeta: metav1.ObjectMeta{Namespace: s.ns, Name: "manager", Labels: template.Labels, Annotations: template.Annotations},
				Spec:       *template.Spec.DeepCopy(),
			}
			test.change(&pod.Spec)
			manifest, err := yaml.Marshal(pod)
			require.NoError(t, err)
			apply := s.Kubectl(t.Context(), "apply", "--server-side", "--dry-run=server", "-f", "-")
			apply.Stdin = strings.NewReader(string(manifest))
			out, err := apply.CombinedOutput()
			if test.want == "" {
				require.NoError(t, err, "%s", out)
				return
			}
			require.Error(t, err)
			assert.Contains(t, string(out), `violates PodSecurity "restricted:latest"`)
			assert.Contains(t, string(out), test.want)
		})
	}
}

// open is a manager with everything that it can serve, as it is deployed.
type open struct {
	*process
	webhooks, metrics, probes int // ports
}

// startOpenManager starts one.
func (s *space) startOpenManager(args ...string) *open {
	s.t.Helper()
	m := &open{}
	for _, port := range []*int{&m.webhooks, &m.metrics} {
		var err error
		*port, err = localcluster.FreePort()
		require.NoError(s.t, err)
	}
	m.process = s.startOwnManager(append([]string{
		"--enable-webhooks", "--webhook-host=127.0.0.1", fmt.Sprintf("--webhook-port=%d", m.webhooks), "--webhook-cert-path=" + shared.WebhookCertDir,
		fmt.Sprintf("--metrics-bind-address=127.0.0.1:%d", m.metrics),
	}, args...)...)
	s.awaitMetrics(m.process, m.metrics)
	var err error
	m.probes, err = strconv.Atoi(m.health[strings.LastIndexByte(m.health, ':')+1:])
	require.NoError(s.t, err)
	return m
}

func TestTheManagerServesWebhooksMetricsAndProbesAndNothingElse(t *testing.T) {
	t.Parallel()
	m := newSpace(t).startOpenManager()
	if runtime.GOOS == "linux" {
		assert.ElementsMatch(t, []int{m.webhooks, m.metrics, m.probes}, listeningPorts(t, m.PID()))
	}
	const (
		admit   = "batch-tutorial-kubebuilder-io-v1-cronjob"
		profile = "/debug/pprof/"
	)
	tests := map[string]map[string]int{
		fmt.Sprintf("http://127.0.0.1:%d", m.probes): {
			"/healthz": http.StatusOK, "/readyz": http.StatusOK,
			"/": http.StatusNotFound, "/metrics": http.StatusNotFound, profile: http.StatusNotFound,
		},
		fmt.Sprintf("https://127.0.0.1:%d", m.metrics): {
			"/metrics": http.StatusUnauthorized,
			"/":        http.StatusNotFound, "/healthz": http.StatusNotFound, profile: http.StatusNotFound,
		},
		fmt.Sprintf("https://127.0.0.1:%d", m.webhooks): {
			// No body, so no review.
			"/convert": http.StatusBadRequest, "/mutate-" + admit: http.StatusOK, "/validate-" + admit: http.StatusOK,
			"/": http.StatusNotFound, "/metrics": http.StatusNotFound, "/healthz": http.StatusNotFound, profile: http.StatusNotFound,
		},
	}
	for server, paths := range tests {
		for path, want := range paths {
			status, body := getWithToken(t, server+path, "")
			assert.Equal(t, want, status, "%s%s: %s", server, path, body)
		}
	}
}

// answersTCP reports whether something listens on a port.
func answersTCP(port int) bool {
	connection, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return false
	}
	return connection.Close() == nil
}

// listeningPorts returns the TCP ports that a process listens on.
func listeningPorts(t *testing.T, pid int) []int {
	t.Helper()
	const listening = 0x0a
	fs, err := procfs.NewDefaultFS()
	require.NoError(t, err)
	p, err := fs.Proc(pid)
	require.NoError(t, err)
	files, err := p.FileDescriptorTargets()
	require.NoError(t, err)
	four, err := fs.NetTCP() //nolint:staticcheck // deprecated as slow where there are many sockets: here are few
	require.NoError(t, err)
	six, err := fs.NetTCP6() //nolint:staticcheck // likewise
	if !os.IsNotExist(err) { // without IPv6
		require.NoError(t, err)
	}
	var ports []int
	for _, socket := range slices.Concat(four, six) {
		if socket.St == listening && slices.Contains(files, fmt.Sprintf("socket:[%d]", socket.Inode)) {
			ports = append(ports, int(socket.LocalPort))
		}
	}
	return ports
}

func TestTLSIsAsNewAsTheManagerIsTold(t *testing.T) {
	t.Parallel()
	const strong = "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384" // not what Go prefers
	tests := map[string]struct {
		flags     []string
		want12    bool
		wantSuite string
	}{
		"1.3 if not told":        {},
		"1.3":                    {flags: []string{"--tls-min-version=VersionTLS13"}},
		"1.3 that speaks HTTP/2": {flags: []string{"--enable-http2"}},
		"1.2":                    {flags: []string{"--tls-min-version=VersionTLS12"}, want12: true},
		"1.2 with suites": {
			flags:  []string{"--tls-min-version=VersionTLS12", "--tls-cipher-suites=" + strong},
			want12: true, wantSuite: "AES_256_GCM",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := newSpace(t).startOpenManager(test.flags...)
			for server, port := range map[string]int{"webhooks": m.webhooks, "metrics": m.metrics} {
				_, err := handshake(port, tls.VersionTLS13)
				require.NoError(t, err, "%s by TLS 1.3", server)
				_, err = handshake(port, tls.VersionTLS11)
				require.ErrorContains(t, err, "protocol version", "%s by TLS 1.1", server)
				state, err := handshake(port, tls.VersionTLS12)
				if !test.want12 {
					require.ErrorContains(t, err, "protocol version", "%s by TLS 1.2", server)
					continue
				}
				require.NoError(t, err, "%s by TLS 1.2", server)
				assert.Contains(t, tls.CipherSuiteName(state.CipherSuite), test.wantSuite, server)
			}
		})
	}
}

// handshake connects to a port by a version of TLS.
func handshake(port int, version uint16) (tls.ConnectionState, error) {
	connection, err := tls.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port),
		&tls.Config{InsecureSkipVerify: true, MinVersion: version, MaxVersion: version})
	if err != nil {
		return tls.ConnectionState{}, err
	}
	defer func() { _ = connection.Close() }()
	return connection.ConnectionState(), nil
}

func TestABadChoiceOfTLSIsAnsweredWithOneLine(t *testing.T) {
	t.Parallel()
	const want = "want VersionTLS12 or VersionTLS13 (--help lists the flags)\n"
	tests := map[string]struct{ flag, want string }{
		"too old":     {"--tls-min-version=VersionTLS11", `manager: invalid value "VersionTLS11" for flag -tls-min-version: ` + want},
		"no version":  {"--tls-min-version=1.3", `manager: invalid value "1.3" for flag -tls-min-version: ` + want},
		"nothing":     {"--tls-min-version=", `manager: invalid value "" for flag -tls-min-version: ` + want},
		"no suite":    {"--tls-cipher-suites=AES", "Cipher suite AES not supported or doesn't exist"},
		"a bad suite": {"--tls-cipher-suites=TLS_RSA_WITH_RC4_128_SHA", "TLS_RSA_WITH_RC4_128_SHA is not secure"},
		"suites of 1.3": {
			"--tls-cipher-suites=TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
			"manager: --tls-cipher-suites: those of TLS 1.3 can't be chosen: want --tls-min-version=VersionTLS12 too\n",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			code, _, stderr := runToEnd(t, nil, []string{test.flag})
			assert.Equal(t, 2, code)
			assert.Contains(t, stderr, test.want)
			assert.Equal(t, 1, strings.Count(stderr, "\n"), "one line, not %q", stderr)
		})
	}
}

func TestWhoSpeaksSlowlyToTheWebhooksIsCutOffAndHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	const each = 50
	s := newSpace(t)
	s.create(s.cronJob("c").Schedule(nextYear).Obj())
	address := fmt.Sprintf("127.0.0.1:%d", shared.WebhookPort)
	plain := func() (net.Conn, error) { return net.Dial("tcp", address) }
	secure := func() (net.Conn, error) { return tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true}) }
	tests := map[string]struct {
		dial func() (net.Conn, error)
		says string
	}{
		"in the handshake": {plain, "\x16\x03\x01"},
		"in the header":    {secure, "POST /convert HTTP/1.1\r\nHost: webhook\r\nX-"},
		"in the body":      {secure, "POST /convert HTTP/1.1\r\nHost: webhook\r\nContent-Length: 1000\r\n\r\n{"},
	}
	begin := time.Now()
	ended := make(chan error)
	for name, test := range tests {
		for range each {
			connection, err := test.dial()
			require.NoError(t, err)
			t.Cleanup(func() { _ = connection.Close() })
			_, err = io.WriteString(connection, test.says)
			require.NoError(t, err)
			require.NoError(t, connection.SetReadDeadline(time.Now().Add(limit.MaxTime+patience)))
			go func() {
				_, err := io.Copy(io.Discard, connection)
				if err != nil {
					err = fmt.Errorf("whoever is slow %s is not cut off: %w", name, err)
				}
				ended <- err
			}()
		}
	}
	ticker := time.NewTicker(4 * glance)
	defer ticker.Stop()
	edits := 0
	for open := each * len(tests); open > 0; {
		select {
		case err := <-ended:
			require.NoError(t, err)
			open--
		case <-ticker.C:
			edits++
			s.edit("c", func(c *v1.CronJob) { c.Labels = map[string]string{"edit": strconv.Itoa(edits)} })
			assert.Equal(t, strconv.Itoa(edits), s.getV2("c").Labels["edit"])
		}
	}
	assert.Less(t, time.Since(begin), limit.MaxTime+patience/2)
	assert.Positive(t, edits, "others are served meanwhile")
}

func TestAListOfMoreThanAReviewMayHaveIsConverted(t *testing.T) {
	t.Parallel()
	s := newSpaceOn(t, shared, map[string]string{webhooksLabel: webhooksOff}) // to admit them is not what takes the time here
	const each = 1_450_000                                                    // etcd takes 1.5 MiB
	names := make([]string, limit.MaxBody/each+1)
	for i := range names {
		names[i] = fmt.Sprintf("c-%d", i)
		large := s.cronJob(names[i]).Schedule("@hourly").Suspend(true).Obj()
		large.Spec.JobTemplate.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "LARGE", Value: strings.Repeat("x", each)}}
		s.create(large)
	}
	list := &v2.CronJobList{}
	require.NoError(t, s.Client.List(t.Context(), list, client.InNamespace(s.ns)))
	require.Len(t, list.Items, len(names))
	for i := range list.Items {
		assert.Equal(t, v2.CronSchedule{Minute: field("0")}, list.Items[i].Spec.Schedule)
		assert.Len(t, list.Items[i].Spec.JobTemplate.Spec.Template.Spec.Containers[0].Env[0].Value, each)
	}
}

func TestWhoeverCallsTheWebhooksGetsAnAnswerAndChangesNothing(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	c := s.cronJob("c").Schedule("* * * * *").Obj()
	c.TypeMeta = metav1.TypeMeta{APIVersion: v1.GroupVersion.String(), Kind: "CronJob"}
	object, err := json.Marshal(c)
	require.NoError(t, err)
	admission := fmt.Sprintf(`{"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {"uid": "u",
		"operation": "CREATE", "namespace": %q, "name": "c", "object": %s}}`, s.ns, object)
	conversion := fmt.Sprintf(`{"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "request": {"uid": "u",
		"desiredAPIVersion": %q, "objects": [%s]}}`, v2.GroupVersion, object)
	tests := map[string]struct{ review, want string }{
		"/convert": {conversion, `"schedule":{"minute":"*"}`},
		"/mutate-batch-tutorial-kubebuilder-io-v1-cronjob":   {admission, `"patchType":"JSONPatch"`},
		"/validate-batch-tutorial-kubebuilder-io-v1-cronjob": {admission, `"allowed":true`},
	}
	for path, test := range tests {
		status, answer := post(t, fmt.Sprintf("https://127.0.0.1:%d%s", shared.WebhookPort, path), test.review)
		assert.Equal(t, http.StatusOK, status, path)
		assert.Contains(t, answer, test.want, path)
	}
	cronJobs := &v1.CronJobList{}
	require.NoError(t, s.Client.List(t.Context(), cronJobs, client.InNamespace(s.ns)))
	assert.Empty(t, cronJobs.Items)
	assert.Empty(t, s.jobs(""))
}

// post sends JSON as anybody can who reaches a server.
func post(t *testing.T, url, body string) (status int, answer string) {
	t.Helper()
	anybody := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}}
	response, err := anybody.Post(url, "application/json", strings.NewReader(body))
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(text)
}
