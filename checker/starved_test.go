package checker

import (
	"math"
	"strings"
	"testing"
	"time"
)

// crowd is a history in which c1 and c2 take turns, each of them waiting for the other's section of 10 s, while c0 asks
// first and is granted the lock last.
func crowd(turns int) History {
	h := story("", nil)
	h.Grants = nil
	free := Pos(20)
	for i := range turns {
		client := []string{"c1", "c2"}[i%2]
		h.Grants = append(h.Grants, held(i+1, client, free, free+9).asked(free-9))
		free += 10
	}
	h.Grants = append(h.Grants, held(turns+1, "c0", free, free+5).asked(1))
	h.Timing = &Timing{Undisturbed: math.MaxInt64, Grace: time.Hour}
	for n := range int(free) + 50 {
		h.Timing.At = append(h.Timing.At, time.Duration(n+1)*time.Second)
	}
	return h
}

func TestStarved(t *testing.T) {
	for name, c := range map[string]struct {
		turns  int
		change func(*History)
		want   int
	}{
		"twelve turns": {12, func(*History) {}, 1},
		"nine turns":   {9, func(*History) {}, 0}, // nine went past it, and it is ten times the median
		"of one that gave up": {12, func(h *History) {
			last := h.Grants[12]
			h.Grants = h.Grants[:12]
			h.Attempts = []Attempt{{Client: "c0", Resource: "orders", Invoked: last.Invoked, Returned: last.Granted,
				Outcome: OutcomeFailed}}
		}, 1},
		"of one that never returned": {12, func(h *History) {
			h.Grants = h.Grants[:12]
			h.Attempts = []Attempt{{Client: "c0", Resource: "orders", Invoked: 1, Outcome: OutcomeUnknown}}
		}, 0},
		"all asked before it": {12, func(h *History) {
			for i := range h.Grants[:12] {
				h.Grants[i].Invoked = 1
			}
			h.Grants[12].Invoked = 2
		}, 0},
		"nine went past it, and twelve before it asked": {21, func(h *History) {
			for i := range h.Grants[:21] {
				h.Grants[i].Invoked = h.Grants[i].Granted - 3
			}
			h.Grants[21].Invoked = h.Grants[12].Granted - 4
		}, 0},
		"all wait for long": {12, func(h *History) {
			for i := range h.Grants[:12] {
				h.Grants[i].Invoked = max(h.Grants[i].Granted-15, 2)
			}
		}, 0},
		"a fault struck before its grant": {12, func(h *History) { h.Timing.Undisturbed = 139 * time.Second }, 0},
		"another resource":                {12, func(h *History) { h.Grants[12].Resource = "stock" }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			h := crowd(c.turns)
			c.change(&h)
			h.Final = map[Cell]string{orders: "", {Resource: "stock"}: ""}
			v := mustJudge(t, h, nil)
			if v.Facts.Starved != c.want || v.Facts.StarvedInTurn != 0 || v.Label != Safe {
				t.Errorf("%d starved, %d in turn, label %s, want %d", v.Facts.Starved, v.Facts.StarvedInTurn, v.Label, c.want)
			}
			h.Ordered = true
			v = mustJudge(t, h, nil)
			if v.Facts.StarvedInTurn != c.want || (v.Label == Overtaken) != (c.want > 0) {
				t.Errorf("%d in turn, label %s, want %d", v.Facts.StarvedInTurn, v.Label, c.want)
			}
			if c.want > 0 && !strings.Contains(v.Reasons[0].Text, "c0 asked for orders at step 1 and waited until step ") {
				t.Errorf("%+v", v.Reasons[0])
			}
		})
	}
}
