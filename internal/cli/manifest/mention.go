// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package manifest

import (
	"bytes"
	"fmt"
	"regexp"

	"go.yaml.in/yaml/v3"

	v1 "tutorial.kubebuilder.io/project/apis/batch/v1"
)

// mention is our group and a version of it, in whatever a manifest has.
var mention = regexp.MustCompile(regexp.QuoteMeta(v1.GroupVersion.Group) + `\\?/(v[12])\b`)

// noteMentions tells where a document that has nothing to convert names what is converted
// elsewhere: a kustomization's patches, an owner, a text in a ConfigMap. Whether to change that is
// for its author to say.
func (c *conversion) noteMentions(root *yaml.Node) {
	meta := typeMeta{text(root, "apiVersion"), text(root, "kind")}
	if meta.isCronJob() || meta.isList() || c.options.BuiltIn {
		return
	}
	other := c.options.To.other()
	for _, match := range mention.FindAllSubmatchIndex(c.text, -1) {
		line := bytes.TrimSpace(c.text[c.lineStart(match[0]):match[0]])
		if string(c.text[match[2]:match[3]]) == string(other) && !bytes.HasPrefix(line, []byte("#")) {
			c.note(match[0], fmt.Sprintf("%s is named here, and left as it is", other.apiVersion()))
		}
	}
	c.noteTargets(root, other)
}

// noteTargets notes where a mapping has a group and a version, as the target of a kustomization's
// patch.
func (c *conversion) noteTargets(n *yaml.Node, other Version) {
	if n.Kind == yaml.MappingNode {
		group, ok := lookup(n, "group")
		version, has := lookup(n, "version")
		if ok && has && group.value.Value == v1.GroupVersion.Group && version.value.Value == string(other) {
			c.note(c.offset(version.key), fmt.Sprintf("%s is named here, and left as it is", other.apiVersion()))
		}
	}
	for _, child := range n.Content {
		c.noteTargets(child, other)
	}
}
