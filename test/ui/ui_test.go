//go:build ui

// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/test/builders"
)

// nextYear is a schedule that does not fire while the tests run.
const nextYear = "0 0 1 1 *"

// jobs returns how many Jobs the namespace has.
func (ui *tab) jobs() int {
	ui.t.Helper()
	list := &batchv1.JobList{}
	require.NoError(ui.t, cluster.Client.List(ui.t.Context(), list, client.InNamespace(ui.ns)))
	return len(list.Items)
}

func TestTheOverviewFollowsTheClusterAndWhatIsTyped(t *testing.T) {
	ui := newTab(t)
	ui.open("")
	ui.awaitText("No CronJob yet")
	ui.create(builders.MakeCronJob("backup").Schedule("30 2 * * *").TimeZone("Europe/Paris").Obj())
	ui.awaitText("At 02:30, every day")
	ui.create(builders.MakeCronJob("report").Schedule("0 9 * * 1-5").Suspend(true).Obj())
	ui.awaitText("suspended for good")
	ui.do(chromedp.SendKeys(css("[name=q]"), "back"))
	ui.await("!document.body.innerText.includes('report')")
	ui.await("location.search.includes('q=back')")
	assert.Equal(t, "q", evaluate[string](ui, "document.activeElement.name"), "the focus stays")
	before := evaluate[string](ui, "document.querySelector('td [data-when]').textContent")
	ui.await("document.querySelector('td [data-when]').textContent !== '' && document.querySelector('time').dateTime !== ''")
	assert.Regexp(t, `^in \d`, before)
}

// pastRuns are runs at the beginning of each of the last intervals, newest first, each of which took a
// third of one.
func pastRuns(every time.Duration, results ...v1.RunResult) []v1.Run {
	var runs []v1.Run
	for i, result := range results {
		at := metav1.NewTime(time.Now().Truncate(every).Add(-time.Duration(i+1) * every))
		run := v1.Run{Result: result, ScheduledTime: at, Trigger: v1.TriggerSchedule, JobName: fmt.Sprint("gone-", at.Unix())}
		run.StartTime, run.CompletionTime = &at, new(metav1.NewTime(at.Add(every/3)))
		if result == v1.RunFailed {
			run.Reason = batchv1.JobReasonBackoffLimitExceeded
		}
		runs = append(runs, run)
	}
	return runs
}

// createFleet creates CronJobs, one of each state, with a day behind them.
func (ui *tab) createFleet() {
	ui.t.Helper()
	const ok, failed, gone = v1.RunSucceeded, v1.RunFailed, v1.RunDeleted
	daily := fmt.Sprintf("0 %d * * *", time.Now().UTC().Add(-time.Minute).Hour()) // not within the minutes that this takes
	never := builders.MakeCronJob("import").Schedule("@every 1s").Policy(v1.ForbidConcurrent).StopAfterFailures(2).Obj()
	never.Spec.JobTemplate.Spec.ActiveDeadlineSeconds = new(int64(1))
	endless := builders.MakeCronJob("rebuild").Schedule("@every 1s").Policy(v1.ForbidConcurrent).Obj()
	for _, c := range []*v1.CronJob{never, endless} {
		c.Spec.JobTemplate.Spec.Template.Spec.NodeSelector = map[string]string{"disk": "none"} // so that no Pod starts
	}
	for _, of := range []struct {
		cronJob *v1.CronJob
		past    func(*v1.CronJob)
	}{
		{never, nil},
		{endless, nil},
		{builders.MakeCronJob("backup").Schedule(daily).Obj(), func(c *v1.CronJob) {
			c.Status.RecentRuns = pastRuns(2*time.Hour, ok, ok, ok, gone, ok, ok, failed, ok, ok, ok)
		}},
		{builders.MakeCronJob("invoices").Schedule(daily).Also("0 18 LW 12 *").TimeZone("Europe/Paris").Obj(), func(c *v1.CronJob) {
			// All of it is in the last 16 hours, which the timeline of a day shows, at whatever
			// time it is now.
			c.Status.RecentRuns = pastRuns(2*time.Hour, failed, failed, ok, ok, ok)
			c.Status.ConsecutiveFailures = 2
			missed := metav1.NewTime(time.Now().Add(-14 * time.Hour).Truncate(time.Hour))
			c.Status.Missed = []v1.MissedTicks{{Reason: "Deadline", First: missed, Last: metav1.NewTime(missed.Add(time.Hour)), Count: 4, Time: missed}}
		}},
		{builders.MakeCronJob("campaign").Schedule("0 9 * * *").NotAfter(time.Now().Add(-time.Hour)).Obj(), nil},
		{builders.MakeCronJob("cleanup").Schedule("*/15 * * * *").Suspend(true).Obj(), nil},
	} {
		ui.create(of.cronJob)
		if of.past != nil {
			ui.change(of.cronJob.Name, of.past)
		}
	}
	for i := range 12 {
		ui.create(builders.MakeCronJob(fmt.Sprintf("sync-%02d", i+1)).Schedule("0 */4 * * *").Jitter(3600).Obj())
	}
}

