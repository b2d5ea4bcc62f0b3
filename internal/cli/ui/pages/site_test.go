// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package pages

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	testingclock "k8s.io/utils/clock/testing"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/env"
	"tutorial.kubebuilder.io/project/internal/cli/suspend"
	"tutorial.kubebuilder.io/project/internal/cli/ui/feed"
	"tutorial.kubebuilder.io/project/internal/plan"
	"tutorial.kubebuilder.io/project/test/builders"
)

// noon is when the tests look, in Delhi.
var noon = time.Date(2027, 1, 15, 12, 0, 0, 0, time.FixedZone("Delhi", 5*3600+1800))

// snapshotOf returns the complete snapshot of some CronJobs that have no Jobs.
func snapshotOf(all ...*v1.CronJob) *feed.Snapshot {
	var cronJobs []v1.CronJob
	for _, c := range all {
		cronJobs = append(cronJobs, *c)
	}
	return feed.NewSnapshot(feed.Health{Complete: true, JobsComplete: true}, cronJobs, nil)
}

// newSite returns the pages of some CronJobs, as they are served at noon.
func newSite(t *testing.T, all ...*v1.CronJob) (*Site, *httptest.Server) {
	t.Helper()
	e := env.New(genericiooptions.NewTestIOStreamsDiscard())
	e.Clock = testingclock.NewFakeClock(noon)
	site := &Site{Base: "/t", Env: e, Feed: &feed.Feed{}}
	site.Feed.Set(snapshotOf(all...))
	return site, serve(t, site)
}

// serve serves a site until the test ends.
func serve(t *testing.T, site *Site) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(http.StripPrefix("/t", site.Handler(t.Context())))
	t.Cleanup(server.Close)
	return server
}

// get returns the status of a page and its HTML.
func get(t *testing.T, server *httptest.Server, path string) (int, string) {
	t.Helper()
	response, err := http.Get(server.URL + "/t" + path)
	require.NoError(t, err)
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return response.StatusCode, string(body)
}

// show returns a page that there is.
func show(t *testing.T, server *httptest.Server, path string) string {
	t.Helper()
	status, body := get(t, server, path)
	require.Equal(t, http.StatusOK, status, body)
	return body
}

// hourly makes a CronJob that was created a day before.
func hourly(name string) *builders.CronJob {
	return builders.MakeCronJob(name).Schedule("0 * * * *").Created(noon.Add(-24 * time.Hour))
}

func TestTheOverviewHasOfEachCronJobWhatItDoesAndHowItGoes(t *testing.T) {
	c := hourly("backup").TimeZone("Asia/Tokyo").Obj()
	c.Status.NextScheduleTime = new(metav1.NewTime(noon.Add(30 * time.Minute)))
	c.Status.ConsecutiveFailures = 1
	c.Status.Active = []corev1.ObjectReference{{Name: "backup-1"}}
	c.Status.RecentRuns = []v1.Run{
		{Result: v1.RunRunning, ScheduledTime: metav1.NewTime(noon), StartTime: new(metav1.NewTime(noon.Add(-5 * time.Minute)))},
		{Result: v1.RunFailed, ScheduledTime: metav1.NewTime(noon), Reason: "BackoffLimitExceeded"},
		{Result: v1.RunSucceeded, ScheduledTime: metav1.NewTime(noon)},
	}
	_, server := newSite(t, c)
	body := show(t, server, "/")
	for _, want := range []string{
		`href="/t/cronjobs/default/backup"`, "Every hour", "(Asia/Tokyo)", `<span class="state failing">failing</span>`, "1 in a row",
		`aria-label="recent runs, newest first: Running Failed Succeeded"`, "Failed, BackoffLimitExceeded", ">5m<", "in 30m", "1 of 1 CronJobs",
	} {
		assert.Contains(t, body, want)
	}
	assert.Contains(t, body, `>backup</a> <span class="namespace">default</span>`)
	assert.Contains(t, body, "1 in a row · BackoffLimitExceeded")
	assert.Contains(t, body, "last hour: 1 run known")
	assert.Contains(t, body, "next peak 12:30: <b>1</b> in one minute")
}

