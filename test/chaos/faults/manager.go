// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"encoding/pem"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"tutorial.kubebuilder.io/project/test/history"
	"tutorial.kubebuilder.io/project/test/localcluster"
	"tutorial.kubebuilder.io/project/test/plane"
)

// restartAfter is the time from the end of a manager to its restart.
const restartAfter = time.Second

// manager is one of the two replicas, with its proxy. Its process is restarted when it ends.
type manager struct {
	*proxy
	name        string
	command     localcluster.Command
	builds      []string // the files of its processes, in turn
	webhookPort int
	metricsPort int
	stopping    context.CancelFunc // prevents a restart
	stopped     chan struct{}      // closed when it has ended for good

	mu       sync.Mutex
	running  *localcluster.Process
	frozenAt atomic.Int64 // in nanoseconds since 1970; 0 if it is not frozen
}

func (s *Site) startManager(name, userKubeconfig string) (*manager, error) {
	user, err := clientcmd.BuildConfigFromFlags("", userKubeconfig)
	if err != nil {
		return nil, err
	}
	m := &manager{name: name, builds: []string{s.options.Manager}, stopped: make(chan struct{})}
	if s.options.Previous != "" {
		m.builds = append(m.builds, s.options.Previous)
	}
	if m.proxy, err = s.newProxy(user); err != nil {
		return nil, err
	}
	kubeconfig := filepath.Join(s.Dir, name+".kubeconfig")
	config := clientcmdapi.NewConfig()
	config.Clusters["proxy"] = &clientcmdapi.Cluster{
		Server:                   m.server.URL,
		CertificateAuthorityData: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: m.server.Certificate().Raw}),
	}
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
	m.command.Env = []string{"CHAOS_CLOCK=" + s.clock, "TZ=Asia/Kolkata"}
	var ctx context.Context
	ctx, m.stopping = context.WithCancel(context.Background())
	go m.supervise(ctx)
	return m, nil
}

func (m *manager) supervise(ctx context.Context) {
	defer close(m.stopped)
	for life := 1; ctx.Err() == nil; life++ {
		m.command.Path = m.builds[(life-1)%len(m.builds)]
		process, err := m.start(ctx, fmt.Sprintf("%s-%d", m.name, life))
		if err != nil {
			plane.Logf("manager %s: %v", m.name, err)
			return
		}
		<-process.Done()
		m.note(history.Ended)
		plane.Sleep(ctx, restartAfter)
	}
}

func (m *manager) start(ctx context.Context, label string) (*localcluster.Process, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.serves(label)
	process, err := m.Cluster.Run(ctx, m.command)
	if err == nil {
		m.running = process
		m.note(history.Started)
	}
	return process, err
}

// label names the current or last process, such as a-3.
func (m *manager) label() string { return m.process.Load().name }

func (m *manager) note(state string) {
	m.log.Add(history.Record{Process: &history.Process{Manager: m.label(), State: state}})
}

func (m *manager) runs() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.frozenAt.Load() == 0 && m.running != nil && m.running.Err() == nil
}

func (m *manager) signal(signal syscall.Signal) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.running != nil && m.running.Err() == nil {
		_ = syscall.Kill(m.running.PID(), signal)
	}
}

func (m *manager) freeze() {
	m.signal(syscall.SIGSTOP)
	m.frozenAt.Store(time.Now().UnixNano())
	m.note(history.Frozen)
}

func (m *manager) thaw() {
	from := m.frozenAt.Swap(0)
	if from == 0 {
		return
	}
	m.process.Load().froze(time.Unix(0, from))
	m.note(history.Thawed)
	m.signal(syscall.SIGCONT)
}

func (m *manager) stop() {
	m.thaw()
	m.stopping()
	m.signal(syscall.SIGTERM)
	select {
	case <-m.stopped:
	case <-time.After(40 * time.Second):
		m.signal(syscall.SIGKILL)
		<-m.stopped
	}
	m.server.CloseClientConnections()
	m.server.Close()
}
