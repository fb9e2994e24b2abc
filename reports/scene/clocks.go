package scene

import (
	"time"

	"locksim/internal/prose"
	"locksim/sim/trace"
)

// KindClock is the kind of a [Fault] that [Scene.Clocks] returns.
const KindClock = "clock"

// Clocks are the spans in which the own clock of a client or a server differs from the time of
// the run, or comes to differ, as strips on its lane: what faults that set a clock or change its
// rate have left.
func (s *Scene) Clocks() []Fault {
	type own struct {
		step  int
		since time.Duration
		ahead time.Duration
		ppm   int64
	}
	clocks := map[string]own{}
	var names []string // in the order of their first faults
	var out []Fault
	until := func(name string, step int, at time.Duration) time.Duration {
		c := clocks[name]
		after := c.ahead + (at-c.since)/1000*time.Duration(c.ppm)/1000
		if at > c.since && (c.ahead != 0 || c.ppm != 0) {
			text := "own clock " + signed(after)
			if c.ppm != 0 {
				text = "own clock " + signed(c.ahead) + " to " + signed(after)
			}
			p := Span{Step: c.step, Until: step, Start: c.since, End: at, Lane: name}
			out = append(out, Fault{Span: p, Kind: KindClock, Text: text, Description: name + ": " + text + ", " + p.during()})
		}
		return after
	}
	for _, e := range s.Run.Trace.Events {
		jump, jumps := e.What.(trace.ClockJump)
		drift, drifts := e.What.(trace.ClockDrift)
		if !jumps && !drifts || s.LaneKind(e.Peer) == "" {
			continue
		}
		c, known := clocks[e.Peer]
		if !known {
			names = append(names, e.Peer)
		}
		at := min(e.At, s.End)
		c.ahead = until(e.Peer, e.N, at) + jump.By
		if drifts {
			c.ppm = drift.PPM
		}
		c.step, c.since = e.N, at
		clocks[e.Peer] = c
	}
	for _, name := range names {
		until(name, 0, s.End)
	}
	return out
}

// signed is a difference with its sign, in seconds.
func signed(d time.Duration) string {
	if d < 0 {
		return "−" + prose.Seconds(-d)
	}
	return "+" + prose.Seconds(d)
}
