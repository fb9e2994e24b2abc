package scene

import (
	"cmp"
	"fmt"
	"slices"

	"locksim/checker"
	"locksim/sim/trace"
)

// Period is a span of time in which a client waits for the lock, claims it, believes
// that it holds it, or has it by the servers' own record.
type Period struct {
	Span
	Kind        PeriodKind
	Client      string
	Token       uint64 // the fencing token of a claim, 0 for none
	Text        string // short, "" for none
	Description string // a phrase with the client and the time
}

// PeriodKind is the kind of a period.
type PeriodKind string

// The kinds of periods.
const (
	Wait   PeriodKind = "wait"
	Belief PeriodKind = "belief" // the client acts as holder
	Claim  PeriodKind = "claim"  // the lock promises that the client alone holds it
	Hold   PeriodKind = "hold"   // the client has the lock by the servers' own record
)

// Periods are the periods of the clients in the order in which they begin.
func (s *Scene) Periods() []Period {
	var out []Period
	h := s.Run.History
	for _, g := range h.Grants {
		if s.LaneKind(g.Client) != "" {
			out = append(out, s.wait(g.Client, g.Invoked, g.Granted, "waits for the lock"), s.belief(g), s.claim(g))
		}
	}
	for _, a := range h.Attempts {
		if s.LaneKind(a.Client) != "" {
			out = append(out, s.wait(a.Client, a.Invoked, a.Returned, "asks for the lock in vain"))
		}
	}
	if from, to := s.probed(); s.Run.Barred && to > from {
		out = append(out, s.wait(trace.Probe, from, to, "asks for the lock in vain, with nobody else there"))
	}
	for _, holding := range h.Holdings {
		out = append(out, s.holding(holding))
	}
	slices.SortStableFunc(out, func(a, b Period) int { return a.Step - b.Step })
	return out
}

// probed is the first and the last event of the probe, where it has a lane.
func (s *Scene) probed() (from, to checker.Pos) {
	for _, e := range s.Run.Trace.Events {
		if e.Actor == trace.Probe && s.LaneKind(trace.Probe) != "" {
			from, to = cmp.Or(from, checker.Pos(e.N)), checker.Pos(e.N)
		}
	}
	return from, to
}

// span is an interval of the trace as a span on a lane.
func (s *Scene) span(lane string, i checker.Interval) Span {
	return Span{Step: int(i.Start), Until: int(i.End), Start: s.At(i.Start), End: s.At(i.End), Lane: lane}
}

func (s *Scene) wait(client string, from, to checker.Pos, what string) Period {
	p := Period{Span: s.span(client, checker.Interval{Start: from, End: to}), Kind: Wait, Client: client}
	p.Description = fmt.Sprintf("%s %s, %s", client, what, p.during())
	return p
}

func (s *Scene) claim(g checker.Grant) Period {
	i := g.Claim()
	p := Period{Span: s.span(g.Client, i), Kind: Claim, Client: g.Client, Token: g.Token, Text: "holds"}
	if g.Token != 0 {
		p.Text = fmt.Sprintf("token %d", g.Token)
	}
	p.Description = fmt.Sprintf("%s has a claim%s, %s, until %s", g.Client, withToken(g), p.during(), endOf(i))
	return p
}

func (s *Scene) belief(g checker.Grant) Period {
	i := g.Belief(s.Run.History.Care)
	p := Period{Span: s.span(g.Client, i), Kind: Belief, Client: g.Client}
	p.Description = fmt.Sprintf("%s believes that it holds the lock%s, %s, until %s", g.Client, withToken(g), p.during(),
		endOf(i))
	return p
}

func withToken(g checker.Grant) string {
	if g.Token == 0 {
		return ""
	}
	return fmt.Sprintf(" with token %d", g.Token)
}

// endOf is the reason for which a claim or a belief ended.
func endOf(i checker.Interval) string {
	if i.End == 0 {
		return "the run ended"
	}
	return i.Ended
}

func (s *Scene) holding(h checker.Holding) Period {
	p := Period{Span: s.span(RecordLane, h.Span()), Kind: Hold, Client: h.Client, Text: h.Client}
	p.Description = fmt.Sprintf("by the record of the nodes %s has the lock, %s", h.Client, p.during())
	if h.To == 0 {
		return p
	}
	switch e := s.Run.Trace.Events[h.To-1]; e.What.(type) {
	case trace.Expire:
		p.Description += ", until the key expired on " + e.Actor
	case trace.Exec:
		p.Description += ", until " + e.Actor + " did a command of " + e.Peer
	default:
		p.Description += fmt.Sprintf(", until %s: %s %s", e.Kind(), e.Peer, e.Text())
	}
	return p
}
