// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/test/builders"
)

// maxStatusSize is what a status may take as JSON.
const maxStatusSize = 64 << 10

// crowd is a CronJob with many Jobs, random events, and a reconciler that carries out its plans.
type crowd struct {
	t    *testing.T
	rand *rand.Rand
	c    *v1.CronJob
	jobs []*batchv1.Job
	now  time.Time

	created sets.Set[string]    // names of Jobs that were started by schedule
	known   sets.Set[types.UID] // those, and the Jobs started by hand that a status has counted
	untold  sets.Set[types.UID] // ended Jobs that no plan has reported
	byHand  int

	// vanished counts the Jobs that plans counted as deleted while they ran. deleted counts those
	// that were, and those whose end could not be reported.
	vanished, deleted int
}

func newCrowd(t *testing.T, seed uint64) *crowd {
	t.Helper()
	c := builders.MakeCronJob("c").Created(at("00:00:30")).Policy(v1.AllowConcurrent).History(2, 1).Obj()
	return &crowd{
		t: t, rand: rand.New(rand.NewPCG(seed, 1)), c: c, now: c.CreationTimestamp.Time,
		created: sets.New[string](), known: sets.New[types.UID](), untold: sets.New[types.UID](),
	}
}

// running returns the Jobs that run, oldest first.
func (w *crowd) running() []*batchv1.Job {
	running := slices.DeleteFunc(slices.Clone(w.jobs), func(job *batchv1.Job) bool { return ResultOf(job) != "" })
	slices.SortFunc(running, func(a, b *batchv1.Job) int {
		if !AgeFrom(a).Equal(AgeFrom(b)) {
			return AgeFrom(a).Compare(AgeFrom(b))
		}
		return strings.Compare(a.Name, b.Name)
	})
	return running
}

// startByHand starts manual runs and backfills.
func (w *crowd) startByHand(count int) {
	for range count {
		w.byHand++
		job := builders.MakeJob(w.c, w.now).Manual().Obj()
		if w.rand.IntN(2) == 0 {
			job = builders.MakeJob(w.c, w.now.Truncate(time.Minute).Add(-time.Duration(w.rand.IntN(600))*time.Minute)).Backfilled(w.now).Obj()
		}
		job.Name = fmt.Sprintf("by-hand-%d", w.byHand)
		job.UID = types.UID("uid-of-" + job.Name)
		w.jobs = append(w.jobs, job)
	}
}

// end ends some of the Jobs that run.
func (w *crowd) end(count int) {
	running := w.running()
	w.rand.Shuffle(len(running), func(i, j int) { running[i], running[j] = running[j], running[i] })
	for _, job := range running[:min(count, len(running))] {
		ended := &builders.Job{}
		*ended = *builders.MakeJob(w.c, AgeFrom(job))
		if w.rand.IntN(3) == 0 {
			ended = ended.Failed(w.now)
		} else {
			ended = ended.Succeeded(w.now)
		}
		i := slices.Index(w.jobs, job)
		w.jobs[i] = job.DeepCopy()
		w.jobs[i].Status = ended.Obj().Status
		if w.known.Has(job.UID) {
			w.untold.Insert(job.UID)
		}
	}
}

// remove deletes Jobs, and reports nothing.
func (w *crowd) remove(jobs ...*batchv1.Job) {
	w.jobs = slices.DeleteFunc(w.jobs, func(job *batchv1.Job) bool { return slices.Contains(jobs, job) })
}

// happen makes a random event happen.
func (w *crowd) happen() {
	switch w.rand.IntN(13) {
	case 0:
		w.startByHand(1 + w.rand.IntN(60))
	case 1, 2, 3:
		w.end(1 + w.rand.IntN(6))
	case 4:
		w.end(1 + w.rand.IntN(150))
	case 5, 6:
		if running := w.running(); len(running) > 0 {
			w.remove(running[w.rand.IntN(len(running))])
			w.deleted++
		}
	case 7:
		policies := []v1.ConcurrencyPolicy{v1.AllowConcurrent, v1.AllowConcurrent, v1.ForbidConcurrent, v1.ReplaceConcurrent}
		w.edit(func(c *v1.CronJob) { c.Spec.ConcurrencyPolicy = policies[w.rand.IntN(len(policies))] })
	case 8:
		w.edit(func(c *v1.CronJob) { c.Spec.Suspend = new(w.rand.IntN(3) == 0) })
	case 9:
		w.edit(w.setPolicies)
	default:
	}
}

