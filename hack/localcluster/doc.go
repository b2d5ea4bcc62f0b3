// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

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
