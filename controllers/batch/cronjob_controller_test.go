// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/eventrecorder"
	"tutorial.kubebuilder.io/project/internal/informer"
	"tutorial.kubebuilder.io/project/internal/lease"
	"tutorial.kubebuilder.io/project/internal/plan"
	"tutorial.kubebuilder.io/project/test/builders"
	"tutorial.kubebuilder.io/project/test/localcluster"
)

// These tests call Reconcile directly, with a fake clock, against a real API server and a real
// cache. They inject faults at a chosen moment: lost answers, failed writes, a stale cache.

// mgr is the manager whose cache and client the tests use. Its controller is not started.
var mgr ctrl.Manager

func TestMain(m *testing.M) {
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// runTests runs the tests on a control plane.
func runTests(m *testing.M) (code int, err error) {
	ctrl.SetLogger(logr.Discard())
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	cluster, err := localcluster.Start(ctx, localcluster.Options{})
	if errors.Is(err, localcluster.ErrNoBinaries) {
		fmt.Println("skipped:", err)
		return 0, nil
	}
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, cluster.Stop()) }()
	scheme, err := localcluster.NewScheme()
	if err != nil {
		return 1, err
	}
	mgr, err = ctrl.NewManager(cluster.Config, ctrl.Options{
		Scheme: scheme, Metrics: metricsserver.Options{BindAddress: "0"}, NewCache: informer.NewCache, Cache: cache.Options{ByObject: Cached()},
	})
	if err != nil {
		return 1, err
	}
	if err := addIndexes(mgr); err != nil {
		return 1, err
	}
	stopped := make(chan error, 1)
	go func() { stopped <- mgr.Start(ctx) }()
	if !mgr.GetCache().WaitForCacheSync(ctx) {
		return 1, <-stopped
	}
	code = m.Run()
	cancel()
	return code, <-stopped
}

// stage is a CronJob in a namespace of its own, with a reconciler that only the test calls.
type stage struct {
	*testing.T
	reconciler *CronJobReconciler
	clock      *clocktesting.FakePassiveClock
	recorder   *fakeRecorder
	key        types.NamespacedName
	logged     []string // lines at the default level
}

// newStage creates the CronJob and reconciles it once, before its first tick.
func newStage(t *testing.T, build *builders.CronJob) *stage {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "t-"}}
	require.NoError(t, mgr.GetClient().Create(t.Context(), namespace))
	c := build.Namespace(namespace.Name).Obj()
	c.UID, c.Generation = "", 0
	require.NoError(t, mgr.GetClient().Create(t.Context(), c))
	s := &stage{
		T: t, key: client.ObjectKeyFromObject(c),
		clock:    clocktesting.NewFakePassiveClock(c.CreationTimestamp.Time),
		recorder: &fakeRecorder{recorded: map[string]bool{}},
	}
	s.reconciler = &CronJobReconciler{
		Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), Recorder: s.recorder, Clock: s.clock,
		leadingSince: s.clock.Now(),
	}
	s.awaitCached()
	s.reconcile()
	return s
}

// awaitCached waits until the cache is up to date.
func (s *stage) awaitCached() {
	s.Helper()
	require.EventuallyWithT(s, func(check *assert.CollectT) {
		cached, stored := &v1.CronJob{}, &v1.CronJob{}
		require.NoError(check, mgr.GetClient().Get(s.Context(), s.key, cached))
		require.NoError(check, mgr.GetAPIReader().Get(s.Context(), s.key, stored))
		require.Equal(check, stored.ResourceVersion, cached.ResourceVersion)
		cachedJobs, storedJobs := &batchv1.JobList{}, &batchv1.JobList{}
		require.NoError(check, mgr.GetClient().List(s.Context(), cachedJobs, client.InNamespace(s.key.Namespace)))
		require.NoError(check, mgr.GetAPIReader().List(s.Context(), storedJobs, client.InNamespace(s.key.Namespace)))
		require.ElementsMatch(check, versions(storedJobs), versions(cachedJobs))
	}, 30*time.Second, 5*time.Millisecond)
}

func versions(jobs *batchv1.JobList) []string {
	found := make([]string, 0, len(jobs.Items))
	for _, job := range jobs.Items {
		found = append(found, job.Name+"@"+job.ResourceVersion)
	}
	return found
}

// reconcile reconciles, and expects no error.
func (s *stage) reconcile() ctrl.Result {
	s.Helper()
	result, err := s.tryReconcile()
	require.NoError(s, err)
	return result
}

// tryReconcile reconciles, and again if the status was deferred.
func (s *stage) tryReconcile() (ctrl.Result, error) {
	s.Helper()
	result, err := s.reconcileOnce()
	if err == nil && isDeferred(result) {
		return s.reconcileOnce()
	}
	return result, err
}

func (s *stage) reconcileOnce() (ctrl.Result, error) {
	log := funcr.New(func(_, text string) { s.logged = append(s.logged, text) }, funcr.Options{})
	return s.reconciler.Reconcile(ctrl.LoggerInto(s.Context(), log), ctrl.Request{NamespacedName: s.key})
}

// toNextTick sets the clock just after nextScheduleTime.
func (s *stage) toNextTick() time.Time {
	s.Helper()
	next := s.stored().Status.NextScheduleTime
	require.NotNil(s, next)
	s.clock.SetTime(next.Add(time.Millisecond))
	return next.Time
}

// stored returns the CronJob as it is stored.
func (s *stage) stored() *v1.CronJob {
	s.Helper()
	c := &v1.CronJob{}
	require.NoError(s, mgr.GetAPIReader().Get(s.Context(), s.key, c))
	return c
}

