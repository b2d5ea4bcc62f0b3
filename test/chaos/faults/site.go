// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"errors"
	"fmt"
	"io"
	stdlog "log"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tutorial.kubebuilder.io/project/hack/localcluster"
	"tutorial.kubebuilder.io/project/test/chaos/history"
)

// The manager's service account, which its role bindings name before kustomize changes names.
const (
	managerUser      = "system:serviceaccount:system:controller-manager"
	managerUserGroup = "system:serviceaccounts"
	managerNamespace = "system"
)

// Options say what to run.
type Options struct {
	// Manager is the program, built with the tag chaos.
	Manager string

	// Slowness is by what factor this machine may be slower than one that keeps up.
	Slowness float64

	// Logf is told what goes on.
	Logf func(format string, args ...any)
}

// Site is where the storm takes place: a control plane, two managers, and all that stands between them.
type Site struct {
	*localcluster.Cluster

	options           Options
	log               *history.Log
	cluster           *cluster
	managerKubeconfig string
	token             string // of who may read the metrics
	clock             *clock
	certs             *certs
	bursts            bursts
	standing          standing
	managers          []*manager
	webhooks          *webhooks
	supervised        bool
}

// Start starts a site. The history begins with it.
func Start(ctx context.Context, options Options, log *history.Log) (*Site, error) {
	plane, err := localcluster.Start(ctx, localcluster.Options{Webhooks: true, Logf: options.Logf})
	if err != nil {
		return nil, err
	}
	s := &Site{Cluster: plane, options: options, log: log}
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

func (s *Site) prepare(ctx context.Context) (err error) {
	if s.cluster, err = newCluster(s.Cluster); err != nil {
		return err
	}
	if err := s.makeUsers(ctx); err != nil {
		return fmt.Errorf("making the managers' user: %w", err)
	}
	if err := s.prepareRefusals(ctx); err != nil {
		return fmt.Errorf("preparing refusals: %w", err)
	}
	if s.clock, err = newClock(filepath.Join(s.Dir, "clock"), s.log); err != nil {
		return err
	}
	s.certs = &certs{dir: filepath.Join(s.Dir, "webhook-certs")}
	if err := s.rotateCerts(ctx); err != nil {
		return fmt.Errorf("making the webhooks' certificate: %w", err)
	}
	authority, err := newAuthority("proxies")
	if err != nil {
		return err
	}
	for _, name := range []string{"a", "b"} {
		m, err := s.newManager(name, authority, s.Dir)
		if err != nil {
			return fmt.Errorf("preparing manager %s: %w", name, err)
		}
		s.managers = append(s.managers, m)
	}
	if s.webhooks, err = newWebhooks(s.WebhookPort, s.managers); err != nil {
		return err
	}
	s.supervised = true
	for _, m := range s.managers {
		go m.supervise(context.WithoutCancel(ctx), s.cluster)
	}
	return nil
}

// makeUsers makes what the managers need, with the rights that they have when they are deployed, and who may read
// their metrics.
func (s *Site) makeUsers(ctx context.Context) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: managerNamespace}}
	if err := s.Client.Create(ctx, namespace); err != nil {
		return err
	}
	if out, err := s.Kubectl(ctx, "apply", "-k", "config/rbac").CombinedOutput(); err != nil {
		return fmt.Errorf("applying config/rbac: %w: %s", err, out)
	}
	var err error
	if s.managerKubeconfig, err = s.AddUser(managerUser, managerUserGroup); err != nil {
		return err
	}
	reader := metav1.ObjectMeta{Name: "metrics-of-chaos", Namespace: managerNamespace}
	account := &corev1.ServiceAccount{ObjectMeta: reader}
	binding := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: reader.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "metrics-reader"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: reader.Name, Namespace: reader.Namespace}},
	}
	token := &authenticationv1.TokenRequest{}
	if err := errors.Join(s.Client.Create(ctx, account), s.Client.Create(ctx, binding)); err != nil {
		return err
	}
	if err := s.Client.SubResource("token").Create(ctx, account, token); err != nil {
		return err
	}
	s.token = token.Status.Token
	return nil
}

// Run carries out a plan.
func (s *Site) Run(ctx context.Context, begin time.Time, plan []Step) error {
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() error {
		for _, step := range plan {
			if requests[step.Kind] != nil && sleep(groupCtx, time.Until(begin.Add(step.At))) {
				s.bursts.begin(step)
			}
		}
		return nil
	})
	group.Go(func() error {
		for _, step := range plan {
			if _, ok := machine[step.Kind]; ok && sleep(groupCtx, time.Until(begin.Add(step.At))) {
				if err := s.strike(groupCtx, step); err != nil {
					return fmt.Errorf("%s: %w", step.Kind, err)
				}
			}
		}
		return nil
	})
	for _, step := range plan {
		if _, ok := refusals[step.Kind]; ok {
			group.Go(func() error {
				if !sleep(groupCtx, time.Until(begin.Add(step.At))) {
					return nil
				}
				return s.refuse(groupCtx, step)
			})
		}
	}
	if err := group.Wait(); err != nil {
		return err
	}
	return context.Cause(ctx)
}

