package reports

import (
	"cmp"
	"fmt"
	"slices"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/sim/trace"
)

// bar is a stretch of time in which somebody has, wants or believes something.
type bar struct {
	stretch
	Kind   string // wait, belief, claim, hold
	Hue    int    // of the client that it belongs to
	Text   string // inside the bar, where there is room
	Says   string // the whole, for a tooltip and a screen reader
	Y, H   int
	TextY  int
	Client string
}

// Fits says that the text has room inside the bar.
func (b bar) Fits() bool { return b.wide >= textRoom(b.Text)-140 }

// hues are how many colours tell clients apart; names do in any case.
const hues = 6

// bars are the waits, claims and beliefs of the clients, and who had the lock by
// the nodes' own record.
func (d *drawing) bars() []bar {
	var out []bar
	h := d.run.History
	for _, g := range h.Grants {
		if d.lanes[g.Client] != nil {
			out = append(out, d.wait(g.Client, g.Invoked, g.Granted, "waits for the lock"), d.belief(g), d.claim(g))
		}
	}
	for _, a := range h.Attempts {
		if d.lanes[a.Client] != nil {
			out = append(out, d.wait(a.Client, a.Invoked, a.Returned, "asks for the lock in vain"))
		}
	}
	if from, to := d.probed(); d.run.Barred && to > from {
		out = append(out, d.wait(prober, from, to, "asks for the lock in vain, with nobody else there"))
	}
	if l := d.lanes[recordName]; l != nil {
		for _, s := range h.Holdings {
			out = append(out, d.holding(l, s))
		}
	}
	slices.SortStableFunc(out, func(a, b bar) int { return a.N - b.N })
	return out
}

// probed are the first and the last event of the probe, where it has a lane.
func (d *drawing) probed() (from, to checker.Pos) {
	for _, e := range d.run.Trace.Events {
		if e.Actor == prober && d.lanes[prober] != nil {
			from, to = cmp.Or(from, checker.Pos(e.N)), checker.Pos(e.N)
		}
	}
	return from, to
}

// bar draws an interval of the trace on a lane.
func (d *drawing) bar(l *lane, i checker.Interval, kind, client string, height int) bar {
	b := bar{Kind: kind, Client: client, Hue: d.hue(client), Y: l.middle() - height/2, H: height, TextY: l.middle() + 4}
	b.stretch = d.scale.place(stretch{N: int(i.Start), M: int(i.End), T0: d.at(i.Start), T1: d.at(i.End), Lane: l.Name})
	return b
}

func (d *drawing) wait(client string, from, to checker.Pos, what string) bar {
	b := d.bar(d.lanes[client], checker.Interval{Start: from, End: to}, "wait", client, 4)
	b.Says = fmt.Sprintf("%s %s, %s", client, what, during(b.stretch))
	return b
}

func (d *drawing) claim(g checker.Grant) bar {
	i := g.Claim()
	b := d.bar(d.lanes[g.Client], i, "claim", g.Client, 16)
	b.Text = grantText(g)
	b.Says = fmt.Sprintf("%s has a claim%s, %s, until %s", g.Client, tokenOf(g), during(b.stretch), endedBy(i))
	return b
}

func (d *drawing) belief(g checker.Grant) bar {
	i := g.Belief(d.run.History.Care)
	b := d.bar(d.lanes[g.Client], i, "belief", g.Client, 24)
	b.Says = fmt.Sprintf("%s believes that it holds the lock%s, %s, until %s", g.Client, tokenOf(g), during(b.stretch), endedBy(i))
	return b
}

func (d *drawing) holding(l *lane, s checker.Holding) bar {
	b := d.bar(l, s.Span(), "hold", s.Client, 16)
	b.Text = s.Client
	b.Says = fmt.Sprintf("by the record of the nodes %s has the lock, %s", s.Client, during(b.stretch))
	if s.To > 0 {
		b.Says += ", until " + endOfHolding(d.run.Trace.Events[s.To-1])
	}
	return b
}

func endOfHolding(e trace.Event) string {
	switch e.What.(type) {
	case trace.Expire:
		return "the key expired on " + e.Actor
	case trace.Exec:
		return e.Actor + " did a command of " + e.Peer
	}
	return fmt.Sprintf("%s: %s %s", e.Kind(), e.Peer, e.Text())
}

func (d *drawing) hue(client string) int { return max(slices.Index(d.clients, client), 0) % hues }

func grantText(g checker.Grant) string {
	if g.Token == 0 {
		return "holds"
	}
	return fmt.Sprintf("token %d", g.Token)
}

func tokenOf(g checker.Grant) string {
	if g.Token == 0 {
		return ""
	}
	return fmt.Sprintf(" with token %d", g.Token)
}

func during(s stretch) string {
	return fmt.Sprintf("from %s to %s", prose.Seconds(s.T0), prose.Seconds(s.T1))
}

func endedBy(i checker.Interval) string {
	if i.End == 0 {
		return "the run ended"
	}
	return i.Ended
}