func TestAFleetIsShownAsWhatItIs(t *testing.T) {
	ui := newTab(t)
	ui.createFleet()
	for state, want := range map[string]string{
		"failing": "import invoices", "stopped": "import", "completed": "campaign", "suspended": "cleanup", "waiting": "rebuild", "running": "rebuild",
	} {
		ui.open("?state=" + state)
		ui.await("[...document.querySelectorAll('tbody th a')].map((a) => a.textContent).join(' ') === %q", want)
	}
	ui.open("")
	ui.awaitText("18 of 18 CronJobs")
	ui.change("rebuild", func(c *v1.CronJob) { c.Spec.Schedule = "@every 6h" }) // else the others are tiny in the heat
	ui.await(`/: \d in one minute/.test(document.querySelector('.strip').innerText)`)
	ui.shoot("overview")
	ui.open("timeline?reach=24h")
	ui.await(`/at most \d; the outline is without jitter/.test(document.body.innerText)`)
	for kind, count := range map[string]int{"succeeded": 3, "failed": 2, "missed": 1} {
		assert.Equal(t, count, evaluate[int](ui, fmt.Sprintf(
			`document.querySelectorAll('[aria-label*="invoices: 3 succeeded, 2 failed, 4 missed"] .%s').length`, kind)), kind)
	}
	ui.shoot("timeline")
	ui.open(ui.path("import"))
	ui.do(chromedp.WaitVisible(css("#action-resume")))
	ui.open(ui.path("invoices"))
	ui.awaitText("BackoffLimitExceeded")
	ui.shoot("cronjob")
}

func TestOfManyCronJobsTheWorstComeFirst(t *testing.T) {
	const few, many, failing = 3, 500, 42
	kinds := []string{"backup", "report", "sync", "invoices", "cleanup"}
	ui := newTab(t)
	numbered := func(i int) *v1.CronJob {
		hour := time.Now().UTC().Add(time.Duration(2+i%3) * time.Hour).Hour() // not while the test runs
		c := builders.MakeCronJob(fmt.Sprintf("tenant-%03d-%s", i/len(kinds), kinds[i%len(kinds)])).
			Schedule(fmt.Sprintf("%d %d * * *", i%60, hour)).Suspend(i%25 == 24).Obj()
		c.Namespace = ui.ns
		c.Status.RecentRuns = pastRuns(4*time.Hour, v1.RunSucceeded, v1.RunSucceeded, v1.RunSucceeded, v1.RunSucceeded, v1.RunSucceeded)
		if i%11 == 1 && i/11 < failing {
			c.Status.ConsecutiveFailures = int32(1 + i%3)
			for run := range c.Status.ConsecutiveFailures {
				c.Status.RecentRuns[run].Result, c.Status.RecentRuns[run].Reason = v1.RunFailed, batchv1.JobReasonDeadlineExceeded
			}
		}
		return c
	}
	createMany(t, cluster.Client, few, numbered)
	ui.open("")
	ui.awaitText("3 of 3 CronJobs")
	ui.shoot("few")
	createMany(t, cluster.Client, many-few, func(i int) *v1.CronJob { return numbered(few + i) })
	ui.open("?state=failing")
	ui.awaitText(fmt.Sprintf("%d of %d CronJobs", failing, many))
	ui.open("")
	ui.awaitText(fmt.Sprintf("%d of %[1]d CronJobs", many))
	assert.True(t, evaluate[bool](ui, "[...document.querySelectorAll('tbody tr:not(.group)')].slice(0, 20).every((row) => row.innerText.includes('DeadlineExceeded'))"))
	ui.shoot("many")
}

