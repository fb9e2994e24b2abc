package checker

import (
	"strings"
	"testing"
	"time"
)

func TestVoidGrants(t *testing.T) {
	expired := func(g Grant) Grant { g.ExpiredAtCall = true; return g }
	known := func(g Grant) Grant { g.LostBefore = true; return g }
	calm := func(h History) History { h.Calm = true; return h }
	late := held(1, "c0", 6, 30).until(4, 0)
	for _, c := range []struct {
		name       string
		h          History
		late, void int
		says       string
	}{
		{name: "right", h: calm(story("", []Grant{held(1, "c0", 2, 12).until(30, 0)}))},
		{name: "held until told", h: calm(story("", []Grant{held(1, "c0", 2, 12)}))},
		{name: "an answer that was late under a fault", h: story("", []Grant{late}), late: 1},
		{name: "an answer that was late without one", h: calm(story("", []Grant{late})), late: 1, void: 1,
			says: "was over by then, since its validity ended"},
		{name: "lost at once", h: calm(story("", []Grant{held(1, "c0", 6, 30).lost(6, 0)})), late: 1, void: 1,
			says: "was over by then, since the lock announced the loss"},
		{name: "expired at the call, under a fault", h: story("", []Grant{expired(late)}), late: 1, void: 1,
			says: "had ended before it called Acquire at step 5"},
		{name: "known to be lost", h: story("", []Grant{known(held(1, "c0", 6, 30).lost(6, 0))}), late: 1, void: 1,
			says: "with a lease that the lock knew to be lost by then"},
		{name: "lost in the instant of the return", h: story("", []Grant{held(1, "c0", 6, 30).lost(6, 0)}), late: 1},
		{name: "a lease that is too short", h: calm(story("", []Grant{held(1, "c0", 2, 12).until(3, 0)})), void: 1,
			says: "ended at step 3, when its validity ended, although nothing had gone wrong"},
		{name: "a lease that is too short, under a fault", h: story("", []Grant{held(1, "c0", 2, 12).until(3, 0)})},
		{name: "lost early", h: calm(story("", []Grant{held(1, "c0", 2, 12).lost(5, 6)})), void: 1,
			says: "ended at step 5, when the lock announced the loss"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := mustJudge(t, c.h, nil)
			if v.Facts.LateGrants != c.late || v.Facts.VoidGrants != c.void {
				t.Errorf("late %d, void %d, want %d and %d", v.Facts.LateGrants, v.Facts.VoidGrants, c.late, c.void)
			}
			if want := c.void > 0; (v.Label == Void) != want || !strings.Contains(v.Reasons[0].Text, c.says) {
				t.Errorf("label %s: %s", v.Label, v.Reasons[0].Text)
			}
		})
	}
}

// c0 asks for the lock at step 10, and gives up or is refused at step 20.
func TestDenied(t *testing.T) {
	refused := Attempt{Client: "c0", Resource: "orders", Invoked: 10, Returned: 20, Outcome: OutcomeFailed}
	for _, c := range []struct {
		name     string
		grants   []Grant
		attempts []Attempt
		faults   bool
		ended    bool // the context of the Acquire had ended
		want     int
	}{
		{name: "free", want: 1},
		{name: "free, and its own context ended", ended: true},
		{name: "free, under a fault", faults: true},
		{name: "free again", grants: []Grant{held(1, "c1", 2, 5)}, want: 1},
		{name: "held by another", grants: []Grant{held(1, "c1", 2, 30)}},
		{name: "granted to another meanwhile", grants: []Grant{held(1, "c1", 15, 30)}},
		{name: "not yet released by another", grants: []Grant{held(1, "c1", 2, 10)}},
		{name: "held by itself", grants: []Grant{held(1, "c0", 2, 30)}, want: 1},
		{name: "another resource held by another", grants: []Grant{held(1, "c1", 2, 30).of("stock")}, want: 1},
		{name: "asked for by another",
			attempts: []Attempt{{Client: "c1", Resource: "orders", Invoked: 12, Outcome: OutcomeUnknown}}},
		{name: "asked for by another before", attempts: []Attempt{{Client: "c1", Resource: "orders", Invoked: 2, Returned: 4,
			Outcome: OutcomeFailed}}, want: 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, refused := story("", c.grants), refused
			if c.ended {
				refused.ContextEnded = 1
			}
			h.Calm, h.Attempts = !c.faults, append(c.attempts, refused)
			v := mustJudge(t, h, nil)
			if v.Facts.Denied != c.want || (v.Label == Stuck) != (c.want > 0) {
				t.Errorf("%d denied, label %s, want %d", v.Facts.Denied, v.Label, c.want)
			}
		})
	}
}