// setPolicies sets fields that are off by default, or leaves them out.
func (w *crowd) setPolicies(c *v1.CronJob) {
	anyOf := func(most int) *int32 { return []*int32{nil, new(int32(1 + w.rand.IntN(most)))}[w.rand.IntN(2)] }
	c.Spec.MaxConcurrency, c.Spec.JitterSeconds, c.Spec.StopAfterFailures = anyOf(300), anyOf(59), anyOf(5)
	c.Spec.CatchUpPolicy, c.Spec.CatchUpLimit = v1.CatchUpAll, anyOf(5)
}

func (w *crowd) edit(change func(*v1.CronJob)) {
	w.c = stamped(w.c, w.now, change)
}

// reconcile carries out plans until there is nothing to do at once.
func (w *crowd) reconcile() {
	for range 40 { // as some fail
		if !w.carryOut() {
			return
		}
	}
	require.Fail(w.t, "there is no end to it")
}

// carryOut carries out one plan, and reports whether another has to be made at once.
func (w *crowd) carryOut() bool {
	in := NewInput(w.c, w.now, slices.Clone(w.jobs)...)
	p := Decide(in)
	told := sets.New[types.UID]()
	for _, ended := range p.Ended {
		require.False(w.t, told.Has(ended.UID), "told twice in one plan")
		require.Contains(w.t, []v1.RunResult{v1.RunSucceeded, v1.RunFailed}, ResultOf(ended))
		told.Insert(ended.UID)
	}
	w.untold = w.untold.Difference(told)
	w.remove(p.Prune...)
	replaced := p.Replace
	if w.rand.IntN(4) == 0 {
		replaced = replaced[:w.rand.IntN(len(replaced)+1)] // the others can't be deleted
	}
	w.remove(replaced...)
	outcome := Outcome{Deleted: replaced}
	if p.Start != nil && len(replaced) == len(p.Replace) {
		w.start(p, &outcome)
	}
	done := Conclude(in, p, outcome)
	require.False(w.t, timeOf(done.Status.LastScheduleTime).Before(timeOf(w.c.Status.LastScheduleTime)), "S5")
	if w.rand.IntN(6) == 0 {
		w.deleted += len(replaced) + len(done.Ended) // maybe: the status is not written, and they are pruned
		return true
	}
	w.vanished += done.DeletedCount
	w.c = w.c.DeepCopy()
	w.c.Status = done.Status
	w.check()
	catchesUp := p.Start != nil && outcome.Job != nil && !done.WakeAt.After(w.now)
	return done.Again || catchesUp || len(replaced) < len(p.Replace)
}

func (w *crowd) start(p Plan, outcome *Outcome) {
	if w.c.Spec.ConcurrencyPolicy != v1.AllowConcurrent {
		require.Empty(w.t, w.running(), "S6: %s", w.c.Spec.ConcurrencyPolicy)
	}
	if limit := MaxConcurrency(w.c); limit > 0 {
		require.Less(w.t, len(w.running()), limit, "S20")
	}
	require.False(w.t, w.now.Before(p.Start.Tick.Add(Jitter(w.c))), "S11, S22")
	if w.rand.IntN(5) == 0 {
		outcome.Refused = errors.New("quota")
		return
	}
	job := builders.MakeJob(w.c, p.Start.Tick).Obj()
	require.False(w.t, w.created.Has(job.Name), "S4: %s is started twice", job.Name)
	w.created.Insert(job.Name)
	w.known.Insert(job.UID)
	w.jobs = append(w.jobs, job)
	outcome.Job = job
}

