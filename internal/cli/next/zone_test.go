// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package next

import (
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"tutorial.kubebuilder.io/project/internal/cli/env"
)

func TestTimeZonesAreCompleted(t *testing.T) {
	names, directive := completeZones(nil, nil, "Europe/Pa")
	assert.Equal(t, []string{"Europe/Paris"}, names)
	assert.Equal(t, cobra.ShellCompDirectiveNoFileComp, directive)
}

func TestAWrongTimeZoneIsAnsweredWithThoseThatWereMeant(t *testing.T) {
	for wrong, want := range map[string]string{
		"Europe/Pari":      "; did you mean Europe/Paris?",
		"europe/paris":     "; did you mean Europe/Paris?",
		"Paris":            "; did you mean Europe/Paris?",
		"America/New York": "; did you mean America/New_York?",
		"Europe/":          "; did you mean Europe/Amsterdam, Europe/Andorra, Europe/Astrakhan?",
		"Mars/Olympus":     "",
	} {
		assert.Equal(t, want, didYouMean(wrong), wrong)
	}
	cmd := NewCommand(env.New(genericiooptions.NewTestIOStreamsDiscard()))
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs([]string{"@daily", "--time-zone=Europe/Pari"})
	assert.EqualError(t, cmd.ExecuteContext(t.Context()), `--time-zone: unknown time zone "Europe/Pari": `+
		"use a name of the IANA database such as Europe/Paris; did you mean Europe/Paris?")
}
