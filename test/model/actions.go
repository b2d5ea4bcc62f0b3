// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/test/builders"
)

// profile is the kind of a run. Some runs have no faults, so that the judge accepts no excuse in
// them.
type profile struct {
	weights       map[string]int // by action
	steps         int
	start         time.Time
	latency       time.Duration // of a request
	deferral      time.Duration // of a deferred status
	maxReconciles int           // in one step
	longest       time.Duration // of a Job
	failing       float64       // the share of Jobs that fail
	vanishing     float64       // the share that is deleted at the end
	isUnseen      bool          // whether the webhook is off
	canStep       bool          // whether clocks may be stepped
}

// step is an action of a run. Its effect depends on n and on the state of the world.
type step struct {
	name string
	n    uint64
}

// action does something, and describes it; "" if it did nothing.
type action func(w *world, r *rand.Rand) string

var actions map[string]action

func init() { //nolint:gochecknoinits // some of them choose among all
	actions = map[string]action{
		"pass":     pass,
		"toTick":   toTick,
		"end":      endSome,
		"delete":   deleteSome,
		"edit":     edit,
		"label":    label,
		"run":      runByHand,
		"backfill": backfill,
		"resume":   resume,
		"refuse":   refuse,
		"fault":    fault,
		"crash":    crash,
		"stop":     stop,
		"busy":     busy,
		"lag":      lag,
		"relist":   relist,
		"stranger": stranger,
		"recreate": recreate,
		"step":     stepClock,
		"mid":      meanwhile,
		"settle":   func(w *world, _ *rand.Rand) string { w.settle(); w.judge.settled(); return "all is settled" },
	}
}

// The groups of actions from which a profile is made.
var groups = []map[string]int{
	{"refuse": 6, "fault": 10},
	{"crash": 4, "stop": 2},
	{"busy": 3, "lag": 8, "relist": 3},
	{"delete": 5, "stranger": 2},
	{"run": 6, "backfill": 6},
	{"edit": 12, "label": 1},
	{"resume": 4},
	{"recreate": 1},
	{"step": 3},
	{"mid": 8},
}

// epochs are days with and without a shift of Paris's clocks.
var epochs = []time.Time{
	time.Date(2027, 3, 27, 0, 0, 0, 0, time.UTC), time.Date(2027, 10, 30, 0, 0, 0, 0, time.UTC), time.Date(2027, 6, 1, 0, 0, 0, 0, time.UTC),
}

func oneOf[T any](r *rand.Rand, choices ...T) T { return choices[r.IntN(len(choices))] }

func newProfile(r *rand.Rand) profile {
	p := profile{
		weights: map[string]int{"pass": 10, "toTick": 12, "end": 8, "settle": 2}, steps: 10 + r.IntN(70),
		start:   oneOf(r, epochs...).Add(time.Duration(r.IntN(36*3600*1000)) * time.Millisecond),
		latency: oneOf(r, time.Millisecond, 5*time.Millisecond, 5*time.Millisecond, 700*time.Millisecond),
		longest: oneOf(r, 3*time.Second, time.Minute, 20*time.Minute, 5*time.Hour),
		failing: oneOf(r, 0, 0.2, 0.5, 0.9), vanishing: oneOf(r, 0, 0, 0, 0.3, 1),
		deferral: oneOf(r, 0, 0, 2*time.Second, 10*time.Second), maxReconciles: 40, isUnseen: r.IntN(4) == 0,
	}
	for _, group := range groups {
		if r.IntN(2) == 0 {
			maps.Copy(p.weights, group)
		}
	}
	p.canStep = p.weights["step"] > 0
	return p
}

func (p *profile) draw(r *rand.Rand) []step {
	names := slices.Sorted(maps.Keys(p.weights))
	total := 0
	for _, name := range names {
		total += p.weights[name]
	}
	steps := make([]step, 0, p.steps+1)
	for range p.steps {
		n := r.IntN(total)
		for _, name := range names {
			if n -= p.weights[name]; n < 0 {
				steps = append(steps, step{name, r.Uint64()})
				break
			}
		}
	}
	return append(steps, step{"settle", 0})
}

// seconds returns a random duration up to a limit, on a logarithmic scale.
func seconds(r *rand.Rand, most time.Duration) time.Duration {
	for most > time.Second && r.IntN(2) == 0 {
		most /= 4
	}
	return time.Duration(r.Int64N(int64(most)/int64(time.Millisecond)+1)) * time.Millisecond
}

