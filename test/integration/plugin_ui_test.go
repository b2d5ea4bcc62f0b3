// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bufio"
	"context"
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	suspendcli "tutorial.kubebuilder.io/project/internal/cli/suspend"
)

// site is the pages that kubectl cronjob ui serves.
type site struct {
	*space

	link string
}

// startUI starts ui until the test ends, and waits until its pages show all that there is.
func (s *space) startUI(args ...string) *site {
	s.t.Helper()
	ctx, interrupt := context.WithCancel(s.t.Context())
	running := s.startPlugin(ctx, append([]string{"ui", "--no-browser"}, args...)...)
	s.t.Cleanup(func() {
		interrupt()
		assert.NoError(s.t, running.wait().err, "an interrupt is how it ends")
	})
	s.eventually(func() bool { return strings.Contains(running.out.String(), "\n") }, "it prints no link")
	link, _, _ := strings.Cut(running.out.String(), "\n")
	shown := &site{s, link}
	s.eventually(func() bool {
		_, body := shown.tryPage("")
		return !strings.Contains(body, "are being read")
	}, "it does not read the CronJobs")
	return shown
}

// tryPage returns the status of a page, and its HTML.
func (s *site) tryPage(path string) (int, string) {
	s.t.Helper()
	return s.send(http.MethodGet, s.link+path, nil)
}

// page returns the HTML of a page that there is.
func (s *site) page(path string) string {
	s.t.Helper()
	status, body := s.tryPage(path)
	require.Equal(s.t, http.StatusOK, status, body)
	return body
}

// pageOf returns a page of a CronJob of the namespace.
func (s *site) pageOf(name, path string) string {
	s.t.Helper()
	return s.page("cronjobs/" + s.ns + "/" + name + path)
}

// send sends a request, and follows redirects.
func (s *site) send(method, link string, form url.Values) (int, string) {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), method, link, strings.NewReader(form.Encode()))
	require.NoError(s.t, err)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := http.DefaultClient.Do(request)
	require.NoError(s.t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(s.t, err)
	return response.StatusCode, string(body)
}

// base is the beginning of the path of each page.
func (s *site) base() string {
	s.t.Helper()
	link, err := url.Parse(s.link)
	require.NoError(s.t, err)
	return link.Path
}

// do does an action, after its page has said what it will do, and returns what that was and the
// page that tells of the end.
func (s *site) do(name, action, query string) (says, told string) {
	s.t.Helper()
	path := "cronjobs/" + s.ns + "/" + name + "/actions/" + action + query
	says = s.page(path)
	form := regexp.MustCompile(`<form method="post" action="([^"]*)">\s*<input type="hidden" name="id" value="(\w+)">`).FindStringSubmatch(says)
	require.NotEmpty(s.t, form, says)
	link, _, _ := strings.Cut(s.link+path, "?")
	sent := url.Values{"id": {form[2]}}
	_, told = s.send(http.MethodPost, link+html.UnescapeString(form[1]), sent)
	_, again := s.send(http.MethodPost, link+html.UnescapeString(form[1]), sent)
	require.NotContains(s.t, again, "not complete")
	s.eventually(func() bool {
		told = s.page("tasks/" + form[2])
		return !strings.Contains(told, "It is running")
	}, "the action does not end")
	return says, told
}

func TestPluginUIShowsTheClusterAndFollowsIt(t *testing.T) {
	t.Parallel()
	eachWay(t, func(s *space) {
		s.create(s.cronJob("first").Schedule(nextYear).Obj())
		shown := s.startUI()
		assert.Contains(s.t, shown.page(""), "/cronjobs/"+s.ns+"/first")
		assert.Contains(s.t, shown.page("timeline"), s.ns+"/first: ")

		request, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, shown.link, http.NoBody)
		require.NoError(s.t, err)
		request.Header.Set("Accept", "text/event-stream")
		stream, err := http.DefaultClient.Do(request)
		require.NoError(s.t, err)
		defer stream.Body.Close()
		lines := bufio.NewScanner(stream.Body)
		lines.Buffer(nil, 1<<20)
		await := func(want string) {
			for lines.Scan() {
				if strings.Contains(lines.Text(), want) {
					return
				}
			}
			s.t.Fatalf("the stream ends without %q: %v", want, lines.Err())
		}
		s.create(s.cronJob("second").Schedule(nextYear).Obj())
		await("/second")
		s.edit("first", suspend)
		await("suspended</span>")
		s.delete("second")
		s.eventually(func() bool { return !strings.Contains(shown.page(""), "/second") }, "it shows what is deleted")
		status, body := shown.tryPage("cronjobs/" + s.ns + "/second")
		assert.Equal(s.t, http.StatusNotFound, status)
		assert.Contains(s.t, body, "it may have been deleted")
	})
}

