// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package cronjobs

import (
	"errors"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"tutorial.kubebuilder.io/project/internal/cli/env"
	"tutorial.kubebuilder.io/project/internal/schedule"
	"tutorial.kubebuilder.io/project/test/builders"
)

func TestACronJobIsNamedAsKubectlPrintsIt(t *testing.T) {
	for arg, want := range map[string]string{
		"a":         "a",
		"cronjob/a": "a", "cronjobs/a": "a", "CronJob/a": "a", "tcj/a": "a",
		"cronjob.batch.tutorial.kubebuilder.io/a": "a",
	} {
		name, err := ParseName(arg)
		assert.NoError(t, err, arg)
		assert.Equal(t, want, name)
	}
	for _, arg := range []string{"", "cronjob/", "job/a", "cronjob.batch/a", "cronjob/a/b"} {
		_, err := ParseName(arg)
		assert.Error(t, err, arg)
	}
}

func TestAnErrorNamesTheFieldThatIsWrong(t *testing.T) {
	for name, tc := range map[string]struct {
		builder *builders.CronJob
		want    string
	}{
		"none":              {builders.MakeCronJob("c").Schedule(""), `spec.schedule: Invalid value: "": not a schedule: must not be empty: write five`},
		"not one":           {builders.MakeCronJob("c").Schedule("often"), `spec.schedule: Invalid value: "often": not a schedule`},
		"an additional one": {builders.MakeCronJob("c").Also("@daily", "often"), `spec.additionalSchedules[1]: Invalid value: "often": not a schedule`},
		"an interval among them": {builders.MakeCronJob("c").Schedule("@every 5m").Also("@daily"),
			`spec.schedule: Invalid value: "@every 5m": an interval can't be combined with other schedules`},
		"no such zone": {builders.MakeCronJob("c").TimeZone("Mars"), `spec.timeZone: Invalid value: "Mars": unknown time zone`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Schedule(tc.builder.Obj())
			assert.ErrorContains(t, err, tc.want)
		})
	}
}

func TestACommandLineIsRepeatedAsItWasGiven(t *testing.T) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.StringSlice("as-group", nil, "")
	flags.String("kubeconfig", "", "")
	flags.String("token", "", "")
	require.NoError(t, flags.Parse([]string{"--as-group=a", "--as-group", "b", "--kubeconfig=/my files/it's", "--token=secret"}))
	args := []string{"backfill", "c"}
	flags.Visit(func(flag *pflag.Flag) { args = append(args, FlagArgs(flag)...) })
	assert.Equal(t, `kubectl cronjob backfill c --as-group=a --as-group=b '--kubeconfig=/my files/it'\''s' --token=TOKEN`, CommandLine(args...))
}

func TestSeveralErrorsAreALineEach(t *testing.T) {
	streams, _, _, errOut := genericiooptions.NewTestIOStreams()
	e := env.New(streams)
	one := errors.New("one")
	assert.NoError(t, Fail(e, nil))
	assert.Equal(t, one, Fail(e, []error{one}))
	assert.Empty(t, errOut.String(), "the program prints it")
	err := Fail(e, []error{one, errors.New("two")})
	assert.Equal(t, 1, env.ExitCode(err))
	assert.Empty(t, err.Error(), "nothing is left to print")
	assert.Equal(t, "error: one\nerror: two\n", errOut.String())
}

func TestALocalTimeIsThatOfTheTickWhereTheClocksShift(t *testing.T) {
	for _, tc := range []struct{ zone, local, want string }{
		{"Europe/Paris", "2026-10-25T02:30", "2026-10-25T02:30:00+02:00"},
		{"America/New_York", "2026-11-01T01:30", "2026-11-01T01:30:00-04:00"},
		{"Europe/Paris", "2026-03-29T02:30", "2026-03-29T03:00:00+02:00"},
		{"America/New_York", "2026-03-08T02:30", "2026-03-08T03:00:00-04:00"},
		{"America/Havana", "2026-03-08", "2026-03-08T01:00:00-04:00"},
		{"Pacific/Apia", "2011-12-30T12:00", "2011-12-31T00:00:00+14:00"},
		{"Europe/Paris", "2028-02-29T23:59:58", "2028-02-29T23:59:58+01:00"},
		{"UTC", "2027-01-01", "2027-01-01T00:00:00Z"},
		{"Europe/Paris", "2026-10-25T02:30:00+01:00", "2026-10-25T02:30:00+01:00"},
		{"Europe/Paris", "now", "2027-01-15T13:00:00+01:00"},
		{"UTC", "-2h", "2027-01-15T10:00:00Z"},
		{"UTC", "90m", "2027-01-15T13:30:00Z"},
	} {
		zone, err := schedule.LoadZone(tc.zone)
		require.NoError(t, err)
		at, err := ParseTime("tick", tc.local, zone, time.Date(2027, 1, 15, 12, 0, 0, 0, time.UTC))
		require.NoError(t, err)
		assert.Equal(t, tc.want, at.Format(time.RFC3339), "%s in %s", tc.local, tc.zone)
	}
}

func TestAMissingCRDIsSaidToBeMissing(t *testing.T) {
	missing := &meta.NoKindMatchError{GroupKind: schema.GroupKind{Group: "batch.tutorial.kubebuilder.io", Kind: "CronJob"}}
	assert.ErrorContains(t, Explain(missing), "is the operator's CRD installed?")
	other := errors.New("other")
	assert.Equal(t, other, Explain(other))
	assert.NoError(t, Explain(nil))
}