// jobs returns the names of the existing Jobs.
func (s *stage) jobs() []string {
	s.Helper()
	list := &batchv1.JobList{}
	require.NoError(s, mgr.GetAPIReader().List(s.Context(), list, client.InNamespace(s.key.Namespace)))
	names := make([]string, 0, len(list.Items))
	for _, job := range list.Items {
		names = append(names, job.Name)
	}
	return names
}

// events returns the events since it was last called.
func (s *stage) events() []string {
	found := s.recorder.texts
	s.recorder.texts = nil
	return found
}

// fakeRecorder keeps the recorded events. Like the real recorder, it accepts each of them once.
type fakeRecorder struct {
	texts    []string
	recorded map[string]bool
}

func (r *fakeRecorder) Record(e eventrecorder.Event) bool {
	identity := fmt.Sprint(e.Regarding.GetUID(), e.Reason, e.Key)
	if r.recorded[identity] {
		return false
	}
	r.recorded[identity] = true
	text := fmt.Sprintf("%s %s %s", e.Type, e.Reason, e.Note)
	if e.MayExist {
		text += " (may exist)"
	}
	r.texts = append(r.texts, text)
	return true
}

// interfere intercepts the reconciler's requests to the API server and its reads of the cache.
func (s *stage) interfere(funcs interceptor.Funcs) {
	s.Helper()
	direct, err := client.NewWithWatch(mgr.GetConfig(), client.Options{
		Scheme: mgr.GetScheme(), Cache: &client.CacheOptions{Reader: mgr.GetCache()},
	})
	require.NoError(s, err)
	s.reconciler.Client = interceptor.NewClient(direct, funcs)
}

func (s *stage) stopInterfering() { s.reconciler.Client = mgr.GetClient() }

// every is a CronJob with its first tick a minute after its creation.
func every() *builders.CronJob { return builders.MakeCronJob("c").Schedule("@every 1m") }

var errTrouble = apierrors.NewInternalError(errors.New("trouble"))

// racingClock is a clock that advances by two seconds each time it is read.
type racingClock struct{ *clocktesting.FakePassiveClock }

func (c racingClock) Now() time.Time {
	now := c.FakePassiveClock.Now()
	c.SetTime(now.Add(2 * time.Second))
	return now
}

func TestS1AReconcileDecidesFromOneInstant(t *testing.T) {
	s := newStage(t, every().Schedule("@every 1s"))
	tick := s.toNextTick()
	s.reconciler.Clock = racingClock{s.clock}
	_, err := s.reconcileOnce()
	require.NoError(t, err)
	s.reconciler.Clock = s.clock
	s.clock.SetTime(tick)
	s.reconcile()
	assert.Equal(t, []string{fmt.Sprintf("c-%d", tick.Unix())}, s.jobs())
	status := s.stored().Status
	assert.True(t, status.LastScheduleTime.Time.Equal(tick))
	assert.True(t, status.NextScheduleTime.Time.Equal(tick.Add(time.Second)), "as it was at the first look")
}

// For example, after the process was paused.
func TestS2APlanThatIsOldIsMadeAgainBeforeItsJobIsCreated(t *testing.T) {
	s := newStage(t, every().Policy(v1.ReplaceConcurrent))
	s.toNextTick()
	s.reconcile()
	s.awaitCached()
	newer := s.toNextTick().Add(time.Minute)
	s.interfere(interceptor.Funcs{Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
		s.clock.SetTime(newer.Add(time.Second)) // it takes that long
		return c.Delete(ctx, o, opts...)
	}})
	assert.Equal(t, time.Millisecond, s.reconcile().RequeueAfter)
	assert.Empty(t, s.jobs())
	s.awaitCached()
	s.reconcile()
	assert.Equal(t, []string{fmt.Sprintf("c-%d", newer.Unix())}, s.jobs())
}

func TestS4ACreationWhoseAnswerIsLostIsNotRepeated(t *testing.T) {
	s := newStage(t, every())
	tick := s.toNextTick()
	s.interfere(interceptor.Funcs{Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
		require.NoError(t, c.Create(ctx, o, opts...))
		return errTrouble // the Job exists, but the reconciler does not know
	}})
	s.reconcile()
	s.stopInterfering()
	s.reconcile()
	want := fmt.Sprintf("c-%d", tick.Unix())
	assert.Equal(t, []string{want}, s.jobs())
	status := s.stored().Status
	require.Len(t, status.Active, 1)
	assert.Equal(t, want, status.Active[0].Name)
	assert.True(t, status.LastScheduleTime.Time.Equal(tick))
	assert.Equal(t, []string{"Normal SuccessfulCreate Created job " + want}, s.events(), "and no FailedCreate")
}

// onStatusWrite is an API server that answers status writes with answer, which may pass them on by
// write.
func onStatusWrite(answer func(ctx context.Context, write func() error) error) func(
	context.Context, client.Client, string, client.Object, client.Patch, ...client.SubResourcePatchOption) error {
	return func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
		return answer(ctx, func() error { return c.SubResource(sub).Patch(ctx, o, p, opts...) })
	}
}

// statusFails is an API server that answers status writes with an error.
func statusFails(err error) interceptor.Funcs {
	return interceptor.Funcs{SubResourcePatch: onStatusWrite(func(context.Context, func() error) error { return err })}
}

// statusAnswerIsLost is an API server that writes each status, though its answer does not arrive.
func statusAnswerIsLost(t *testing.T) interceptor.Funcs {
	return interceptor.Funcs{SubResourcePatch: onStatusWrite(func(_ context.Context, write func() error) error {
		require.NoError(t, write())
		return errTrouble
	})}
}

// noJobs is a cache that has none.
func noJobs(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
	return nil
}

// cachedJobs is the cache as it is now: later it is stale.
func (s *stage) cachedJobs() func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
	s.Helper()
	stale := &batchv1.JobList{}
	require.NoError(s, mgr.GetClient().List(s.Context(), stale, client.InNamespace(s.key.Namespace)))
	return func(_ context.Context, _ client.WithWatch, list client.ObjectList, _ ...client.ListOption) error {
		stale.DeepCopyInto(list.(*batchv1.JobList))
		return nil
	}
}