func TestPluginUIShowsARunWithItsLogEventsAndBothVersions(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	node := s.startKubelet(map[string]string{"a/main": "one <script>alert(1)</script>\n"})
	s.create(s.cronJob("c").Schedule("0 9 * * 1-5").Obj())
	job := s.runToEnd("c", batchv1.JobFailed, v1.RunFailed)
	s.startPod(job, "a", node, hasEnded)
	shown := s.startUI()
	body := ""
	s.eventually(func() bool {
		body = shown.pageOf("c", "")
		return strings.Contains(body, "SawCompletedJob")
	}, "it shows no event")
	for _, want := range []string{
		"At 09:00, Monday to Friday", "✘ Failed", job.Name, "by hand", "/logs/" + job.Name, ">Run now<", ">Suspend<", "What happened last",
		`aria-label="End of the log">one &lt;script&gt;alert(1)&lt;/script&gt;`, `<a href="` + shown.base() + "cronjobs/" + s.ns + "/c?run=" + job.Name,
	} {
		assert.Contains(t, body, want)
	}
	assert.NotContains(t, body, ">Resume<")
	assert.NotContains(t, body, "/actions/tick?", "there is no tick to run again")
	assert.Contains(t, shown.pageOf("c", "?run="+job.Name), `<h2 id="run-title">`+job.Name+": ")
	log := shown.pageOf("c", "/logs/"+job.Name)
	assert.Contains(t, log, "one &lt;script&gt;alert(1)&lt;/script&gt;\n")
	assert.Contains(t, log, "The Job has ended.")
	status, gone := shown.tryPage("cronjobs/" + s.ns + "/c/logs/nobody")
	assert.Equal(t, http.StatusNotFound, status)
	assert.Contains(t, gone, "not found")
	object := shown.pageOf("c", "/object")
	assert.Contains(t, object, "schedule: 0 9 * * 1-5\n")
	assert.Contains(t, object, "dayOfWeek: 1-5\n")
	assert.NotContains(t, object, "<form")
}

func TestPluginUIFollowsALogToItsEnd(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	node := s.startKubelet(map[string]string{"a/main": "one\n", "b/main": "two\n"})
	s.create(s.cronJob("c").Schedule(nextYear).Obj())
	job := s.runNow("c")
	s.startPod(job, "a", node, runs)
	shown := s.startUI()
	response, err := http.Get(shown.link + "cronjobs/" + s.ns + "/c/logs/" + job.Name)
	require.NoError(t, err)
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	await := func(want string) {
		for lines.Scan() {
			if strings.Contains(lines.Text(), want) {
				return
			}
		}
		t.Fatalf("the log ends without %q", want)
	}
	await("one")
	s.startPod(job, "b", node, runs)
	await("two")
	s.end(job, batchv1.JobComplete)
	await("The Job has ended.")
}

func TestPluginUIDoesWhatItsPageSaysAndDoesItOnce(t *testing.T) {
	t.Parallel()
	eachWay(t, func(s *space) {
		s.create(s.cronJob("c").Schedule(nextYear).Obj())
		s.awaitReady("c", metav1.ConditionTrue, v1.ReasonScheduled)
		shown := s.startUI()

		says, told := shown.do("c", "run", "")
		assert.Regexp(s.t, `job\.batch/c-manual-\w+ created \(server dry run\)`, says)
		jobs := s.jobs("c")
		require.Len(s.t, jobs, 1, "the form was sent twice")
		s.eventually(func() bool {
			told = shown.pageOf("c", "?run="+jobs[0].Name)
			return strings.Contains(told, jobs[0].Name+": ")
		}, "it does not end at the run")

		tick := newYear(2026)
		says, told = shown.do("c", "tick", "?tick="+tick.Format(time.RFC3339))
		assert.Contains(s.t, says, "--tick=2026-01-01T00:00:00Z")
		assert.Contains(s.t, told, nameOf(tick))
		assert.Len(s.t, s.jobs("c"), 2)
		assert.Contains(s.t, shown.pageOf("c", "/actions/tick?tick="+tick.Format(time.RFC3339)), "has run")

		says, told = shown.do("c", "suspend", "?until=6h&reason="+url.QueryEscape("<b>moved</b>"))
		assert.Regexp(s.t, `suspended until \S+ \(server dry run\)`, says)
		assert.Contains(s.t, told, "c suspended until ")
		assert.Equal(s.t, "<b>moved</b>", s.get("c").Annotations[suspendcli.SuspendReasonAnnotation])
		s.eventually(func() bool { return strings.Contains(shown.pageOf("c", ""), "&lt;b&gt;moved&lt;/b&gt;") }, "it shows no reason")
		s.eventually(func() bool { return strings.Contains(shown.pageOf("c", ""), ">Resume<") }, "it can't be resumed")

		_, told = shown.do("c", "resume", "")
		assert.Contains(s.t, told, "c resumed\n")
		assert.Nil(s.t, s.get("c").Spec.SuspendUntil)
	})
}