func TestEachActIsDoneFromItsButton(t *testing.T) {
	ui := newTab(t)
	ui.create(builders.MakeCronJob("backup").Schedule(nextYear).Obj())
	ui.open(ui.path("backup"))
	for _, action := range []struct{ button, done string }{
		{"run", "created"}, {"suspend", "suspended"}, {"resume", "resumed"},
	} {
		ui.click("#action-" + action.button)
		if action.button == "suspend" {
			ui.do(chromedp.SendKeys(css("#until"), "6h"), chromedp.SendKeys(css("#reason"), "moved"), chromedp.Click(css(".fields button")))
		}
		ui.awaitText("(server dry run)")
		ui.click(".do")
		if action.button == "run" {
			ui.await("/^backup-manual-.*: ✔ Succeeded$/.test(document.getElementById('run-title')?.innerText)")
			ui.do(chromedp.WaitVisible(css("#log-of-shown")))
			continue
		}
		ui.awaitText("It is done.")
		ui.awaitText(action.done)
		ui.click("#back")
		ui.await("document.getElementById('object') !== null")
	}
	ui.awaitText("✔ Succeeded")
	assert.Equal(t, 1, ui.jobs())
}

func TestARunIsReachedFromItsMarkAndRunAgain(t *testing.T) {
	ui := newTab(t)
	ui.create(builders.MakeCronJob("backup").Schedule("0 * * * *").Obj())
	run := pastRuns(time.Hour, v1.RunFailed)
	ui.change("backup", func(c *v1.CronJob) { c.Status.RecentRuns = run })
	ui.open("timeline")
	ui.await("(document.querySelector('svg.row a')?.dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true})), document.getElementById('run-title') !== null)")
	ui.awaitText(run[0].JobName + ": ✘ Failed")
	ui.awaitText("gone, and its log with it")
	ui.click(".stack .links a")
	ui.awaitText("--tick=" + run[0].ScheduledTime.UTC().Format(time.RFC3339))
	ui.awaitText("created (server dry run)")
}

func TestARangeThatIsMarkedOnATimelineCanBeBackfilled(t *testing.T) {
	ui := newTab(t)
	ui.create(builders.MakeCronJob("backup").Schedule("0 * * * *").Obj())
	ui.open("timeline?reach=24h")
	ui.do(chromedp.WaitVisible(css("svg[data-mark]")))
	box := evaluate[[]float64](ui, "(r => [r.x, r.y, r.width, r.height])(document.querySelector('svg[data-mark]').getBoundingClientRect())")
	y := box[1] + box[3]/2
	ui.do(
		chromedp.MouseEvent(chromedp.MousePressed, box[0]+box[2]*0.1, y, chromedp.ButtonLeft),
		chromedp.MouseEvent(chromedp.MouseMoved, box[0]+box[2]*0.2, y, chromedp.ButtonLeft),
	)
	ui.do(chromedp.WaitReady(css("rect.mark")))
	ui.do(chromedp.MouseEvent(chromedp.MouseReleased, box[0]+box[2]*0.2, y, chromedp.ButtonLeft), chromedp.WaitVisible(css("#from")))
	ui.awaitText(" to run")
	count := evaluate[int](ui, `Number(/(\d+) to run/.exec(document.body.innerText)[1])`)
	assert.Contains(t, []int{2, 3}, count, "of an hour each in a tenth of 24")
	assert.Contains(t, evaluate[string](ui, "document.querySelector('.command').textContent"), "kubectl cronjob backfill backup")
	ui.do(chromedp.WaitVisible(css(".do")))
}

// pagesOf are those of a CronJob that has run.
func (ui *tab) pagesOf(name string) []string {
	return []string{
		"", "timeline", ui.path(name), ui.path(name) + "/object", ui.path(name) + "/actions/suspend",
		ui.path(name) + "/actions/backfill?from=2026-01-01&to=2026-01-02", "cronjobs/nobody/nothing",
	}
}

func TestNoPageIsHardToReadOnAnyScreen(t *testing.T) {
	ui := newTab(t)
	ui.create(builders.MakeCronJob("backup").Schedule("@every 15s").Obj())
	ui.open(ui.path("backup"))
	ui.awaitText("✔ Succeeded")
	for _, page := range ui.pagesOf("backup") {
		for _, scheme := range []string{"light", "dark"} {
			for _, width := range []int64{400, 1000, 1280, 3840} {
				name := fmt.Sprintf("/%s, %s, %d pixels", page, scheme, width)
				ui.as(width, scheme)
				ui.open(page)
				assert.LessOrEqual(t, evaluate[int64](ui, "document.documentElement.scrollWidth"), width, name)
				assert.Zero(t, evaluate[int](ui, `[...document.querySelectorAll(".stack td")].filter((cell) =>
					getComputedStyle(cell, "::before").content !== "none" && cell.offsetHeight > 0 && cell.childNodes.length === 0).length`),
					"a label of nothing: "+name)
				assert.Zero(t, evaluate[int](ui, `[...document.querySelectorAll("td .state, th .state")].filter((word) =>
					word.getClientRects().length > 1).length`), "a broken word: "+name)
				evaluate[any](ui, axe+"; null")
				assert.Empty(t, evaluate[[]string](ui, `axe.run().then((result) => result.violations
					.filter((violation) => ["serious", "critical"].includes(violation.impact))
					.map((violation) => violation.id + ": " + violation.nodes.map((node) => node.html).join(", ")))`), name)
			}
		}
	}
}

