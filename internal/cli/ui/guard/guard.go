// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package guard serves pages on this machine to those who have the link, and to nobody else.
//
// Others can reach a port of 127.0.0.1 in three ways: as other users and programs of the machine,
// by a page of another origin in the user's browser, and by a page whose host name resolves to
// 127.0.0.1 (DNS rebinding). The first do not know the token in the link. For the second and third,
// the browser sends the origin and the host name of the request, which are checked. There is no
// cookie, which the browser would add to their requests.
package guard

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"
)

const (
	// readTimeout limits the time to read the header of a request. A limit for the whole request
	// would end streams.
	readTimeout = 10 * time.Second

	// closeTimeout is how long requests may take to end at the shutdown.
	closeTimeout = 2 * time.Second

	maxHeaderBytes = 64 << 10
	maxBodyBytes   = 1 << 20
)

// headers are the headers of all responses. A page may load from, send to and be framed by its own
// origin only, and no inline script runs. With the referrer policy no-referrer, the Origin of the
// page's own forms would be "null".
var headers = map[string]string{
	"Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
		"form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
	"Cache-Control":                "no-store",
	"Cross-Origin-Opener-Policy":   "same-origin",
	"Cross-Origin-Resource-Policy": "same-origin",
	"Referrer-Policy":              "same-origin",
	"X-Content-Type-Options":       "nosniff",
}

// Guard is a server on a port of 127.0.0.1.
type Guard struct {
	listener net.Listener

	// host is the required Host of each request, and base the required start of its path, which has
	// the token.
	host, base string
}

// Listen opens a port; 0 for a random one.
func Listen(ctx context.Context, port uint16) (*Guard, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp4", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return nil, fmt.Errorf("opening a port for the page: %w", err)
	}
	return &Guard{listener: listener, host: listener.Addr().String(), base: "/" + rand.Text()}, nil
}

// Base returns the start of the path of each link. It does not end with a slash.
func (g *Guard) Base() string { return g.base }

// Link returns the address of the first page.
func (g *Guard) Link() string { return "http://" + g.host + g.base + "/" }

// Serve serves pages until the context ends. It removes the base from the paths of requests.
func (g *Guard) Serve(ctx context.Context, pages http.Handler) error {
	server := &http.Server{
		Handler:           g.protect(http.StripPrefix(g.base, pages)),
		ReadHeaderTimeout: readTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		// The context ends requests that would never end, such as streams.
		BaseContext: func(net.Listener) context.Context { return ctx },
		ErrorLog:    log.New(io.Discard, "", 0), // keep messages about strangers' requests out of the terminal
	}
	closed := make(chan struct{})
	defer context.AfterFunc(ctx, func() {
		defer close(closed)
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
		defer cancel()
		if server.Shutdown(closing) != nil {
			_ = server.Close()
		}
	})()
	if err := server.Serve(g.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving the page: %w", err)
	}
	<-closed
	return nil
}

// protect rejects requests that are not from the user's own pages.
func (g *Guard) protect(pages http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range headers {
			w.Header().Set(name, value)
		}
		switch {
		case r.Host != g.host:
			http.Error(w, "The page is served by its address alone: copy the link that kubectl cronjob ui has printed.",
				http.StatusMisdirectedRequest)
		case !g.isFromOwnOrigin(r):
			http.Error(w, "The request comes from another site.", http.StatusForbidden)
		case !g.hasToken(r.URL.Path):
			http.Error(w, "The link is not complete: copy the one that kubectl cronjob ui has printed.", http.StatusForbidden)
		default:
			r.Body = http.MaxBytesReader(w, r.Body, maxBodyBytes)
			pages.ServeHTTP(w, r)
		}
	})
}

// isFromOwnOrigin reports whether a request comes from our origin, or from an unknown one. It also
// allows following a link from elsewhere: the browser is opened that way, and the page with the
// link can't read the response.
func (g *Guard) isFromOwnOrigin(r *http.Request) bool {
	for _, origin := range r.Header.Values("Origin") {
		if origin != "http://"+g.host {
			return false
		}
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return true
	}
	return r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate"
}

// hasToken reports whether a path has the token, in constant time.
func (g *Guard) hasToken(path string) bool {
	want := g.base + "/"
	return len(path) >= len(want) && subtle.ConstantTimeCompare([]byte(path[:len(want)]), []byte(want)) == 1
}