func TestRevivedClaims(t *testing.T) {
	revived := func(g Grant, at Pos) Grant { g.Revived = at; return g }
	first := held(1, "c0", 2, 50).until(10, 0)
	for _, c := range []struct {
		name   string
		grants []Grant
		want   int
	}{
		{"after another grant", []Grant{revived(first, 30), held(2, "c1", 20, 25)}, 1},
		{"after two other grants", []Grant{revived(first, 40), held(2, "c1", 20, 25), held(3, "c2", 30, 35)}, 1},
		{"before another grant", []Grant{revived(first, 15), held(2, "c1", 60, 65)}, 0},
		{"after another grant that had begun before the end", []Grant{revived(first, 30), held(2, "c1", 5, 8)}, 0},
		{"without another grant", []Grant{revived(first, 30)}, 0},
		{"another grant that was late", []Grant{revived(first, 30), held(2, "c1", 20, 25).until(18, 0)}, 0},
		{"another resource", []Grant{revived(first, 30), held(2, "c1", 20, 25).of("stock")}, 0},
		{"never revived", []Grant{first, held(2, "c1", 20, 25)}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := mustJudge(t, story("", c.grants), nil)
			if v.Facts.RevivedClaims != c.want || (v.Label == Revived) != (c.want > 0) {
				t.Errorf("%d revived, label %s, want %d", v.Facts.RevivedClaims, v.Label, c.want)
			}
		})
	}
}

