// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli/env"
)

const versionTimeout = 3 * time.Second

// newVersionCommand returns the command version. It succeeds without a cluster, too.
func newVersionCommand(e *env.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of the plugin, and the versions that the cluster serves",
		Long: "Print the version of the plugin, with which Go the database of its time zones comes, and in which\n" +
			"versions the cluster serves CronJobs, if it answers.",
		Args:              cobra.NoArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		Run: func(cmd *cobra.Command, _ []string) {
			fmt.Fprintf(e.Out, "%s version %s\n", cmd.Root().DisplayName(), cmd.Root().Version)
			fmt.Fprintf(e.Out, "Time zones: the IANA database of %s\n", runtime.Version())
			fmt.Fprintf(e.Out, "Cluster: %s\n", servedVersions(e))
		},
	}
}

// servedVersions describes in which versions the cluster serves CronJobs, or why that is unknown.
func servedVersions(e *env.Env) string {
	config, err := e.RESTConfig()
	if err != nil {
		return "not known: " + err.Error()
	}
	config.Timeout = versionTimeout
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return "not known: " + err.Error()
	}
	groups, err := client.ServerGroups()
	if err != nil {
		return "not known: " + err.Error()
	}
	i := slices.IndexFunc(groups.Groups, func(group metav1.APIGroup) bool { return group.Name == v1.GroupVersion.Group })
	if i < 0 {
		return "it serves no " + v1.GroupVersion.Group
	}
	var versions []string
	for _, version := range groups.Groups[i].Versions {
		versions = append(versions, version.Version)
	}
	return "it serves " + v1.GroupVersion.Group + " in " + strings.Join(versions, " and ")
}