// check compares the written status with the existing Jobs.
func (w *crowd) check() {
	status := w.c.Status
	raw, err := json.Marshal(status)
	require.NoError(w.t, err)
	require.Less(w.t, len(raw), maxStatusSize, "R2")

	running := w.running()
	for _, job := range running {
		w.known.Insert(job.UID)
	}
	unobserved := int(*status.ActiveCount) - len(running)
	require.Contains(w.t, []int{0, 1}, unobserved, "%d Jobs run", len(running))
	if unobserved == 1 {
		require.Less(w.t, w.now.Sub(timeOf(status.LastScheduleTime)), MaxCacheLag+Jitter(w.c), "what is gone is told of after a minute")
	}
	require.Len(w.t, status.Active, min(len(running), maxListed))
	for i, ref := range status.Active {
		require.Equal(w.t, running[i].UID, ref.UID, "the oldest are listed")
	}
	again := Decide(NewInput(w.c, w.now, slices.Clone(w.jobs)...))
	require.Empty(w.t, again.Missed, "S2: told once")
	require.Zero(w.t, again.DeletedCount, "told once")
	require.Zero(w.t, again.ReplacedCount, "told once")
	isMoreDue := NextStart(w.c) != nil && !NextStart(w.c).After(w.now) && isReadyReason(w.c, v1.ReasonScheduled)
	if again.Start == nil && unobserved == 0 && !again.WakeAt.Equal(w.now) && !isMoreDue {
		require.True(w.t, apiequality.Semantic.DeepEqual(status, again.Status), "W3")
	}
}

// settled checks what holds when nothing is left to do.
func (w *crowd) settled() {
	require.Empty(w.t, w.untold, "the end of each Job is told")
	ended := map[v1.RunResult]int{}
	manual, backfilled := 0, map[v1.RunResult]int{}
	in := NewInput(w.c, w.now, w.jobs...)
	for _, job := range w.jobs {
		switch trigger, _ := TriggerOf(job); {
		case trigger == v1.TriggerBackfill && mayBeDue(in, nil, stateOf(in, job)): // its tick waits
		case trigger == v1.TriggerSchedule:
			ended[ResultOf(job)]++
		case trigger == v1.TriggerBackfill:
			backfilled[ResultOf(job)]++
		case ResultOf(job) != "":
			manual++
		}
	}
	require.LessOrEqual(w.t, ended[v1.RunSucceeded], 2, "S8")
	require.LessOrEqual(w.t, ended[v1.RunFailed], 1, "S8")
	require.LessOrEqual(w.t, manual, unscheduledHistoryLimit, "S8")
	require.LessOrEqual(w.t, backfilled[v1.RunSucceeded], unscheduledHistoryLimit, "S8")
	require.LessOrEqual(w.t, backfilled[v1.RunFailed], failedBackfillLimit, "S8")
}

// grown returns a CronJob with Jobs that run, of a tick each minute until 09:59, oldest first, and
// its status at 09:59:05.
func grown(t *testing.T, policy v1.ConcurrencyPolicy, count int) (*v1.CronJob, []*batchv1.Job) {
	t.Helper()
	c := builders.MakeCronJob("c").Created(at("00:00:00").AddDate(0, 0, -10)).Policy(policy).Obj()
	c.Status.LastScheduleTime = &metav1.Time{Time: at("09:59:00")}
	var jobs []*batchv1.Job
	for i := range count {
		jobs = append(jobs, builders.MakeJob(c, at("10:00:00").Add(time.Duration(i-count)*time.Minute)).Obj())
	}
	c.Status = Decide(NewInput(c, at("09:59:05"), jobs...)).Status
	require.Len(t, c.Status.Active, min(count, maxListed))
	require.EqualValues(t, count, *c.Status.ActiveCount)
	return c, jobs
}

// but returns Jobs with one of them replaced.
func but(jobs []*batchv1.Job, i int, other ...*batchv1.Job) []*batchv1.Job {
	return slices.Concat(jobs[:i], other, jobs[i+1:])
}

