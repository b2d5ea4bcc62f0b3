// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

// Command plots draws charts, as SVG: it reads them as JSON from its standard input, a list of chart, and writes each
// to the file it names, in the directory that is its one argument. A module of its own, so that the libraries that
// draw are none of the operator's.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
)

// The size of a chart, and the room above the highest line, for the legend.
const (
	width    = 16 * vg.Centimeter
	height   = 11 * vg.Centimeter
	headroom = 4
)

// chart is lines on logarithmic axes.
type chart struct {
	File   string   `json:"file"`
	Title  string   `json:"title"`
	X      string   `json:"x"`
	Y      string   `json:"y"`
	Series []series `json:"series"`
}

// series is a line. Its number decides on its colour and dashes, so that it looks the same in each chart.
type series struct {
	Name   string       `json:"name"`
	Number int          `json:"number"`
	Points [][2]float64 `json:"points"`
}

func main() {
	if err := run(os.Args[1:], os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "plots:", err)
		os.Exit(1)
	}
}

func run(args []string, input io.Reader) error {
	if len(args) != 1 {
		return errors.New("want one argument, the directory for the charts")
	}
	var charts []chart
	if err := json.NewDecoder(input).Decode(&charts); err != nil {
		return fmt.Errorf("reading the charts: %w", err)
	}
	for _, c := range charts {
		if err := c.draw(filepath.Join(args[0], c.File)); err != nil {
			return fmt.Errorf("drawing %s: %w", c.File, err)
		}
	}
	return nil
}

func (c chart) draw(file string) error {
	plot.DefaultFont.Variant = "Sans"
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = c.Title, c.X, c.Y
	p.X.Scale, p.Y.Scale = plot.LogScale{}, plot.LogScale{}
	p.X.Tick.Marker, p.Y.Tick.Marker = c.measured(), decades{}
	p.Legend.Top, p.Legend.Left = true, true
	p.Add(plotter.NewGrid())
	for _, s := range c.Series {
		points := make(plotter.XYs, 0, len(s.Points))
		for _, point := range s.Points {
			points = append(points, plotter.XY{X: point[0], Y: point[1]})
		}
		line, dots, err := plotter.NewLinePoints(points)
		if err != nil {
			return err
		}
		line.Color, line.Dashes, line.Width = plotutil.Color(s.Number), plotutil.Dashes(s.Number), vg.Points(1.5)
		dots.Color, dots.Shape = plotutil.Color(s.Number), plotutil.Shape(s.Number)
		p.Add(line, dots)
		p.Legend.Add(s.Name, line, dots)
	}
	p.Y.Max *= headroom
	return p.Save(width, height, file)
}

// measured marks what was measured on the x axis.
func (c chart) measured() plot.Ticker {
	var ticks plot.ConstantTicks
	seen := map[float64]bool{}
	for _, s := range c.Series {
		for _, point := range s.Points {
			if !seen[point[0]] {
				seen[point[0]] = true
				ticks = append(ticks, plot.Tick{Value: point[0], Label: plain(point[0])})
			}
		}
	}
	return ticks
}

// decades marks 1, 2 and 5 of each power of ten.
type decades struct{}

// Ticks returns the marks between two values.
func (decades) Ticks(least, most float64) []plot.Tick {
	var ticks []plot.Tick
	for power := 1e-6; power <= most; power *= 10 {
		for _, digit := range []float64{1, 2, 5} {
			if value := digit * power; value >= least && value <= most {
				ticks = append(ticks, plot.Tick{Value: value, Label: plain(value)})
			}
		}
	}
	return ticks
}

// plain writes a number without an exponent.
func plain(value float64) string { return strconv.FormatFloat(value, 'g', 6, 64) }