func pass(w *world, r *rand.Rand) string {
	d := seconds(r, oneOf(r, 10*time.Second, 10*time.Minute, 5*time.Hour))
	w.pass(d)
	return d.String()
}

// toTick passes time until about the next tick.
func toTick(w *world, r *rand.Rand) string {
	c := w.cronJob
	if c == nil || c.Status.NextScheduleTime == nil {
		return ""
	}
	d := c.Status.NextScheduleTime.Sub(w.Now()) + oneOf(r, 0, time.Millisecond, time.Second, 5*time.Second, -time.Millisecond, -time.Second)
	if d > 0 {
		w.pass(min(d, 30*time.Hour))
	}
	return max(d, 0).String()
}

// ours returns the Jobs that the CronJob controls and that have ended, or not.
func (w *world) ours(haveEnded bool) []*batchv1.Job {
	var jobs []*batchv1.Job
	for _, name := range slices.Sorted(maps.Keys(w.jobs)) {
		if job := w.jobs[name]; isOfCronJob(job) && (len(job.Status.Conditions) > 0) == haveEnded {
			jobs = append(jobs, job)
		}
	}
	return jobs
}

func endSome(w *world, r *rand.Rand) string {
	var names []string
	for _, job := range w.ours(false) {
		if r.IntN(2) == 0 {
			succeeds, vanishes := r.Float64() >= w.profile.failing, r.Float64() < w.profile.vanishing
			w.endJob(job, succeeds, vanishes)
			names = append(names, job.Name)
		}
	}
	return strings.Join(names, ", ")
}

func deleteSome(w *world, r *rand.Rand) string {
	jobs := w.ours(r.IntN(3) == 0)
	if len(jobs) == 0 {
		return ""
	}
	job := oneOf(r, jobs...)
	w.deleteJob(job, "somebody")
	return job.Name
}

// update stores a CronJob that somebody changed. The webhook sees that, unless it is off.
func (w *world) update(change func(*v1.CronJob)) bool {
	if w.cronJob == nil {
		return false
	}
	before, after := w.cronJob, w.cronJob.DeepCopy()
	change(after)
	isTemplateEdited := !equality.Semantic.DeepEqual(before.Spec.JobTemplate, after.Spec.JobTemplate)
	if equality.Semantic.DeepEqual(before.Spec, after.Spec) {
		if equality.Semantic.DeepEqual(before.Annotations, after.Annotations) {
			return false
		}
	} else {
		after.Generation++
		after.Default()
	}
	if !w.profile.isUnseen {
		delete(after.Annotations, v1.EditedAnnotation)
		if stamp := w.Stamp(before, after, isTemplateEdited, w.Now()); stamp != "" {
			metav1.SetMetaDataAnnotation(&after.ObjectMeta, v1.EditedAnnotation, stamp)
		}
	}
	w.put(ofCronJobs, cronJobName, after)
	w.judge.edited(before, after)
	return true
}

var (
	schedules = []string{
		"* * * * *", "*/5 * * * *", "*/15 9-17 * * *", "30 * * * *", "0 */2 * * *", "0,1 9 * * *", "30 2 * * *", "0,30 1-3 * * *",
		"30 10,11,12 * * 1-5", "@every 7s", "@every 30s", "@every 90s", "@every 10m", "@every 1h",
	}
	// gaps has the shortest times between two ticks, in seconds.
	gaps = []int32{60, 300, 900, 3600, 3600, 60, 3600, 1800, 3600, 7, 30, 90, 600, 3600}
)