func TestR2TheEndOfAJobThatTheStatusDoesNotListIsTold(t *testing.T) {
	c, jobs := grown(t, v1.AllowConcurrent, 150)
	const unlisted = 120
	tick, _ := TickOf(jobs[unlisted])
	done := builders.MakeJob(c, tick).Failed(at("09:59:10")).Obj()
	jobs = but(jobs, unlisted, done)

	p := Decide(NewInput(c, at("09:59:10"), jobs...))
	assert.Equal(t, []*batchv1.Job{done}, p.Ended)
	assert.Zero(t, p.DeletedCount)
	assert.EqualValues(t, 149, *p.Status.ActiveCount)
	c.Status = p.Status

	in := NewInput(c, at("10:09:09"), jobs...)
	assert.Len(t, Decide(in).Ended, 1, "it may be one that was not told of yet")
	in = NewInput(c, at("10:09:10"), jobs...)
	assert.Empty(t, Decide(in).Ended, "for ten minutes")

	in = NewInput(c, at("09:59:20"), append(jobs[:99:99], jobs[149], done)...)
	c.Status = Decide(in).Status
	assert.Empty(t, Decide(restored(in, c)).Ended, "nor when the status lists all that run")
}

func TestR2TheNewestJobIsNotTakenForDeletedWhenTheEndOfAnotherIsToldAgain(t *testing.T) {
	c, jobs := grown(t, v1.AllowConcurrent, 150)
	tick, _ := TickOf(jobs[120])
	jobs = but(jobs, 120, builders.MakeJob(c, tick).Failed(at("09:59:10")).Obj())
	in := NewInput(c, at("09:59:10"), jobs...)
	c.Status = Conclude(in, Decide(in), Outcome{}).Status
	require.EqualValues(t, 149, *c.Status.ActiveCount)
	in = NewInput(c, at("09:59:20"), but(jobs[:149], 3)...) // the cache lacks the newest
	status := Conclude(in, Decide(in), Outcome{}).Status
	assert.EqualValues(t, 148, *status.ActiveCount)
	assert.Equal(t, v1.RunRunning, status.RecentRuns[0].Result)
}

func TestR2DeletedJobsThatTheStatusDoesNotListAreCounted(t *testing.T) {
	for name, tc := range map[string]struct {
		gone           []int
		now            time.Time
		want, wantLeft int
	}{
		"listed":                     {gone: []int{3, 99}, now: at("09:59:10"), want: 2, wantLeft: 148},
		"not listed":                 {gone: []int{100, 120, 148}, now: at("09:59:10"), want: 3, wantLeft: 147},
		"of both":                    {gone: []int{3, 120}, now: at("09:59:10"), want: 2, wantLeft: 148},
		"the newest, not observed":   {gone: []int{149}, now: at("09:59:10"), want: 0, wantLeft: 150},
		"the newest, after a minute": {gone: []int{149}, now: at("10:00:00"), want: 1, wantLeft: 149},
		"the newest and another":     {gone: []int{120, 149}, now: at("09:59:10"), want: 1, wantLeft: 149},
	} {
		t.Run(name, func(t *testing.T) {
			c, jobs := grown(t, v1.AllowConcurrent, 150)
			for _, i := range slices.Backward(tc.gone) {
				jobs = but(jobs, i)
			}
			p := Decide(NewInput(c, tc.now, jobs...))
			assert.Equal(t, tc.want, p.DeletedCount)
			assert.EqualValues(t, tc.wantLeft, *p.Status.ActiveCount)
			assert.Equal(t, at("10:00:00"), cmp.Or(p.WakeAt, at("10:00:00")))
			c.Status = p.Status
			assert.Zero(t, Decide(NewInput(c, tc.now, jobs...)).DeletedCount, "once")
		})
	}
}

func TestR2TheNewestJobOfASuspendedCronJobIsLookedForAgain(t *testing.T) {
	c, jobs := grown(t, v1.AllowConcurrent, 150)
	c = edited(c, func(c *v1.CronJob) { c.Spec.Suspend = new(true) })
	p := Decide(NewInput(c, at("09:59:10"), jobs[:149]...))
	assert.Equal(t, at("10:00:00"), p.WakeAt)
	c.Status = p.Status
	p = Decide(NewInput(c, at("10:00:00"), jobs[:149]...))
	assert.Equal(t, 1, p.DeletedCount)
	assert.EqualValues(t, 149, *p.Status.ActiveCount)
	assert.Zero(t, p.WakeAt)
}

