// Copyright 2026 The project authors.
// SPDX-License-Identifier: Apache-2.0

package v2

// maxShownSchedule limits status.schedule, in characters. v1's schema accepts no longer schedules;
// one that was stored without it would only fill the status.
const maxShownSchedule = 1024

// shownSchedule returns status.schedule for a v1 schedule text.
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

// showSchedule sets status.schedule of an object that is converted to v2. v1 has no such field, so
// it never differs from the schedule and needs no reconcile.
//
// Only an object with a UID gets it: a manifest, which has none, gets no status. Partial objects of
// server-side apply may have a UID, and get it too. No manager owns the field by that: the API
// server computes ownership from the request, without the status.
//
// A status that is {} stays so: when the text is dropped again, it could not be distinguished from
// a missing status.
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

// dropShownSchedule drops status.schedule, and the status if nothing else is in it.
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
