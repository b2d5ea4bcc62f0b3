// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package list

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"tutorial.kubebuilder.io/project/internal/cli/env"
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

func TestABadCommandLineIsAnsweredWithWhatWouldBeRight(t *testing.T) {
	for args, want := range map[string]string{
		"--sort-by=age":          `invalid --sort-by value (age): must be "name", "state", "last", or "next"`,
		"--sort-by=name -o json": "--watch and --sort-by are for the table: omit -o json",
		"-w -o name":             "--watch and --sort-by are for the table: omit -o name",
		"a -A":                   "-A goes without NAMEs",
	} {
		cmd := NewCommand(env.New(genericiooptions.NewTestIOStreamsDiscard()))
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetArgs(strings.Fields(args))
		assert.ErrorContains(t, cmd.ExecuteContext(t.Context()), want)
	}
}
