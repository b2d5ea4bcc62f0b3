//go:build ui

// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
	"tutorial.kubebuilder.io/project/internal/cli"
	"tutorial.kubebuilder.io/project/internal/cli/env"
)

// tab is a tab of the browser, with the pages of a namespace of its own.
type tab struct {
	t    testing.TB
	ctx  context.Context
	ns   string
	link string

	// interrupt has ui end.
	interrupt context.CancelFunc
}

// buffer is written by one and read by another.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(text []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(text)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// newTab makes a namespace, starts ui for it, and opens a tab. No page may say that something in it
// is wrong, or was not let by the content security policy.
func newTab(t testing.TB) *tab {
	t.Helper()
	ui := &tab{t: t, ns: newNamespace(t)}
	ui.startUI()
	var closeTab context.CancelFunc
	ui.ctx, closeTab = chromedp.NewContext(browser)
	t.Cleanup(closeTab)
	var mu sync.Mutex
	var mistakes []string
	require.NoError(t, chromedp.Listen(ui.ctx, func(event any) {
		mu.Lock()
		defer mu.Unlock()
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			mistakes = append(mistakes, e.ExceptionDetails.Text)
		case *log.EventEntryAdded:
			if e.Entry.Source == log.EntrySourceSecurity {
				mistakes = append(mistakes, e.Entry.Text+" "+e.Entry.URL)
			}
		}
	}))
	t.Cleanup(func() {
		mu.Lock()
		defer mu.Unlock()
		assert.Empty(t, mistakes, "the browser's console")
	})
	call(ui, log.Enable, cdp.Empty{})
	ui.do(chromedp.EmulateViewport(1280, 900))
	return ui
}

// newNamespace returns the name of a new namespace.
func newNamespace(t testing.TB) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "shop-"}}
	require.NoError(t, cluster.Client.Create(t.Context(), namespace))
	return namespace.Name
}

// startUI starts ui until the test ends.
func (ui *tab) startUI() {
	ui.t.Helper()
	out := &buffer{}
	cmd := cli.NewCommand(env.New(genericiooptions.IOStreams{In: strings.NewReader(""), Out: out, ErrOut: out}), "test")
	cmd.SetArgs([]string{"ui", "--no-browser", "--kubeconfig=" + cluster.Kubeconfig, "--namespace=" + ui.ns})
	ctx, interrupt := context.WithCancel(context.Background())
	ui.interrupt = interrupt
	ended := make(chan error, 1)
	go func() { ended <- cmd.ExecuteContext(ctx) }()
	ui.t.Cleanup(func() {
		interrupt()
		assert.NoError(ui.t, <-ended)
	})
	require.Eventually(ui.t, func() bool { return strings.Contains(out.String(), "\n") }, patience, pollInterval)
	ui.link, _, _ = strings.Cut(out.String(), "\n")
}

// css is a selector.
type css = chromedp.CSS

// do runs actions, which wait for what they need.
func (ui *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	ui.t.Helper()
	run(ui, chromedp.Steps(actions...))
}

// run returns the value of an action.
func run[T any](ui *tab, action chromedp.Action[T]) T {
	ui.t.Helper()
	ctx, cancel := context.WithTimeout(ui.ctx, patience)
	defer cancel()
	value, err := chromedp.Run(ctx, action)
	require.NoError(ui.t, err)
	return value
}

// call sends a command of the browser's protocol.
func call[P, R any](ui *tab, command cdp.Command[P, R], params P) {
	ui.t.Helper()
	_, err := chromedp.Call(ui.ctx, command, params)
	require.NoError(ui.t, err)
}

// open opens a page, and waits until it has its heading.
func (ui *tab) open(path string) {
	ui.t.Helper()
	ui.do(chromedp.Navigate(ui.link+path), chromedp.WaitReady(css("h1")))
}

// path is the one of a page of a CronJob.
func (ui *tab) path(name string) string { return "cronjobs/" + ui.ns + "/" + name }

// evaluate returns the value of an expression in the page.
func evaluate[T any](ui *tab, expression string) T {
	ui.t.Helper()
	return run(ui, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// await waits until an expression in the page is true. While a page is loaded there is none.
func (ui *tab) await(expression string, args ...any) {
	ui.t.Helper()
	expression = fmt.Sprintf(expression, args...)
	require.Eventually(ui.t, func() bool {
		isSo, err := chromedp.Run(ui.ctx, chromedp.Evaluate[bool](expression))
		return err == nil && isSo
	}, patience, pollInterval, expression)
}

// click clicks on what may be replaced by a new state of itself at any time.
func (ui *tab) click(selector string) {
	ui.t.Helper()
	ui.await("(document.querySelector(%[1]q)?.click(), document.querySelector(%[1]q) !== null)", selector)
}

// awaitText waits until the page has a text.
func (ui *tab) awaitText(text string) {
	ui.t.Helper()
	ui.await("document.body.innerText.includes(%q)", text)
}

// create creates a CronJob in the namespace, and waits until it has a page.
func (ui *tab) create(object *v1.CronJob) {
	ui.t.Helper()
	object.Namespace = ui.ns
	object.UID, object.Generation = "", 0
	require.NoError(ui.t, cluster.Client.Create(ui.t.Context(), object))
	require.Eventually(ui.t, func() bool {
		response, err := http.Get(ui.link + ui.path(object.Name))
		return err == nil && response.Body.Close() == nil && response.StatusCode == http.StatusOK
	}, patience, pollInterval)
}

// change changes a CronJob of the namespace, and what its status remembers.
func (ui *tab) change(name string, change func(*v1.CronJob)) {
	ui.t.Helper()
	before := &v1.CronJob{}
	require.NoError(ui.t, cluster.Client.Get(ui.t.Context(), client.ObjectKey{Namespace: ui.ns, Name: name}, before))
	changed := before.DeepCopy()
	change(changed)
	require.NoError(ui.t, cluster.Client.Status().Patch(ui.t.Context(), changed.DeepCopy(), client.MergeFrom(before)))
	require.NoError(ui.t, cluster.Client.Patch(ui.t.Context(), changed, client.MergeFrom(before)))
}

// shoot writes screenshots for the docs: of a phone, a laptop and a wide screen, in both colour
// schemes.
func (ui *tab) shoot(name string) {
	ui.t.Helper()
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{390, 1280, 1920} {
			ui.as(width, scheme)
			picture := run(ui, chromedp.CaptureScreenshot())
			file := fmt.Sprintf("%s-%d-%s.png", name, width, scheme)
			if width == 1280 && scheme == "light" {
				file = name + ".png"
			}
			require.NoError(ui.t, os.WriteFile(filepath.Join(*screenshots, file), picture, 0o600))
		}
	}
	ui.as(1280, "light")
}

// as has the page be looked at on a screen of a width, in a colour scheme.
func (ui *tab) as(width int64, scheme string) {
	ui.t.Helper()
	ui.do(chromedp.EmulateViewport(width, 900))
	call(ui, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
}
