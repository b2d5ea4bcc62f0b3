// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"tutorial.kubebuilder.io/project/test/chaos/history"
	"tutorial.kubebuilder.io/project/test/chaos/storm"
	"tutorial.kubebuilder.io/project/test/plane"
)

// The refusals that last: in one namespace the managers are refused one kind of requests, and
// nothing else. They are beside the other faults.
const (
	DenyCreates     Kind = "creates-denied"    // by a ValidatingAdmissionPolicy
	FillQuota       Kind = "quota-full"        // a ResourceQuota has no room for Jobs
	InvalidCreates  Kind = "creates-invalid"   // by a ValidatingAdmissionPolicy that names no reason
	CreatesNotFound Kind = "creates-not-found" // a webhook passes on the NotFound of its own look-up
	DenyDeletes     Kind = "deletes-denied"    // by a ValidatingAdmissionPolicy
	DeletesNotFound Kind = "deletes-not-found" // a webhook passes on the NotFound of its own look-up
	DeletesConflict Kind = "deletes-conflict"  // a webhook passes on the Conflict of its own update
	DenyStatuses    Kind = "statuses-denied"   // by a ValidatingAdmissionPolicy
	DenyEvents      Kind = "events-denied"     // by a ValidatingAdmissionPolicy
	DenyReads       Kind = "reads-denied"      // a RoleBinding is gone; the watches stay
)

// refusal says of which requests one is, with which code, and who refuses: the policy of a rule, or
// one of the others. Without any, the proxy answers in the place of a webhook.
type refusal struct {
	target Target
	code   int

	policy   *admissionv1.Rule
	by       admissionv1.OperationType
	isQuota  bool
	isRights bool
}

// isWebhook reports whether the proxy refuses.
func (r refusal) isWebhook() bool { return r.policy == nil && !r.isQuota && !r.isRights }

var (
	jobs     = rule("batch", "jobs")
	statuses = rule("batch.tutorial.kubebuilder.io", "cronjobs/status")
	events   = rule("events.k8s.io", "events")

	refusals = map[Kind]refusal{
		DenyCreates:     {target: Creates, code: http.StatusForbidden, policy: jobs, by: admissionv1.Create},
		InvalidCreates:  {target: Creates, code: http.StatusUnprocessableEntity, policy: jobs, by: admissionv1.Create},
		DenyDeletes:     {target: Deletes, code: http.StatusForbidden, policy: jobs, by: admissionv1.Delete},
		DenyStatuses:    {target: Statuses, code: http.StatusForbidden, policy: statuses, by: admissionv1.Update},
		DenyEvents:      {target: Events, code: http.StatusForbidden, policy: events, by: admissionv1.Create},
		FillQuota:       {target: Creates, code: http.StatusForbidden, isQuota: true},
		DenyReads:       {target: Reads, code: http.StatusForbidden, isRights: true},
		CreatesNotFound: {target: Creates, code: http.StatusNotFound},
		DeletesNotFound: {target: Deletes, code: http.StatusNotFound},
		DeletesConflict: {target: Deletes, code: http.StatusConflict},
	}
)

func rule(group, resources string) *admissionv1.Rule {
	return &admissionv1.Rule{APIGroups: []string{group}, APIVersions: []string{"*"}, Resources: []string{resources}}
}

// lanes is how many refusals there are at a time: each in a namespace of its own, and so that there
// are as many in which nothing is refused.
const lanes = 2

// How long a refusal lasts: for several ticks of an interval, or, one time in four, for several of
// a minute. None is shorter than the shortest, and all are over some time before the storm is.
var (
	holdOfMost    = seconds(30, 60)
	holdOfLongest = seconds(125, 190)
	restOfRefusal = seconds(2, 6)
)

const (
	shortestRefusal = 20 * time.Second
	overBefore      = 4 * time.Second
)