func TestTheOverviewFindsCronJobs(t *testing.T) {
	failing, suspended, waiting, missed := hourly("failing").Obj(), hourly("suspended").Suspend(true).Obj(), hourly("waiting").Obj(), hourly("missed").Obj()
	failing.Status.ConsecutiveFailures = 3
	waiting.Status.NextScheduleTime = new(metav1.NewTime(noon.Add(-time.Minute)))
	missed.Status.RecentRuns = []v1.Run{{Result: v1.RunMissed}}
	missed.Labels = map[string]string{"team": "Data"}
	other := hourly("other").Namespace("shop").Schedule("@daily").Obj()
	other.Status.NextScheduleTime = new(metav1.NewTime(noon))
	other.Status.NextStartTime = new(metav1.NewTime(noon.Add(time.Second))) // as jitter has it
	_, server := newSite(t, failing, suspended, waiting, missed, other)
	for query, want := range map[string]string{
		"":                        "failing waiting missed suspended other",
		"?sort=name":              "failing missed suspended waiting other",
		"?state=failing":          "failing",
		"?state=suspended":        "suspended",
		"?state=waiting":          "waiting",
		"?state=missed":           "missed",
		"?namespace=shop":         "other",
		"?q=SHOP":                 "other",
		"?q=daily":                "other",
		"?q=team%3Ddata":          "missed",
		"?q=ing+fail":             "failing",
		"?q=nothing":              "",
		"?sort=next":              "waiting other failing missed suspended",
		"?sort=next&state=missed": "missed",
		"?page=99":                "failing waiting missed suspended other",
	} {
		assert.Equal(t, want, strings.Join(namesIn(show(t, server, "/"+query)), " "), query)
	}
	for _, query := range []string{"?state=odd", "?sort=odd"} {
		status, body := get(t, server, "/"+query)
		assert.Equal(t, http.StatusNotFound, status)
		assert.Contains(t, body, "odd")
	}
}

func TestEachPageNamesItsCluster(t *testing.T) {
	site, server := newSite(t, hourly("backup").Obj())
	site.Where = "prod · cluster <eu> · user ann"
	for _, path := range []string{"/", "/timeline"} {
		assert.Contains(t, show(t, server, path), `<span class="where">prod · cluster &lt;eu&gt; · user ann</span>`)
	}
}

func TestAPathThatThereIsNotHasAPageThatSaysSo(t *testing.T) {
	_, server := newSite(t)
	status, body := get(t, server, "/cronjob/default/backup")
	assert.Equal(t, http.StatusNotFound, status)
	assert.Contains(t, body, "the page /cronjob/default/backup")
	assert.Contains(t, body, `href="/t/"`)
}

func TestAnActIsNotDoneBeforeThePageHasSaidWhatItWillDo(t *testing.T) {
	_, server := newSite(t, hourly("c").Obj())
	for path, form := range map[string]url.Values{"run": {}, "backfill?from=2026-01-01": {"id": {"x"}}} {
		response, err := http.PostForm(server.URL+"/t/cronjobs/default/c/actions/"+path, form)
		require.NoError(t, err)
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		assert.Equal(t, http.StatusBadRequest, response.StatusCode, path)
		assert.Contains(t, string(body), "let the page say first what it will do", path)
	}
}

// namesIn returns the names of the CronJobs that a page lists, in its order.
func namesIn(body string) []string {
	var names []string
	for _, part := range strings.Split(body, `id="to-`)[1:] {
		link, _, _ := strings.Cut(part, `">`)
		names = append(names, link[strings.LastIndex(link, "/")+1:])
	}
	return names
}

func TestALongListHasPages(t *testing.T) {
	var all []*v1.CronJob
	for i := range perPage + 1 {
		all = append(all, hourly(fmt.Sprintf("c-%03d", i)).Obj())
	}
	_, server := newSite(t, all...)
	first := show(t, server, "/?q=c")
	assert.Len(t, namesIn(first), perPage)
	assert.Contains(t, first, "51 of 51 CronJobs, page 1 of 2")
	assert.Contains(t, first, `rel="next" href="?page=2&amp;q=c"`)
	second := show(t, server, "/?q=c&page=2")
	assert.Equal(t, []string{"c-050"}, namesIn(second))
	assert.Contains(t, second, `rel="prev" href="?page=1&amp;q=c"`)
}