// onlyCronJob is a cache that has a CronJob as it was, and no Job.
func onlyCronJob(old *v1.CronJob) func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
	return func(_ context.Context, _ client.WithWatch, key client.ObjectKey, o client.Object, _ ...client.GetOption) error {
		if c, ok := o.(*v1.CronJob); ok {
			old.DeepCopyInto(c)
			return nil
		}
		return apierrors.NewNotFound(batchv1.Resource("jobs"), key.Name)
	}
}

// noJob is a cache that has the CronJob, and no Job.
func noJob(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	if _, ok := o.(*batchv1.Job); ok {
		return apierrors.NewNotFound(batchv1.Resource("jobs"), key.Name)
	}
	return c.Get(ctx, key, o, opts...)
}

// away is a reader whose API server does not answer.
type away struct{ client.Reader }

func (away) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return errTrouble
}

func TestS6AJobWhoseCreationWasNotAnsweredHoldsTheNextTickBackThoughTheCacheLacksIt(t *testing.T) {
	for name, unanswered := range map[string]error{
		"the server failed": errTrouble,
		"it took too long":  context.DeadlineExceeded,
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, every().Policy(v1.ForbidConcurrent))
			first := s.toNextTick()
			s.reconciler.APIReader = away{s.reconciler.APIReader}
			s.interfere(interceptor.Funcs{
				Get: noJob, List: noJobs,
				Create: func(ctx context.Context, _ client.WithWatch, o client.Object, opts ...client.CreateOption) error {
					require.NoError(t, mgr.GetClient().Create(ctx, o, opts...))
					return unanswered
				},
			})
			s.reconcile()
			s.clock.SetTime(first.Add(30 * time.Second))
			before := s.stored().ResourceVersion
			assert.NotZero(t, s.reconcile().RequeueAfter)
			assert.Equal(t, before, s.stored().ResourceVersion, "as long as nothing can be known, nothing is written")

			s.reconciler.APIReader = mgr.GetAPIReader()
			s.events()
			s.clock.SetTime(first.Add(time.Minute))
			s.reconcile()
			want := fmt.Sprintf("c-%d", first.Unix())
			assert.Equal(t, []string{want}, s.jobs())
			assert.Equal(t, []string{
				"Normal SuccessfulCreate Created job " + want,
				"Normal JobAlreadyActive Not starting a job because " + want + " is running and the concurrency policy is Forbid",
			}, s.events(), "and no MissSchedule")
			assert.True(t, s.stored().Status.LastScheduleTime.Time.Equal(first))
		})
	}
}

func TestS2ANewLeaderLooksForWhatTheOneBeforeRanBeforeItTakesItForMissed(t *testing.T) {
	s := newStage(t, every().Schedule("@every 30s").Policy(v1.ForbidConcurrent))
	first := s.toNextTick()
	s.interfere(statusFails(errTrouble))
	assert.Equal(t, firstRetry, s.reconcile().RequeueAfter)
	want := fmt.Sprintf("c-%d", first.Unix())
	require.Equal(t, []string{want}, s.jobs())
	s.events()

	second := first.Add(30 * time.Second)
	s.reconciler = &CronJobReconciler{APIReader: s.reconciler.APIReader, Recorder: s.recorder, Clock: s.clock, leadingSince: second}
	s.interfere(interceptor.Funcs{
		Get: noJob, List: noJobs, // a stale cache
	})
	s.clock.SetTime(second)
	s.reconcile()
	assert.Equal(t, []string{want}, s.jobs())
	assert.Equal(t, []string{
		"Normal JobAlreadyActive Not starting a job because " + want + " is running and the concurrency policy is Forbid",
	}, s.events(), "and no MissSchedule")
	assert.True(t, s.stored().Status.LastScheduleTime.Time.Equal(first))
}

func TestS4ANewLeaderWithAStaleCacheRepeatsNoTickWhoseJobIsGone(t *testing.T) {
	for name, then := range map[string]func(*stage){
		"the Job was pruned": func(*stage) {},
		"and the CronJob was deleted": func(s *stage) {
			require.NoError(s, mgr.GetClient().Delete(s.Context(), s.stored()))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, every().History(0, 0))
			before := s.stored()
			s.toNextTick()
			s.reconcile()
			s.failJobs()
			s.reconcile()
			s.awaitCached()
			s.reconcile()
			require.Empty(t, s.jobs())
			then(s)

			s.clock.SetTime(s.clock.Now().Add(time.Second))
			s.reconciler = &CronJobReconciler{APIReader: s.reconciler.APIReader, Recorder: s.recorder, Clock: s.clock, leadingSince: s.clock.Now()}
			s.interfere(interceptor.Funcs{Get: onlyCronJob(before)})
			s.reconcile()
			assert.Empty(t, s.jobs())
		})
	}
}

func TestS8NoJobIsPrunedWhileTheCacheIsOlderThanWhatEndedSince(t *testing.T) {
	s := newStage(t, every().History(2, 0))
	for range 2 {
		s.toNextTick()
		s.reconcile()
		s.finishJobs()
		s.reconcile()
		s.awaitCached()
	}
	stale := &batchv1.JobList{}
	require.NoError(t, mgr.GetClient().List(t.Context(), stale, client.InNamespace(s.key.Namespace)))
	require.Len(t, stale.Items, 2)
	s.toNextTick()
	s.reconcile()
	require.NoError(t, mgr.GetClient().Delete(t.Context(), &stale.Items[1], client.PropagationPolicy(metav1.DeletePropagationBackground)))
	s.finishJobs()
	s.interfere(interceptor.Funcs{List: func(_ context.Context, _ client.WithWatch, list client.ObjectList, _ ...client.ListOption) error {
		stale.DeepCopyInto(list.(*batchv1.JobList)) // with the one that was deleted, and without the one that has ended
		return nil
	}})
	s.reconcile()
	assert.Len(t, s.jobs(), 2, "the limit is 2, and there are two")
}

