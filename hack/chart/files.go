// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package main

import _ "embed"

// What the chart has that no object or value says.
var (
	//go:embed files/Chart.yaml
	chartFile string
	//go:embed files/values.yaml
	valuesFile string
	//go:embed files/README.md
	readme string
	//go:embed files/_helpers.tpl
	helpers string
	//go:embed files/NOTES.txt
	notes string
)
