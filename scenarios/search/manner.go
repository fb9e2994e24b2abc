package search

import (
	"slices"

	"locksim/scenarios/spaces"
)

// manner has the numbers by which a strategy draws. A list is drawn from evenly, the first being the simplest.
type manner struct {
	spells   []int // lengths of faults, and delays, in hundredths of the TTL
	delays   []int // of a trouble after its event, likewise
	holds    []int // lengths of sections, likewise
	thinks   []int // lengths between two sections, likewise
	backoffs []int // the shortest time between two attempts, likewise
	skew     int   // one scenario of so many has servers whose wall clocks disagree with those of the clients
	times    int   // so many troubles strike at an event for each that strikes at a time
	nodes    []int // the numbers of nodes that are drawn of those that a space allows; none for all
	corners  bool  // the TTL is mostly the shortest or the longest
	tilts    bool  // the clocks are as far apart as they may be, in every second schedule
	kinds    int   // the most kinds of trouble of a schedule; 0 for weights that leave out half of them
}

// broad is the manner of the swarm.
var broad = manner{
	spells:   []int{110, 10, 50, 90, 100, 150, 300},
	delays:   []int{0, 0, 1, 20, 100},
	holds:    []int{25, 10, 50, 90, 150},
	thinks:   []int{10, 1, 50},
	backoffs: []int{5, 10, 2},
	skew:     6,
	times:    1,
}

// seams is a manner that draws lengths and instants where something of a lock ends, and few kinds of trouble, mostly at
// what a client does.
var seams = manner{
	spells:   []int{101, 10, 50, 90, 95, 99, 100, 110, 150, 300},
	delays:   []int{0, 0, 0, 1, 20, 80, 95, 99, 100},
	holds:    []int{25, 10, 50, 90, 99, 110, 150},
	thinks:   []int{10, 1},
	backoffs: []int{5, 10, 2},
	nodes:    []int{4, 6, 2, 7}, // an even number is where a majority is rounded wrongly
	skew:     3,
	times:    3,
	kinds:    2,
}

// nodesWithin are the numbers of nodes that the manner draws within a span.
func (m manner) nodesWithin(s spaces.Span) []int {
	return slices.DeleteFunc(slices.Clone(m.nodes), func(n int) bool { return n < s.Min || n > s.Max })
}