func TestW1AnOldJobIsDeletedOnceThoughTheCacheGoesOnToShowIt(t *testing.T) {
	s := newStage(t, every().History(0, 0))
	s.toNextTick()
	s.reconcile()
	s.finishJobs()
	s.reconcile()
	s.awaitCached()
	stale, deletions := s.cachedJobs(), 0
	s.interfere(interceptor.Funcs{List: stale, Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
		deletions++
		return c.Delete(ctx, o, opts...)
	}})
	for range 3 {
		s.clock.SetTime(s.clock.Now().Add(time.Second))
		s.reconcile()
	}
	assert.Empty(t, s.jobs())
	assert.Equal(t, 1, deletions)
}

func TestS4AStatusThatCanNotBeWrittenStartsNothingTwice(t *testing.T) {
	for name, tc := range map[string]struct {
		err       error
		wantRetry time.Duration
	}{
		"because of an edit":        {apierrors.NewConflict(schema.GroupResource{Resource: "cronjobs"}, "c", errors.New("edited")), conflictRetry},
		"because of the API server": {errTrouble, firstRetry},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, every().History(0, 0))
			s.toNextTick()
			s.interfere(statusFails(tc.err))
			assert.Equal(t, tc.wantRetry, s.reconcile().RequeueAfter)
			require.Len(t, s.jobs(), 1)
			assert.Equal(t, []string{"Normal SuccessfulCreate Created job " + s.jobs()[0]}, s.events(), "what was done is said")

			s.finishJobs()
			assert.Equal(t, 2*tc.wantRetry, s.reconcile().RequeueAfter)
			assert.Len(t, s.jobs(), 1, "S8: it is not pruned before the status knows of its tick")
			assert.Len(t, s.events(), 1, "SawCompletedJob")

			s.stopInterfering()
			s.reconcile()
			s.awaitCached()
			s.reconcile()
			assert.Empty(t, s.jobs())
			assert.Empty(t, s.events(), "it is said once")
			s.awaitCached()
			s.reconcile()
			assert.Empty(t, s.jobs(), "and its tick does not run again")
		})
	}
}

func TestS2AStatusWhoseAnswerIsLostIsReportedOnce(t *testing.T) {
	s := newStage(t, every().Deadline(10))
	tick := s.toNextTick()
	s.clock.SetTime(tick.Add(11 * time.Second)) // past its deadline
	s.interfere(statusAnswerIsLost(t))
	s.reconcile()
	assert.Empty(t, s.events())

	s.stopInterfering()
	s.reconcile()
	found := s.events()
	require.Len(t, found, 1)
	assert.Contains(t, found[0], "Warning MissSchedule Missed scheduled time "+tick.UTC().Format(time.RFC3339))
	s.awaitCached()
	s.reconcile()
	assert.Empty(t, s.events())
}

func TestS2AStatusThatWasNotWrittenIsReportedWhenItIs(t *testing.T) {
	s := newStage(t, every().Deadline(10))
	tick := s.toNextTick()
	s.clock.SetTime(tick.Add(11 * time.Second))
	s.interfere(statusFails(errTrouble))
	s.reconcile()
	assert.Empty(t, s.events())
	s.stopInterfering()
	s.reconcile()
	assert.Len(t, s.events(), 1)
	s.awaitCached()
	s.reconcile()
	assert.Empty(t, s.events())
}

func TestS2ATickWhoseStatusConflictsHasRunThoughTheCacheLacksItsJob(t *testing.T) {
	s := newStage(t, every())
	tick := s.toNextTick()
	old := s.stored()
	suspended := old.DeepCopy()
	suspended.Spec.Suspend = new(true)
	s.interfere(interceptor.Funcs{
		Get:  onlyCronJob(old),
		List: noJobs,
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			require.NoError(t, mgr.GetClient().Update(ctx, suspended)) // just before the creation
			return c.Create(ctx, o, opts...)
		},
	})
	assert.Equal(t, conflictRetry, s.reconcile().RequeueAfter)
	s.reconcile()
	assert.True(t, s.stored().Status.LastScheduleTime.Time.Equal(tick))
	assert.Equal(t, []string{fmt.Sprintf("Normal SuccessfulCreate Created job c-%d", tick.Unix())}, s.events(), "and no MissSchedule")
}

func TestAStatusThatConflictsIsWrittenThoughTheCacheLags(t *testing.T) {
	s := newStage(t, every())
	old := s.stored()
	edited := old.DeepCopy()
	edited.Labels = map[string]string{"edited": "meanwhile"}
	require.NoError(t, mgr.GetClient().Update(t.Context(), edited))
	s.reconciler.memory.forget(s.key)
	tick := s.toNextTick()
	s.interfere(interceptor.Funcs{Get: onlyCronJob(old)})
	assert.Equal(t, conflictRetry, s.reconcile().RequeueAfter)
	s.reconcile()
	assert.True(t, s.stored().Status.LastScheduleTime.Time.Equal(tick))
	assert.Equal(t, []string{fmt.Sprintf("Normal SuccessfulCreate Created job c-%d", tick.Unix())}, s.events(), "once")
}

