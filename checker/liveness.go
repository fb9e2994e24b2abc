package checker

import (
	"cmp"
	"fmt"
	"slices"
)

// livenessReasons explain why a lock is stuck or leaked that is: the finding of the
// harness, the holders by the nodes' record, and then what may have left a key
// behind: an acquire without an answer, a grant that was never released, or the
// last grant.
func livenessReasons(h History) []Reason {
	if l, _ := h.Liveness(); l == LivenessOK {
		return nil
	}
	suspects := &tally{more: "that may have left a key behind"}
	for _, s := range slices.SortedFunc(slices.Values(h.Holdings), byHolder) {
		if s.To == 0 {
			suspects.add(func() Reason { return holdingSuspect(s) })
		}
	}
	for _, grants := range grantsByResource(h) {
		last := grants[len(grants)-1]
		for _, g := range grants {
			if g.ReleaseReturned == 0 || g.ID == last.ID {
				suspects.add(func() Reason { return grantSuspect(g) })
			}
		}
	}
	for _, a := range slices.SortedFunc(slices.Values(h.Attempts), byAsking) {
		if a.Outcome == OutcomeUnknown {
			suspects.add(func() Reason { return attemptSuspect(a) })
		}
	}
	return append([]Reason{livenessReason(h)}, suspects.sentences()...)
}

func livenessReason(h History) Reason {
	r := Reason{Text: "When all was over, the lock could not be taken again."}
	l, why := h.liveness()
	if l == LivenessLeaked {
		r.Text = "The lock left a key behind that nobody will release."
	}
	why.Text = " " + why.Text
	return r.and(why)
}

func holdingSuspect(s Holding) Reason {
	return Reason{
		Text: fmt.Sprintf("By the nodes' own record %s held %s from step %d to the end.", s.Client, s.Resource, s.From),
		At:   []Pos{s.From},
	}
}

// grantSuspect says how a grant ended.
func grantSuspect(g Grant) Reason {
	r := Reason{Text: fmt.Sprintf("%s was granted %s at step %d", g.Client, g.Resource, g.Granted), At: []Pos{g.Granted}}
	switch {
	case g.ReleaseReturned > 0:
		r = r.and(Reason{Text: fmt.Sprintf(", the last of all, and had released it at step %d.", g.ReleaseReturned),
			At: []Pos{g.ReleaseReturned}})
	case g.Released > 0:
		r = r.and(Reason{Text: fmt.Sprintf(", and its release of step %d did not return", g.Released),
			At: []Pos{g.Released}}).and(crashOf(g))
	default:
		r = r.and(Reason{Text: ", and did not release it"}).and(crashOf(g))
	}
	return r
}

// crashOf ends a sentence with the end of the client or of its worker, if there
// was one.
func crashOf(g Grant) Reason {
	if g.Crashed == 0 {
		return Reason{Text: "."}
	}
	return Reason{Text: fmt.Sprintf(": it died at step %d.", g.Crashed), At: []Pos{g.Crashed}}
}

func byAsking(a, b Attempt) int {
	return cmp.Or(cmp.Compare(a.Invoked, b.Invoked), cmp.Compare(a.Client, b.Client), cmp.Compare(a.Resource, b.Resource))
}

func attemptSuspect(a Attempt) Reason {
	return Reason{
		Text: fmt.Sprintf("%s asked for %s at step %d and had no answer: it may have been granted it.", a.Client, a.Resource,
			a.Invoked),
		At: []Pos{a.Invoked},
	}
}
