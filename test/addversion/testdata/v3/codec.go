// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v3

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/conversion"

	"tutorial.kubebuilder.io/project/apis/batch/spoke"
	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// Spoke is how this version converts to the hub and back.
var Spoke = spoke.NewSpoke(spoke.Spoke{
	APIVersion: GroupVersion.String(), Object: &CronJob{}, Members: spoke.Members{Value: v1.Conversion.Members.Value},
}, spoke.Codec[Schedule]{Split: split, Join: join})

var table = spoke.Table{Hub: v1.Conversion, Spokes: []spoke.Spoke{Spoke}}

// ConvertTo converts this CronJob to the hub version.
func (c *CronJob) ConvertTo(hub conversion.Hub) error { return table.Convert(c, hub) }

// ConvertFrom sets this CronJob from the hub version.
func (c *CronJob) ConvertFrom(hub conversion.Hub) error { return table.Convert(hub, c) }

// split converts "30 9 * * mon-fri" to 09:30. Texts that are not times on the same days are none.
func split(texts []string) []Schedule {
	var s Schedule
	for i, text := range texts {
		part := strings.Fields(text)
		at, err := time.Parse("4 15", strings.Join(part[:min(2, len(part))], " "))
		if err != nil || len(part) != 5 || part[2] != "*" || part[3] != "*" || i > 0 && part[4] != days(s) {
			return []Schedule{{}}
		}
		s.Times = append(s.Times, at.Format("15:04"))
		if part[4] != "*" {
			s.Days = &part[4]
		}
	}
	return []Schedule{s}
}

// join converts times to texts, one for each. A wrong time becomes a text that is not a schedule.
func join(values []Schedule) []string {
	if len(values[0].Times) == 0 {
		return []string{""}
	}
	texts := slices.Clone(values[0].Times)
	for i, text := range texts {
		if at, err := time.Parse("15:04", text); err == nil {
			texts[i] = fmt.Sprintf("%d %d * * %s", at.Minute(), at.Hour(), days(values[0]))
		} else {
			texts[i] = "at " + text
		}
	}
	return texts
}

// days returns the days of the week as in a cron expression.
func days(s Schedule) string {
	if s.Days == nil {
		return "*"
	}
	return *s.Days
}
