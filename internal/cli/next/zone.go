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
	// maxDistance is the maximum edit distance of a suggested name, and maxSuggested how many are
	// suggested.
	maxDistance  = 2
	maxSuggested = 3
)

func completeZones(_ *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return slices.DeleteFunc(schedule.ZoneNames(), func(name string) bool {
		return !strings.HasPrefix(name, begun)
	}), cobra.ShellCompDirectiveNoFileComp
}

// didYouMean suggests time zones with a similar name or city; "" for none. It uses cobra's
// suggestions for mistyped commands, with a command for each time zone.
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
