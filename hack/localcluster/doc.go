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

// Package localcluster runs a Kubernetes control plane on this machine's loopback interface, for
// the demo, integration tests and benchmarks. It needs no container runtime and no root.
//
//	etcd ◄── kube-apiserver                      by envtest: its certificates and credentials
//	              ▲  ▲  ▲  ▲
//	              │  │  │  └── kube-controller-manager   Jobs, garbage collection, namespaces, …
//	              │  │  └───── kube-scheduler            gives Pods a Node
//	              │  └──────── kwok                      pretends to be the Nodes: Pods of Jobs complete
//	              └─────────── the manager, kubectl      what the caller adds
//
// Everything it starts ends with it: [Cluster.Stop] ends each process, the last one first, and
// removes the directory with data, certificates and logs; when the caller is killed, the kernel
// kills the processes.
package localcluster
