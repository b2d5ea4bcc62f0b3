// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package guard

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// start serves a page that says which path it got, until the test ends.
func start(t *testing.T) *Guard {
	t.Helper()
	g, err := Listen(t.Context(), 0)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- g.Serve(ctx, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, err := io.Copy(io.Discard, r.Body); err != nil {
				http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
				return
			}
			fmt.Fprint(w, "secret of "+r.URL.Path)
		}))
	}()
	t.Cleanup(func() {
		cancel()
		assert.NoError(t, <-ended)
	})
	return g
}

// request begins a request for a path behind the base.
func request(t *testing.T, g *Guard, method, path string) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, strings.TrimSuffix(g.Link(), "/")+path, http.NoBody)
	require.NoError(t, err)
	return r
}

// send returns the status and the body of the answer.
func send(t *testing.T, r *http.Request) (int, string, http.Header) {
	t.Helper()
	response, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return response.StatusCode, string(body), response.Header
}

func TestWhoHasTheLinkGetsThePages(t *testing.T) {
	g := start(t)
	assert.Regexp(t, `^http://127\.0\.0\.1:\d+/[A-Z2-7]{26}/$`, g.Link())
	for path, want := range map[string]string{"/": "secret of /", "/a/b?c=d": "secret of /a/b"} {
		status, body, _ := send(t, request(t, g, http.MethodGet, path))
		assert.Equal(t, http.StatusOK, status)
		assert.Equal(t, want, body)
	}
}

func TestTwoServersHaveDifferentPortsAndTokens(t *testing.T) {
	first, second := start(t), start(t)
	assert.NotEqual(t, first.host, second.host)
	assert.NotEqual(t, first.base, second.base)
}

func TestNobodyElseLearnsAnything(t *testing.T) {
	g := start(t)
	evil := "http://evil.example"
	_, port, err := net.SplitHostPort(g.host)
	require.NoError(t, err)
	for name, tc := range map[string]struct {
		change func(*http.Request)
		want   int
	}{
		"without the token":   {func(r *http.Request) { r.URL.Path = "/" }, http.StatusForbidden},
		"with a part of it":   {func(r *http.Request) { r.URL.Path = g.base[:10] + "/" }, http.StatusForbidden},
		"with another":        {func(r *http.Request) { r.URL.Path = "/" + strings.Repeat("A", 26) + "/" }, http.StatusForbidden},
		"with more behind it": {func(r *http.Request) { r.URL.Path = g.base + "A/" }, http.StatusForbidden},
		"with it elsewhere":   {func(r *http.Request) { r.URL.Path, r.URL.RawQuery = "/", "token="+g.base[1:] }, http.StatusForbidden},
		"with more before it": {func(r *http.Request) { r.URL.Path = "/A" + g.base + "/" }, http.StatusForbidden},

		"by DNS rebinding":                {func(r *http.Request) { r.Host = "evil.example:" + port }, http.StatusMisdirectedRequest},
		"by DNS rebinding, own origin":    {func(r *http.Request) { r.Host = "evil.example:" + port; r.Header.Set("Origin", "http://"+r.Host) }, http.StatusMisdirectedRequest},
		"by the name localhost":           {func(r *http.Request) { r.Host = "localhost:" + port }, http.StatusMisdirectedRequest},
		"by another port":                 {func(r *http.Request) { r.Host = "127.0.0.1:1" }, http.StatusMisdirectedRequest},
		"by no port":                      {func(r *http.Request) { r.Host = "127.0.0.1" }, http.StatusMisdirectedRequest},
		"from another origin":             {func(r *http.Request) { r.Header.Set("Origin", evil) }, http.StatusForbidden},
		"from another port of this host":  {func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:1") }, http.StatusForbidden},
		"from the same host by https":     {func(r *http.Request) { r.Header.Set("Origin", "https://"+r.URL.Host) }, http.StatusForbidden},
		"from a sandbox":                  {func(r *http.Request) { r.Header.Set("Origin", "null") }, http.StatusForbidden},
		"from two origins":                {func(r *http.Request) { r.Header["Origin"] = []string{"http://" + r.URL.Host, evil} }, http.StatusForbidden},
		"as a script of another site":     {func(r *http.Request) { fetchFrom(r, "cross-site", "no-cors") }, http.StatusForbidden},
		"as a script of another port":     {func(r *http.Request) { fetchFrom(r, "same-site", "no-cors") }, http.StatusForbidden},
		"as a form of another site":       {func(r *http.Request) { r.Method = http.MethodPost; fetchFrom(r, "cross-site", "navigate") }, http.StatusForbidden},
		"as a form that hides its origin": {func(r *http.Request) { r.Method = http.MethodPost; r.Header.Set("Origin", "null") }, http.StatusForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			r := request(t, g, http.MethodGet, "/")
			tc.change(r)
			status, body, header := send(t, r)
			assert.Equal(t, tc.want, status)
			assert.NotContains(t, body, "secret")
			assert.NotContains(t, body, g.base[1:])
			assert.Empty(t, header.Values("Access-Control-Allow-Origin"))
			assert.NotEmpty(t, header.Get("Content-Security-Policy"))
		})
	}
}

