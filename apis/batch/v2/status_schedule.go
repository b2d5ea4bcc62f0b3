// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v2

// maxShownSchedule is how many characters of a schedule status.schedule shows. v1 takes no longer
// ones; one that was stored past its schema would only fill the status.
const maxShownSchedule = 1024

// shownSchedule returns what status.schedule shows of a v1 schedule text.
func shownSchedule(text string) string {
	count := 0
	for at := range text {
		if count == maxShownSchedule {
			return text[:at] + "…"
		}
		count++
	}
	return text
}

// showSchedule writes the v1 schedule text to status.schedule of an object that becomes one of v2.
// v1 has no such field, so the text never differs from the schedule and needs no reconcile.
//
// Only an object with a UID gets it, which is one that is stored: a manifest gets no status. The
// partial objects of server-side apply that have a UID get it too. No manager comes to own it by
// that: the API server takes what a manager owns from its request, and leaves the status out.
//
// A status that is {} stays so. It could not be told from none when the text is dropped again.
func (o *rawObject) showSchedule(schedule string) {
	status, ok := readObject(o.top["status"])
	hasNoMembers := ok && len(status) == 0 || !ok && o.top["status"] != nil
	if schedule == "" || textOf(o.metadata["uid"]) == "" || hasNoMembers {
		return
	}
	if !ok {
		status = jsonObject{}
	}
	status["schedule"] = encode(shownSchedule(schedule))
	o.top["status"] = encode(status)
}

// dropShownSchedule drops status.schedule, and a status that has nothing else.
func (o *rawObject) dropShownSchedule() {
	status, _ := readObject(o.top["status"])
	if status["schedule"] == nil {
		return
	}
	delete(status, "schedule")
	if len(status) == 0 {
		delete(o.top, "status")
		return
	}
	o.top["status"] = encode(status)
}
