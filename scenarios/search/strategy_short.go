package search

import "locksim/scenarios/spaces"

// shorts draws two or three clients with one or two rounds, and faults at the seams of what they do. Such a run has a
// quarter of the events of another one, and shows most mistakes as well.
var shorts = strategy{draw: func(d *drawer) {
	d.shorten()
	d.manner = seams
	swarms.draw(d)
}}

// shorten makes the ranges of clients and rounds smaller, unless the space leaves no choice.
func (d *drawer) shorten() {
	s := &d.space
	if s.Clients.Max > s.Clients.Min {
		s.Clients = spaces.Span{Min: s.Clients.Min, Max: s.Clients.Min + 1}
	}
	if s.Rounds.Max > s.Rounds.Min {
		s.Rounds = spaces.Span{Min: s.Rounds.Min, Max: s.Rounds.Min + 1}
	}
	if d.usualRounds {
		s.Rounds = spaces.Span{Min: 1, Max: 2}
	}
	s.MaxFaults = min(s.MaxFaults, 3)
}
