package checker

import (
	"math"
	"strings"
	"testing"
	"time"
)

// c0 is granted the lock at step 2, asks again at step 5 and is granted it again at step 30, when its first lease has
// ended, at step 20. A step takes a second.
func TestSelfWaits(t *testing.T) {
	notGranted := func(returned Pos) func(*History) {
		return func(h *History) {
			h.Grants = h.Grants[:1]
			h.Attempts = []Attempt{{Client: "c0", Resource: "orders", Invoked: 5, Returned: returned, Outcome: OutcomeFailed}}
		}
	}
	for name, c := range map[string]struct {
		change func(*History)
		want   int
		says   string
	}{
		"until the first lease had ended": {func(*History) {}, 1, "until its first lease had ended, at step 20"},
		"until it gave up":                {notGranted(18), 1, "until it gave up, at step 18"},
		"for ever": {func(h *History) {
			notGranted(0)(h)
			h.Grants[0].Until, h.Grants[0].UntilSeen = 0,
				0
		}, 1, "for ever"},
		"refused at once":            {notGranted(7), 0, ""},
		"let in":                     {func(h *History) { h.Grants[1].Granted = 19 }, 0, ""},
		"granted as the lease ended": {func(h *History) { h.Grants[1].Granted = 20 }, 1, ""},
		"asked as the lease ended":   {func(h *History) { h.Grants[1].Invoked = 18 }, 0, ""},
		"asked just before that":     {func(h *History) { h.Grants[1].Invoked = 17 }, 1, ""},
		"released before": {func(h *History) {
			h.Grants[0].Released, h.Grants[0].Until,
				h.Grants[0].UntilSeen = 4, 0, 0
		}, 0, ""},
		"another client had it": {func(h *History) { h.Grants[0].Client = "c1" }, 0, ""},
		"another lock":          {func(h *History) { h.Grants[0].Resource = "stock" }, 0, ""},
		"a fault struck early":  {func(h *History) { h.Timing.Undisturbed = 7 * time.Second }, 0, ""},
		"a fault struck later":  {func(h *History) { h.Timing.Undisturbed = 7*time.Second + 1 }, 1, ""},
		"a reentrant lock":      {func(h *History) { h.Entry = EntryReentrant }, 1, ""},
		"a slow network":        {func(h *History) { h.Timing.Prompt = false }, 0, ""},
		"an exclusive lock":     {func(h *History) { h.Entry = EntryExclusive }, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := story("", nil)
			h.Entry = EntryOwnerless
			h.Grants = []Grant{held(1, "c0", 2, 0).until(20, 20), held(2, "c0", 30, 40).asked(5)}
			h.Timing = &Timing{Prompt: true, Trips: 2 * time.Second, Undisturbed: math.MaxInt64, Grace: time.Hour}
			for n := range 60 {
				h.Timing.At = append(h.Timing.At, time.Duration(n+1)*time.Second)
			}
			c.change(&h)
			v := mustJudge(t, h, nil)
			if v.Facts.SelfWaits != c.want || (v.Label == Stuck) != (c.want > 0) || c.says != "" &&
				!strings.Contains(v.Reasons[0].Text, c.says) {
				t.Errorf("%d, label %s, want %d, %q: %+v", v.Facts.SelfWaits, v.Label, c.want, c.says, v.Reasons)
			}
		})
	}
}

// A client of a lock without owners that is let in again overlaps with others, and not with itself.
func TestOwnerlessOverlaps(t *testing.T) {
	for name, c := range map[string]struct {
		entry Entry
		other string
		want  int
	}{
		"itself":              {EntryOwnerless, "c0", 0},
		"another client":      {EntryOwnerless, "c1", 1},
		"itself, exclusively": {EntryExclusive, "c0", 1},
	} {
		h := story("", nil)
		h.Entry = c.entry
		h.Grants = []Grant{held(1, "c0", 2, 30), held(2, c.other, 10, 20)}
		if v := mustJudge(t, h, nil); v.Facts.ClaimOverlaps != c.want {
			t.Errorf("%s: %d overlaps, want %d", name, v.Facts.ClaimOverlaps, c.want)
		}
	}
}
