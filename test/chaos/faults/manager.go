// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"tutorial.kubebuilder.io/project/hack/localcluster"
	"tutorial.kubebuilder.io/project/test/chaos/history"
	"tutorial.kubebuilder.io/project/test/plane"
)

// restartAfter is how long a manager that has ended stays away.
const restartAfter = time.Second

// manager is one of the two replicas: a process that is started again when it ends, and its proxy.
type manager struct {
	name        string
	log         *history.Log
	proxy       *proxy
	command     localcluster.Command
	webhookPort int
	metricsPort int

	mu       sync.Mutex
	process  *localcluster.Process
	lives    int
	label    string // of the process
	frozenAt time.Time
	stopped  bool
	done     chan struct{}
}

// newManager prepares a manager that talks to the API server through a proxy.
func (s *Site) newManager(name, managerKubeconfig string) (*manager, error) {
	user, err := clientcmd.BuildConfigFromFlags("", managerKubeconfig)
	if err != nil {
		return nil, err
	}
	user.QPS = -1
	m := &manager{name: name, log: s.log, done: make(chan struct{})}
	if m.proxy, err = newProxy(user, s); err != nil {
		return nil, err
	}
	kubeconfig := filepath.Join(s.Dir, name+".kubeconfig")
	server := m.proxy.url
	if mutation := s.options.Mutation; mutation != nil {
		proxy := &rest.Config{Host: server, TLSClientConfig: rest.TLSClientConfig{CAData: m.proxy.authority}}
		mutated, err := mutation.Proxy(proxy)
		if err != nil {
			return nil, err
		}
		server = httptest.NewServer(mutated).URL
	}
	config := clientcmdapi.NewConfig()
	config.Clusters["proxy"] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: m.proxy.authority}
	config.Contexts["proxy"] = &clientcmdapi.Context{Cluster: "proxy"}
	config.CurrentContext = "proxy"
	if err := clientcmd.WriteToFile(*config, kubeconfig); err != nil {
		return nil, err
	}
	if m.command, err = s.Manager(s.options.Manager, kubeconfig); err != nil {
		return nil, err
	}
	if m.webhookPort, err = localcluster.FreePort(); err != nil {
		return nil, err
	}
	if m.metricsPort, err = localcluster.FreePort(); err != nil {
		return nil, err
	}
	m.command.Name = "manager-" + name
	m.command.HealthURL = "" // the storm does not wait for it
	m.command.Args = append(m.command.Args,
		"--leader-elect", "--leader-election-namespace="+localcluster.ManagerNamespace,
		fmt.Sprintf("--webhook-port=%d", m.webhookPort), "--webhook-cert-path="+s.certDir,
		fmt.Sprintf("--metrics-bind-address=127.0.0.1:%d", m.metricsPort), "--health-probe-bind-address=0")
	m.command.Env = []string{"CHAOS_CLOCK=" + s.clock.path, "TZ=Asia/Kolkata"}
	return m, nil
}

// supervise keeps the manager running until it is stopped.
func (m *manager) supervise(ctx context.Context, site *Site) {
	defer close(m.done)
	for ctx.Err() == nil {
		process, err := m.start(ctx, site)
		if err != nil || process == nil {
			return
		}
		<-process.Done()
		m.log.Add(history.Record{Process: &history.Process{Manager: m.labelNow(), State: history.Ended}})
		m.mu.Lock()
		stopped := m.stopped
		m.mu.Unlock()
		if stopped {
			return
		}
		plane.Sleep(ctx, restartAfter)
	}
}

func (m *manager) start(ctx context.Context, site *Site) (*localcluster.Process, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stopped {
		return nil, nil //nolint:nilnil // there is none any more
	}
	m.lives++
	m.label = fmt.Sprintf("%s-%d", m.name, m.lives)
	m.proxy.serves(m.label)
	process, err := site.run(ctx, m.command)
	if err != nil {
		return nil, err
	}
	m.process = process
	m.log.Add(history.Record{Process: &history.Process{Manager: m.label, State: history.Started}})
	return process, nil
}

func (m *manager) labelNow() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.label
}

// runs reports whether the process runs.
func (m *manager) runs() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.process != nil && !isDone(m.process) && m.frozenAt.IsZero()
}

func isDone(process *localcluster.Process) bool {
	select {
	case <-process.Done():
		return true
	default:
		return false
	}
}

// signal sends a signal to the process, if it runs.
func (m *manager) signal(signal syscall.Signal) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.process != nil && !isDone(m.process) {
		_ = syscall.Kill(m.process.PID(), signal)
	}
}

// freeze stops the process as it is.
func (m *manager) freeze() {
	m.signal(syscall.SIGSTOP)
	m.mu.Lock()
	m.frozenAt = time.Now()
	label := m.label
	m.mu.Unlock()
	m.log.Add(history.Record{Process: &history.Process{Manager: label, State: history.Frozen}})
}

// thaw lets it go on.
func (m *manager) thaw() {
	m.mu.Lock()
	from, label := m.frozenAt, m.label
	m.frozenAt = time.Time{}
	m.mu.Unlock()
	if from.IsZero() {
		return
	}
	_, progress, rows := m.proxy.asking()
	progress.froze(from)
	rows.froze(from)
	m.log.Add(history.Record{Process: &history.Process{Manager: label, State: history.Thawed}})
	m.signal(syscall.SIGCONT)
}

// stop ends the manager for good.
func (m *manager) stop() {
	m.thaw()
	m.mu.Lock()
	m.stopped = true
	m.mu.Unlock()
	m.signal(syscall.SIGTERM)
	select {
	case <-m.done:
	case <-time.After(40 * time.Second):
		m.signal(syscall.SIGKILL)
		<-m.done
	}
}

// keepLog copies its log to a directory.
func (m *manager) keepLog(from, to string) error {
	content, err := os.ReadFile(filepath.Join(from, "log", m.command.Name+".log"))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, m.command.Name+".log"), content, 0o600)
}
