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

package batch

import (
	"maps"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// memory keeps what one reconcile of a CronJob tells the next. The zero value is ready for use.
type memory[T any] struct {
	mu   sync.Mutex
	kept map[types.NamespacedName]T
}

// remember keeps something about a CronJob, in the place of what was kept before.
func (m *memory[T]) remember(key types.NamespacedName, what T) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.kept == nil {
		m.kept = map[types.NamespacedName]T{}
	}
	m.kept[key] = what
}

// recall returns what is kept about a CronJob; the zero value if nothing is.
func (m *memory[T]) recall(key types.NamespacedName) T {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.kept[key]
}

// keys returns the CronJobs about which something is kept.
func (m *memory[T]) keys() []types.NamespacedName {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Collect(maps.Keys(m.kept))
}

// forget drops what is kept about a CronJob.
func (m *memory[T]) forget(key types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.kept, key)
}