func TestS9ACronJobThatIsGoneStartsNothingThoughTheCacheHasIt(t *testing.T) {
	s := newStage(t, every())
	old := s.stored()
	s.toNextTick()
	require.NoError(t, mgr.GetClient().Delete(t.Context(), old))
	s.interfere(interceptor.Funcs{Get: onlyCronJob(old)})
	s.reconcile() // from the stale cache
	require.NoError(t, mgr.GetClient().DeleteAllOf(t.Context(), &batchv1.Job{}, client.InNamespace(s.key.Namespace),
		client.PropagationPolicy(metav1.DeletePropagationBackground)))
	for range 3 {
		s.reconcile()
		assert.Empty(t, s.jobs())
	}
	s.stopInterfering()
	require.EventuallyWithT(t, func(check *assert.CollectT) {
		require.True(check, apierrors.IsNotFound(mgr.GetClient().Get(t.Context(), s.key, &v1.CronJob{})))
	}, 30*time.Second, 5*time.Millisecond)
	s.reconcile()
	assert.Empty(t, s.reconciler.memory.entries, "what the cache knows need not be remembered")
}

// written returns the CronJob that the reconciler has written and the cache may lack; nil for none.
func (s *stage) written() *v1.CronJob {
	if entry := s.reconciler.memory.entries[s.key]; entry != nil {
		return entry.written
	}
	return nil
}

// finishJobs ends all running Jobs with success, and waits until the cache has it.
func (s *stage) finishJobs() { s.endJobs(batchv1.JobSuccessCriteriaMet, batchv1.JobComplete) }

// failJobs ends all running Jobs with failure, and waits likewise.
func (s *stage) failJobs() { s.endJobs(batchv1.JobFailureTarget, batchv1.JobFailed) }

func (s *stage) endJobs(conditions ...batchv1.JobConditionType) {
	s.Helper()
	list := &batchv1.JobList{}
	require.NoError(s, mgr.GetAPIReader().List(s.Context(), list, client.InNamespace(s.key.Namespace)))
	for _, job := range list.Items {
		if plan.ResultOf(&job) != "" {
			continue
		}
		now := metav1.NewTime(s.clock.Now().Truncate(time.Second))
		job.Status.StartTime = &now
		if slices.Contains(conditions, batchv1.JobComplete) {
			job.Status.CompletionTime = &now
		}
		for _, condition := range conditions {
			job.Status.Conditions = append(job.Status.Conditions, batchv1.JobCondition{
				Type: condition, Status: corev1.ConditionTrue, LastProbeTime: now, LastTransitionTime: now,
			})
		}
		require.NoError(s, mgr.GetClient().Status().Update(s.Context(), &job))
	}
	s.awaitCached()
}

func TestS4ACacheThatLagsStartsNothingTwice(t *testing.T) {
	s := newStage(t, every())
	s.toNextTick()
	s.awaitCached()
	old := s.stored()
	s.interfere(interceptor.Funcs{
		Get:  onlyCronJob(old),
		List: noJobs, // no Jobs yet
	})
	s.reconcile()
	require.Len(t, s.jobs(), 1)
	require.NoError(t, mgr.GetClient().DeleteAllOf(t.Context(), &batchv1.Job{}, client.InNamespace(s.key.Namespace),
		client.PropagationPolicy(metav1.DeletePropagationBackground)))
	s.reconcile()
	assert.Empty(t, s.jobs(), "the tick has run, whatever the cache says, and though its name is free again")
}

func TestS6AJobThatTheCacheLacksStillHoldsTheNextTickBack(t *testing.T) {
	s := newStage(t, every().Policy(v1.ForbidConcurrent))
	s.toNextTick()
	s.reconcile()
	s.awaitCached()
	s.interfere(interceptor.Funcs{
		Get: noJob, List: noJobs,
	})
	s.events()
	s.toNextTick()
	s.reconcile()
	assert.Len(t, s.jobs(), 1)
	require.Len(t, s.events(), 1)
	assert.Len(t, s.stored().Status.Active, 1)
}

func TestS6NothingReplacesAJobThatCanNotBeDeleted(t *testing.T) {
	s := newStage(t, every().Policy(v1.ReplaceConcurrent))
	first := s.toNextTick()
	s.reconcile()
	s.awaitCached()
	s.events()
	s.interfere(interceptor.Funcs{Delete: func(context.Context, client.WithWatch, client.Object, ...client.DeleteOption) error {
		return errTrouble
	}})
	second := s.toNextTick()
	assert.Equal(t, firstRetry, s.reconcile().RequeueAfter)
	assert.Equal(t, []string{fmt.Sprintf("c-%d", first.Unix())}, s.jobs())
	found := s.events()
	require.Len(t, found, 1)
	assert.Contains(t, found[0], "Warning FailedDelete Error deleting job c-")

	s.stopInterfering()
	s.awaitCached()
	s.reconcile()
	assert.Equal(t, []string{fmt.Sprintf("c-%d", second.Unix())}, s.jobs())
	assert.Equal(t, []string{
		fmt.Sprintf("Normal SuccessfulDelete Deleted job c-%d", first.Unix()), fmt.Sprintf("Normal SuccessfulCreate Created job c-%d", second.Unix()),
	}, s.events())
	require.Len(t, s.stored().Status.Active, 1)
}

func TestS6AJobThatIsGoneAlreadyIsNotReplacedTwice(t *testing.T) {
	s := newStage(t, every().Policy(v1.ReplaceConcurrent))
	first := s.toNextTick()
	s.reconcile()
	s.awaitCached()
	s.events()
	gone := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: s.key.Namespace, Name: fmt.Sprintf("c-%d", first.Unix())}}
	stale := s.cachedJobs()
	require.NoError(t, mgr.GetClient().Delete(t.Context(), gone, client.PropagationPolicy(metav1.DeletePropagationBackground)))
	s.interfere(interceptor.Funcs{List: stale}) // as if it ran still
	second := s.toNextTick()
	s.reconcile()
	assert.Equal(t, []string{fmt.Sprintf("c-%d", second.Unix())}, s.jobs())
	assert.Equal(t, []string{fmt.Sprintf("Normal SuccessfulCreate Created job c-%d", second.Unix())}, s.events())
}