func TestPluginUIBackfillsAMarkedRange(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.watchHistory(as(batchv1.JobComplete))
	s.create(s.cronJob("c").Schedule(nextYear).Obj())
	s.awaitReady("c", metav1.ConditionTrue, v1.ReasonScheduled)
	shown := s.startUI()
	says, told := shown.do("c", "backfill", "?from=2024-06-01&to=2026-06-01&only=all&parallel=1")
	assert.Contains(t, says, "2 to run")
	assert.Contains(t, says, nameOf(newYear(2025))+" created for 2025-01-01T00:00:00Z (server dry run)")
	assert.Contains(t, told, "2 succeeded, 0 failed")
	again := shown.pageOf("c", "/actions/backfill?from=2024-06-01&to=2026-06-01")
	assert.Contains(t, again, "0 to run")
	assert.Contains(t, again, "There is nothing to do.")
	assert.NotContains(t, again, `<form method="post"`)
	assert.Contains(t, shown.pageOf("c", "/actions/backfill"), "Preview")
	assert.Contains(t, shown.pageOf("c", "/actions/backfill"), ">Last night<")
	assert.Contains(t, shown.pageOf("c", "/actions/backfill?from=2030-01-01&to=2031-01-01"), "is in the future")
}

func TestPluginUIShowsAUserWhatTheyMayAndNoMore(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	s.create(s.cronJob("c").Schedule(nextYear).Obj())
	job := s.runToEnd("c", batchv1.JobComplete, v1.RunSucceeded)
	running := s.runUntilKnown("c")
	kubeconfig := s.newUser("viewer", crdName)
	shown := s.startUI("--kubeconfig=" + kubeconfig)
	body := shown.pageOf("c", "")
	for _, missing := range []string{">Run now<", ">Suspend<", ">Backfill<", ">Log<", "/actions/"} {
		assert.NotContains(t, body, missing)
	}
	assert.Contains(t, body, job.Name, "the status tells of it")
	assert.Contains(t, body, running.Name)
	assert.NotContains(t, body, "Deleted", "it runs, as far as is known")
	assert.Contains(t, body, "The Jobs can't be read")
	assert.Contains(t, body, "The events can't be read")
	says := shown.pageOf("c", "/actions/suspend?reason=x")
	assert.Contains(t, says, "It would fail")
	assert.Contains(t, says, "forbidden")
	status, _ := shown.send(http.MethodPost, shown.link+"cronjobs/"+s.ns+"/c/actions/suspend", url.Values{"id": {"x"}})
	assert.Equal(t, http.StatusOK, status)
	s.eventually(func() bool { return strings.Contains(shown.page("tasks/x"), "forbidden") }, "it does not say so")
	assert.False(t, *s.get("c").Spec.Suspend)

	everywhere := s.startUI("--kubeconfig="+kubeconfig, "-A")
	assert.Contains(t, everywhere.page(""), "You have no right to list the CronJobs of all namespaces")
	assert.Contains(t, everywhere.page(""), "forbidden")
}

func TestPluginUISaysThatAUserMayNotReadALog(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	node := s.startKubelet(map[string]string{"a/main": "secret\n"})
	s.create(s.cronJob("c").Schedule(nextYear).Obj())
	job := s.runToEnd("c", batchv1.JobComplete, v1.RunSucceeded)
	s.startPod(job, "a", node, hasEnded)
	shown := s.startUI("--kubeconfig=" + s.newUser("reader", crdName+",jobs.batch,pods"))
	body := shown.pageOf("c", "")
	assert.Contains(t, body, job.Name)
	assert.NotContains(t, body, ">Log<")
	log := shown.pageOf("c", "/logs/"+job.Name)
	assert.NotContains(t, log, "secret")
	assert.Contains(t, log, "cannot get resource &#34;pods/log&#34;")
}

