package checker

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// What starves an Acquire: it waits for longer than starvedFor times the median of starvedAmong waits at least, and
// starvedPasses grants or more go past it.
const (
	starvedFor    = 10
	starvedAmong  = 10
	starvedPasses = 10
)

// wait is an Acquire that was kept out, with the time that it took.
type wait struct {
	Attempt
	took time.Duration
}

// waitsBefore are the waits for each resource that ended before the first trouble, the shortest first.
func waitsBefore(h History) map[Resource][]wait {
	all := map[Resource][]wait{}
	rivals := map[Resource][]rival{}
	for resource, acquires := range acquiresByResource(h) {
		rivals[resource] = rivalsOf(acquires)
	}
	add := func(a Attempt) {
		keeps := func(r rival) bool { return r.client != a.Client && r.claims(pending(a.Invoked, a.Returned)) }
		if a.Returned == 0 || h.Timing.when(a.Returned) >= h.Timing.Undisturbed ||
			!slices.ContainsFunc(rivals[a.Resource], keeps) {
			return
		}
		all[a.Resource] = append(all[a.Resource], wait{a, h.Timing.when(a.Returned) - h.Timing.when(a.Invoked)})
	}
	for _, a := range h.Attempts {
		add(a)
	}
	for _, g := range h.Grants {
		add(Attempt{Client: g.Client, Resource: g.Resource, Invoked: g.Invoked, Returned: g.Granted})
	}
	for _, waits := range all {
		slices.SortFunc(waits, func(a, b wait) int {
			return cmp.Or(cmp.Compare(a.took, b.took), byAsking(a.Attempt, b.Attempt))
		})
	}
	return all
}

// starved finds the Acquires that starved: see [Facts.Starved].
func starved(h History) *tally {
	found := &tally{more: "Acquires that starved"}
	if h.Timing == nil {
		return found
	}
	all := waitsBefore(h)
	for _, grants := range grantsByResource(h) {
		waits := all[grants[0].Resource]
		if len(waits) < starvedAmong {
			continue
		}
		median := waits[len(waits)/2].took
		for _, w := range waits {
			past := 0
			for _, g := range grants {
				if g.Client != w.Client && g.Invoked > w.Invoked && g.Granted < w.Returned {
					past++
				}
			}
			if w.took > starvedFor*median && past >= starvedPasses {
				found.add(func() Reason {
					return Reason{Text: fmt.Sprintf("%s asked for %s at step %d and waited until step %d, for %s, while %d grants "+
						"went to others that had asked later; half of the waits took %s or less.", w.Client, w.Resource, w.Invoked,
						w.Returned,
						secondsText(w.took.Seconds()), past, secondsText(median.Seconds())), At: []Pos{w.Invoked, w.Returned}}
				})
			}
		}
	}
	return found
}

// starvedInTurn finds those of a lock that promises an order.
func starvedInTurn(h History) *tally {
	if !h.Ordered {
		return &tally{}
	}
	return starved(h)
}

// Waits are the times for which Acquires were kept out, in few numbers.
type Waits struct {
	// Count is how many there are, Median the upper one of the middle, and Longest the longest one.
	Count           int
	Median, Longest time.Duration
}

// WaitsOf are the waits that [Facts.Starved] compares, of all resources.
func WaitsOf(h History) (w Waits) {
	if h.Timing == nil {
		return w
	}
	var all []time.Duration
	for _, waits := range waitsBefore(h) {
		for _, one := range waits {
			all = append(all, one.took)
		}
	}
	if slices.Sort(all); len(all) == 0 {
		return w
	}
	return Waits{len(all), all[len(all)/2], all[len(all)-1]}
}
