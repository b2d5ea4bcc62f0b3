// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package list

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestEachOrderHasWhatItIsAboutFirst(t *testing.T) {
	for by, want := range map[order]string{
		"":      "backup running gap older later deleted stopped spread off bad",
		byName:  "backup bad deleted gap later off older running spread stopped",
		byState: "bad stopped backup gap running deleted later off older spread",
		byLast:  "running gap backup older bad deleted later off spread stopped",
		byNext:  "gap spread deleted running older backup later bad off stopped",
	} {
		t.Run(string(by), func(t *testing.T) {
			cronJobs := someCronJobs()
			by.sort(cronJobs, noon)
			names := make([]string, len(cronJobs))
			for i, c := range cronJobs {
				names[i] = c.Name
			}
			assert.Equal(t, want, strings.Join(names, " "))
		})
	}
}
