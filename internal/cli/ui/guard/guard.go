// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Package guard serves pages on this machine to the one who has their link, and to nobody else.
//
// Three kinds of strangers can reach a port of 127.0.0.1: other users and programs of the machine,
// pages of other origins in the user's browser, and those of a name that its owner has resolve to
// 127.0.0.1 (DNS rebinding). The first do not know the token. The browser tells where a request of
// the second comes from, and by which name the third asked. There is no cookie that the browser
// would send along with a request of theirs.
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
	// readTimeout is how long a request's header may take to arrive. One for all of the request would
	// end streams.
	readTimeout = 10 * time.Second

	// closeTimeout is how long requests may take to end once the server is to.
	closeTimeout = 2 * time.Second

	maxHeaderBytes = 64 << 10
	maxBodyBytes   = 1 << 20
)

// headers are those of each answer. The origin is all that a page may load from, send to or be
// framed by; nothing inline runs. A referrer policy of no-referrer would make the Origin of the
// page's own forms "null".
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

	// host is what the Host of each request must be, and base how each path must begin: with the
	// token.
	host, base string
}

// Listen opens a port, or with 0 a random one.
func Listen(ctx context.Context, port uint16) (*Guard, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp4", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return nil, fmt.Errorf("opening a port for the page: %w", err)
	}
	return &Guard{listener: listener, host: listener.Addr().String(), base: "/" + rand.Text()}, nil
}

// Base is how the path of each link of the pages must begin. It has no slash at its end.
func (g *Guard) Base() string { return g.base }

// Link is the address of the first page.
func (g *Guard) Link() string { return "http://" + g.host + g.base + "/" }

// Serve serves pages until the context ends. The paths that they get are those behind the base.
func (g *Guard) Serve(ctx context.Context, pages http.Handler) error {
	server := &http.Server{
		Handler:           g.protect(http.StripPrefix(g.base, pages)),
		ReadHeaderTimeout: readTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		// Requests that never end, such as streams, end with the context.
		BaseContext: func(net.Listener) context.Context { return ctx },
		ErrorLog:    log.New(io.Discard, "", 0), // the terminal is the user's, and not for what strangers send
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

// protect passes on the requests of the user's own pages.
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

// isFromOwnOrigin reports whether a browser says that a request is of a page of ours, or does not
// say of which it is. To follow a link from elsewhere is allowed: that is how the browser is opened,
// and it tells the page with the link nothing.
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

// hasToken reports whether a path begins with the token. How long that takes does not tell how much
// of it is right.
func (g *Guard) hasToken(path string) bool {
	want := g.base + "/"
	return len(path) >= len(want) && subtle.ConstantTimeCompare([]byte(path[:len(want)]), []byte(want)) == 1
}