func TestS6AJobThatWasReplacedIsNeitherListedNorCountedAgainThoughTheCacheShowsIt(t *testing.T) {
	s := newStage(t, every().Policy(v1.ReplaceConcurrent))
	s.toNextTick()
	s.reconcile()
	s.awaitCached()
	stale := s.cachedJobs()
	replaced, deleted := runs.WithLabelValues(resultReplaced), runs.WithLabelValues(resultDeleted)
	wasReplaced, wasDeleted := valueOf(t, replaced), valueOf(t, deleted)
	s.toNextTick()
	s.reconcile()
	before := s.stored()
	s.interfere(interceptor.Funcs{List: stale})
	s.reconcile()
	assert.Equal(t, before.Status, s.stored().Status)
	s.stopInterfering()
	s.awaitCached()
	s.reconcile()
	assert.InDelta(t, wasReplaced+1, valueOf(t, replaced), 0)
	assert.InDelta(t, wasDeleted, valueOf(t, deleted), 0)
}

func TestS21AFailureCountsOnceThoughTheCacheShowsLongAfterwardsThatItsJobRuns(t *testing.T) {
	s := newStage(t, every().History(100, 100).StopAfterFailures(20))
	s.toNextTick()
	s.reconcile()
	s.awaitCached()
	stale := s.cachedJobs()
	for range plan.MaxRecentRuns + 1 { // so that the status forgets the run
		s.failJobs()
		s.reconcile()
		s.toNextTick()
		s.reconcile()
	}
	before := s.stored()
	s.interfere(interceptor.Funcs{List: stale})
	s.reconcile()
	assert.Equal(t, before.Status, s.stored().Status)
	s.reconciler.APIReader, s.reconciler.leadingSince = away{s.reconciler.APIReader}, s.clock.Now()
	s.reconcile()
	assert.Equal(t, before.Status, s.stored().Status)
	s.clock.SetTime(s.clock.Now().Add(plan.MaxCacheLag))
	s.reconcile()
	assert.Len(t, s.stored().Status.Active, 2, "S14: without an answer for long, the cache is trusted")
}

func TestS21ASuccessBetweenTwoFailuresCountsThoughTheCacheDoesNotHaveItYet(t *testing.T) {
	s := newStage(t, every().StopAfterFailures(2))
	s.toNextTick()
	s.reconcile()
	s.failJobs()
	s.toNextTick()
	s.reconcile()
	s.awaitCached()
	stale := s.cachedJobs()
	s.clock.SetTime(s.clock.Now().Add(time.Second))
	s.finishJobs()
	s.interfere(interceptor.Funcs{List: stale})
	s.toNextTick()
	s.reconcile()
	s.failJobs()
	s.reconcile()
	assert.EqualValues(t, 1, s.stored().Status.FailuresTowardsStop)
	assert.False(t, plan.IsStopped(s.stored()))
}

func TestS21AFailureCountsThoughItsJobIsDeletedBeforeTheNextReconcile(t *testing.T) {
	for name, isWaiting := range map[string]bool{"of a run that the status lists": false, "of a run whose status is deferred": true} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t, every().StopAfterFailures(1))
			s.toNextTick()
			result, err := s.reconcileOnce()
			require.NoError(t, err)
			require.True(t, isDeferred(result))
			if !isWaiting {
				s.reconcile()
			}
			s.failJobs()
			job := &batchv1.Job{}
			require.NoError(t, mgr.GetAPIReader().Get(t.Context(), types.NamespacedName{Namespace: s.key.Namespace, Name: s.jobs()[0]}, job))
			require.NoError(t, mgr.GetClient().Delete(t.Context(), job, client.PropagationPolicy(metav1.DeletePropagationBackground)))
			s.awaitCached()
			s.reconciler.sawJob(trimmed(job), nil)
			s.reconcile()
			assert.True(t, plan.IsStopped(s.stored()))
			assert.Contains(t, s.events(), "Warning SawCompletedJob Saw completed job: "+job.Name+", condition: Failed")
			assert.Equal(t, v1.RunFailed, s.stored().Status.RecentRuns[0].Result)
			s.reconcile()
			assert.EqualValues(t, 1, s.stored().Status.ConsecutiveFailures, "it counts once")
		})
	}
}

func TestS10ACreationThatFailsIsRetriedWithBackoffAndSaidOnce(t *testing.T) {
	s := newStage(t, every().Deadline(50))
	tick := s.toNextTick()
	quota := apierrors.NewForbidden(batchv1.Resource("jobs"), "c", errors.New("exceeded quota"))
	s.interfere(interceptor.Funcs{Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error {
		return quota
	}})
	for _, want := range []time.Duration{firstRetry, 2 * firstRetry, 4 * firstRetry} {
		assert.Equal(t, want, s.reconcile().RequeueAfter)
	}
	found := s.events()
	require.Len(t, found, 1)
	assert.Contains(t, found[0], "Warning FailedCreate Error creating job c-")
	assert.Contains(t, found[0], "exceeded quota")
	ready := meta.FindStatusCondition(s.stored().Status.Conditions, v1.ConditionReady)
	assert.Equal(t, v1.ReasonJobCreationFailed, ready.Reason)
	assert.Contains(t, ready.Message, "exceeded quota")

	t.Run("until its deadline", func(t *testing.T) {
		s.clock.SetTime(tick.Add(49900 * time.Millisecond))
		assert.Equal(t, 101*time.Millisecond, s.reconcile().RequeueAfter)
		s.clock.SetTime(tick.Add(50001 * time.Millisecond))
		s.reconcile()
		found := s.events()
		require.Len(t, found, 1)
		assert.Contains(t, found[0], "Warning MissSchedule Missed scheduled time")
	})
	t.Run("and cleared by a success", func(t *testing.T) {
		s.stopInterfering()
		s.awaitCached()
		s.toNextTick()
		s.reconcile()
		ready := meta.FindStatusCondition(s.stored().Status.Conditions, v1.ConditionReady)
		assert.Equal(t, v1.ReasonScheduled, ready.Reason)
		assert.Len(t, s.jobs(), 1)
	})
}