func TestTheOverviewSaysWhyACronJobDoesNotRun(t *testing.T) {
	byWhom := hourly("a").Suspend(true).Obj()
	byWhom.Annotations = map[string]string{suspend.SuspendedByAnnotation: "ann", suspend.SuspendReasonAnnotation: "storage is moved"}
	until := hourly("b").Obj()
	until.Spec.SuspendUntil = new(metav1.NewTime(noon.Add(time.Hour)))
	due := hourly("c").Obj()
	due.Status.NextScheduleTime = new(metav1.NewTime(noon.Add(-time.Minute)))
	deleted := hourly("d").Obj()
	deleted.DeletionTimestamp = new(metav1.NewTime(noon))
	ready := func(name, status, reason, message string) *v1.CronJob {
		c := hourly(name).Obj()
		c.Status.ConsecutiveFailures = 3
		c.Status.Conditions = []metav1.Condition{{Type: v1.ConditionReady, Status: metav1.ConditionStatus(status), Reason: reason, Message: message}}
		return c
	}
	_, server := newSite(
		t, byWhom, until, due, deleted, ready("e", "False", v1.ReasonJobCreationFailed, "quota is exceeded"),
		ready("f", "False", v1.ReasonStoppedAfterFailures, "and how to go on"), ready("g", "True", v1.ReasonWaiting, "g-1 runs"),
		ready("h", "True", v1.ReasonCompleted, "No tick is left"), ready("i", "True", v1.ReasonScheduled, ""),
	)
	for state, want := range map[string]map[string]string{
		"suspended":   {"a": "for good, by ann (storage is moved)", "b": "until 2027-01-15T07:30:00Z"},
		"waiting":     {"c": "It is due, and has not started.", "g": "g-1 runs"},
		"terminating": {"d": "It is being deleted"},
		"broken":      {"e": "quota is exceeded"},
		"stopped":     {"f": "after 3 failures"},
		"completed":   {"h": "No tick is left"},
	} {
		body := show(t, server, "/?state="+state)
		assert.Equal(t, slices.Sorted(maps.Keys(want)), namesIn(body), state)
		assert.Equal(t, len(want)+1, strings.Count(body, `<span class="state `+state+`">`+state+"</span>"), "each, and the heading of the group")
		assert.Contains(t, body, fmt.Sprintf("</span> %d</th>", len(want)))
		assert.Regexp(t, fmt.Sprintf(`id="tile-%s" class="state %s" href="\?state=" aria-current="true"><b>%d</b>`, state, state, len(want)), body)
		for _, detail := range want {
			assert.Contains(t, body, detail)
		}
	}
	assert.Equal(t, []string{"e", "f", "i", "g", "h"}, namesIn(show(t, server, "/?state=failing")), "the worst first")
	_, server = newSite(t, hourly("invalid").Schedule("61 * * * *").Obj())
	assert.Regexp(t, `broken</span> <span class="detail">.*61`, show(t, server, "/"), "before the operator has seen it")
}

func TestTheOverviewCountsDownToTheStartThatJitterDelays(t *testing.T) {
	c := hourly("c").Jitter(3599).Obj()
	_, server := newSite(t, c)
	start := noon.Add(30 * time.Minute).Add(plan.Jitter(c)) // the hours of UTC are not Delhi's
	body := show(t, server, "/")
	assert.Contains(t, body, `datetime="`+start.UTC().Format(time.RFC3339)+`"`)
	assert.Contains(t, body, plan.Jitter(c).String()+" after its tick")
}

func TestACronJobIsQueuedWhileAQueueHoldsAllItsJobs(t *testing.T) {
	c := hourly("nightly").Obj()
	held, started := *builders.MakeJob(c, noon.Add(-time.Hour)).Obj(), *builders.MakeJob(c, noon).Obj()
	held.Spec.Suspend = new(true)
	for _, job := range []*batchv1.Job{&held, &started} {
		c.Status.Active = append(c.Status.Active, plan.Reference(job))
		c.Status.RecentRuns = append(c.Status.RecentRuns, plan.RunOf(job))
	}
	for state, jobs := range map[string][]batchv1.Job{"queued": {held}, "running": {held, started}} {
		site, server := newSite(t)
		site.Feed.Set(feed.NewSnapshot(feed.Health{Complete: true, JobsComplete: true}, []v1.CronJob{*c.DeepCopy()}, jobs))
		for _, asked := range []string{"queued", "running"} {
			body := show(t, server, "/?state="+asked)
			assert.Equal(t, asked == state, strings.Contains(body, "nightly"), "%s when asked for %s", state, asked)
		}
		assert.Contains(t, show(t, server, "/timeline"), `class="queued"`)
	}
}