func TestR2ReplaceDeletesTheJobsThatTheStatusDoesNotList(t *testing.T) {
	c, jobs := grown(t, v1.ReplaceConcurrent, 150)
	in := NewInput(c, at("10:00:00"), jobs...)
	p := Decide(in)
	require.NotNil(t, p.Start)
	assert.Equal(t, jobs, p.Replace)
	done := Conclude(in, p, Outcome{Deleted: p.Replace[:149]})
	assert.Equal(t, 149, done.ReplacedCount)
	assert.EqualValues(t, 1, *done.Status.ActiveCount)
	assert.Equal(t, []string{jobs[149].Name}, activeNames(&v1.CronJob{Status: done.Status}))

	p = Decide(in)
	done = Conclude(in, p, Outcome{Deleted: p.Replace, Job: builders.MakeJob(c, at("10:00:00")).Obj()})
	assert.Equal(t, 150, done.ReplacedCount)
	assert.EqualValues(t, 1, *done.Status.ActiveCount)
	assert.Equal(t, []string{"c-1767261600"}, activeNames(&v1.CronJob{Status: done.Status}))

	unwritten := Decide(NewInput(c, at("10:00:01"), builders.MakeJob(c, at("10:00:00")).Obj()))
	assert.Equal(t, 150, unwritten.ReplacedCount, "though the status of the run that replaced them was not written")
	assert.Zero(t, unwritten.DeletedCount)
}

func TestR2AStatusThatListsAllThatRunIsCut(t *testing.T) {
	c, jobs := grown(t, v1.AllowConcurrent, 8000)
	c.Status.ActiveCount, c.Status.Active = nil, nil // as before the field existed
	for _, job := range jobs {
		c.Status.Active = append(c.Status.Active, Reference(job))
	}
	assert.Equal(t, 8000, ActiveCount(c.Status))
	p := Decide(NewInput(c, at("09:59:10"), jobs[:7990]...))
	assert.Len(t, p.Status.Active, 100)
	assert.Equal(t, jobs[99].Name, p.Status.Active[99].Name, "the oldest are listed")
	assert.EqualValues(t, 7990, *p.Status.ActiveCount)
	assert.Equal(t, 10, p.DeletedCount)
	assert.Empty(t, p.Ended)
}

func TestR2AStatusIsSmallWhateverRuns(t *testing.T) {
	c, jobs := grown(t, v1.AllowConcurrent, 1000)
	for _, job := range jobs {
		job.Name = strings.Repeat("n", 63-len(job.Name)) + job.Name
		job.Namespace = strings.Repeat("s", 63)
		job.UID = types.UID(fmt.Sprintf("%036s", job.UID))
	}
	c.Spec.AdditionalSchedules = slices.Repeat([]string{"*-" + strings.Repeat("<", 1000) + " * * * *"}, v1.MaxAdditionalSchedules)
	c.Status.ObservedSchedule = observedSchedule(c)
	in := NewInput(c, at("10:00:00"), jobs...)
	p := Decide(in)
	done := Conclude(in, p, Outcome{Refused: errors.New(strings.Repeat("\"<é", 100_000))})
	message := ready(t, done.Status).Message
	assert.LessOrEqual(t, len(message), 4096)
	assert.Greater(t, len(message), 4090)
	assert.True(t, utf8.ValidString(message))
	raw, err := json.Marshal(done.Status)
	require.NoError(t, err)
	assert.Less(t, len(raw), maxStatusSize)
}

// TestR2LawsHoldForJobsThatTheStatusDoesNotList makes random events happen to CronJobs with more
// Jobs than their status lists.
func TestR2LawsHoldForJobsThatTheStatusDoesNotList(t *testing.T) {
	most := 0
	for seed := range uint64(15) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := newCrowd(t, seed)
			w.reconcile()
			w.startByHand(w.rand.IntN(200))
			for range 250 {
				w.happen()
				w.now = w.now.Add(time.Duration(w.rand.IntN(80_000)) * time.Millisecond)
				if w.rand.IntN(5) == 0 {
					continue // no reconcile
				}
				w.reconcile()
				w.settled()
				most = max(most, len(w.running()))
			}
			assert.LessOrEqual(t, w.vanished, w.deleted)
		})
	}
	assert.Greater(t, most, 2*maxListed, "there were many")
}