// The instant of position n is n seconds, and the detection bound is five seconds. c1 is
// granted the lock at 20 s.
func TestHeldUntilTold(t *testing.T) {
	away := func(from, to int) map[string][]Absence {
		return map[string][]Absence{"c0": {{Span: Span{time.Duration(from) * time.Second, time.Duration(to) * time.Second}}}}
	}
	by := func(client string, at, until int) []Taking {
		return []Taking{{Client: "c0", Resource: "orders", By: client, At: Pos(at),
			Taken: time.Duration(at) * time.Second, Until: time.Duration(until) * time.Second}}
	}
	second := held(2, "c1", 20, 55)
	slow := held(2, "c1", 20, 24).asked(10)
	other := map[string][]Absence{"c1": away(11, 19)["c0"]}
	for _, c := range []struct {
		name     string
		first    Grant
		second   Grant
		away     map[string][]Absence
		overlaps int
		ends     Pos  // of the first claim
		late     bool // the second claim is empty
		taken    []Taking
	}{
		{name: "one after the other", first: held(1, "c0", 2, 18), second: second, ends: 18},
		{name: "told in time", first: held(1, "c0", 2, 30).lost(24, 24), second: second, ends: 19},
		{name: "told late", first: held(1, "c0", 2, 50).lost(40, 40), second: second, overlaps: 1, ends: 40},
		{name: "never told", first: held(1, "c0", 2, 50), second: second, overlaps: 1, ends: 50},
		{name: "never told of a short one", first: held(1, "c0", 2, 50), second: held(2, "c1", 20, 24), ends: 19},
		{name: "never told of a short one after a long absence", first: held(1, "c0", 2, 50), second: held(2, "c1", 20, 24),
			away: away(3, 4), ends: 19},
		{name: "never told of one on another resource", first: held(1, "c0", 2, 50), second: second.of("stock"), ends: 50},
		{name: "told in time of one that came at once", first: held(1, "c0", 19, 30).lost(24, 24),
			second: held(2, "c1", 20, 55).asked(10), ends: 20},
		{name: "told at the bound", first: held(1, "c0", 2, 50).lost(25, 25), second: second, ends: 19},
		{name: "told after the bound", first: held(1, "c0", 2, 50).lost(26, 26), second: second, overlaps: 1, ends: 26},
		{name: "paused, and told in time", first: held(1, "c0", 2, 50).lost(47, 47), second: second, away: away(18, 45),
			ends: 19},
		{name: "paused, and told late", first: held(1, "c0", 2, 54).lost(52, 52), second: second, away: away(18, 45),
			overlaps: 1, ends: 52},
		{name: "paused too late", first: held(1, "c0", 2, 50).lost(47, 47), second: second, away: away(26, 45), overlaps: 1,
			ends: 47},
		{name: "the other was paused", first: held(1, "c0", 2, 50), second: second,
			away: map[string][]Absence{"c1": away(18, 45)["c0"]}, overlaps: 1, ends: 50},

		{name: "taken by another client", first: held(1, "c0", 2, 50), second: second, taken: by("c1", 18, 30), overlaps: 1,
			ends: 30},
		{name: "taken, and told at once", first: held(1, "c0", 2, 50).lost(22, 22), second: second, taken: by("c1", 18, 30),
			overlaps: 1, ends: 22},
		{name: "taken, and told first", first: held(1, "c0", 2, 50).lost(18, 18), second: second, taken: by("c1", 18, 30),
			ends: 18},
		{name: "taken, with no end of its own", first: held(1, "c0", 2, 50), second: second, taken: by("c1", 18, 0),
			overlaps: 1, ends: 50},
		{name: "taken as its time ended", first: held(1, "c0", 2, 50), second: second, taken: by("c1", 18, 19), ends: 19},
		{name: "taken, and away", first: held(1, "c0", 2, 50).lost(47, 47), second: second, away: away(10, 45),
			taken: by("c1", 18, 30), overlaps: 1, ends: 30},
		{name: "taken after its release", first: held(1, "c0", 2, 15), second: second, taken: by("c1", 18, 30), ends: 15},
		{name: "taken before its call", first: held(1, "c0", 9, 50).asked(8), second: second, taken: by("c0", 7, 30),
			overlaps: 1, ends: 50},
		{name: "given up by its own process", first: held(1, "c0", 2, 50).lost(40, 40), second: second,
			taken: by("c0", 18, 30), overlaps: 1, ends: 30},
		{name: "given up before the grant", first: held(1, "c0", 9, 50).asked(5), second: second, taken: by("c0", 7, 30),
			overlaps: 1, ends: 30},
		{name: "taken by another before the grant", first: held(1, "c0", 9, 24).asked(5), second: second,
			taken: by("c1", 7, 30), ends: 19},
		{name: "taken twice", first: held(1, "c0", 2, 50), second: second,
			taken: append(by("c1", 18, 40), by("c1", 10, 12)...), overlaps: 1, ends: 40},

		{name: "late", first: held(1, "c0", 2, 50).token(8), second: slow.token(7), away: other, ends: 50, late: true},
		{name: "late, and told late", first: held(1, "c0", 2, 50).token(8), second: held(2, "c1", 20, 28).asked(10).token(7),
			away: other, overlaps: 1, ends: 50},
		{name: "late, with the higher token", first: held(1, "c0", 2, 50).token(8), second: slow.token(9), away: other,
			ends: 19},
		{name: "late, without tokens", first: held(1, "c0", 2, 50), second: slow, away: other, ends: 19},
		{name: "not away", first: held(1, "c0", 2, 50).token(8), second: slow.token(7), ends: 19},
		{name: "both away", first: held(1, "c0", 2, 50).token(8), second: slow.token(7),
			away: map[string][]Absence{"c0": away(5, 9)["c0"], "c1": other["c1"]}, ends: 50, late: true},
		{name: "late, after the end of the first", first: held(1, "c0", 2, 19).token(8), second: slow.token(7), away: other,
			ends: 19},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := story("", []Grant{c.first, c.second})
			h.Timing, h.Takings = &Timing{Away: c.away}, c.taken
			for n := range 60 {
				h.Timing.At = append(h.Timing.At, time.Duration(n+1)*time.Second)
			}
			h = h.HeldUntilTold(5 * time.Second)
			v := mustJudge(t, h, nil)
			if late := h.Grants[1].Claim().Empty(); late != c.late {
				t.Errorf("the second claim is empty: %v, want %v", late, c.late)
			}
			if end := h.Grants[0].Claim().End; v.Facts.ClaimOverlaps != c.overlaps || end != c.ends {
				t.Errorf("%d overlaps of claims, the first claim ends at %d, want %d and %d", v.Facts.ClaimOverlaps, end,
					c.overlaps, c.ends)
			}
			if second, err := Corroborate(h, v.Facts); err != nil || second.Agreement != Agrees {
				t.Errorf("%+v, %v", second, err)
			}
		})
	}
}

// An entry of the holder itself into a reentrant lock ends no claim.
func TestHeldUntilToldByAnEntry(t *testing.T) {
	for entry, want := range map[Entry]Pos{EntryReentrant: 50, EntryExclusive: 19} {
		h := story("", []Grant{held(1, "c0", 2, 50), held(2, "c0", 20, 24)})
		h.Entry, h.Timing = entry, &Timing{}
		for n := range 60 {
			h.Timing.At = append(h.Timing.At, time.Duration(n+1)*time.Second)
		}
		if end := h.HeldUntilTold(5 * time.Second).Grants[0].Claim().End; end != want {
			t.Errorf("%s: the first claim ends at %d, want %d", entry, end, want)
		}
	}
}