func TestNothingThatIsStoredIsHTMLOnAPage(t *testing.T) {
	const attack = `"><script>alert(1)</script><img src=x onerror=alert(1)>'`
	c := hourly("c").Schedule(attack).TimeZone(attack).Obj()
	c.Namespace, c.Name = attack, attack
	c.Labels = map[string]string{attack: attack}
	c.Annotations = map[string]string{suspend.SuspendedByAnnotation: attack, suspend.SuspendReasonAnnotation: attack}
	c.Spec.Suspend = new(true)
	c.Status.RecentRuns = []v1.Run{{Result: attack, Reason: attack, JobName: attack, Trigger: attack}}
	c.Status.Missed = []v1.MissedTicks{{Reason: attack, First: metav1.NewTime(noon.Add(-time.Hour)), Last: metav1.NewTime(noon), Count: 1}}
	refused := hourly("refused").Obj()
	refused.Status.Conditions = []metav1.Condition{{Type: v1.ConditionReady, Status: metav1.ConditionFalse, Message: attack}}
	site, server := newSite(t, c, refused)
	snapshot := snapshotOf(c, refused)
	snapshot.Problem = attack
	site.Feed.Set(snapshot)
	for _, path := range []string{
		"/", "/timeline", "/timeline?reach=30d", "/?q=" + url.QueryEscape(attack), "/?namespace=" + url.QueryEscape(attack), "/?sort=" + url.QueryEscape(attack),
		"/timeline?reach=" + url.QueryEscape(attack), "/cronjobs/a/" + url.PathEscape(attack),
	} {
		_, body := get(t, server, path)
		assert.NotContains(t, body, "<script>", path)
		assert.NotContains(t, body, "<img", path)
		assert.NotContains(t, body, "onerror=alert(1)>", path)
	}
}

func TestNoPageHasAnythingInlineThatTheContentSecurityPolicyForbids(t *testing.T) {
	_, server := newSite(t, hourly("c").Obj())
	for _, path := range []string{"/", "/timeline", "/cronjobs/default/nobody"} {
		_, body := get(t, server, path)
		assert.NotRegexp(t, `(?i)<style|style=|<script(>| [^s])|\son[a-z]+=|javascript:|https?://`, body, path)
	}
}

func TestAPageSaysThatItMayBeOldAndThatItIsNotComplete(t *testing.T) {
	site, server := newSite(t)
	site.Feed.Set(&feed.Snapshot{})
	assert.Contains(t, show(t, server, "/"), "The CronJobs are being read")
	site.Feed.Set(&feed.Snapshot{Health: feed.Health{Problem: "connection refused"}})
	body := show(t, server, "/")
	assert.Contains(t, body, "The CronJobs can't be read: connection refused")
	assert.NotContains(t, body, "No CronJob", "nobody knows")
	assert.NotContains(t, body, "0 of 0")
	old := snapshotOf(hourly("c").Obj())
	old.Problem = "connection refused"
	site.Feed.Set(old)
	assert.Contains(t, show(t, server, "/"), "What is shown may be old: connection refused")
}

func TestAnEmptyOverviewSaysWhyAndHowToBegin(t *testing.T) {
	site, server := newSite(t, hourly("c").Obj())
	body := show(t, server, "/?q=nothing")
	assert.Contains(t, body, `No CronJob is like that. <a href="?">Show all 1</a>`)
	assert.NotContains(t, body, "import", "there are some")

	site.Feed.Set(snapshotOf())
	body = show(t, server, "/")
	for _, want := range []string{"in any namespace.", "kind: CronJob", "kubectl cronjob import --dry-run=server"} {
		assert.Contains(t, body, want)
	}
	site.Scope = feed.Scope{Namespace: "shop", Selector: labels.SelectorFromSet(labels.Set{"team": "data"})}
	body = show(t, server, "/")
	for _, want := range []string{
		"in the namespace shop with the labels team=data.", "<code>kubectl cronjob ui -A</code> looks into all namespaces",
		"namespace: shop", "kubectl cronjob import -n shop",
	} {
		assert.Contains(t, body, want)
	}

	site.Scope = feed.Scope{}
	site.Feed.Set(&feed.Snapshot{Health: feed.Health{Problem: "cronjobs is forbidden", IsForbidden: true}})
	body = show(t, server, "/")
	assert.Contains(t, body, "You have no right to list the CronJobs of all namespaces")
	assert.Contains(t, body, "kubectl cronjob ui -n NAMESPACE")
	assert.NotContains(t, body, "kind: CronJob")
	site.Scope.Namespace = "shop"
	assert.Contains(t, show(t, server, "/"), "You have no right to list the CronJobs of the namespace shop")
}

func TestAnEventSourceGetsWhatHasChanged(t *testing.T) {
	site, server := newSite(t, hourly("first").Obj())
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/t/", http.NoBody)
	require.NoError(t, err)
	request.Header.Set("Accept", "text/event-stream")
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	assert.Equal(t, "text/event-stream", response.Header.Get("Content-Type"))
	lines := bufio.NewReader(response.Body)
	assert.Equal(t, []string{"first"}, namesIn(readEvent(t, lines)))
	site.Feed.Set(snapshotOf(hourly("second").Obj()))
	event := readEvent(t, lines)
	assert.Equal(t, []string{"second"}, namesIn(event))
	assert.NotContains(t, event, "<html")

	snapshot := snapshotOf()
	snapshot.Problem = "one\rtwo"
	site.Feed.Set(snapshot)
	assert.Contains(t, readEvent(t, lines), "one&#13;two", "a carriage return does not end a line of the event")
}