// strike has a fault of the machines happen, and returns when it is over.
func (s *Site) strike(ctx context.Context, step Step) error {
	s.options.Logf("%s", step)
	leader := s.leader()
	s.log.Strike(string(step.Kind), leader.labelNow())
	switch step.Kind {
	case KillLeader:
		s.scrape(ctx, leader)
		leader.signal(syscall.SIGKILL)
	case TermLeader:
		s.scrape(ctx, leader)
		leader.signal(syscall.SIGTERM)
	case FreezeLeader:
		leader.freeze()
		sleep(ctx, step.Hold)
		leader.thaw()
	case KillAPIServer:
		return s.cluster.kill(ctx, localcluster.APIServer, step.Hold)
	case KillEtcd:
		return s.cluster.kill(ctx, localcluster.Etcd, step.Hold)
	case PauseEtcd:
		return s.cluster.pause(ctx, localcluster.Etcd, step.Hold)
	case StepClock:
		if err := s.clock.set(step.Clock); err != nil {
			return err
		}
		sleep(ctx, step.Hold)
		return s.clock.set(0)
	case RotateCerts:
		return s.rotateCerts(ctx)
	case DownWebhooks:
		s.webhooks.down.Store(true)
		sleep(ctx, step.Hold)
		s.webhooks.down.Store(false)
	default:
		s.disconnect(ctx, step)
	}
	return nil
}

// disconnect has a fault of the connections happen, to both managers.
func (s *Site) disconnect(ctx context.Context, step Step) {
	for _, m := range s.managers {
		switch step.Kind {
		case CutConnections:
			m.proxy.cutConnections()
		case CutDuringLists:
			m.proxy.rejecting.Store(true)
			m.proxy.cutWatches()
		case CutWatches:
			m.proxy.cutWatches()
		case LagWatches:
			m.proxy.lag.Store(int64(step.Lag))
		}
	}
	sleep(ctx, step.Hold)
	for _, m := range s.managers {
		m.proxy.rejecting.Store(false)
		m.proxy.lag.Store(0)
	}
}

// EndFaults ends what is under way, and waits until the API server answers and a manager leads.
func (s *Site) EndFaults(ctx context.Context) error {
	s.bursts.end()
	if err := s.cluster.awaitReady(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 90*time.Second)
	defer cancel()
	for !s.leads(s.leader()) {
		if ctx.Err() != nil {
			return errors.New("no manager leads after the faults have ended")
		}
		sleep(ctx, 100*time.Millisecond)
	}
	return nil
}

// leader returns the manager that has updated the Lease last.
func (s *Site) leader() *manager {
	if s.managers[1].proxy.renewed.Load() > s.managers[0].proxy.renewed.Load() {
		return s.managers[1]
	}
	return s.managers[0]
}

// leads reports whether a manager has updated the Lease a moment ago: it does so every two seconds.
func (s *Site) leads(m *manager) bool {
	return time.Since(time.Unix(0, m.proxy.renewed.Load())) < 4*time.Second
}

// ScrapeLeader adds the leader's metrics to the history.
func (s *Site) ScrapeLeader(ctx context.Context) { s.scrape(ctx, s.leader()) }

// KeepLogs copies the managers' logs to a directory.
func (s *Site) KeepLogs(dir string) error {
	var errs []error
	for _, m := range s.managers {
		errs = append(errs, m.keepLog(s.Dir, dir))
	}
	return errors.Join(errs...)
}

// Stop ends everything.
func (s *Site) Stop() error {
	for _, m := range s.managers {
		if s.supervised {
			m.stop()
		}
		_ = m.proxy.server.Close()
	}
	if s.webhooks != nil {
		_ = s.webhooks.listener.Close()
	}
	// Its connections may outlast the grace that it is given; and etcd, when it was started again, ends before it.
	if s.cluster != nil {
		if found, err := s.cluster.find(localcluster.APIServer); err == nil {
			_ = syscall.Kill(found.pid, syscall.SIGKILL)
		}
	}
	return s.Cluster.Stop()
}

// silent is a logger for servers whose connections break all the time.
func silent() *stdlog.Logger { return stdlog.New(io.Discard, "", 0) }
