package checker

import (
	"cmp"
	"fmt"
	"slices"
)

// selfWaits finds the Acquires that waited for their own client: see [Facts.SelfWaits].
func selfWaits(h History) *tally {
	found := &tally{more: "Acquires that waited for their own client"}
	if h.Entry != EntryOwnerless && h.Entry != EntryReentrant || h.Timing == nil || !h.Timing.Prompt {
		return found
	}
	all := slices.Clone(h.Attempts)
	for _, g := range h.Grants {
		all = append(all, Attempt{Client: g.Client, Resource: g.Resource, Invoked: g.Invoked, Returned: g.Granted,
			Outcome: OutcomeOK})
	}
	slices.SortFunc(all, byAsking)
	for _, a := range all {
		if g, ok := h.waitedFor(a); ok {
			found.add(func() Reason { return selfWaitReason(g, a) })
		}
	}
	return found
}

// waitedFor is the grant of its own client for which an Acquire waited.
func (h History) waitedFor(a Attempt) (Grant, bool) {
	i := slices.IndexFunc(h.Grants, func(g Grant) bool {
		claim, returned := g.Claim(), cmp.Or(a.Returned, never)
		if g.Client != a.Client || g.Resource != a.Resource || !claim.Contains(a.Invoked) ||
			a.Outcome == OutcomeOK && returned < claim.end() {
			return false
		}
		waited := min(h.Timing.when(min(claim.end(), returned)), h.Timing.Undisturbed) - h.Timing.when(a.Invoked)
		return waited > h.Timing.Trips
	})
	if i < 0 {
		return Grant{}, false
	}
	return h.Grants[i], true
}

func selfWaitReason(g Grant, a Attempt) Reason {
	r := Reason{At: []Pos{g.Granted, a.Invoked}, Text: fmt.Sprintf("%s was granted %s at step %d, asked for it again at "+
		"step %d, and waited for itself", a.Client, a.Resource, g.Granted, a.Invoked)}
	until := func(what string, p Pos) {
		r.Text, r.At = fmt.Sprintf("%s until %s, at step %d.", r.Text, what, p), append(r.At, p)
	}
	switch over := g.Claim().end(); {
	case over < cmp.Or(a.Returned, never):
		until("its first lease had ended", over)
	case a.Returned > 0:
		until("it gave up", a.Returned)
	default:
		r.Text += " for ever."
	}
	return r
}
