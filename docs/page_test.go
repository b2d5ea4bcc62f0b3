// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// page is a page in Markdown, as goldmark parses it.
type page struct {
	path   string
	source []byte
	root   ast.Node
}

var pages = map[string]*page{}

// read returns the page at a path from this directory.
func read(t *testing.T, path string) *page {
	t.Helper()
	path = filepath.Clean(path)
	if pages[path] == nil {
		source, err := os.ReadFile(path)
		require.NoError(t, err)
		parser := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser()
		pages[path] = &page{path, source, parser.Parse(text.NewReader(source))}
	}
	return pages[path]
}

// each calls a function for each node of a type.
func each[T ast.Node](p *page, visit func(T)) {
	_ = ast.Walk(p.root, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if wanted, ok := node.(T); ok && entering {
			visit(wanted)
		}
		return ast.WalkContinue, nil
	})
}

// links returns where its links and pictures lead.
func (p *page) links() (targets []string) {
	each(p, func(link *ast.Link) { targets = append(targets, string(link.Destination)) })
	each(p, func(picture *ast.Image) { targets = append(targets, string(picture.Destination)) })
	return targets
}

var notInAnchors = regexp.MustCompile(`[^\pL\d _-]`)

// anchors returns the anchors that GitHub gives to its headings.
func (p *page) anchors() (anchors []string) {
	each(p, func(heading *ast.Heading) {
		title := notInAnchors.ReplaceAllString(strings.ToLower(p.plain(heading)), "")
		anchors = append(anchors, strings.ReplaceAll(title, " ", "-"))
	})
	return anchors
}

// plain returns the text of a node without its marks.
func (p *page) plain(node ast.Node) string {
	var plain strings.Builder
	_ = ast.Walk(node, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if part, ok := node.(*ast.Text); ok && entering {
			plain.Write(part.Value(p.source))
		}
		return ast.WalkContinue, nil
	})
	return plain.String()
}

// block is a fenced block.
type block struct {
	language, text string
	line           int
	comment        string // what an HTML comment directly before it says
}

// blocks returns the fenced blocks of the page, in their order.
func (p *page) blocks() (blocks []block) {
	each(p, func(fenced *ast.FencedCodeBlock) {
		lines := fenced.Lines()
		found := block{language: string(fenced.Language(p.source)), text: string(lines.Value(p.source))}
		if lines.Len() > 0 {
			found.line = 1 + bytes.Count(p.source[:lines.At(0).Start], []byte("\n"))
		}
		if html, ok := fenced.PreviousSibling().(*ast.HTMLBlock); ok {
			comment := string(html.Lines().Value(p.source))
			if html.HasClosure() {
				comment += string(html.ClosureLine.Value(p.source))
			}
			comment = strings.TrimPrefix(strings.TrimSpace(comment), "<!--")
			found.comment = strings.Join(strings.Fields(strings.TrimSuffix(comment, "-->")), " ")
		}
		blocks = append(blocks, found)
	})
	return blocks
}