// fetchFrom has a request say what browsers say of where it comes from.
func fetchFrom(r *http.Request, site, mode string) {
	r.Header.Set("Sec-Fetch-Site", site)
	r.Header.Set("Sec-Fetch-Mode", mode)
}

func TestTheBrowserMayFollowTheLinkAndPagesMaySendForms(t *testing.T) {
	g := start(t)
	for name, change := range map[string]func(*http.Request){
		"the link, typed":       func(r *http.Request) { fetchFrom(r, "none", "navigate") },
		"the link, from a file": func(r *http.Request) { fetchFrom(r, "cross-site", "navigate") },
		"a stream":              func(r *http.Request) { fetchFrom(r, "same-origin", "cors") },
		"a form": func(r *http.Request) {
			r.Method = http.MethodPost
			r.Header.Set("Origin", "http://"+g.host)
			fetchFrom(r, "same-origin", "navigate")
		},
	} {
		r := request(t, g, http.MethodGet, "/")
		change(r)
		status, _, _ := send(t, r)
		assert.Equal(t, http.StatusOK, status, name)
	}
}

func TestEachAnswerForbidsWhatThePagesDoNotNeed(t *testing.T) {
	_, _, header := send(t, request(t, start(t), http.MethodGet, "/"))
	for _, directive := range []string{"default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'self'"} {
		assert.Contains(t, header.Get("Content-Security-Policy"), directive)
	}
	assert.NotContains(t, header.Get("Content-Security-Policy"), "unsafe")
	assert.Equal(t, "nosniff", header.Get("X-Content-Type-Options"))
	assert.Equal(t, "no-store", header.Get("Cache-Control"))
	assert.Equal(t, "same-origin", header.Get("Cross-Origin-Resource-Policy"))
	assert.Empty(t, header.Values("Set-Cookie"))
}

func TestALargeBodyIsNotRead(t *testing.T) {
	g := start(t)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, g.Link(), strings.NewReader(strings.Repeat("a", maxBodyBytes+1)))
	require.NoError(t, err)
	status, _, _ := send(t, r)
	assert.Equal(t, http.StatusRequestEntityTooLarge, status)
}

func TestTheServerEndsWithItsContextThoughAStreamIsOpen(t *testing.T) {
	g, err := Listen(t.Context(), 0)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- g.Serve(ctx, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintln(w, "open")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}))
	}()
	response, err := http.DefaultClient.Do(request(t, g, http.MethodGet, "/"))
	require.NoError(t, err)
	defer response.Body.Close()
	line, err := bufio.NewReader(response.Body).ReadString('\n')
	require.NoError(t, err)
	assert.Equal(t, "open\n", line)
	cancel()
	select {
	case err := <-ended:
		assert.NoError(t, err)
	case <-time.After(closeTimeout / 2):
		t.Error("the server waits for the stream")
	}
}

func TestThePageIsServedOnThePortThatIsNamed(t *testing.T) {
	taken, err := Listen(t.Context(), 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = taken.listener.Close() })
	_, port, err := net.SplitHostPort(taken.host)
	require.NoError(t, err)
	number, err := strconv.ParseUint(port, 10, 16)
	require.NoError(t, err)
	_, err = Listen(t.Context(), uint16(number))
	require.ErrorContains(t, err, "127.0.0.1:"+port)
}