// edits are the ways to edit a spec.
var edits = []func(w *world, r *rand.Rand, spec *v1.CronJobSpec){
	func(_ *world, r *rand.Rand, spec *v1.CronJobSpec) {
		spec.Schedule, spec.AdditionalSchedules = oneOf(r, schedules...), nil
	},
	func(_ *world, r *rand.Rand, spec *v1.CronJobSpec) {
		spec.AdditionalSchedules = oneOf(r, nil, []string{"10 * * * *"}, []string{"20 2 * * *", "*/20 3 * * *"})
	},
	func(_ *world, r *rand.Rand, spec *v1.CronJobSpec) {
		spec.TimeZone = oneOf(r, nil, new("Europe/Paris"), new("UTC"))
	},
	func(_ *world, r *rand.Rand, spec *v1.CronJobSpec) { spec.Suspend = new(r.IntN(2) == 0) },
	func(_ *world, _ *rand.Rand, spec *v1.CronJobSpec) { spec.Suspend = new(false) },
	func(w *world, r *rand.Rand, spec *v1.CronJobSpec) {
		until := metav1.NewTime(w.now.Add(seconds(r, 2*time.Hour)).Truncate(time.Second))
		spec.SuspendUntil = oneOf(r, nil, &until)
	},
	func(w *world, r *rand.Rand, spec *v1.CronJobSpec) {
		day := v1.ExcludedDays(w.now.Add(time.Duration(r.IntN(48)) * time.Hour).Format(time.DateOnly))
		spec.Exclude = oneOf(r, nil, []v1.ExcludedDays{day})
	},
	func(w *world, r *rand.Rand, spec *v1.CronJobSpec) {
		at := metav1.NewTime(w.now.Add(seconds(r, 5*time.Hour)).Truncate(time.Second))
		spec.NotBefore, spec.NotAfter = oneOf(r, nil, &at), nil
	},
	func(w *world, r *rand.Rand, spec *v1.CronJobSpec) {
		at := metav1.NewTime(w.now.Add(seconds(r, 5*time.Hour)).Truncate(time.Second))
		spec.NotBefore, spec.NotAfter = nil, oneOf(r, nil, &at)
	},
	func(_ *world, r *rand.Rand, spec *v1.CronJobSpec) {
		spec.StartingDeadlineSeconds = oneOf(r, nil, new(int64(5)), new(int64(60)), new(int64(3600)))
	},
	func(_ *world, r *rand.Rand, spec *v1.CronJobSpec) {
		spec.JitterSeconds = oneOf(r, nil, new(int32(20)), new(int32(50)))
	},
	func(_ *world, r *rand.Rand, spec *v1.CronJobSpec) {
		spec.StopAfterFailures = oneOf(r, nil, new(int32(1)), new(int32(2)), new(int32(3)))
	},
	func(_ *world, r *rand.Rand, spec *v1.CronJobSpec) {
		spec.ConcurrencyPolicy = oneOf(r, v1.AllowConcurrent, v1.ForbidConcurrent, v1.ReplaceConcurrent)
		spec.MaxConcurrency = oneOf(r, nil, new(int32(1)), new(int32(2)))
	},
	func(_ *world, r *rand.Rand, spec *v1.CronJobSpec) {
		spec.CatchUpPolicy, spec.CatchUpLimit = oneOf(r, "", v1.CatchUpAll), oneOf(r, nil, new(int32(2)), new(int32(5)))
	},
	func(_ *world, r *rand.Rand, spec *v1.CronJobSpec) {
		spec.SuccessfulJobsHistoryLimit, spec.FailedJobsHistoryLimit = new(int32(r.IntN(4))), new(int32(r.IntN(3)))
	},
	func(_ *world, r *rand.Rand, spec *v1.CronJobSpec) {
		spec.JobTemplate.Labels = map[string]string{"edit": fmt.Sprint(r.IntN(1000))}
	},
	func(_ *world, r *rand.Rand, spec *v1.CronJobSpec) {
		if r.IntN(4) == 0 {
			spec.Schedule = "nonsense" // as without the webhooks
		}
	},
}

func mend(spec *v1.CronJobSpec) {
	i := slices.Index(schedules, spec.Schedule)
	if i < 0 || strings.HasPrefix(spec.Schedule, "@every") {
		spec.AdditionalSchedules = nil
	}
	if spec.JitterSeconds != nil && i >= 0 && *spec.JitterSeconds >= gaps[i] {
		spec.JitterSeconds = new(gaps[i] - 1)
	}
	if spec.ConcurrencyPolicy != v1.AllowConcurrent {
		spec.MaxConcurrency = nil
	}
	if spec.CatchUpPolicy != v1.CatchUpAll {
		spec.CatchUpLimit = nil
	}
}

func edit(w *world, r *rand.Rand) string {
	if !w.update(func(c *v1.CronJob) {
		for range 1 + r.IntN(2) {
			edits[r.IntN(len(edits))](w, r, &c.Spec)
		}
		mend(&c.Spec)
	}) {
		return ""
	}
	return describe(&w.cronJob.Spec) + fmt.Sprintf(" (generation %d)", w.cronJob.Generation)
}

func label(w *world, _ *rand.Rand) string {
	if !w.update(func(c *v1.CronJob) { metav1.SetMetaDataAnnotation(&c.ObjectMeta, "note", w.now.String()) }) {
		return ""
	}
	return "metadata"
}

