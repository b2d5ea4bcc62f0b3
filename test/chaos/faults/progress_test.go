// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestARequestBelongsToTheRowOfItsDecision(t *testing.T) {
	const unanswered = 0
	for name, tc := range map[string]struct {
		play   func(*progress)
		isSame bool
	}{
		"a moment after an answer": {func(p *progress) { p.end("c", Reads, http.StatusOK) }, true},
		"long after an answer": {func(p *progress) {
			p.end("c", Reads, http.StatusOK)
			time.Sleep(time.Second)
		}, false},
		"after the status": {func(p *progress) { p.end("c", Statuses, http.StatusOK) }, false},
		"when it is told to retry later": {func(p *progress) {
			p.end("c", Creates, http.StatusTooManyRequests)
			time.Sleep(time.Second)
		}, true},
		"when it is told to retry later, and a read ends after that which the process had given up": {func(p *progress) {
			p.begin("c", time.Now())
			p.end("c", Creates, http.StatusTooManyRequests)
			p.end("c", Reads, unanswered)
			time.Sleep(time.Second)
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &progress{rows: map[string]*row{}}
				begun := p.begin("c", time.Now())
				time.Sleep(time.Millisecond)
				tc.play(p)
				assert.Equal(t, tc.isSame, p.begin("c", time.Now()).Equal(begun))
			})
		})
	}
}
