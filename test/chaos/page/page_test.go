// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package page_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"tutorial.kubebuilder.io/project/test/chaos/page"
)

func TestReplaceChangesItsPartAlone(t *testing.T) {
	begin, end := page.Begin("storm")+"\n", page.End("storm")+"\n"
	tests := map[string]struct {
		content string
		want    string // the content, if it is to stay as it is
		wantErr string
	}{
		"an empty part":  {content: "a\n" + begin + end + "b\n", want: "a\n" + begin + "\nnew\n\n" + end + "b\n"},
		"what was there": {content: begin + "old\nolder\n" + end, want: begin + "\nnew\n\n" + end},
		"no begin":       {content: "a\n" + end, wantErr: "want the lines"},
		"no end":         {content: "a\n" + begin, wantErr: "want the lines"},
		"the wrong way":  {content: end + begin, wantErr: "want the lines"},
		"twice":          {content: begin + end + begin + end, wantErr: "want the lines"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "page.md")
			require.NoError(t, os.WriteFile(path, []byte(test.content), 0o600))
			err := page.Replace(path, "storm", "new\n")
			want := test.want
			if test.wantErr != "" {
				require.ErrorContains(t, err, test.wantErr)
				want = test.content
			} else {
				require.NoError(t, err)
			}
			got, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, want, string(got))
		})
	}
}
