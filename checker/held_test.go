package checker

import (
	"testing"
	"time"
)

// The instant of position n is n seconds, and the detection bound is five seconds. c1 is
// granted the lock at 20 s.
func TestHeldUntilTold(t *testing.T) {
	away := func(from, to int) map[string][]Absence {
		return map[string][]Absence{"c0": {{Span: Span{time.Duration(from) * time.Second, time.Duration(to) * time.Second}}}}
	}
	second := held(2, "c1", 20, 55)
	for _, c := range []struct {
		name     string
		first    Grant
		second   Grant
		away     map[string][]Absence
		overlaps int
		ends     Pos // of the first claim
	}{
		{name: "one after the other", first: held(1, "c0", 2, 18), second: second, ends: 18},
		{name: "told in time", first: held(1, "c0", 2, 30).lost(24, 24), second: second, ends: 19},
		{name: "told late", first: held(1, "c0", 2, 50).lost(40, 40), second: second, overlaps: 1, ends: 40},
		{name: "never told", first: held(1, "c0", 2, 50), second: second, overlaps: 1, ends: 50},
		{name: "never told of a short one", first: held(1, "c0", 2, 50), second: held(2, "c1", 20, 24), ends: 19},
		{name: "paused, and told in time", first: held(1, "c0", 2, 50).lost(47, 47), second: second, away: away(18, 45), ends: 19},
		{name: "paused, and told late", first: held(1, "c0", 2, 54).lost(52, 52), second: second, away: away(18, 45), overlaps: 1, ends: 52},
		{name: "paused too late", first: held(1, "c0", 2, 50).lost(47, 47), second: second, away: away(26, 45), overlaps: 1, ends: 47},
		{name: "the other was paused", first: held(1, "c0", 2, 50), second: second, away: map[string][]Absence{"c1": away(18, 45)["c0"]}, overlaps: 1, ends: 50},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := story("", []Grant{c.first, c.second})
			h.Timing = &Timing{Away: c.away}
			for n := range 60 {
				h.Timing.At = append(h.Timing.At, time.Duration(n+1)*time.Second)
			}
			h = h.HeldUntilTold(5 * time.Second)
			v := mustJudge(t, h, nil)
			if end := h.Grants[0].Claim().End; v.Facts.ClaimOverlaps != c.overlaps || end != c.ends {
				t.Errorf("%d overlaps of claims, the first claim ends at %d, want %d and %d", v.Facts.ClaimOverlaps, end, c.overlaps, c.ends)
			}
			if second, err := Corroborate(h, v.Facts); err != nil || second.Agreement != Agrees {
				t.Errorf("%+v, %v", second, err)
			}
		})
	}
}
