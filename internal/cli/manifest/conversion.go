// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"go.yaml.in/yaml/v3"
)

// conversion is the work on one document.
type conversion struct {
	*source

	options Options

	// concerns reports whether CronJobs of a type are what is looked for.
	concerns func(typeMeta) bool

	isJSON  bool
	aliased map[*yaml.Node]bool

	edits     []udiff.Edit
	converted int
	remarks   []remark
}

// note adds a note, which leaves the file to be converted.
func (c *conversion) note(at int, message string) {
	c.remarks = append(c.remarks, remark{at: at, message: message})
}

// convertPart converts a document, and says how many CronJobs were in it. With trouble the text is
// the same as before.
func convertPart(p part, options Options) ([]byte, int, []remark) {
	if !options.mayConcern(p.body) {
		return p.body, 0, nil
	}
	c := &conversion{source: newSource(p.body), options: options, concerns: options.concern, isJSON: p.isJSON}
	converted, err := c.convert()
	if err != nil {
		return p.body, 0, append(c.remarks, remarkOf(err))
	}
	return converted, c.converted, c.remarks
}

// convert returns the document converted and verified.
func (c *conversion) convert() ([]byte, error) {
	root, err := c.parse(c.isJSON)
	if err != nil {
		return c.text, c.unreadable(err)
	}
	if root == nil {
		return c.text, nil
	}
	objects, err := c.find(root)
	if err != nil {
		return nil, err
	}
	if len(objects) == 0 {
		c.noteMentions(root)
		return c.text, nil
	}
	converted, err := c.splice(objects)
	if err == nil {
		err = c.verify(converted)
	}
	if trouble := (remark{}); err != nil && !errors.As(err, &trouble) {
		err = troublef(c.offset(objects[0].node), "it can't be converted safely: %v", err)
	}
	return converted, err
}

// find returns the objects to convert. With --check it checks those that are of the version
// already.
func (c *conversion) find(root *yaml.Node) ([]object, error) {
	c.aliased = aliasTargets(root, map[*yaml.Node]bool{})
	var found []object
	err := c.visit(root, typeMeta{}, false, func(o object) error {
		if c.options.Check && !c.options.BuiltIn && o.typeMeta == (typeMeta{c.options.To.apiVersion(), cronJobKind}) {
			return c.checkSpec(o.node)
		}
		wanted, unknown := c.options.wants(o.typeMeta)
		switch {
		case unknown != "":
			return troublef(c.offset(o.node), "%s", unknown)
		case wanted && o.shared:
			return troublef(c.offset(o.node), "the %s is an alias, or is used by one: write it out", o.kind)
		case wanted:
			found = append(found, o)
		}
		return nil
	})
	return found, err
}

// splice makes the edits that convert the objects.
func (c *conversion) splice(objects []object) ([]byte, error) {
	if at := helmAction.FindIndex(c.text); at != nil {
		return nil, errTemplate(at[0])
	}
	for _, o := range objects {
		if err := c.convertObject(o); err != nil {
			return nil, err
		}
	}
	return udiff.ApplyBytes(c.text, c.edits)
}

// replace has a stretch of the text replaced.
func (c *conversion) replace(from, to int, text string) {
	c.edits = append(c.edits, udiff.Edit{Start: from, End: to, New: text})
}

// insert has a text inserted.
func (c *conversion) insert(at int, text string) { c.replace(at, at, text) }

var (
	// templateAction starts an action of a Go template, as in Helm's charts, or of Jinja.
	templateAction = regexp.MustCompile(`\{\{|\{%`)

	// helmAction is an action that can't be meant for anything but Helm. Others may be arguments of
	// a command, such as docker or kubectl.
	helmAction = regexp.MustCompile(`\{\{[^}]*(\.(Values|Release|Chart|Capabilities|Files)\b|\b(include|tpl|toYaml)\s)`)
)

// errTemplate says that the document is a template.
func errTemplate(at int) error {
	return troublef(at, "it is a template: convert what it renders, or edit it by hand")
}

// Where a document can't be parsed, these find out whether it has CronJobs.
var (
	apiVersionText = regexp.MustCompile(`(?m)["']?apiVersion["']?[ \t]*:[ \t]*["']?([^\s"',}]+)`)
	kindText       = regexp.MustCompile(`(?m)["']?kind["']?[ \t]*:[ \t]*["']?CronJob(List)?\b`)
	errorLine      = regexp.MustCompile(`line (\d+): `)
)

// unreadable is the error for a document that can't be parsed; nil if it has nothing to convert.
func (c *conversion) unreadable(err error) error {
	if err == nil || !c.looksConcerned() {
		return nil
	}
	if at := templateAction.FindIndex(c.text); at != nil {
		return errTemplate(at[0])
	}
	if several := (&yaml.TypeError{}); errors.As(err, &several) {
		err = errors.New("yaml: " + several.Errors[0])
	}
	at := 0
	if match := errorLine.FindStringSubmatch(err.Error()); match != nil {
		if line, err := strconv.Atoi(match[1]); err == nil && line <= len(c.lines) {
			at = c.lines[line-1]
		}
	}
	return troublef(at, "it can't be read: %s", errorLine.ReplaceAllString(ExplainYAML(err).Error(), ""))
}

// ExplainYAML adds to the YAML parser's error for a schedule without quotes that it needs them.
func ExplainYAML(err error) error {
	switch text := err.Error(); {
	case strings.Contains(text, "did not find expected alphabetic or numeric character"):
		return fmt.Errorf("%w: in YAML, * begins an alias: put the value in quotes, such as \"*/5 * * * *\", or \"*/5\" in a field of v2", err)
	case strings.Contains(text, "found character that cannot start any token"):
		return fmt.Errorf("%w: put a schedule that starts with @ in quotes, such as \"@daily\", and indent with blanks, not tabs", err)
	}
	return err
}

// looksConcerned reports whether a text that can't be parsed seems to have a CronJob to convert.
func (c *conversion) looksConcerned() bool {
	if !kindText.Match(c.text) {
		return false
	}
	for _, match := range apiVersionText.FindAllSubmatch(bytes.ReplaceAll(c.text, []byte(`\/`), []byte("/")), -1) {
		if c.concerns(typeMeta{string(match[1]), cronJobKind}) {
			return true
		}
	}
	return false
}
