package bruteforce_test

import (
	"slices"
	"time"

	"locksim/checker"
)

// ending is what may be left of the lock. It is drawn from numbers of its own, so that the rest of a history stays as
// it is.
func (m *maker) ending() checker.Ending {
	if m.chance(0.6) {
		return checker.Ending{}
	}
	e := checker.Ending{
		Asked: time.Second * time.Duration(m.IntN(4)), Granted: m.chance(0.85), Problem: "it is taken",
		Nodes: 1 + m.IntN(5), Kept: m.chance(0.2), Learnt: m.chance(0.4),
	}
	if m.chance(0.03) {
		e.Loops = "c0 loops"
	}
	for m.chance(0.3) {
		e.Waiting = append(e.Waiting, checker.Waiting{
			Client: "c0", Call: oneOf(m, "", "Acquire", "Release", "Release", "Extend"), Resource: "a", Did: "waits", Since: 1,
			For: m.span(0, 120), Ever: m.chance(0.2),
		})
	}
	for _, server := range []string{"r0", "r1", "r2"} {
		if m.chance(0.3) {
			e.CutOff = append(e.CutOff, server)
		}
		if m.chance(0.5) {
			e.Leftovers = append(e.Leftovers, checker.Leftover{
				Server: server, Key: "lock", Left: time.Duration(m.IntN(8)/2) * time.Second,
				Owner: oneOf(m, "", "c0", "c1", "c2", "c3"), Struck: m.chance(0.2),
			})
		}
	}
	for _, client := range []string{"c0", "c1"} {
		if m.chance(0.1) {
			e.Gone = append(e.Gone, client)
		}
	}
	return e
}

// endingShows names what an ending decides. Random histories show each.
func endingShows(e checker.Ending, l checker.Liveness) []string {
	var out []string
	note := func(is bool, kind string) {
		if is {
			out = append(out, kind)
		}
	}
	asks := func(w checker.Waiting) bool { return w.Call == "Acquire" && !w.Ever }
	ever := slices.ContainsFunc(e.Waiting, func(w checker.Waiting) bool { return w.Ever })
	note(e.Loops != "", "loops")
	note(e.Loops == "" && l == checker.LivenessStuck && ever, "waits for ever")
	note(e.Loops == "" && l == checker.LivenessStuck && e.Granted && !ever && slices.ContainsFunc(e.Waiting, asks),
		"stuck by a minority")
	note(e.Loops == "" && l == checker.LivenessStuck && !e.Granted && len(e.Waiting) == 0, "stuck for the probe")
	note(l == checker.LivenessLeaked && e.Learnt, "leaked by learnt keys")
	note(l == checker.LivenessLeaked && !e.Learnt, "leaked")
	note(l == checker.LivenessOK && e.Granted && len(e.Leftovers) > 0 && e.Learnt, "learnt keys excused")
	note(l == checker.LivenessOK && e.Granted && len(e.Leftovers) > 0 && !e.Learnt, "keys excused")
	return out
}