// planRefusals plans the refusals among some kinds of faults.
func planRefusals(seed uint64, duration time.Duration, kinds []Kind) []Step {
	random := rand.New(rand.NewPCG(seed, 0x4ef05e)) //nolint:gosec // a plan is to be reproducible
	var steps []Step
	var deck []Kind
	for lane := range lanes {
		for at := lead + between(random, restOfRefusal); ; at += between(random, restOfRefusal) {
			deck = dealt(random, deck, kinds, func(kind Kind) bool { _, ok := refusals[kind]; return ok })
			left := duration - overBefore - at
			if deck == nil || left < shortestRefusal {
				break
			}
			hold := holdOfMost
			if random.IntN(4) == 0 {
				hold = holdOfLongest
			}
			step := Step{
				At: at, Kind: deck[0], Hold: min(left, between(random, hold)),
				Namespace: storm.Namespace(lane + lanes*random.IntN(len(storm.Namespaces())/lanes)),
			}
			deck = deck[1:]
			steps = append(steps, step)
			at += step.Hold
		}
	}
	return steps
}

// standing are the refusals that are in force. The zero value has none.
type standing struct {
	mu   sync.Mutex
	live []*refusing
}

// refusing is a refusal in force.
type refusing struct {
	Step
	count int // of the requests that it has refused
}

// begin has a refusal be in force.
func (s *standing) begin(step Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.live = append(s.live, &refusing{Step: step})
}

// end ends one, and returns how many requests it has refused.
func (s *standing) end(step Step) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.live, func(r *refusing) bool { return r.Step == step })
	count := s.live[i].count
	s.live = slices.Delete(s.live, i, i+1)
	return count
}

// note notes what a request was answered with.
func (s *standing) note(namespace string, target Target, code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.live {
		if r.Namespace == namespace && refusals[r.Kind].target == target && refusals[r.Kind].code == code {
			r.count++
		}
	}
}

// answer returns what a webhook answers to a request; nil if none refuses it.
func (s *standing) answer(namespace string, target Target) *metav1.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.live {
		if refusal := refusals[r.Kind]; refusal.isWebhook() && refusal.target == target && r.Namespace == namespace {
			return passedOn(refusal.code)
		}
	}
	return nil
}

// passedOn returns the answer of a webhook which refuses a request by passing on what it was told
// about an object of its own.
func passedOn(code int) *metav1.Status {
	status := &metav1.Status{
		Code:    int32(code), //nolint:gosec // an HTTP status
		Reason:  metav1.StatusReasonNotFound,
		Message: `teams.example.com "payments" not found`,
		Details: &metav1.StatusDetails{Group: "example.com", Kind: "teams", Name: "payments"},
	}
	if code == http.StatusConflict {
		status.Reason = metav1.StatusReasonConflict
		status.Message = `Operation cannot be fulfilled on teams.example.com "payments": the object has been modified; ` +
			"please apply your changes to the latest version and try again"
	}
	status.Message = `admission webhook "jobs.example.com" denied the request: ` + status.Message
	return status
}

// takingEffect is how long the API server may take until it goes by what it was told of policies,
// quotas and roles.
const takingEffect = 2 * time.Second

// refuse has a refusal happen, and returns when it is over.
func (s *Site) refuse(ctx context.Context, step Step) error {
	plane.Logf("%s", step)
	note := history.Refusal{Kind: string(step.Kind), Of: string(refusals[step.Kind].target), Namespace: step.Namespace}
	s.log.Add(history.Record{Refusal: &note})
	s.standing.begin(step)
	if err := s.enforce(ctx, step, true); err != nil {
		return fmt.Errorf("%s: %w", step.Kind, err)
	}
	plane.Sleep(ctx, step.Hold)
	err := s.enforce(ctx, step, false)
	plane.Sleep(ctx, time.Duration(float64(takingEffect)*s.options.Slowness))
	over := note
	over.Ended, over.Refused = true, s.standing.end(step)
	s.log.Add(history.Record{Refusal: &over})
	if err != nil {
		return fmt.Errorf("ending %s: %w", step.Kind, err)
	}
	return nil
}