func TestThePagesWorkWithoutAScript(t *testing.T) {
	ui := newTab(t)
	ui.create(builders.MakeCronJob("backup").Schedule(nextYear).Obj())
	ui.create(builders.MakeCronJob("report").Schedule(nextYear).Obj())
	call(ui, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	ui.open("")
	ui.do(chromedp.SendKeys(css("[name=q]"), "back"), chromedp.Click(css(".filter button")))
	ui.awaitText("1 of 2 CronJobs")
	ui.open(ui.path("backup") + "/actions/run")
	ui.do(chromedp.Click(css(".do")), chromedp.WaitReady(css("#back")))
	require.Eventually(t, func() bool { return ui.jobs() == 1 }, patience, pollInterval)
}

func TestThePagesAreUsedWithTheKeyboardAlone(t *testing.T) {
	ui := newTab(t)
	ui.create(builders.MakeCronJob("backup").Schedule(nextYear).Obj())
	ui.open("")
	ui.do(chromedp.WaitVisible(css("tbody a")))
	// One event, as of a real key: KeyEvent sends the character by itself, whatever the page does
	// with the key.
	call(ui, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: "/", Text: "/"})
	ui.do(chromedp.KeyEvent("b"))
	assert.Equal(t, "b", evaluate[string](ui, "document.activeElement.value"), "the search has the focus, without the slash")
	assert.Equal(t, "none", evaluate[string](ui, "getComputedStyle(document.querySelector('.filter button')).display"))
	ui.open("")
	ui.do(chromedp.WaitVisible(css("tbody a")), chromedp.KeyEvent("\t"))
	assert.Equal(t, "Skip to the content", evaluate[string](ui, "document.activeElement.textContent"))
	for evaluate[string](ui, "document.activeElement.id") != "to-"+ui.ns+"-backup" {
		ui.do(chromedp.KeyEvent("\t"))
	}
	ui.do(chromedp.KeyEvent("\r"), chromedp.WaitVisible(css("#action-run")))
}

func TestAPageOfAnotherSiteCanNotDoAnythingThoughItKnowsTheLink(t *testing.T) {
	ui := newTab(t)
	ui.create(builders.MakeCronJob("backup").Schedule(nextYear).Obj())
	ui.open(ui.path("backup") + "/actions/run")
	id := evaluate[string](ui, "document.querySelector('[name=id]').value")
	attack := ui.link + ui.path("backup") + "/actions/run"
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `<!doctype html><form method="post" action="%s"><input name="id" value="%s"><button>Win</button></form>`, attack, id)
	}))
	t.Cleanup(evil.Close)
	ui.do(chromedp.Navigate(evil.URL), chromedp.WaitVisible(css("button")))
	answer := evaluate[string](ui, fmt.Sprintf(
		`fetch(%q, {method: "POST", mode: "no-cors", body: new URLSearchParams({id: %q})}).then((r) => r.type, (e) => "refused")`, attack, id))
	assert.Contains(t, []string{"opaque", "refused"}, answer, "the page learns nothing")
	assert.Equal(t, "refused", evaluate[string](ui, fmt.Sprintf(`fetch(%q).then((r) => r.text(), (e) => "refused")`, ui.link)))
	ui.do(chromedp.Click(css("button")))
	ui.awaitText("The request comes from another site.")
	assert.Zero(t, ui.jobs())

	link, err := url.Parse(ui.link)
	require.NoError(t, err)
	ui.do(chromedp.Navigate(strings.Replace(ui.link, link.Hostname(), "evil.example", 1)))
	ui.awaitText("The page is served by its address alone")
}