func TestS10ATerminatingNamespaceIsQuiet(t *testing.T) {
	s := newStage(t, every())
	require.NoError(t, mgr.GetClient().Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.key.Namespace}}))
	s.toNextTick()
	assert.InDelta(t, time.Minute, s.reconcile().RequeueAfter, float64(time.Second), "the next tick is looked at")
	s.clock.SetTime(s.clock.Now().Add(time.Hour))
	assert.InDelta(t, time.Minute, s.reconcile().RequeueAfter, float64(time.Second))
	assert.Empty(t, s.events())
	assert.Empty(t, s.jobs())
	assert.Equal(t, v1.ReasonScheduled, meta.FindStatusCondition(s.stored().Status.Conditions, v1.ConditionReady).Reason)
}

func TestADeferredStatusIsWrittenByTheNextReconcile(t *testing.T) {
	s := newStage(t, every())
	tick := s.toNextTick()
	before := s.stored()
	result, err := s.reconcileOnce()
	require.NoError(t, err)
	require.True(t, isDeferred(result), "%+v", result)
	assert.Equal(t, []string{fmt.Sprintf("c-%d", tick.Unix())}, s.jobs())
	assert.Equal(t, before.ResourceVersion, s.stored().ResourceVersion)
	assert.Empty(t, s.events())
	assert.True(t, s.reconciler.HasDeferredStatuses(), "events wait for it")

	result, err = s.reconcileOnce()
	require.NoError(t, err)
	assert.Equal(t, new(tickPriority), result.Priority)
	assert.False(t, s.reconciler.HasDeferredStatuses())
	assert.True(t, s.stored().Status.LastScheduleTime.Time.Equal(tick))
	assert.Len(t, s.events(), 1)
	assert.Empty(t, s.reconciler.memory.unrecorded())
}

func TestWhatWasWrittenIsKeptUntilTheCacheHasIt(t *testing.T) {
	t.Run("after the answer", func(t *testing.T) {
		s := newStage(t, every())
		before := s.stored()
		s.toNextTick()
		s.interfere(interceptor.Funcs{Get: onlyCronJob(before)})
		s.reconcile()
		s.stopInterfering()
		require.NotNil(t, s.written())
		s.reconciler.sawCronJob(before, before)
		assert.NotNil(t, s.written(), "that is older")
		s.reconciler.sawCronJob(before, s.stored())
		assert.Nil(t, s.written())
	})
	t.Run("before the answer", func(t *testing.T) {
		s := newStage(t, every())
		s.toNextTick()
		s.interfere(interceptor.Funcs{SubResourcePatch: onStatusWrite(func(_ context.Context, write func() error) error {
			err := write()
			s.awaitCached()
			return err
		})})
		s.reconcile()
		assert.Nil(t, s.written())
	})
}

func TestAStartedJobIsRememberedWithoutItsTemplate(t *testing.T) {
	s := newStage(t, every())
	s.toNextTick()
	_, err := s.reconcileOnce()
	require.NoError(t, err)
	kept := s.reconciler.memory.entries[s.key].progress.jobs
	require.Len(t, kept, 1, "until the status tells of it")
	assert.Empty(t, kept[0].job.Spec.Template.Spec.Containers)
	assert.Equal(t, []string{kept[0].job.Name}, s.jobs())
}

func TestAStatusIsDeferredNoLongerThanToTheNextTick(t *testing.T) {
	s := newStage(t, every())
	first := s.toNextTick()
	_, err := s.reconcileOnce()
	require.NoError(t, err)
	s.clock.SetTime(s.clock.Now().Add(time.Minute))
	result, err := s.reconcileOnce()
	require.NoError(t, err)
	assert.False(t, isDeferred(result))
	assert.Len(t, s.jobs(), 2)
	assert.Len(t, s.events(), 2)
	status := s.stored().Status
	assert.Len(t, status.Active, 2)
	assert.True(t, status.LastScheduleTime.Time.Equal(first.Add(time.Minute)))
	assert.Empty(t, s.reconciler.memory.unrecorded())
}

func TestS4AJobThatWasDeletedBeforeItsStatusWasWrittenHasRun(t *testing.T) {
	s := newStage(t, every())
	tick := s.toNextTick()
	_, err := s.reconcileOnce()
	require.NoError(t, err)
	require.NoError(t, mgr.GetClient().DeleteAllOf(t.Context(), &batchv1.Job{}, client.InNamespace(s.key.Namespace),
		client.PropagationPolicy(metav1.DeletePropagationBackground)))
	s.awaitCached()
	result, err := s.reconcileOnce()
	require.NoError(t, err)
	assert.Equal(t, time.Second, result.RequeueAfter, "as nothing else will tell that the Job is gone")
	s.reconcile()
	assert.Empty(t, s.jobs())
	status := s.stored().Status
	assert.Empty(t, status.Active)
	assert.True(t, status.LastScheduleTime.Time.Equal(tick))
}

// lastReconcile is a controller with a reconcile in progress at shutdown.
type lastReconcile struct {
	controller.Controller
	reconcile func() (ctrl.Result, error)
}

func (c lastReconcile) Start(ctx context.Context) error {
	<-ctx.Done()
	_, err := c.reconcile()
	return err
}

