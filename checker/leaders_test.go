package checker

import (
	"fmt"
	"testing"
	"time"
)

// The instant of position n is n seconds. c0 leads from 2 s on and c1 later, and each acts by writes on which the store
// decides at the positions of the case.
func TestLeaders(t *testing.T) {
	sec := func(from, to int) Span {
		return Span{time.Duration(from) * time.Second, time.Duration(to) * time.Second}
	}
	writes := func(g Grant, at ...Pos) (ops []Op) {
		for _, p := range at {
			ops = append(ops, g.write(fmt.Sprint(g.ID, ".", p), p-1, ""))
		}
		return ops
	}
	record := func(spans ...Pos) (all []Holding) {
		for i := 0; i < len(spans); i += 2 {
			all = append(all, Holding{Client: "c0", Resource: "orders", From: spans[i], To: spans[i+1]})
		}
		return all
	}
	first, second := held(1, "c0", 2, 20), held(2, "c1", 22, 40).asked(5)
	stays := held(1, "c0", 2, 0)
	for _, c := range []struct {
		name   string
		grants []Grant
		acts   [][]Pos
		change func(h *History)

		pairs                       int
		together, after, leaderless float64
		overdue                     int
	}{
		{name: "one after the other", grants: []Grant{first, second}, acts: [][]Pos{{3, 10, 19}, {23, 30}}, leaderless: 2},
		{name: "the old one acts once more", grants: []Grant{held(1, "c0", 2, 33).until(21, 0), second},
			acts:  [][]Pos{{3, 25}, {23, 30}},
			pairs: 1, together: 2, after: 3, leaderless: 1},
		{name: "it acts between two acts of its successor, and never before",
			grants: []Grant{held(1, "c0", 2, 39).until(21, 0), second},
			acts:   [][]Pos{{27}, {23, 30}}, pairs: 1, after: 5, leaderless: 1},
		{name: "it acts before those of its successor", grants: []Grant{held(1, "c0", 2, 39).until(21, 0), second},
			acts:  [][]Pos{{3, 24}, {26, 30}},
			after: 2, leaderless: 1},
		{name: "one does nothing", grants: []Grant{held(1, "c0", 2, 39).until(21, 0), second}, acts: [][]Pos{nil, {26, 30}},
			leaderless: 1},
		{name: "on two resources", grants: []Grant{held(1, "c0", 2, 39).of("stock"), second},
			acts: [][]Pos{{3, 25}, {23, 30}}, leaderless: 17, overdue: 1},
		{name: "two entries of one client", grants: []Grant{held(1, "c0", 2, 39), held(2, "c0", 22, 30).asked(21)},
			acts: [][]Pos{{3, 31}, {23, 28}}, leaderless: 1,
			change: func(h *History) { h.Entry = EntryReentrant }},
		{name: "two grants of one client", grants: []Grant{held(1, "c0", 2, 39), held(2, "c0", 22, 30).asked(21)},
			acts:  [][]Pos{{3, 31}, {23, 28}},
			pairs: 1, together: 5, leaderless: 1},
		{name: "three at once", grants: []Grant{held(1, "c0", 2, 39), held(2, "c1", 22, 38).asked(21),
			held(3, "c2", 24, 37).asked(21)},
			acts: [][]Pos{{3, 31}, {23, 29}, {26, 33}}, pairs: 3, together: 8, after: 9, leaderless: 1},
		{name: "paused between the call of a write and what it sends", grants: []Grant{held(1, "c0", 2, 33).until(21, 0),
			second},
			acts: [][]Pos{{3, 25}, {23, 30}}, pairs: 1, together: 2, after: 3, leaderless: 1,
			change: func(h *History) { h.Ops[1].Invoked = 5 }},
		{name: "its write never arrived", grants: []Grant{held(1, "c0", 2, 33).until(21, 0), second},
			acts:  [][]Pos{{3, 25}, {23, 30}},
			pairs: 1, together: 1, after: 2, leaderless: 1, change: func(h *History) { h.Ops[1] = h.Ops[1].unanswered(0) }},
		{name: "no leaders", grants: []Grant{held(1, "c0", 2, 33).until(21, 0), second}, acts: [][]Pos{{3, 25}, {23, 30}},
			change: func(h *History) { h.Leads = false }},
		{name: "no timing", grants: []Grant{held(1, "c0", 2, 33).until(21, 0), second}, acts: [][]Pos{{3, 25}, {23, 30}},
			pairs:  1,
			change: func(h *History) { h.Timing = nil }},

		{name: "its key ended", grants: []Grant{first.asked(1)}, acts: [][]Pos{{3, 18}}, after: 8, leaderless: 1,
			change: func(h *History) { h.Holdings = record(2, 10) }},
		{name: "it has its key again", grants: []Grant{first.asked(1)}, acts: [][]Pos{{3, 12, 18}}, after: 2, leaderless: 1,
			change: func(h *History) { h.Holdings = record(2, 10, 14, 20) }},
		{name: "its key ended between two steps", grants: []Grant{first.asked(1)}, acts: [][]Pos{{3, 18}}, after: 10,
			leaderless: 1,
			change: func(h *History) {
				h.Holdings = record(2, 10)
				h.Holdings[0].Ended = 8 * time.Second
			}},
		{name: "it never acted after that", grants: []Grant{first.asked(1)}, acts: [][]Pos{{3, 9}}, leaderless: 1,
			change: func(h *History) { h.Holdings = record(2, 10) }},
		{name: "its key stays", grants: []Grant{first.asked(1)}, acts: [][]Pos{{3, 18}}, leaderless: 1,
			change: func(h *History) { h.Holdings = record(2, 0) }},

		{name: "the leader is paused", grants: []Grant{held(1, "c0", 2, 30).until(20, 0), second}, leaderless: 12,
			change: func(h *History) { h.Timing.Away["c0"] = []Absence{{Span: sec(10, 28)}} }},
		{name: "the leader is cut off, and goes on", grants: []Grant{held(1, "c0", 2, 30).until(20, 0), second},
			leaderless: 2,
			change:     func(h *History) { h.Timing.Away["c0"] = []Absence{{Span: sec(10, 28), Running: true}} }},
		{name: "the one that campaigns is paused", grants: []Grant{first, second}, leaderless: 1,
			change: func(h *History) { h.Timing.Away["c1"] = []Absence{{Span: sec(4, 21)}} }},
		{name: "the leader crashed", grants: []Grant{stays.crashed(9), second}, leaderless: 13, overdue: 1},
		{name: "and another one campaigned before", grants: []Grant{stays.crashed(9), second.asked(13)}, leaderless: 13,
			change: func(h *History) {
				h.Attempts = []Attempt{{Client: "c2", Resource: "orders", Invoked: 3, Returned: 14, Outcome: OutcomeFailed}}
			}},
		{name: "the context of one ended", grants: []Grant{stays.crashed(9)}, leaderless: 6,
			change: func(h *History) {
				h.Attempts = []Attempt{{Client: "c2", Resource: "orders", Invoked: 3, Returned: 50, ContextEnded: 15 * time.Second,
					Outcome: OutcomeFailed}}
			}},
		{name: "a void grant", grants: []Grant{stays.crashed(9), held(3, "c2", 12, 14).asked(11).until(11, 0), second},
			leaderless: 13},
		{name: "the release took long",
			grants:     []Grant{func() Grant { g := held(1, "c0", 2, 9); g.ReleaseReturned = 18; return g }(), second},
			leaderless: 13},
		{name: "servers lost keys", grants: []Grant{stays.crashed(9), second}, leaderless: 13,
			change: func(h *History) { h.Timing.Steady = false }},
		{name: "no promise", grants: []Grant{stays.crashed(9), second}, leaderless: 13,
			change: func(h *History) { h.Timing.Leaderless = 0 }},
		{name: "as long as promised", grants: []Grant{stays.crashed(9), second}, leaderless: 13,
			change: func(h *History) { h.Timing.Leaderless = 12 * time.Second }},
	} {
		t.Run(c.name, func(t *testing.T) {
			var ops []Op
			for i, at := range c.acts {
				ops = append(ops, writes(c.grants[i], at...)...)
			}
			h := story("", c.grants, ops...)
			for _, g := range c.grants {
				h.Final[Cell{Resource: g.Resource}] = ""
			}
			h.Leads = true
			h.Timing = &Timing{Away: map[string][]Absence{}, Grace: time.Second, Steady: true, Leaderless: 10 * time.Second}
			for n := range 60 {
				h.Timing.At = append(h.Timing.At, time.Duration(n+1)*time.Second)
			}
			if c.change != nil {
				c.change(&h)
			}
			f := mustJudge(t, h, nil).Facts
			if f.ActedAtOnce != c.pairs || f.ActedAtOnceSeconds != c.together || f.ActedAfterLossSeconds != c.after ||
				f.LeaderlessSeconds != c.leaderless || f.LeaderlessOverdue != c.overdue {
				t.Errorf("%d pairs for %v s, %v s after the loss, %v s without a leader, %d overdue; want %d, %v, %v, %v, %d",
					f.ActedAtOnce, f.ActedAtOnceSeconds, f.ActedAfterLossSeconds, f.LeaderlessSeconds, f.LeaderlessOverdue,
					c.pairs, c.together, c.after, c.leaderless, c.overdue)
			}
		})
	}
}

// Leaders that act at once make a run an overlap, also where none of them believes that it leads, and a time without a
// leader that is too long makes it stuck.
func TestLabelsOfLeaders(t *testing.T) {
	for want, f := range map[Label]Facts{Overlap: {ActedAtOnce: 1}, Stuck: {LeaderlessOverdue: 1},
		Safe: {LeaderlessSeconds: 9, ActedAfterLossSeconds: 9}} {
		if f.Liveness, f.Grants = LivenessOK, 1; labelOf(&f, nil, false) != want {
			t.Errorf("%+v: %s, want %s", f, labelOf(&f, nil, false), want)
		}
	}
}
