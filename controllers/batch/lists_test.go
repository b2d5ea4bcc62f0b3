// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/util/sets"
)

func TestS14ThoseWhoAskWhileJobsAreListedShareTheNextList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lists jobLists
		var asking sync.WaitGroup
		var count, inProgress atomic.Int32
		ask := func(wanted string) {
			asking.Go(func() {
				names, err := lists.share("n", func() (sets.Set[string], error) {
					assert.EqualValues(t, 1, inProgress.Add(1), "lists of a namespace follow one another")
					defer inProgress.Add(-1)
					time.Sleep(time.Second)
					return sets.New(fmt.Sprint(count.Add(1))), nil
				})
				assert.NoError(t, err)
				assert.Equal(t, sets.New(wanted), names, "a list that has begun may lack a Job that was created since")
			})
			synctest.Wait()
		}
		ask("1")
		for range 20 {
			ask("2")
		}
		asking.Wait()
		ask("3")
		asking.Wait()
		assert.Empty(t, lists.running)
		assert.Empty(t, lists.next)
	})
}

func TestS14NamespacesDoNotWaitForEachOthersLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lists jobLists
		var asking sync.WaitGroup
		begin := time.Now()
		for _, namespace := range []string{"a", "b"} {
			asking.Go(func() {
				_, _ = lists.share(namespace, func() (sets.Set[string], error) { time.Sleep(time.Second); return nil, nil })
			})
		}
		asking.Wait()
		assert.Equal(t, time.Second, time.Since(begin))
	})
}

func TestS14AListThatPanicsFailsForThoseWhoShareIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lists jobLists
		var asking sync.WaitGroup
		slow := func() (sets.Set[string], error) { time.Sleep(time.Second); return nil, nil }
		bad := func() (sets.Set[string], error) { panic("a bug") }
		asking.Go(func() { _, _ = lists.share("n", slow) })
		synctest.Wait()
		asking.Go(func() { assert.Panics(t, func() { _, _ = lists.share("n", bad) }) })
		synctest.Wait()
		asking.Go(func() {
			_, err := lists.share("n", slow)
			assert.EqualError(t, err, "the list was not made")
		})
		asking.Wait()
		_, err := lists.share("n", slow)
		assert.NoError(t, err)
	})
}
