// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v2

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestObjectsAreReadAsTheyAreWritten(t *testing.T) {
	for text, want := range map[string]jsonObject{
		`{}`:                          {},
		" \n{ } ":                     {},
		`{"a":1}`:                     {{[]byte(`"a"`), []byte(`1`)}},
		` { "a" : -1.5e3 , "b":null}`: {{[]byte(`"a"`), []byte(`-1.5e3`)}, {[]byte(`"b"`), []byte(`null`)}},
		`{"a":{"b":[1,{"c":"}"}]},"d":"\"]"}`: {
			{[]byte(`"a"`), []byte(`{"b":[1,{"c":"}"}]}`)}, {[]byte(`"d"`), []byte(`"\"]"`)},
		},
		`{"a":true,"b":[ ],"a":false}`:    {{[]byte(`"a"`), []byte(`false`)}, {[]byte(`"b"`), []byte(`[ ]`)}},
		`{"\u0061":1,"\\":2}`:             {{[]byte(`"a"`), []byte(`1`)}, {[]byte(`"\\"`), []byte(`2`)}},
		"{\"a\"\t:\r\n[\n1\n]\n,\"\":{}}": {{[]byte(`"a"`), []byte("[\n1\n]")}, {[]byte(`""`), []byte(`{}`)}},
	} {
		got, ok := readObject([]byte(text))
		require.True(t, ok, text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{``, ` `, `null`, `[]`, `"{}"`, `1`} {
		_, ok := readObject([]byte(text))
		assert.False(t, ok, text)
	}
}

func TestOfTwoMembersOfANameTheLastOneCountsHoweverManyThereAre(t *testing.T) {
	var text strings.Builder
	for i := range 2 * fewMembers {
		fmt.Fprintf(&text, `"m%d":0,`, i)
	}
	for _, repeated := range []int{0, fewMembers - 1, fewMembers, fewMembers + 1, 2*fewMembers - 1} {
		got, ok := readObject([]byte(fmt.Sprintf(`{%s"m%d":1}`, text.String(), repeated)))
		require.True(t, ok)
		require.Len(t, got, 2*fewMembers, "member %d is there once", repeated)
		assert.Equal(t, jsonMember{fmt.Appendf(nil, `"m%d"`, repeated), []byte("1")}, got[repeated], "and in its place")
	}
}

func FuzzObjectsAreWrittenAsTheyAreRead(f *testing.F) {
	for _, seed := range []string{`{"a":{"b":[1,"}"]},"c":"\\\""}`, `{"a":1,"a":2}`, `{"\u0061":[{}]}`, ` {"a" : 1.5e3 } `} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var want map[string]any
		if !json.Valid(text) || json.Unmarshal(text, &want) != nil || want == nil {
			return
		}
		object, ok := readObject(text)
		require.True(t, ok)
		var got map[string]any
		require.NoError(t, json.Unmarshal(object.write(), &got))
		assert.Equal(t, want, got)
	})
}
