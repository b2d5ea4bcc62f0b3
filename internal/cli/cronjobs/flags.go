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

// DryRun is the value of the flag --dry-run, as in kubectl.
type DryRun string

// The values of --dry-run: change things, print what would change, and have the API server check it
// without storing it.
const (
	DryRunNone   DryRun = "none"
	DryRunClient DryRun = "client"
	DryRunServer DryRun = "server"
)

// AddFlag adds the flag. Without a value it means client, as in kubectl.
func (d *DryRun) AddFlag(cmd *cobra.Command) {
	*d = DryRunNone
	cmd.Flags().StringVar((*string)(d), "dry-run", string(DryRunNone),
		`Must be "none", "server", or "client". If client, only print what would be done, and send nothing that changes anything. `+
			`If server, the API server checks it as well, and stores nothing.`)
	cmd.Flags().Lookup("dry-run").NoOptDefVal = string(DryRunClient)
	CompleteWords(cmd, "dry-run", string(DryRunNone), string(DryRunClient), string(DryRunServer))
}

// Check returns an error if the value is invalid.
func (d *DryRun) Check() error {
	switch *d {
	case DryRunNone, DryRunClient, DryRunServer:
		return nil
	}
	return fmt.Errorf(`invalid --dry-run value (%s): must be "none", "server", or "client"`, *d)
}

// Done returns an operation for output, with "(dry run)" in a dry run.
func (d *DryRun) Done(operation string) string {
	switch *d {
	case DryRunClient:
		return operation + " (dry run)"
	case DryRunServer:
		return operation + " (server dry run)"
	}
	return operation
}

// Values returns the DryRun of a request's options.
func (d *DryRun) Values() []string {
	if *d == DryRunServer {
		return []string{metav1.DryRunAll}
	}
	return nil
}

// Output is the flag -o of a command that prints values of its own, not objects. Format is "" for
// the format for people.
type Output struct {
	Format  string
	formats []string
}

// AddFlag adds the flag with these formats.
func (o *Output) AddFlag(cmd *cobra.Command, formats ...string) {
	o.formats = formats
	cmd.Flags().StringVarP(&o.Format, "output", "o", "", fmt.Sprintf("Output format. One of: (%s).", strings.Join(formats, ", ")))
	CompleteWords(cmd, "output", formats...)
}

// Check returns an error if the format is invalid.
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

// FlagArgs returns the arguments that set a flag to its current value.
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

// plain matches arguments that need no quotes in any shell.
var plain = regexp.MustCompile(`^[A-Za-z0-9_./:=@,+-]+$`)

// CommandLine returns the command line of the plugin for a shell. It leaves out a token, since the
// command line may be logged.
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

// CompleteFlag sets the completion of a flag, which must exist.
func CompleteFlag(cmd *cobra.Command, flag string, complete cobra.CompletionFunc) {
	if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(err) // there is no such flag
	}
}

// CompleteWords completes the value of a flag with words.
func CompleteWords(cmd *cobra.Command, flag string, words ...string) {
	CompleteFlag(cmd, flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// OneName checks that the arguments are the name of one CronJob.
func OneName(_ *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return errors.New("name the CronJob")
	case len(args) > 1:
		return fmt.Errorf("one CronJob at a time: %q is one too many", args[1])
	}
	return nil
}
