// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/google/renameio/v2"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/util/wait"

	"tutorial.kubebuilder.io/project/test/chaos/storm"
	"tutorial.kubebuilder.io/project/test/history"
	"tutorial.kubebuilder.io/project/test/localcluster"
	"tutorial.kubebuilder.io/project/test/plane"
)

// metricsPrefix is the prefix of our metrics.
const metricsPrefix = "cronjob_controller_"

// Options are the options of Start.
type Options struct {
	Manager  string  // the file, built from test/chaos/manager
	Previous string  // that of an earlier build, if every second process is to be of it
	Slowness float64 // the factor by which this machine may be slower than one that keeps up

	// Mutate, if set, wraps the transport of the managers' requests, before faults strike.
	// ClockStep is an error of the managers' clocks that is not in the history.
	Mutate    func(http.RoundTripper) http.RoundTripper
	ClockStep time.Duration
}

// Site is where the storm takes place: a control plane, two managers, and what is between them.
type Site struct {
	*plane.Plane

	options   Options
	log       *history.Log
	clock     string // the file from which the managers read the step of their clocks
	certDir   string // has the webhooks' certificate
	rotations int
	live      live
	managers  []*manager
	webhooks  webhooks
}

// Start starts a site, and with it the history.
func Start(ctx context.Context, options Options, log *history.Log) (*Site, error) {
	started, err := plane.Start(ctx, storm.Namespaces)
	if err != nil {
		return nil, err
	}
	s := &Site{Plane: started, options: options, log: log, certDir: filepath.Join(started.Dir, "webhook-certs")}
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

func (s *Site) prepare(ctx context.Context) error {
	managerKubeconfig, err := s.AddManager(ctx)
	if err != nil {
		return err
	}
	if err := s.prepareRefusals(ctx); err != nil {
		return fmt.Errorf("preparing refusals: %w", err)
	}
	s.clock = filepath.Join(s.Dir, "clock")
	if err := s.stepClock(0); err != nil {
		return err
	}
	if err := s.rotateCerts(ctx); err != nil {
		return fmt.Errorf("making the webhooks' certificate: %w", err)
	}
	for _, name := range []string{"a", "b"} {
		m, err := s.startManager(name, managerKubeconfig)
		if err != nil {
			return fmt.Errorf("starting manager %s: %w", name, err)
		}
		s.managers = append(s.managers, m)
	}
	return s.webhooks.listen(s.WebhookPort, s.managers)
}

// slow scales a duration to the speed of this machine.
func (s *Site) slow(d time.Duration) time.Duration {
	return time.Duration(float64(d) * s.options.Slowness)
}

// Run carries out a plan.
func (s *Site) Run(ctx context.Context, begin time.Time, plan []Step) error {
	group, ctx := errgroup.WithContext(ctx)
	var machines []Step
	for _, step := range plan {
		if isMachine(step.Kind) {
			machines = append(machines, step) // one after another
			continue
		}
		group.Go(func() error {
			switch {
			case !plane.Sleep(ctx, time.Until(begin.Add(step.At))):
			case isRefusal(step.Kind):
				return s.refuse(ctx, step)
			default:
				s.live.begin(step)
			}
			return nil
		})
	}
	group.Go(func() error {
		for _, step := range machines {
			if !plane.Sleep(ctx, time.Until(begin.Add(step.At))) {
				break
			}
			if err := s.strike(ctx, step); err != nil {
				return fmt.Errorf("%s: %w", step.Kind, err)
			}
		}
		return nil
	})
	return group.Wait()
}

// strike carries out a fault of machines, and returns when it is over.
func (s *Site) strike(ctx context.Context, step Step) error {
	plane.Logf("%s", step)
	leader := s.leader()
	s.log.Strike(string(step.Kind), leader.label())
	switch step.Kind {
	case KillLeader:
		s.scrape(ctx, leader)
		leader.signal(syscall.SIGKILL)
	case TermLeader:
		s.scrape(ctx, leader)
		leader.signal(syscall.SIGTERM)
	case FreezeLeader:
		leader.freeze()
		plane.Sleep(ctx, step.Hold)
		leader.thaw()
	case KillAPIServer:
		return s.kill(ctx, localcluster.APIServer, step.Hold)
	case KillEtcd:
		return s.kill(ctx, localcluster.Etcd, step.Hold)
	case PauseEtcd:
		return s.pause(ctx, localcluster.Etcd, step.Hold)
	case StepClock:
		if err := s.stepClock(step.Clock); err != nil {
			return err
		}
		plane.Sleep(ctx, step.Hold)
		return s.stepClock(0)
	case RotateCerts:
		return s.rotateCerts(ctx)
	case DownWebhooks:
		s.webhooks.down.Store(true)
		plane.Sleep(ctx, step.Hold)
		s.webhooks.down.Store(false)
	default:
		s.disconnect(ctx, step)
	}
	return nil
}

// stepClock steps the managers' clocks. It adds the step to the history before a manager can read
// it.
func (s *Site) stepClock(step time.Duration) error {
	s.log.Add(history.Record{Clock: &history.Clock{Step: step}})
	return renameio.WriteFile(s.clock, []byte((step + s.options.ClockStep).String()), 0o600)
}

func (s *Site) disconnect(ctx context.Context, step Step) {
	for _, m := range s.managers {
		m.lag.Store(int64(step.Lag))
		m.rejecting.Store(step.Kind == CutDuringLists)
		switch step.Kind {
		case CutConnections:
			m.server.CloseClientConnections()
		case CutWatches, CutDuringLists:
			m.cutWatches()
		}
	}
	plane.Sleep(ctx, step.Hold)
	for _, m := range s.managers {
		m.rejecting.Store(false)
		m.lag.Store(0)
	}
}

// EndFaults ends all faults, and waits until the API server answers and a manager leads.
func (s *Site) EndFaults(ctx context.Context) error {
	s.live.endAll()
	if err := s.awaitReady(ctx); err != nil {
		return err
	}
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, 90*time.Second, true, func(context.Context) (bool, error) {
		return s.leader().leads(), nil
	})
	if err != nil {
		return fmt.Errorf("no manager leads after the faults have ended: %w", err)
	}
	return nil
}