func resume(w *world, _ *rand.Rand) string {
	at := w.now.UTC().Format(time.RFC3339)
	if !w.update(func(c *v1.CronJob) { metav1.SetMetaDataAnnotation(&c.ObjectMeta, v1.ResumedAtAnnotation, at) }) {
		return ""
	}
	return at
}

func newJob(c *v1.CronJob, tick time.Time, trigger v1.RunTrigger) *batchv1.Job {
	job := builders.MakeJob(c, tick).Obj()
	job.Spec = c.Spec.JobTemplate.Spec
	job.Annotations[v1.TriggerAnnotation] = string(trigger)
	return job
}

func runByHand(w *world, r *rand.Rand) string {
	if w.cronJob == nil {
		return ""
	}
	job := newJob(w.cronJob, w.now, v1.TriggerManual)
	delete(job.Annotations, v1.ScheduledAtAnnotation)
	job.Name = fmt.Sprintf("%s-manual-%d", cronJobName, r.IntN(1000))
	if w.server.create(job, "somebody") != nil {
		return ""
	}
	return job.Name
}

// backfill runs a past tick: one that was missed, or that is due now.
func backfill(w *world, r *rand.Rand) string {
	c := w.cronJob
	if c == nil {
		return ""
	}
	var ticks []time.Time
	for _, row := range c.Status.Missed {
		ticks = append(ticks, row.First.Time, row.Last.Time)
	}
	if next := c.Status.NextScheduleTime; next != nil && !next.After(w.Now()) {
		ticks = append(ticks, next.Time, next.Time)
	}
	if len(ticks) == 0 {
		return ""
	}
	job := newJob(c, oneOf(r, ticks...), v1.TriggerBackfill)
	if w.jobs[job.Name] != nil {
		job.Name += "-2"
	}
	if w.server.create(job, "somebody") != nil {
		return ""
	}
	return job.Name
}

var codes = map[string][]string{
	create: {"403", "409", "422", "429", "500", "timeout"},
	remove: {"403", "409", "429", "500", "timeout"},
	status: {"403", "409", "429", "500", "timeout"},
	read:   {"403", "429", "500", "timeout"},
}

func refusalOf(r *rand.Rand) refusal {
	request := oneOf(r, create, create, status, status, remove, read)
	how := oneOf(r, codes[request]...)
	return refusal{request: request, how: how}
}

func refuse(w *world, r *rand.Rand) string {
	is := refusalOf(r)
	d := seconds(r, oneOf(r, 10*time.Second, 5*time.Minute, time.Hour))
	is.until = w.now.Add(d)
	w.refusals = append(w.refusals, is)
	return fmt.Sprintf("%s by %s for %v", is.request, is.how, d)
}

func fault(w *world, r *rand.Rand) string {
	is := refusalOf(r)
	is.count = 1 + r.IntN(2)
	if is.how == "500" || is.how == "timeout" {
		is.isDone = r.IntN(2) == 0
	}
	w.refusals = append(w.refusals, is)
	return fmt.Sprintf("%s by %s, done: %t, %d times", is.request, is.how, is.isDone, is.count)
}

func crash(w *world, r *rand.Rand) string {
	if w.process == nil || r.IntN(2) == 0 {
		if w.process != nil {
			w.crash()
		}
		down := seconds(r, oneOf(r, time.Second, time.Minute, 3*time.Hour))
		w.advance(down)
		w.start()
		return fmt.Sprintf("now, down for %v", down)
	}
	w.crashIn = 1 + r.IntN(6)
	return fmt.Sprintf("in %d", w.crashIn)
}

func stop(w *world, _ *rand.Rand) string {
	if w.process == nil {
		w.start()
		return "started"
	}
	w.crashIn = 0
	w.inReconcile = true
	w.judge.reconciling()
	w.process.Stop(w.context)
	w.judge.reconciled(time.Time{}, false)
	w.inReconcile = false
	w.crash()
	w.start()
	return "and start"
}

func busy(w *world, r *rand.Rand) string {
	d := seconds(r, oneOf(r, time.Second, 2*time.Minute))
	w.busyUntil = w.now.Add(d)
	return d.String()
}

func lag(w *world, r *rand.Rand) string {
	for kind := range w.lags {
		w.lags[kind] = oneOf(r, 0, seconds(r, 2*time.Second), seconds(r, 30*time.Second))
	}
	return fmt.Sprint(w.lags)
}

func relist(w *world, _ *rand.Rand) string {
	w.relist(ofCronJobs)
	w.relist(ofJobs)
	return "both"
}

