package testreports

import (
	"strings"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/comparisons"
)

// comparedLock is a lock of a comparison of four classes. Each word is the text of
// the cell of a class, without the brackets.
func comparedLock(name string, servers int, words ...string) comparisons.Lock {
	trip := comparisons.Trip{RoundTrips: 1, Messages: servers}
	l := comparisons.Lock{Name: name, Servers: []comparisons.Servers{{Kind: "redis", Count: servers}},
		Trips: comparisons.Trips{Acquire: trip, Release: trip}}
	for i, word := range words {
		s := comparisons.Survival{Class: comparedClasses[i], Promised: i < 3, Scenarios: 2, Runs: 5,
			Others: []comparisons.Seen{}}
		seen := func(mode fence.Mode, label checker.Label) comparisons.Seen {
			return comparisons.Seen{Mode: mode, Label: label, Scenario: "gc-pause", Seed: 1, Replay: "again"}
		}
		if word, found := strings.CutSuffix(word, "!"); found {
			s.Overlap = new(seen(fence.None, checker.Overlap))
			words[i] = word
		}
		if word, found := strings.CutSuffix(words[i], "*"); found {
			s.Refused = new(seen(fence.Mode(word), checker.FalseReject))
			words[i] = word
		}
		switch words[i] {
		case "?":
			s.Scenarios, s.Runs = 0, 0
		case "ok":
			s.Fence = fence.None
		case "no":
			s.Others = append(s.Others, seen(fence.None, checker.Corrupted), seen(fence.CAS, checker.Stuck),
				seen(fence.Claim, checker.Stuck))
		case "stuck":
			s.Others = append(s.Others, seen(fence.None, checker.Stuck), seen(fence.Claim, checker.Stuck))
		default:
			s.Fence = fence.Mode(words[i])
			s.Others = append(s.Others, seen(fence.None, checker.Corrupted))
		}
		l.Survives = append(l.Survives, s)
	}
	return l
}

var comparedClasses = append(comparisons.New(outcome.Seeds{}, nil).Classes[:0:0], comparisons.NoFault, "pause", "stall",
	"flush")

// Comparison is a comparison with every word and every sign, and a class that was not
// played.
func Comparison() *comparisons.Comparison {
	single := comparedLock("single", 1, "ok", "claim*", "?", "no!")
	single.ForWhom, single.About = "Work that may be done twice now and then.", "A key on one node."
	single.Crowd = &comparisons.Crowd{Waits: 30, MedianSeconds: 0.2, LongestSeconds: 2.5, Starved: 1}
	single.Availability = &comparisons.Availability{UsualSeconds: 0.11, Troubles: []comparisons.NotToBeHad{
		{Trouble: comparisons.ServerCrashes, Runs: 200, MedianSeconds: 3.02, LongestSeconds: 9.96},
		{Trouble: comparisons.HolderCrashes, Runs: 200, MedianSeconds: 9.55, LongestSeconds: 10.12},
		{Trouble: comparisons.HolderPaused, Runs: 199, MedianSeconds: 44.02, LongestSeconds: 44.04, Never: 199}}}
	fenced := comparedLock("fenced", 1, "ok", "seal", "?", "claim!")
	fenced.ForWhom, fenced.Tokens = "Data that must stay right, in a store that compares tokens.", true
	fenced.Crowd = &comparisons.Crowd{Waits: 55, MedianSeconds: 0.25, LongestSeconds: 0.3}
	redlock := comparedLock("redlock-watchdog", 5, "?", "stuck", "?", "ok")
	redlock.Trips.Renew, redlock.Trips.Unasked = &comparisons.Trip{RoundTrips: 2, Messages: 10}, true
	redlock.Availability = &comparisons.Availability{UsualSeconds: 0.3, Troubles: []comparisons.NotToBeHad{
		{Trouble: comparisons.MemberLost, Runs: 50, MedianSeconds: 0.04, LongestSeconds: 9, Never: 1},
		{Trouble: comparisons.HolderCrashes, Runs: 50, MedianSeconds: 0.2, LongestSeconds: 0.3}}}
	return &comparisons.Comparison{Seeds: outcome.Seeds{First: 1, Last: 1}, Classes: comparedClasses,
		Locks: []comparisons.Lock{single, fenced, redlock}}
}

// WideComparison has a user's lock on servers of two kinds, with a long name that has
// an escape sequence, and more locks than fit side by side.
func WideComparison() *comparisons.Comparison {
	c := Comparison()
	theirs := comparedLock("an-extraordinarily-long-name\x1b[2J", 3, "claim", "check!", "?", "strict*!")
	theirs.Servers = append(theirs.Servers, comparisons.Servers{Kind: "register", Count: 2})
	theirs.ForWhom = "Tests of *markup*, of the end | of a cell\nand of <tags>."
	c.Locks = append(c.Locks, theirs)
	for _, name := range []string{"a", "b", "c"} {
		c.Locks = append(c.Locks, comparedLock("lock-"+name, 1, "ok", "ok", "?", "ok"))
	}
	return c
}
