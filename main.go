/*
Copyright 2026 The project authors.

Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

// Command manager runs the CronJob operator: the reconciler, the admission webhooks and the
// conversion webhook.
package main

import (
	"os"

	"k8s.io/utils/clock"

	"tutorial.kubebuilder.io/project/internal/manager"
)

// version is stamped by the build.
var version = "dev"

func main() {
	os.Exit(manager.Main(os.Args[1:], os.Getenv, version, clock.RealClock{}))
}
