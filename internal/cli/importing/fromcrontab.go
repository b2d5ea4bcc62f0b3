// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package importing

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"tutorial.kubebuilder.io/project/internal/cli/env"
	"tutorial.kubebuilder.io/project/internal/cli/files"
	"tutorial.kubebuilder.io/project/internal/cli/template"
)

// descriptionAnnotation is what Kubernetes has for a text about an object.
const descriptionAnnotation = "kubernetes.io/description"

// fromCrontab makes CronJobs from a crontab.
type fromCrontab struct {
	*env.Env
	template.Flags

	file     string
	isSystem bool
}

// addFlags has the command take the flags of crontabs, but not together with those that are about
// CronJobs of a cluster.
func (f *fromCrontab) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.file, "crontab", "", "Make CronJobs from this crontab, or - for the standard input.")
	flags.BoolVar(&f.isSystem, "system", false, "The crontab has a column with the user, as /etc/crontab has.")
	f.AddFlags(cmd)
	for _, other := range []string{"all-namespaces", "selector", "suspend-original", "wait", "timeout", "grace", "dry-run"} {
		cmd.MarkFlagsMutuallyExclusive("crontab", other)
	}
}

// isAskedFor reports whether the command line is about a crontab.
func (f *fromCrontab) isAskedFor(cmd *cobra.Command) bool {
	return slices.ContainsFunc([]string{"crontab", "system", "image", "time-zone", "v2"}, cmd.Flags().Changed)
}

// run prints the manifests.
func (f *fromCrontab) run(names []string, format string) error {
	switch {
	case f.file == "":
		return errors.New("--system, --image, --time-zone and --v2 go with --crontab")
	case len(names) > 0:
		return errors.New("--crontab goes without names")
	}
	if err := f.Check(); err != nil {
		return err
	}
	printer, err := genericclioptions.NewJSONYamlPrintFlags().ToPrinter(cmp.Or(format, "yaml"))
	if err != nil {
		return fmt.Errorf("--output=%s: use yaml or json", format)
	}
	text, err := files.File{Path: f.file}.Read(f.In)
	if err != nil {
		return fmt.Errorf("--crontab %s: %w", f.file, err)
	}
	if !utf8.Valid(text) { // the manifests would have other characters
		return fmt.Errorf("--crontab %s: is not UTF-8: convert it, such as with iconv -f ISO-8859-1 -t UTF-8", f.file)
	}
	table := parseCrontab(string(text), f.TimeZone, f.isSystem)
	for i := range table.entries {
		object, err := f.object(&table.entries[i])
		if err != nil {
			return err
		}
		if err := printer.PrintObj(object, f.Out); err != nil {
			return err
		}
	}
	return f.tell(table)
}

// object makes the CronJob of an entry.
func (f *fromCrontab) object(e *entry) (client.Object, error) {
	flags := f.Flags
	flags.TimeZone = e.zone
	c := flags.CronJob(e.name, e.schedule, e.container(), corev1.RestartPolicyNever)
	c.Namespace = ptr.Deref(f.Env.Flags.Namespace, "")
	if e.description != "" {
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, descriptionAnnotation, e.description)
	}
	job := &c.Spec.JobTemplate.Spec
	job.BackoffLimit = new(int32(0)) // cron does not try again
	container := &job.Template.Spec.Containers[0]
	container.Env, container.WorkingDir = e.env, e.directory
	return flags.InVersion(c)
}

// tell prints what was said of the lines, and returns an error if commands are lost.
func (f *fromCrontab) tell(table *crontab) error {
	for _, remark := range table.remarks {
		fmt.Fprintf(f.ErrOut, "%s:%d: %s\n", f.file, remark.line, remark.text)
	}
	for _, e := range table.entries {
		if e.zone == "" {
			fmt.Fprintf(f.ErrOut, "%s:%d: without CRON_TZ and --time-zone the schedule is in UTC; for cron it was in the machine's time zone\n",
				f.file, e.line)
			break // it is the same for all
		}
	}
	if table.lost > 0 {
		return fmt.Errorf("%d of %d commands were not imported", table.lost, table.lost+len(table.entries))
	}
	return nil
}
