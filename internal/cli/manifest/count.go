// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import "bytes"

// Count returns how many CronJobs a file has: of ours, and of the built-in ones. What can't be read
// has none.
func Count(text []byte) (ours, builtIn int) {
	if !bytes.Contains(text, []byte(cronJobKind)) {
		return 0, 0
	}
	for _, p := range split(text) {
		c := &conversion{source: newSource(p.body), isJSON: p.isJSON}
		root, err := c.parse(p.isJSON)
		if err != nil || root == nil {
			continue
		}
		_ = c.visit(root, typeMeta{}, false, func(o object) error { // which never fails
			switch {
			case o.kind != cronJobKind:
			case o.isOurs():
				ours++
			case o.isBuiltIn():
				builtIn++
			}
			return nil
		})
	}
	return ours, builtIn
}
