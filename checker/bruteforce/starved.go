package bruteforce

import (
	"slices"
	"time"

	"locksim/checker"
)

// "Starved counts the Acquires that starved. Of those that returned before the first trouble and were kept out, since
// another client had a claim on the resource while they were pending, it took more than ten times the median of the
// resource, of ten at least, from the call to the return; the median of an even number is the upper one of the two. And
// ten grants of the resource or more to other clients, which were asked for after it, returned before it did."
func starved(h checker.History) (n int) {
	if h.Timing == nil {
		return 0
	}
	type ask struct {
		client            string
		resource          checker.Resource
		invoked, returned checker.Pos
	}
	var asks []ask
	for _, a := range h.Attempts {
		asks = append(asks, ask{a.Client, a.Resource, a.Invoked, a.Returned})
	}
	for _, g := range h.Grants {
		asks = append(asks, ask{g.Client, g.Resource, g.Invoked, g.Granted})
	}
	keptOut := func(a ask) bool {
		for p := a.invoked; p == a.invoked || p < a.returned; p++ {
			for _, g := range h.Grants {
				if g.Resource == a.resource && g.Client != a.client && claims(g, p) {
					return true
				}
			}
		}
		return false
	}
	took := func(a ask) time.Duration { return at(h, a.returned) - at(h, a.invoked) }
	counts := func(a ask) bool { return a.returned != 0 && at(h, a.returned) < h.Timing.Undisturbed && keptOut(a) }
	for _, a := range asks {
		if !counts(a) {
			continue
		}
		var all []time.Duration
		for _, b := range asks {
			if b.resource == a.resource && counts(b) {
				all = append(all, took(b))
			}
		}
		slices.Sort(all)
		past := 0
		for _, g := range h.Grants {
			if g.Resource == a.resource && g.Client != a.client && g.Invoked > a.invoked && happened(g.Granted, a.returned-1) {
				past++
			}
		}
		if len(all) >= 10 && took(a) > 10*all[len(all)/2] && past >= 10 {
			n++
		}
	}
	return n
}