func TestDeferredStatusesAreWrittenAfterTheLastReconcile(t *testing.T) {
	s := newStage(t, every())
	tick := s.toNextTick()
	stopped, stop := context.WithCancel(t.Context())
	stop()
	require.NoError(t, s.reconciler.lead(stopped, lastReconcile{reconcile: func() (ctrl.Result, error) {
		result, err := s.reconcileOnce()
		require.True(t, isDeferred(result))
		require.Nil(t, s.stored().Status.LastScheduleTime)
		return result, err
	}}))
	assert.True(t, s.stored().Status.LastScheduleTime.Time.Equal(tick))
	assert.Equal(t, []string{fmt.Sprintf("Normal SuccessfulCreate Created job c-%d", tick.Unix())}, s.events())
}

func TestO1TheGaugeCountsTheJobsThatRun(t *testing.T) {
	s := newStage(t, every())
	count := func() float64 { return s.reconciler.count(&batchv1.JobList{}, activeIndex) }
	s.toNextTick()
	s.reconcile()
	s.awaitCached()
	assert.Zero(t, count(), "it does not lead")
	s.reconciler.leads.Store(true)
	running := count()
	assert.Positive(t, running)
	s.finishJobs()
	s.awaitCached()
	assert.InDelta(t, running-1, count(), 0)
}

func TestAReconcileEndsWhatItHasBegunWhenTheManagerStops(t *testing.T) {
	s := newStage(t, every())
	tick := s.toNextTick()
	stopped, stop := context.WithCancel(t.Context())
	s.interfere(interceptor.Funcs{Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
		stop()
		return c.Create(ctx, o, opts...)
	}})
	_, err := s.reconciler.Reconcile(stopped, ctrl.Request{NamespacedName: s.key})
	require.NoError(t, err)
	assert.Equal(t, []string{fmt.Sprintf("c-%d", tick.Unix())}, s.jobs())
}

func TestALeaderWhoseLeaseIsOverStartsNothingAndTellsNobody(t *testing.T) {
	s := newStage(t, every().Policy(v1.ReplaceConcurrent))
	s.toNextTick()
	s.reconcile()
	s.awaitCached()
	s.events()
	s.toNextTick()
	before := s.stored()
	over := func() error { return fmt.Errorf("post: %w", lease.ErrOver) }
	s.interfere(interceptor.Funcs{
		Create:           func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error { return over() },
		Delete:           func(context.Context, client.WithWatch, client.Object, ...client.DeleteOption) error { return over() },
		SubResourcePatch: onStatusWrite(func(context.Context, func() error) error { return over() }),
	})
	assert.Equal(t, firstRetry, s.reconcile().RequeueAfter, "it may lead again")
	assert.Empty(t, s.events())
	assert.Equal(t, before.ResourceVersion, s.stored().ResourceVersion)
}

func TestACronJobThatIsGoneIsForgotten(t *testing.T) {
	s := newStage(t, every())
	s.toNextTick()
	s.reconcile()
	require.NoError(t, mgr.GetClient().Delete(t.Context(), s.stored()))
	require.Eventually(t, func() bool {
		return apierrors.IsNotFound(mgr.GetClient().Get(t.Context(), s.key, &v1.CronJob{}))
	}, 30*time.Second, 5*time.Millisecond)
	assert.Equal(t, ctrl.Result{}, s.reconcile())
	assert.Empty(t, s.reconciler.memory.entries)
	assert.Empty(t, s.reconciler.memory.unrecorded())
}

// succeeded returns the stage of a CronJob that was created again, after the last status of its
// predecessor could not be written.
func succeeded(t *testing.T) (*stage, *v1.CronJob) {
	t.Helper()
	s := newStage(t, every())
	s.interfere(statusFails(errTrouble))
	s.toNextTick()
	s.reconcile()
	require.True(t, s.reconciler.memory.entries[s.key].progress.isStale)
	s.stopInterfering()
	require.NoError(t, mgr.GetClient().Delete(t.Context(), s.stored()))
	successor := every().Namespace(s.key.Namespace).Obj()
	successor.UID, successor.Generation = "", 0
	require.NoError(t, mgr.GetClient().Create(t.Context(), successor))
	s.awaitCached()
	return s, successor
}

func TestS13ACronJobIsScheduledThoughTheLastStatusOfItsPredecessorCouldNotBeWritten(t *testing.T) {
	s, _ := succeeded(t)
	s.reconcile()
	tick := s.toNextTick()
	s.reconcile()
	assert.Contains(t, s.jobs(), fmt.Sprintf("c-%d", tick.Unix()))
	assert.True(t, s.stored().Status.LastScheduleTime.Time.Equal(tick))
}

func TestS14ANewLeaderSchedulesACronJobThatIsCreatedAgainWhileItAsksForTheOneBefore(t *testing.T) {
	s, successor := succeeded(t)
	tick := successor.CreationTimestamp.Add(2 * time.Minute)
	s.clock.SetTime(tick)
	s.reconciler.leadingSince = tick
	s.reconcile()
	assert.Contains(t, s.jobs(), fmt.Sprintf("c-%d", tick.Unix()))
}

func TestS13OwnersAreToldByUID(t *testing.T) {
	c := builders.MakeCronJob("c").Obj()
	owned := builders.MakeJob(c, time.Unix(0, 0)).Obj()
	assert.Equal(t, []string{"uid-of-c"}, ownerUID(owned))
	for name, change := range map[string]func(*metav1.OwnerReference){
		"no controller": func(o *metav1.OwnerReference) { o.Controller = nil },
		"another kind":  func(o *metav1.OwnerReference) { o.Kind = "CronTab" },
		"the built-in":  func(o *metav1.OwnerReference) { o.APIVersion = "batch/v1" },
	} {
		job := owned.DeepCopy()
		change(&job.OwnerReferences[0])
		assert.Empty(t, ownerUID(job), name)
	}
	v2 := owned.DeepCopy()
	v2.OwnerReferences[0].APIVersion = "batch.tutorial.kubebuilder.io/v2"
	assert.Equal(t, []string{"uid-of-c"}, ownerUID(v2), "whichever version of ours")
}
