// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Command pictures draws the pictures of the docs into a directory, as SVG. What they show comes
// from the code that the manager runs: internal/plan decides about each tick, internal/schedule
// finds the ticks, and apis/batch/v2 converts. Their times are fixed, so the same code draws the
// same bytes.
//
//	simulate.go  what becomes of the ticks of a CronJob
//	timeline.go  rows of runs and ticks along an axis of time
//	runs.go      the timelines of concurrencyPolicy, and of an outage
//	clocks.go    the timelines of days on which clocks shift
//	versions.go  manifests in both versions
//
// Libraries that were looked at: github.com/ajstarks/svgo writes one element for each call, without
// layout and without escaping of attributes, and was last changed in 2021. gonum.org/v1/plot and
// github.com/go-analyze/charts have fixed colours, and so no dark mode, and no text for screen
// readers. So html/template writes the elements, as it escapes, and a page of SVG needs few of them.
package main

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"math"
	"os"
	"path/filepath"
	"strings"
)

//go:embed picture.svg.tmpl
var source string

var page = template.Must(template.New("picture").Parse(source))

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: pictures DIRECTORY")
		os.Exit(2)
	}
	if err := drawAll(os.Args[1]); err != nil {
		fmt.Fprintf(os.Stderr, "pictures: %v\n", err)
		os.Exit(1)
	}
}

func drawAll(directory string) error {
	for name, draw := range map[string]func() (*picture, error){
		"concurrency":     concurrency,
		"outage":          outage,
		"daylight-saving": daylightSaving,
		"overview":        overview,
		"conversion":      conversion,
	} {
		drawn, err := draw()
		if err != nil {
			return fmt.Errorf("drawing %s: %w", name, err)
		}
		var svg bytes.Buffer
		if err := page.Execute(&svg, drawn); err != nil {
			return fmt.Errorf("drawing %s: %w", name, err)
		}
		if err := os.WriteFile(filepath.Join(directory, name+".svg"), svg.Bytes(), 0o644); err != nil { //nolint:gosec // for all to read
			return err
		}
	}
	return nil
}

const width = 860

// picture has the elements of an SVG. Their classes are in the style of picture.svg.tmpl.
type picture struct {
	Title  string
	Height float64
	Grid   []path // behind all others
	Rects  []rect
	Paths  []path
	Texts  []text

	said []string
}

type rect struct {
	Class      string
	X, Y, W, H float64
}

type path struct{ Class, D string }

type text struct {
	Class string
	X, Y  float64
	Text  string
}

// Width is that of the picture.
func (*picture) Width() int { return width }

// Frame is the rectangle around all of it.
func (p *picture) Frame() rect { return rect{"page", 1, 1, width - 2, p.Height - 2} }

// Desc says what the picture shows, for those who can't see it.
func (p *picture) Desc() string { return strings.Join(p.said, " ") }

func (p *picture) say(format string, args ...any) {
	p.said = append(p.said, fmt.Sprintf(format, args...))
}

func (p *picture) rect(class string, x, y, w, h float64) {
	p.Rects = append(p.Rects, rect{class, x, y, tenths(w), h})
}

func (p *picture) grid(class, format string, args ...any) {
	p.Grid = append(p.Grid, path{class, fmt.Sprintf(format, args...)})
}

func (p *picture) path(class, format string, args ...any) {
	p.Paths = append(p.Paths, path{class, fmt.Sprintf(format, args...)})
}

func (p *picture) text(class string, x, y float64, line string) {
	p.Texts = append(p.Texts, text{class, tenths(x), tenths(y), line})
}

// tenths rounds to a tenth of a pixel, so that other processors draw the same bytes.
func tenths(x float64) float64 { return math.Round(10*x) / 10 }
