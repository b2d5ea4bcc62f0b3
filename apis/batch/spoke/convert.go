// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package spoke

import (
	"cmp"
	"slices"
	"strings"
)

// The values of a version are JSON, the first empty if there is none. One that the version can't
// read has an empty text. So annotations keep it, like any other value that no text can express.

// convert converts an object through the hub, which is the first of all versions.
func (o *object) convert(all []Spoke, from, to *Spoke) {
	for i := range all {
		o.show(all[i].Shown, "")
	}
	if o.metadata == nil || o.spec == nil {
		return
	}
	hub := &all[0]
	if from != hub {
		_, texts := o.translate(from, hub)
		o.dropStale(all, texts, from)
	}
	if to != hub {
		texts, _ := o.translate(hub, to)
		text := []rune(textOf(texts[0]))
		if len(text) > maxShown {
			text = append(text[:maxShown], '…')
		}
		// A manifest has no UID, and gets no status. No manager owns the member by that: the API
		// server computes ownership from the request, without the status.
		if len(text) > 0 && textOf(o.metadata.get("uid")) != "" {
			o.show(to.Shown, encode(string(text)))
		}
	}
}

// maxShown limits a text in the status, in characters.
const maxShown = 1024

// translate converts the values of an object to another version, and returns those of both.
func (o *object) translate(from, to *Spoke) (values, converted []string) {
	value, list := o.spec.get(from.Members.Value), o.spec.get(from.Members.List)
	values = append([]string{value}, elements(list)...)
	if isMissing(value) {
		values[0] = ""
	}
	values, texts := from.read(values)
	converted = o.restore(values, to.write(texts), from, to)
	if value == "null" { // it is none, whatever is kept
		converted[0] = ""
	}
	o.annotate(to.keys, Members{})
	o.annotate(from.keys, keep(values, means(converted, to, from, values)))

	o.spec.set(from.Members.Value, "")
	o.spec.set(from.Members.List, "")
	o.spec.set(to.Members.Value, "") // one that the first version does not have would get a meaning
	if len(elements(o.spec.get(to.Members.List))) > 0 {
		o.spec.set(to.Members.List, "")
	}
	if value == "null" || converted[0] != "" {
		o.spec.set(to.Members.Value, cmp.Or(converted[0], value))
	}
	if len(converted) > 1 {
		list = listOf(converted[1:])
	} else if len(values) > 1 { // what has no elements, such as null, is copied
		list = ""
	}
	if list != "" {
		o.spec.set(cmp.Or(to.Members.List, from.Members.List), list)
	}
	return values, converted
}

// elements returns those of a list; none of anything else.
func elements(raw string) []string {
	all, _ := split(raw, '[')
	return each(all, func(element member) string { return element.value })
}

func listOf(values []string) string { return "[" + strings.Join(values, ",") + "]" }

// convert converts values without what is kept.
func convert(values []string, from, to *Spoke) []string {
	_, texts := from.read(values)
	return to.write(texts)
}

// means converts values to what may stand beside them. A Go type can't distinguish none from the
// zero value, so none stands for both.
func means(values []string, from, to *Spoke, beside []string) []string {
	converted := convert(values, from, to)
	if beside[0] == "" && converted[0] == to.none {
		converted[0] = ""
	}
	return converted
}

// keep returns what annotations keep of a version's values: those that converting there and back
// does not restore. A text is kept as it is, unless it is JSON, which stands for that value.
func keep(values, again []string) (kept Members) {
	if values[0] != again[0] {
		kept.Value = cmp.Or(values[0], "null")
		if text := textOf(values[0]); text != "" && !isDecodable(text) {
			kept.Value = text
		}
	}
	if !slices.Equal(values[1:], again[1:]) {
		kept.List = listOf(values[1:])
	}
	return kept
}

// kept returns the values of a version that annotations keep, and others for those they don't.
func (o *object) kept(s *Spoke, others []string) []string {
	value, hasValue := o.annotations[s.keys.Value]
	list, hasList := o.annotations[s.keys.List]
	if !hasValue && !hasList {
		return others
	}
	all := slices.Clone(others)
	if hasList && isDecodable(list) {
		all = append(all[:1], elements(strings.TrimSpace(list))...)
	}
	if hasValue && !isDecodable(value) {
		all[0] = encode(value)
	} else if hasValue {
		all[0] = value
	}
	all, _ = s.read(all)
	return all
}

// restore returns converted values, with the kept originals of those that have one. An original
// belongs to the value that it converts to: the one at its own position, or else one that was
// moved. So an edited value has no original, and others keep theirs when some are inserted, deleted
// or swapped.
func (o *object) restore(values, converted []string, from, to *Spoke) []string {
	kept := o.kept(to, converted)
	if slices.Equal(kept, converted) {
		return converted
	}
	meant, wanted := means(kept, to, from, values), values
	if slices.Equal(meant, wanted) {
		return kept
	}
	if len(meant) != len(kept) || len(values) != len(converted) { // compare them as they are converted
		meant, wanted = convert(meant, from, to), converted
	}
	if len(meant) != len(kept) {
		return converted
	}
	dropUnclear(kept, meant, wanted, from.none)
	restored, moved := slices.Clone(converted), map[string][]string{}
	stays := func(i int) bool { return i < len(kept) && i < len(wanted) && meant[i] == wanted[i] }
	for i := range kept {
		if !stays(i) {
			moved[meant[i]] = append(moved[meant[i]], kept[i])
		}
	}
	for i, value := range wanted {
		if stays(i) {
			restored[i] = kept[i]
		} else if originals := moved[value]; len(originals) > 0 && (i > 0 || originals[0] != "null") { // there, null is none
			restored[i], moved[value] = originals[0], originals[1:]
		}
	}
	again, without := means(restored, to, from, values), means(converted, to, from, values)
	for i := range again {
		if len(again) != len(values) || len(without) != len(values) || again[i] != values[i] && again[i] != without[i] {
			return converted // together they don't mean what each does
		}
	}
	return restored
}

// dropUnclear has the kept elements that a version can't express mean nothing if some of them were
// deleted there, and others not. They look alike, so unless they are the same, nobody can tell
// which are left. Those get no text, and are refused like any other element that says nothing.
func dropUnclear(kept, meant, wanted []string, none string) {
	var unclear []int
	isSame, isInPlace := true, len(meant) == len(wanted) // no other element was edited
	for i := 1; i < len(meant); i++ {
		if meant[i] == none {
			unclear = append(unclear, i)
			isSame = isSame && kept[i] == kept[unclear[0]]
		} else {
			isInPlace = isInPlace && meant[i] == wanted[i]
		}
	}
	left := slices.DeleteFunc(slices.Clone(wanted[1:]), func(value string) bool { return value != none })
	if isSame || isInPlace || len(left) >= len(unclear) {
		return
	}
	for _, i := range unclear {
		meant[i] = "?" // no JSON
	}
}

// dropStale drops the annotations of a hub object, with these values, that don't convert to them.
// It leaves those of one version.
func (o *object) dropStale(all []Spoke, values []string, except *Spoke) {
	for i := range all[1:] {
		if s := &all[i+1]; s != except {
			plain := convert(values, &all[0], s)
			o.annotate(s.keys, keep(o.restore(values, plain, &all[0], s), plain))
		}
	}
}
