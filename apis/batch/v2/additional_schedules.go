// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v2

import "encoding/json"

// additionalFromHub turns the additional v1 schedules and their object's annotations into those of
// v2.
func additionalFromHub(texts []string, annotations map[string]string) ([]CronSchedule, map[string]string) {
	if len(texts) == 0 {
		return nil, additionalKeeper.drop(annotations)
	}
	kept := claim(readList[CronSchedule](annotations[AdditionalSchedulesV2Annotation]), joinSchedule,
		len(texts), func(i int) string { return texts[i] })
	schedules, isLost := make([]CronSchedule, len(texts)), false
	for i, text := range texts {
		if kept[i] != nil {
			schedules[i] = *kept[i]
			continue
		}
		schedules[i] = splitSchedule(text)
		isLost = isLost || joinSchedule(schedules[i]) != text
	}
	if !isLost {
		return schedules, additionalKeeper.drop(annotations)
	}
	return schedules, additionalKeeper.keep(annotations, AdditionalSchedulesV1Annotation, string(encode(texts)))
}

// additionalToHub turns the additional v2 schedules and their object's annotations into those of
// v1.
func additionalToHub(schedules []CronSchedule, annotations map[string]string) ([]string, map[string]string) {
	if len(schedules) == 0 {
		return nil, additionalKeeper.drop(annotations)
	}
	kept := claim(readList[string](annotations[AdditionalSchedulesV1Annotation]),
		func(text string) string { return encodeSchedule(splitSchedule(text)) },
		len(schedules), func(i int) string { return encodeSchedule(schedules[i]) })
	texts, isLost := make([]string, len(schedules)), false
	for i, schedule := range schedules {
		if kept[i] != nil {
			texts[i] = *kept[i]
			continue
		}
		texts[i] = joinSchedule(schedule)
		isLost = isLost || !splitSchedule(texts[i]).equal(schedule)
	}
	if !isLost {
		return texts, additionalKeeper.drop(annotations)
	}
	return texts, additionalKeeper.keep(annotations, AdditionalSchedulesV2Annotation, string(encode(schedules)))
}

// claim returns for each value of a list what is kept of it; nil for nothing. What is kept belongs
// to the value that it converts to: to the one at its own position, and if that is another by now,
// to one that was moved. So an element that was edited gets nothing, and its neighbours keep
// theirs, as do those around which others were inserted, deleted or swapped.
func claim[K any](kept []K, convert func(K) string, count int, valueAt func(int) string) []*K {
	claimed, moved := make([]*K, count), map[string][]*K{}
	for i := range kept {
		value := convert(kept[i])
		if i < count && value == valueAt(i) {
			claimed[i] = &kept[i]
		} else {
			moved[value] = append(moved[value], &kept[i])
		}
	}
	for i := range claimed {
		if claimed[i] != nil || len(moved) == 0 {
			continue
		}
		value := valueAt(i)
		if from := moved[value]; len(from) > 0 {
			claimed[i], moved[value] = from[0], from[1:]
		}
	}
	return claimed
}

// readList reads a JSON list; nil if it is none, or has elements of another type.
func readList[K any](list string) []K {
	var elements []K
	if json.Unmarshal([]byte(list), &elements) != nil {
		return nil
	}
	return elements
}
