// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"tutorial.kubebuilder.io/project/test/chaos/storm"
	"tutorial.kubebuilder.io/project/test/history"
	"tutorial.kubebuilder.io/project/test/plane"
)

// The lasting refusals: in one namespace, one kind of the managers' requests is refused. They
// happen at the same time as other faults.
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

// refusal has the requests that are refused, the status code, and the manifest by which the API
// server refuses them, with the parameters of policies. Without a manifest, the proxy answers for a
// webhook.
type refusal struct {
	target Target
	code   int

	manifest                   string
	group, resource, operation string
}

const ourGroup = "batch.tutorial.kubebuilder.io"

var refusals = map[Kind]refusal{
	DenyCreates:     {Creates, http.StatusForbidden, "policy.yaml", "batch", "jobs", "CREATE"},
	InvalidCreates:  {Creates, http.StatusUnprocessableEntity, "policy.yaml", "batch", "jobs", "CREATE"},
	DenyDeletes:     {Deletes, http.StatusForbidden, "policy.yaml", "batch", "jobs", "DELETE"},
	DenyStatuses:    {Statuses, http.StatusForbidden, "policy.yaml", ourGroup, "cronjobs/status", "UPDATE"},
	DenyEvents:      {Events, http.StatusForbidden, "policy.yaml", "events.k8s.io", "events", "CREATE"},
	FillQuota:       {target: Creates, code: http.StatusForbidden, manifest: "quota.yaml"},
	DenyReads:       {target: Reads, code: http.StatusForbidden, manifest: "reads.yaml"},
	CreatesNotFound: {target: Creates, code: http.StatusNotFound},
	DeletesNotFound: {target: Deletes, code: http.StatusNotFound},
	DeletesConflict: {target: Deletes, code: http.StatusConflict},
}

// lanes is how many refusals there are at a time. Each is in a namespace of its own, and as many
// namespaces have none.
const lanes = 2

// How long a refusal lasts: for several ticks of an interval or, one time in four, for several
// minutes. All end some time before the storm.
var (
	holdOfMost    = seconds(30, 60)
	holdOfLongest = seconds(125, 190)
	restOfRefusal = seconds(2, 6)
)

const (
	shortestRefusal = 20 * time.Second
	overBefore      = 4 * time.Second
)

func planRefusals(seed uint64, duration time.Duration, of []Kind) (steps []Step) {
	random := rand.New(rand.NewPCG(seed, 0x4ef05e)) //nolint:gosec // a plan is to be reproducible
	kinds := newDeck(random, of, isRefusal)
	for lane := range lanes {
		for at := lead + between(random, restOfRefusal); !kinds.isEmpty(); at += between(random, restOfRefusal) {
			left := duration - overBefore - at
			if left < shortestRefusal {
				break
			}
			kind, hold := kinds.deal(), holdOfMost
			if random.IntN(4) == 0 {
				hold = holdOfLongest
			}
			step := Step{
				At: at, Kind: kind, Hold: min(left, between(random, hold)),
				Namespace: storm.Namespaces[lane+lanes*random.IntN(len(storm.Namespaces)/lanes)],
			}
			steps = append(steps, step)
			at += step.Hold
		}
	}
	return steps
}

// passedOn returns the answer of a webhook that passes on the error of a request of its own.
func passedOn(code int) *apierrors.StatusError {
	teams := schema.GroupResource{Group: "example.com", Resource: "teams"}
	refused := apierrors.NewNotFound(teams, "payments")
	if code == http.StatusConflict {
		refused = apierrors.NewConflict(teams, "payments", errEdited)
	}
	refused.ErrStatus.Message = `admission webhook "jobs.example.com" denied the request: ` + refused.ErrStatus.Message
	return refused
}

// takingEffect is how long the API server may take to apply a change of policies, quotas and roles.
const takingEffect = 2 * time.Second

// refuse carries out a refusal, and returns when it is over.
func (s *Site) refuse(ctx context.Context, step Step) error {
	plane.Logf("%s", step)
	note := history.Refusal{Kind: string(step.Kind), Of: string(refusals[step.Kind].target), Namespace: step.Namespace}
	s.log.Add(history.Record{Refusal: &note})
	s.live.begin(step)
	if err := s.enforce(ctx, step, true); err != nil {
		return fmt.Errorf("%s: %w", step.Kind, err)
	}
	plane.Sleep(ctx, step.Hold)
	err := s.enforce(ctx, step, false)
	plane.Sleep(ctx, s.slow(takingEffect))
	over := note
	over.Ended, over.Refused = true, s.live.end(step)
	s.log.Add(history.Record{Refusal: &over})
	if err != nil {
		return fmt.Errorf("ending %s: %w", step.Kind, err)
	}
	return nil
}
