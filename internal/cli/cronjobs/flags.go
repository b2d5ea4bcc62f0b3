// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package cronjobs

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// DryRun is the value of kubectl's flag --dry-run.
type DryRun string

// The values of --dry-run: to do it, to print what would be sent, and to have the API server check
// it without storing it.
const (
	DryRunNone   DryRun = "none"
	DryRunClient DryRun = "client"
	DryRunServer DryRun = "server"
)

// AddFlag adds the flag --dry-run; without a value it means client, as kubectl has it.
func (d *DryRun) AddFlag(cmd *cobra.Command) {
	*d = DryRunNone
	cmd.Flags().StringVar((*string)(d), "dry-run", string(DryRunNone),
		`Must be "none", "server", or "client". If client, only print what would be done, and send nothing that changes anything. `+
			`If server, the API server checks it as well, and stores nothing.`)
	cmd.Flags().Lookup("dry-run").NoOptDefVal = string(DryRunClient)
	CompleteWords(cmd, "dry-run", string(DryRunNone), string(DryRunClient), string(DryRunServer))
}

// Check says what is wrong with the value.
func (d *DryRun) Check() error {
	switch *d {
	case DryRunNone, DryRunClient, DryRunServer:
		return nil
	}
	return fmt.Errorf(`invalid --dry-run value (%s): must be "none", "server", or "client"`, *d)
}

// Done appends to what was done that it was only tried.
func (d *DryRun) Done(operation string) string {
	switch *d {
	case DryRunClient:
		return operation + " (dry run)"
	case DryRunServer:
		return operation + " (server dry run)"
	}
	return operation
}

// Values is what to put into the DryRun of a request's options.
func (d *DryRun) Values() []string {
	if *d == DryRunServer {
		return []string{metav1.DryRunAll}
	}
	return nil
}

// Output is a flag -o whose formats are of values of our own, not of objects. Format is "" for what
// is meant to be read.
type Output struct {
	Format  string
	formats []string
}

// AddFlag adds the flag -o with the formats it may have.
func (o *Output) AddFlag(cmd *cobra.Command, formats ...string) {
	o.formats = formats
	cmd.Flags().StringVarP(&o.Format, "output", "o", "", fmt.Sprintf("Output format. One of: (%s).", strings.Join(formats, ", ")))
	CompleteWords(cmd, "output", formats...)
}

// Check says what is wrong with the format.
func (o *Output) Check() error {
	if o.Format == "" || slices.Contains(o.formats, o.Format) {
		return nil
	}
	return fmt.Errorf("unable to match a printer suitable for the output format %q, allowed formats are: %s",
		o.Format, strings.Join(o.formats, ","))
}

// Write writes a value as JSON or YAML.
func (o *Output) Write(to io.Writer, value any) error {
	var text []byte
	var err error
	if o.Format == "yaml" {
		text, err = yaml.Marshal(value)
	} else {
		text, err = json.MarshalIndent(value, "", "    ")
		text = append(text, '\n')
	}
	if err != nil {
		return err
	}
	_, err = to.Write(text)
	return err
}

// FlagArgs returns the arguments by which a flag gets the value that it has.
func FlagArgs(flag *pflag.Flag) []string {
	values := []string{flag.Value.String()}
	if several, ok := flag.Value.(pflag.SliceValue); ok {
		values = several.GetSlice()
	}
	var args []string
	for _, value := range values {
		args = append(args, "--"+flag.Name+"="+value)
	}
	return args
}

// plain has the arguments that mean the same to each shell with and without quotes.
var plain = regexp.MustCompile(`^[A-Za-z0-9_./:=@,+-]+$`)

// CommandLine is how a user calls the plugin with arguments in a shell. A token is kept out of it,
// as it may be printed to a log.
func CommandLine(args ...string) string {
	words := []string{"kubectl cronjob"}
	for _, arg := range args {
		switch {
		case strings.HasPrefix(arg, "--token="):
			arg = "--token=TOKEN"
		case !plain.MatchString(arg):
			arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		words = append(words, arg)
	}
	return strings.Join(words, " ")
}

// CompleteFlag completes a flag that the command has.
func CompleteFlag(cmd *cobra.Command, flag string, complete cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(err) // there is no such flag
	}
}

// CompleteWords completes a flag with some words.
func CompleteWords(cmd *cobra.Command, flag string, words ...string) {
	CompleteFlag(cmd, flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// OneName is the check of arguments that are one CronJob's name.
func OneName(_ *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return errors.New("name the CronJob")
	case len(args) > 1:
		return fmt.Errorf("one CronJob at a time: %q is one too many", args[1])
	}
	return nil
}