// newUser returns the kubeconfig of a new user who may read objects of some kinds in the namespace.
func (s *space) newUser(name, kinds string) string {
	s.t.Helper()
	user := name + "-of-" + s.ns
	kubeconfig, err := s.AddUser(user)
	require.NoError(s.t, err)
	s.kubectl(s.t, "create", "role", name, "-n", s.ns, "--verb=get,list,watch", "--resource="+kinds)
	s.kubectl(s.t, "create", "rolebinding", name, "-n", s.ns, "--role="+name, "--user="+user)
	s.eventually(func() bool {
		_, err := s.tryKubectl(s.t, "auth", "can-i", "watch", crdName, "-n", s.ns, "--as="+user)
		return err == nil
	}, "the role is not in force")
	return kubeconfig
}

func TestPluginUIDoesNotStopAtAnObjectThatCanNotBeDecoded(t *testing.T) {
	t.Parallel()
	s := newSpaceOn(t, plainControlPlane(t), nil)
	s.storeRaw("bad", suspendedInWords)
	s.create(s.cronJob("good").Schedule(nextYear).Obj())
	body := s.startUI().page("")
	assert.Contains(t, body, "/good")
	assert.Regexp(t, `broken</span> <span class="detail">cannot unmarshal string into [^<]*spec\.suspend `, body)
	s.mend("bad", "v1")
}

// startProxy starts an API server that asks intercept first, which reports whether it has answered.
func (s *space) startProxy(intercept func(http.ResponseWriter, *http.Request) bool) *httptest.Server {
	s.t.Helper()
	target, err := url.Parse(s.Config.Host)
	require.NoError(s.t, err)
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.FlushInterval = -1
	proxy.Transport, err = rest.TransportFor(s.Config)
	require.NoError(s.t, err)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !intercept(w, r) {
			proxy.ServeHTTP(w, r)
		}
	}))
	s.t.Cleanup(server.Close)
	return server
}

func TestPluginUISaysThatTheClusterIsAwayAndRecovers(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	var isAway atomic.Bool
	server := s.startProxy(func(http.ResponseWriter, *http.Request) bool {
		if isAway.Load() {
			panic(http.ErrAbortHandler)
		}
		return false
	})
	s.create(s.cronJob("first").Schedule(nextYear).Obj())
	shown := s.startUI("--server=" + server.URL)
	assert.Contains(t, shown.page(""), "/first")
	isAway.Store(true)
	server.CloseClientConnections()
	s.eventually(func() bool { return strings.Contains(shown.page(""), "What is shown may be old: ") }, "it does not say so")
	assert.Contains(t, shown.page(""), "/first", "what was known is shown")
	s.create(s.cronJob("second").Schedule(nextYear).Obj())
	isAway.Store(false)
	s.eventually(func() bool { return strings.Contains(shown.page(""), "/second") }, "it does not recover")
	s.eventually(func() bool { return !strings.Contains(shown.page(""), "may be old") }, "it does not say that it has recovered")
}

func TestPluginUIGoesOnWhenAWatchHasExpired(t *testing.T) {
	t.Parallel()
	s := newSpace(t)
	var isExpired atomic.Bool
	var refused atomic.Int32
	server := s.startProxy(func(w http.ResponseWriter, r *http.Request) bool {
		query := r.URL.Query()
		if !isExpired.Load() || query.Get("watch") == "" || query.Get("resourceVersion") == "" || query.Get("sendInitialEvents") != "" {
			return false
		}
		refused.Add(1)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusGone)
		assert.NoError(t, json.NewEncoder(w).Encode(apierrors.NewResourceExpired("too old resource version").Status()))
		return true
	})
	s.create(s.cronJob("first").Schedule(nextYear).Obj())
	shown := s.startUI("--server=" + server.URL)
	assert.Contains(t, shown.page(""), "/first")
	isExpired.Store(true)
	server.CloseClientConnections()
	s.create(s.cronJob("second").Schedule(nextYear).Obj())
	s.delete("first")
	s.eventually(func() bool { return refused.Load() > 0 }, "it does not watch again")
	isExpired.Store(false)
	s.eventually(func() bool { return strings.Contains(shown.page(""), "/second") }, "it misses what was created")
	assert.NotContains(t, shown.page(""), "/first", "nor what was deleted")
}
