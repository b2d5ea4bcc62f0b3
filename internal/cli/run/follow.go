// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package run

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
)

// drainTimeout is how long to read on after a Job has ended.
const drainTimeout = 10 * time.Second

// follower prints what the Pods of a Job log.
//
//	Pods, watched ──► see ──► a stream for each container that has started ──► out, line by line
//	                   └────► why others have not ────────────────────────────► errOut
type follower struct {
	cluster   kubernetes.Interface
	namespace string
	selector  string

	// container is the container whose log to print; "" for all.
	container string

	// tail is the number of last lines to print of each container; nil for all.
	tail *int64

	// once is whether to print the current logs, one after another, rather than follow them.
	once bool

	// prefixed is whether to print the container's name before each line.
	prefixed bool

	streams    sync.WaitGroup
	hasStarted bool // whether a container has started, and so has a log

	mu          sync.Mutex // guards what follows
	out, errOut io.Writer
	seen        map[string]bool
	failed      bool
}

// newFollower returns a follower for the Pods of a Job; container is "" for all.
func newFollower(cluster kubernetes.Interface, job *batchv1.Job, container string, out, errOut io.Writer) *follower {
	pod := job.Spec.Template.Spec
	isOne := container != "" || len(pod.Containers)+len(pod.InitContainers) == 1
	return &follower{
		cluster: cluster, namespace: job.Namespace, selector: metav1.FormatLabelSelector(job.Spec.Selector),
		container: container, prefixed: ptr.Deref(job.Spec.Parallelism, 1) > 1 || !isOne,
		out: out, errOut: errOut, seen: map[string]bool{},
	}
}

// followToEnd prints the log of a Job's Pods until the Job has ended and all is printed. It returns
// the last state of the Job.
func (f *follower) followToEnd(ctx context.Context, job *batchv1.Job) (*batchv1.Job, error) {
	streaming, stopStreams := context.WithCancel(ctx)
	defer stopStreams()
	watching, stopWatching := context.WithCancel(streaming)
	var watched sync.WaitGroup
	watched.Go(func() { f.watch(watching, streaming) })
	ended, err := awaitEnd(ctx, f.cluster, job)
	stopWatching()
	watched.Wait()
	f.drain(ctx, stopStreams)
	return ended, err
}

// watch calls see for each Pod that changes, until ctx ends. Streams end with streaming.
func (f *follower) watch(ctx, streaming context.Context) {
	pods := cache.NewFilteredListWatchFromClient(f.cluster.CoreV1().RESTClient(), "pods", f.namespace,
		func(options *metav1.ListOptions) { options.LabelSelector = f.selector })
	_, _, watcher, stopped := watchtools.NewIndexerInformerWatcherWithLogger(klog.FromContext(ctx), pods, &corev1.Pod{})
	defer func() {
		watcher.Stop()
		<-stopped
	}()
	for {
		select {
		case <-ctx.Done():
			return
		case event, ok := <-watcher.ResultChan():
			if !ok {
				return
			}
			if pod, ok := event.Object.(*corev1.Pod); ok && event.Type != watch.Deleted {
				f.see(streaming, pod)
			}
		}
	}
}

// drain prints the rest of the log. It stops streams that take too long.
func (f *follower) drain(ctx context.Context, stopStreams func()) {
	ending, cancel := context.WithTimeout(ctx, drainTimeout)
	defer cancel()
	defer context.AfterFunc(ending, stopStreams)()
	// The watch may have missed Pods that ended together with the Job.
	pods, err := f.cluster.CoreV1().Pods(f.namespace).List(ending, metav1.ListOptions{LabelSelector: f.selector})
	switch {
	case err == nil:
		for i := range pods.Items {
			f.see(ending, &pods.Items[i])
		}
	case ctx.Err() == nil:
		f.fail("error: some of the log may be missing: listing the Pods: %v", err)
	}
	f.streams.Wait()
}

// see starts a stream for each container of a Pod that has started since, and prints why others do
// not start.
func (f *follower) see(ctx context.Context, pod *corev1.Pod) {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
			f.warn(pod, "", condition.Reason, condition.Message)
		}
	}
	for _, status := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		switch waiting, ended := status.State.Waiting, status.State.Terminated; {
		case f.container != "" && f.container != status.Name:
		case ended != nil && (ended.Reason == "StartError" || ended.Reason == "ContainerCannotRun"): // of containerd and CRI-O; of Docker
			f.warn(pod, status.Name, ended.Reason, ended.Message)
		case status.State.Running != nil, ended != nil:
			f.hasStarted = true
			if f.isNew("log", pod, status.Name, fmt.Sprint(status.RestartCount)) {
				f.streams.Go(func() { f.stream(ctx, pod, status.Name) })
			}
			if f.once {
				f.streams.Wait()
			}
		case waiting != nil && waiting.Reason != "ContainerCreating" && waiting.Reason != "PodInitializing":
			f.warn(pod, status.Name, waiting.Reason, waiting.Message)
		}
	}
}

// isNew reports whether it is called with these arguments for the first time.
func (f *follower) isNew(kind string, pod *corev1.Pod, container, what string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	key := fmt.Sprint(kind, "/", pod.UID, "/", container, "/", what)
	isNew := !f.seen[key]
	f.seen[key] = true
	return isNew
}

// warn prints once why a Pod or a container does not start.
func (f *follower) warn(pod *corev1.Pod, container, reason, message string) {
	if reason != "" && f.isNew("warning", pod, container, reason) {
		f.say("%s does not start: %s: %s", nameOf(pod, container), reason, message)
	}
}

func (f *follower) say(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fmt.Fprintf(f.errOut, format+"\n", args...)
}

func (f *follower) fail(format string, args ...any) {
	f.say(format, args...)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failed = true
}

// stream prints the log of a container; with once the current one, else until its end.
func (f *follower) stream(ctx context.Context, pod *corev1.Pod, container string) {
	options := &corev1.PodLogOptions{Container: container, Follow: !f.once, TailLines: f.tail}
	request := f.cluster.CoreV1().Pods(pod.Namespace).GetLogs(pod.Name, options)
	log, err := request.Stream(ctx)
	if err == nil {
		err = errors.Join(f.copy(log, nameOf(pod, container)), log.Close())
	}
	if err != nil && ctx.Err() == nil {
		f.fail("error: the log of %s: %v", nameOf(pod, container), err)
	}
}

func (f *follower) copy(log io.Reader, name string) error {
	for lines := bufio.NewReader(log); ; {
		line, err := lines.ReadString('\n')
		if line != "" {
			f.printLine(line, name)
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

func (f *follower) printLine(line, name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.prefixed {
		line = "[" + name + "] " + strings.TrimSuffix(line, "\n") + "\n"
	}
	_, _ = io.WriteString(f.out, line) // if nobody reads the output, still wait for the Job
}

// nameOf returns the name of a container as kubectl logs --prefix prints it; of the Pod for "".
func nameOf(pod *corev1.Pod, container string) string {
	if container == "" {
		return "pod/" + pod.Name
	}
	return "pod/" + pod.Name + "/" + container
}
