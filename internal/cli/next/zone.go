// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package next

import (
	"path"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tutorial.kubebuilder.io/project/internal/schedule"
)

const (
	// maxDistance is how many letters of a name may be wrong, and maxSuggested how many names are
	// told.
	maxDistance  = 2
	maxSuggested = 3
)

func completeZones(_ *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return slices.DeleteFunc(schedule.ZoneNames(), func(name string) bool {
		return !strings.HasPrefix(name, begun)
	}), cobra.ShellCompDirectiveNoFileComp
}

// didYouMean names the time zones that a wrong name is close to, or whose city it is; "" if there
// are none. Cobra compares names of commands: here each time zone is one.
func didYouMean(wrong string) string {
	zones := &cobra.Command{SuggestionsMinimumDistance: maxDistance}
	for _, name := range schedule.ZoneNames() {
		zones.AddCommand(&cobra.Command{Use: name, SuggestFor: []string{path.Base(name)}, Run: func(*cobra.Command, []string) {}})
	}
	names := zones.SuggestionsFor(strings.ReplaceAll(wrong, " ", "_"))
	if len(names) == 0 {
		return ""
	}
	return "; did you mean " + strings.Join(names[:min(len(names), maxSuggested)], ", ") + "?"
}