// readEvent returns the data of the next event.
func readEvent(t *testing.T, lines *bufio.Reader) string {
	t.Helper()
	var data strings.Builder
	for {
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		if line == "\n" {
			return data.String()
		}
		text, ok := strings.CutPrefix(line, "data: ")
		require.True(t, ok, line)
		data.WriteString(text)
	}
}

func TestAStreamEndsWithItsBrowser(t *testing.T) {
	site, _ := newSite(t)
	ctx, cancel := context.WithCancel(t.Context())
	request := httptest.NewRequestWithContext(ctx, http.MethodGet, "/", http.NoBody)
	cancel()
	site.stream(deadlineRecorder{httptest.NewRecorder()}, request, site.overview) // it returns
}

// deadlineRecorder is a recorder that takes deadlines.
type deadlineRecorder struct{ *httptest.ResponseRecorder }

func (deadlineRecorder) SetWriteDeadline(time.Time) error { return nil }

func TestThePagesHaveTheirScriptAndStyle(t *testing.T) {
	_, server := newSite(t)
	for _, file := range []string{"ui.js", "ui.css", "icon.svg"} {
		assert.NotEmpty(t, show(t, server, "/static/"+file))
	}
}

func TestTheTimelineDrawsWhatIsShown(t *testing.T) {
	c := hourly("backup").Obj()
	c.Status.RecentRuns = []v1.Run{{
		Result: v1.RunFailed, Reason: "BackoffLimitExceeded", ScheduledTime: metav1.NewTime(noon.Add(-time.Hour)), JobName: "backup-1",
		Trigger: v1.TriggerSchedule, StartTime: new(metav1.NewTime(noon.Add(-time.Hour))), CompletionTime: new(metav1.NewTime(noon.Add(-30 * time.Minute))),
	}}
	_, server := newSite(t, c, hourly("other").Schedule("0 0 1 1 *").Obj())
	body := show(t, server, "/timeline?q=backup&reach=6h")
	assert.Equal(t, []string{"backup?reach=6h"}, namesIn(body))
	assert.Contains(t, body, `aria-label="default/backup: 1 failed, 2 coming"`)
	assert.Contains(t, body, "BackoffLimitExceeded")
	assert.Contains(t, body, `data-mark="/t/cronjobs/default/backup/actions/backfill"`)
	assert.Contains(t, body, "Starts in a minute, at most 1")
	status, _ := get(t, server, "/timeline?reach=1y")
	assert.Equal(t, http.StatusNotFound, status)
}

// fleet returns 10,000 CronJobs of 720 schedules with ten runs each. Every second has a jitter.
func fleet() []*v1.CronJob {
	var all []*v1.CronJob
	for i := range 10_000 {
		c := hourly(fmt.Sprintf("c-%05d", i)).Schedule(fmt.Sprintf("%d %d * * *", i%60, i/60%12)).Jitter(int32(i % 2 * 600)).Obj()
		c.UID = types.UID(c.Name)
		for run := range 10 {
			at := metav1.NewTime(noon.Add(-time.Duration(run) * time.Hour))
			c.Status.RecentRuns = append(c.Status.RecentRuns, v1.Run{Result: v1.RunSucceeded, JobName: "j", ScheduledTime: at, StartTime: &at, CompletionTime: &at})
		}
		c.Status.NextScheduleTime = new(metav1.NewTime(noon.Add(time.Duration(i) * time.Second)))
		all = append(all, c)
	}
	return all
}

// BenchmarkAPageOf10000CronJobs is the time that the server takes for each update of a page.
func BenchmarkAPageOf10000CronJobs(b *testing.B) {
	e := env.New(genericiooptions.NewTestIOStreamsDiscard())
	e.Clock = testingclock.NewFakeClock(noon)
	site := &Site{Base: "/t", Env: e, Feed: &feed.Feed{}}
	site.Feed.Set(snapshotOf(fleet()...))
	for _, path := range []string{"/", "/?sort=next", "/?q=99", "/timeline", "/timeline?reach=30d"} {
		b.Run(path, func(b *testing.B) {
			request := httptest.NewRequestWithContext(b.Context(), http.MethodGet, path, http.NoBody)
			build := site.overview
			if strings.HasPrefix(path, "/timeline") {
				build = site.timeline
			}
			for b.Loop() {
				if _, err := render(site.build(request, build), "update"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
