// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v2

import "encoding/json"

// additionalFromHub converts the additional v1 schedules and their object's annotations to v2.
func additionalFromHub(texts []string, annotations map[string]string) ([]CronSchedule, map[string]string) {
	schedules, isLost := convertList(texts, readList[CronSchedule](annotations[AdditionalSchedulesV2Annotation]),
		splitSchedule, joinSchedule, func(text string) string { return text })
	if !isLost {
		return schedules, additionalKeeper.drop(annotations)
	}
	return schedules, additionalKeeper.keep(annotations, AdditionalSchedulesV1Annotation, string(encode(texts)))
}

// additionalToHub converts the additional v2 schedules and their object's annotations to v1.
func additionalToHub(schedules []CronSchedule, annotations map[string]string) ([]string, map[string]string) {
	texts, isLost := convertList(schedules, readList[string](annotations[AdditionalSchedulesV1Annotation]),
		joinSchedule, splitSchedule, encodeSchedule)
	if !isLost {
		return texts, additionalKeeper.drop(annotations)
	}
	return texts, additionalKeeper.keep(annotations, AdditionalSchedulesV2Annotation, string(encode(schedules)))
}

// convertList converts each value of a list, to its kept original if there is one. It reports
// whether converting back changes any value. Values with the same key are equal.
func convertList[F, T any](
	list []F, kept []T, forth func(F) T, back func(T) F, key func(F) string,
) (converted []T, isLost bool) {
	claimed := claim(kept, func(value T) string { return key(back(value)) },
		len(list), func(i int) string { return key(list[i]) })
	for i, value := range list {
		if claimed[i] != nil {
			converted = append(converted, *claimed[i])
			continue
		}
		converted = append(converted, forth(value))
		isLost = isLost || key(back(converted[i])) != key(value)
	}
	return converted, isLost
}

// claim returns the kept original of each value of a list; nil for none. An original belongs to the
// value that it converts to: the one at its own position, or else one that was moved. So an edited
// element has no original, and other elements keep theirs when some are inserted, deleted or
// swapped.
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

// readList reads a JSON list; nil if it is not a list, or has elements of another type.
func readList[K any](list string) []K {
	var elements []K
	if json.Unmarshal([]byte(list), &elements) != nil {
		return nil
	}
	return elements
}
