package checker

import (
	"testing"
	"time"
)

// The instant of position n is n seconds. c0 is granted the lock at 2 s and has its key until 20 s, unless the case
// says otherwise, and releases at 50 s. The lock says that its holder learns of a loss within 5 s, and a call takes 1
// s.
func TestNoticedLate(t *testing.T) {
	away := func(spans ...int) (all []Absence) {
		for i := 0; i < len(spans); i += 2 {
			all = append(all, Absence{Span: Span{time.Duration(spans[i]) * time.Second,
				time.Duration(spans[i+1]) * time.Second}})
		}
		return all
	}
	key := func(client string, from, to Pos) Holding {
		return Holding{Client: client, Resource: "orders", From: from, To: to}
	}
	lost := []Holding{key("c0", 2, 20)}
	whole := held(1, "c0", 2, 50)
	for _, c := range []struct {
		name    string
		grants  []Grant
		record  []Holding
		away    []Absence
		change  func(h *History)
		seconds float64
		breach  bool
	}{
		{name: "released late", grants: []Grant{whole}, record: lost, seconds: 30, breach: true},
		{name: "released with its key", grants: []Grant{whole}, record: []Holding{key("c0", 1, 52)}},
		{name: "its key stays", grants: []Grant{whole}, record: []Holding{key("c0", 2, 0)}},
		{name: "its key ends in the instant of its release", grants: []Grant{whole}, record: []Holding{key("c0", 1, 50)}},
		{name: "told at once", grants: []Grant{whole.lost(20, 30)}, record: lost},
		{name: "told before", grants: []Grant{whole.lost(19, 30)}, record: lost},
		{name: "told within the bound", grants: []Grant{whole.lost(25, 40)}, record: lost, seconds: 5},
		{name: "told within the bound and two round trips", grants: []Grant{whole.lost(27, 40)}, record: lost, seconds: 7},
		{name: "told later", grants: []Grant{whole.lost(28, 0)}, record: lost, seconds: 8, breach: true},
		{name: "told and not looked at", grants: []Grant{whole.lost(24, 0)}, record: lost, seconds: 4},
		{name: "its lease ended", grants: []Grant{whole.until(23, 0)}, record: lost, seconds: 3},
		{name: "its client crashed", grants: []Grant{held(1, "c0", 2, 0).crashed(24)}, record: lost, seconds: 4},
		{name: "never over", grants: []Grant{held(1, "c0", 2, 0)}, record: lost},
		{name: "doubted", grants: []Grant{func() Grant { g := whole; g.Doubted = 21; return g }()}, record: lost, seconds: 30,
			breach: true},
		{name: "lost before the grant", grants: []Grant{whole}, record: []Holding{key("c0", 1, 2)}},
		{name: "not in the record", grants: []Grant{whole}, record: []Holding{key("c1", 1, 20)}},
		{name: "another key of the client", grants: []Grant{whole}, record: []Holding{key("c0", 3, 20)}},
		{name: "it has the key again", grants: []Grant{whole}, record: []Holding{key("c0", 2, 20), key("c0", 23, 40)},
			seconds: 3},
		{name: "it had a key before", grants: []Grant{held(1, "c0", 10, 50)},
			record: []Holding{key("c0", 2, 5), key("c0", 9, 20)}, seconds: 30, breach: true},
		{name: "another client has the key", grants: []Grant{whole}, record: []Holding{key("c0", 2, 20), key("c1", 23, 40)},
			seconds: 30, breach: true},

		{name: "paused, and told in time", grants: []Grant{whole.lost(47, 47)}, record: lost, away: away(18, 45), seconds: 2},
		{name: "paused, and told late", grants: []Grant{whole}, record: lost, away: away(18, 40), seconds: 10, breach: true},
		{name: "paused now and then", grants: []Grant{whole}, record: lost, away: away(18, 22, 26, 30, 36, 47), seconds: 6},
		{name: "another client was paused", grants: []Grant{whole}, record: lost, seconds: 30, breach: true,
			change: func(h *History) { h.Timing.Away["c1"] = away(18, 50) }},

		{name: "servers lost keys", grants: []Grant{whole}, record: lost, seconds: 30,
			change: func(h *History) { h.Timing.Steady = false }},
		{name: "a slow network", grants: []Grant{whole}, record: lost, seconds: 30,
			change: func(h *History) { h.Timing.Prompt = false }},
		{name: "no bound", grants: []Grant{whole}, record: lost, seconds: 30, change: func(h *History) { h.Detection = 0 }},
		{name: "no timing", grants: []Grant{whole}, record: lost, change: func(h *History) { h.Timing = nil }},

		{name: "without a record, by another grant", grants: []Grant{whole, held(2, "c1", 30, 40)}, seconds: 20},
		{name: "without a record, by the first of two", grants: []Grant{whole, held(3, "c2", 35, 37), held(2, "c1", 30, 32)},
			seconds: 20},
		{name: "without a record, told", grants: []Grant{whole.lost(33, 0), held(2, "c1", 30, 40)}, seconds: 3},
		{name: "without a record, by a late grant", grants: []Grant{whole, held(2, "c1", 30, 40).until(29, 0)}},
		{name: "without a record, by one of its own", grants: []Grant{whole, held(2, "c0", 30, 40)}},
		{name: "without a record, on another resource", grants: []Grant{whole, held(2, "c1", 30, 40).of("stock")}},
		{name: "with the record of another resource", grants: []Grant{whole, held(2, "c1", 30, 40)}, seconds: 20,
			record: []Holding{{Client: "c0", Resource: "stock", From: 2, To: 20}}},
		{name: "several keys", grants: []Grant{whole}, record: lost, change: func(h *History) { h.ManyKeys = true }},
		{name: "several keys, and another grant", grants: []Grant{whole, held(2, "c1", 30, 40)}, record: lost, seconds: 20,
			change: func(h *History) { h.ManyKeys = true }},
		{name: "its key ended between two steps", grants: []Grant{whole},
			record:  []Holding{{Client: "c0", Resource: "orders", From: 2, To: 50, Ended: 20 * time.Second}},
			seconds: 30, breach: true},
		{name: "the longest of two", grants: []Grant{held(1, "c0", 2, 23), held(2, "c0", 30, 39)}, seconds: 4,
			record: []Holding{key("c0", 2, 20), key("c0", 29, 35)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := story("", c.grants)
			h.Holdings, h.Detection = c.record, 5*time.Second
			h.Timing = &Timing{Away: map[string][]Absence{"c0": c.away}, Trips: time.Second, Grace: time.Hour, Steady: true,
				Prompt: true}
			for n := range 60 {
				h.Timing.At = append(h.Timing.At, time.Duration(n+1)*time.Second)
			}
			if c.change != nil {
				c.change(&h)
			}
			v := mustJudge(t, h, nil)
			if v.Facts.NoticedLateSeconds != c.seconds || (v.Facts.Misconduct == 1) != c.breach ||
				(v.Label == Misconduct) != c.breach {
				t.Errorf("%v s, misconduct %d, label %s, want %v s and a breach: %v\n%v",
					v.Facts.NoticedLateSeconds, v.Facts.Misconduct, v.Label, c.seconds, c.breach, v.Reasons)
			}
		})
	}
}