func (s *Site) leader() *manager {
	if s.managers[1].renewed.Load() > s.managers[0].renewed.Load() {
		return s.managers[1]
	}
	return s.managers[0]
}

// leads reports whether the manager has just updated the Lease, which the leader does every two
// seconds.
func (m *manager) leads() bool { return time.Since(time.Unix(0, m.renewed.Load())) < 4*time.Second }

// ScrapeLeader adds the leader's metrics to the history.
func (s *Site) ScrapeLeader(ctx context.Context) { s.scrape(ctx, s.leader()) }

// scrape adds a manager's metrics to the history, if it answers: faults may prevent that.
func (s *Site) scrape(ctx context.Context, m *manager) {
	asked, process := time.Now(), m.label()
	families, err := s.Metrics.Read(ctx, fmt.Sprintf("127.0.0.1:%d", m.metricsPort), metricsPrefix)
	if err != nil {
		plane.Logf("no metrics of %s: %v", process, err)
		return
	}
	values := map[string]float64{}
	for name, family := range families {
		for _, metric := range family.GetMetric() {
			key := []string{strings.TrimPrefix(name, metricsPrefix)}
			for _, label := range metric.GetLabel() {
				key = append(key, label.GetValue())
			}
			values[strings.Join(key, "/")] = plane.Value(metric)
		}
	}
	s.log.Add(history.Record{Metrics: &history.Metrics{Manager: process, Asked: asked, Values: values}})
}

// KeepLogs copies the managers' logs to a directory.
func (s *Site) KeepLogs(dir string) error {
	for _, m := range s.managers {
		file := m.command.Name + ".log"
		content, err := os.ReadFile(filepath.Join(s.Dir, "log", file))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, file), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// Stop stops all processes.
func (s *Site) Stop() error {
	for _, m := range s.managers {
		m.stop()
	}
	s.webhooks.close()
	// Its connections may outlast its shutdown timeout, and a restarted etcd ends before it.
	_, _ = s.signal(localcluster.APIServer, syscall.SIGKILL)
	return s.Cluster.Stop()
}
