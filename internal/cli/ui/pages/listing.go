// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package pages

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/cronjobs"
	"tutorial.kubebuilder.io/project/internal/cli/state"
	"tutorial.kubebuilder.io/project/internal/cli/ui/feed"
	"tutorial.kubebuilder.io/project/internal/plan"
)

// perPage is how many CronJobs a page shows. With 100 of 10,000, the first paint took a third
// longer.
const perPage = 50

type listing struct {
	// Namespace, Search, State and Sort are those of the request; "" for all, sorted by state.
	Namespace, Search, State, Sort string

	// Namespaces and States are the values to choose from. Counts counts the CronJobs of the
	// namespace and the search by state.
	Namespaces, States []string
	Counts             map[string]int

	// Matches has all CronJobs of the request, and Total counts all that there are. Groups groups
	// the matches by the state that is shown: a failing one that is stopped is in "stopped" only.
	Matches []*v1.CronJob
	Total   int
	Groups  map[string][]*v1.CronJob

	// Page is the number of the page, from 1 to Pages.
	Page, Pages int

	query url.Values
}

// statesOf returns the state that is shown of a CronJob, followed by its other states.
func statesOf(c *v1.CronJob, isQueued bool, now time.Time) []string {
	shown, _ := state.Of(c, isQueued, now)
	all := []string{shown}
	add := func(other string, isSo bool) {
		if isSo && other != shown {
			all = append(all, other)
		}
	}
	add("failing", c.Status.ConsecutiveFailures > 0)
	add("queued", isQueued)
	add("running", !isQueued && plan.ActiveCount(c.Status) > 0)
	add("missed", slices.ContainsFunc(c.Status.RecentRuns, func(run v1.Run) bool { return run.Result == v1.RunMissed }))
	return all
}

// orders has the orders besides that by state. CronJobs that are equal are sorted by name.
var orders = map[string]func(a, b *v1.CronJob) int{
	"name": func(*v1.CronJob, *v1.CronJob) int { return 0 },
	"next": func(a, b *v1.CronJob) int {
		return cmp.Or(plan.NextStart(a), &never).Compare(cmp.Or(plan.NextStart(b), &never).Time)
	},
	"last": func(a, b *v1.CronJob) int { return cronjobs.LastRun(b).Compare(cronjobs.LastRun(a)) },
}

// never is later than any next run.
var never = metav1.NewTime(time.Unix(1<<40, 0))

func list(r *http.Request, snapshot *feed.Snapshot, now time.Time) (listing, error) {
	query := r.URL.Query()
	l := listing{
		Namespace: query.Get("namespace"), Search: query.Get("q"), State: query.Get("state"), Sort: query.Get("sort"),
		Namespaces: snapshot.Namespaces(), States: state.All, Counts: map[string]int{}, Total: len(snapshot.CronJobs),
		Groups: map[string][]*v1.CronJob{}, query: query,
	}
	if l.State != "" && !slices.Contains(state.All, l.State) {
		return l, fmt.Errorf("%w: the state %q; there are %s", errNotFound, l.State, strings.Join(state.All, ", "))
	}
	order, ok := orders[l.Sort]
	if !ok && l.Sort != "" {
		return l, fmt.Errorf("%w: the order %q", errNotFound, l.Sort)
	}
	words := strings.Fields(strings.ToLower(l.Search))
	for _, c := range snapshot.CronJobs {
		if l.Namespace != "" && c.Namespace != l.Namespace || !matches(c, words) {
			continue
		}
		all := statesOf(c, snapshot.IsQueued(c), now)
		for _, name := range all {
			l.Counts[name]++
		}
		if l.State == "" || slices.Contains(all, l.State) {
			l.Matches = append(l.Matches, c)
			l.Groups[all[0]] = append(l.Groups[all[0]], c)
		}
	}
	if order != nil {
		slices.SortStableFunc(l.Matches, order)
	} else {
		l.Matches = l.Matches[:0]
		for _, name := range state.All {
			l.Matches = append(l.Matches, l.Groups[name]...)
		}
	}
	l.Pages = max(1, (len(l.Matches)+perPage-1)/perPage)
	page, _ := strconv.Atoi(query.Get("page"))
	l.Page = min(max(page, 1), l.Pages)
	return l, nil
}

// matches reports whether a CronJob has each word in its name, namespace, schedule or a label.
func matches(c *v1.CronJob, words []string) bool {
	for _, word := range words {
		found := strings.Contains(strings.ToLower(c.Namespace+"/"+c.Name), word) || strings.Contains(strings.ToLower(c.Spec.Schedule), word)
		for key, value := range c.Labels {
			found = found || strings.Contains(strings.ToLower(key+"="+value), word)
		}
		if !found {
			return false
		}
	}
	return true
}

func (l listing) shown() []*v1.CronJob {
	first := (l.Page - 1) * perPage
	return l.Matches[first:min(first+perPage, len(l.Matches))]
}

// With returns the query of the first page of the listing with one parameter changed.
func (l listing) With(name, value string) string {
	query := url.Values{}
	for key := range l.query {
		if key != "page" && l.query.Get(key) != "" {
			query.Set(key, l.query.Get(key))
		}
	}
	query.Set(name, value)
	return "?" + query.Encode()
}

// Previous returns the number of the previous page; 0 for none.
func (l listing) Previous() int { return l.Page - 1 }

// Next returns the number of the next page; 0 for none.
func (l listing) Next() int { return (l.Page + 1) % (l.Pages + 1) }