func TestHTMLInWhatIsStoredIsText(t *testing.T) {
	ui := newTab(t)
	const attack = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`
	c := builders.MakeCronJob("backup").Schedule(nextYear).Suspend(true).Obj()
	c.Annotations = map[string]string{"batch.tutorial.kubebuilder.io/suspend-reason": attack}
	ui.create(c)
	ui.change("backup", func(c *v1.CronJob) {
		run := pastRuns(time.Hour, v1.RunFailed)[0]
		run.Reason, run.JobName = attack, attack
		c.Status.RecentRuns = []v1.Run{run}
		c.Status.Missed = []v1.MissedTicks{{Reason: attack, First: run.ScheduledTime, Last: run.ScheduledTime, Count: 1, Time: metav1.Now()}}
	})
	require.NoError(t, cluster.Client.Create(t.Context(), &corev1.Event{
		ObjectMeta:     metav1.ObjectMeta{Namespace: ui.ns, Name: "attack"},
		InvolvedObject: corev1.ObjectReference{Kind: c.Kind, Namespace: ui.ns, Name: c.Name, UID: c.UID},
		Type:           attack, Reason: attack, Message: attack, LastTimestamp: metav1.Now(),
	}))
	query := "=" + url.QueryEscape(attack)
	for _, page := range []string{
		"", "timeline", ui.path("backup"), ui.path("backup") + "/object", ui.path("backup") + "/actions/suspend?reason" + query,
		"?q" + query, "?state" + query, "timeline?reach" + query, "cronjobs/" + ui.ns + "/" + url.PathEscape(attack), "tasks/" + url.PathEscape(attack),
	} {
		ui.open(page)
		ui.await("document.documentElement.outerHTML.includes('onerror') || document.body.innerText.includes('not remembered')")
		assert.NotEqual(t, "owned", evaluate[string](ui, "document.title"), page)
		assert.Zero(t, evaluate[int](ui, "document.images.length + document.querySelectorAll('script:not([src])').length"), page)
	}
}

func TestAPageSaysThatItsCronJobIsGone(t *testing.T) {
	ui := newTab(t)
	c := builders.MakeCronJob("backup").Schedule(nextYear).Obj()
	ui.create(c)
	ui.open(ui.path("backup"))
	ui.do(chromedp.WaitVisible(css("#action-run")))
	require.NoError(t, cluster.Client.Delete(t.Context(), c))
	ui.awaitText("it may have been deleted")
	assert.Zero(t, evaluate[int](ui, "document.querySelectorAll('#action-run').length"), "nothing can be done with it")
}

func TestATouchThatBecomesAScrollMarksNothing(t *testing.T) {
	ui := newTab(t)
	ui.create(builders.MakeCronJob("backup").Schedule(nextYear).Obj())
	ui.open("timeline")
	ui.do(chromedp.WaitReady(css("svg[data-mark]")))
	marks := evaluate[int](ui, `(() => {
		const row = document.querySelector("svg[data-mark]"), box = row.getBoundingClientRect();
		const touch = (type, x) => row.dispatchEvent(new PointerEvent(type, {bubbles: true, pointerType: "touch", clientX: box.left + x}));
		touch("pointerdown", 1);
		touch("pointercancel", 1);
		touch("pointermove", box.width / 2);
		return document.querySelectorAll(".mark").length;
	})()`)
	assert.Zero(t, marks)
}

func TestASelectedTextStaysSelectedWhenThePageChanges(t *testing.T) {
	ui := newTab(t)
	ui.create(builders.MakeCronJob("backup").Schedule(nextYear).Obj())
	ui.open("")
	link := "#to-" + ui.ns + "-backup"
	ui.do(chromedp.WaitVisible(css(link)))
	ui.await("(getSelection().selectAllChildren(document.querySelector(%q)), getSelection().toString() === 'backup')", link)
	ui.create(builders.MakeCronJob("report").Schedule(nextYear).Obj())
	ui.awaitText("report")
	assert.Equal(t, "backup", evaluate[string](ui, "getSelection().toString()"))
}

func TestAPageSaysThatTheCommandHasEnded(t *testing.T) {
	ui := newTab(t)
	ui.open("")
	ui.awaitText("No CronJob yet")
	ui.interrupt()
	ui.awaitText("kubectl cronjob ui does not answer")
}

func TestAnEmptyClusterIsToldHowToBegin(t *testing.T) {
	ui := newTab(t)
	ui.open("")
	ui.awaitText("There is no CronJob of batch.tutorial.kubebuilder.io in the namespace " + ui.ns)
	ui.awaitText("kubectl cronjob import -n " + ui.ns)
	ui.shoot("empty")
}