// stranger creates another object with the name of the next tick's Job.
func stranger(w *world, _ *rand.Rand) string {
	if w.cronJob == nil || w.cronJob.Status.NextScheduleTime == nil {
		return ""
	}
	job := builders.MakeJob(w.cronJob, w.cronJob.Status.NextScheduleTime.Time).Obj()
	job.OwnerReferences = nil
	if w.server.create(job, "stranger") != nil {
		return ""
	}
	return job.Name
}

// recreate deletes the CronJob and creates another one of its name. The garbage collector deletes
// its Jobs later.
func recreate(w *world, r *rand.Rand) string {
	if w.cronJob != nil {
		w.judge.removed()
		w.put(ofCronJobs, cronJobName, nil)
	}
	for _, job := range append(w.ours(true), w.ours(false)...) {
		if r.IntN(2) == 0 {
			w.deleteJob(job, "garbage collector")
		}
	}
	w.create(r)
	return describe(&w.cronJob.Spec)
}

// meanwhile makes something happen during one of the next requests of the process.
func meanwhile(w *world, r *rand.Rand) string {
	name, n := oneOf(r, "end", "edit", "delete", "run", "backfill", "resume", "relist", "step"), r.Uint64()
	for range r.IntN(3) {
		w.meanwhile = append(w.meanwhile, func() {})
	}
	if w.profile.weights[name] > 0 {
		w.meanwhile = append(w.meanwhile, func() {
			done := actions[name](w, rand.New(rand.NewPCG(n, 3))) //nolint:gosec // no secret
			w.judge.logf("--- meanwhile, %s: %s", name, done)
		})
	}
	return name
}

func stepClock(w *world, r *rand.Rand) string {
	by := seconds(r, oneOf(r, 2*time.Second, 3*time.Minute))
	if r.IntN(2) == 0 {
		by = -by
	}
	if r.IntN(3) == 0 {
		w.skewOfServer = by % (30 * time.Second)
		w.judge.stepped()
		return fmt.Sprintf("the API server's clock is %v ahead", w.skewOfServer)
	}
	w.skew = by
	w.judge.stepped()
	return fmt.Sprintf("the manager's clock is %v ahead", by)
}

func (w *world) create(r *rand.Rand) {
	c := builders.MakeCronJob(cronJobName).Created(w.serverNow().Truncate(time.Second)).Obj()
	w.incarnation++
	c.UID = types.UID(fmt.Sprintf("cronjob-%d", w.incarnation))
	c.Spec.JobTemplate.Spec.Template.Spec.Containers = nil // a small template is faster to copy
	c.Spec.Schedule = oneOf(r, schedules...)
	for _, change := range edits[:len(edits)-1] {
		if r.IntN(6) == 0 {
			change(w, r, &c.Spec)
		}
	}
	c.Default()
	mend(&c.Spec)
	w.put(ofCronJobs, cronJobName, c)
	w.judge.edited(nil, c)
}

func describe(spec *v1.CronJobSpec) string {
	parts := []string{spec.Schedule, string(spec.ConcurrencyPolicy)}
	say := func(isSet bool, format string, args ...any) {
		if isSet {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	say(len(spec.AdditionalSchedules) > 0, "also %v", spec.AdditionalSchedules)
	say(spec.TimeZone != nil, "in %s", deref(spec.TimeZone))
	say(deref(spec.Suspend), "suspended")
	say(spec.SuspendUntil != nil, "until %v", spec.SuspendUntil)
	say(len(spec.Exclude) > 0, "but %v", spec.Exclude)
	say(spec.NotBefore != nil, "from %v", spec.NotBefore)
	say(spec.NotAfter != nil, "up to %v", spec.NotAfter)
	say(spec.StartingDeadlineSeconds != nil, "deadline %d", deref(spec.StartingDeadlineSeconds))
	say(spec.JitterSeconds != nil, "jitter %d", deref(spec.JitterSeconds))
	say(spec.StopAfterFailures != nil, "stops after %d", deref(spec.StopAfterFailures))
	say(spec.MaxConcurrency != nil, "at most %d", deref(spec.MaxConcurrency))
	say(spec.CatchUpPolicy == v1.CatchUpAll, "catches up %d", deref(spec.CatchUpLimit))
	say(true, "keeps %d and %d", deref(spec.SuccessfulJobsHistoryLimit), deref(spec.FailedJobsHistoryLimit))
	return strings.Join(parts, ", ")
}

func deref[T any](p *T) T { return ptr.Deref(p, *new(T)) }
