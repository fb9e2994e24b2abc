package checker

import (
	"strings"
	"testing"
)

// Three clients take five of ten, each after a read.
func TestOversold(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*History)
		want   int
	}{
		"fifteen of ten":      {func(*History) {}, 5},
		"fifteen of fifteen":  {func(h *History) { h.Stock.Units = 15 }, 0},
		"fifteen of fourteen": {func(h *History) { h.Stock.Units = 14 }, 1},
		"three of ten":        {func(h *History) { h.Stock.Each = 1 }, 0},
		"one was refused":     {func(h *History) { h.Ops[5] = h.Ops[5].refused() }, 0},
		"one was not sent": {func(h *History) {
			h.Ops[5].Outcome, h.Ops[5].Applied,
				h.Ops[5].Accepted = OutcomeNotSent, 0, false
		}, 0},
		"the answer to one is not known": {func(h *History) { h.Ops[5].Outcome, h.Ops[5].Returned = OutcomeUnknown, 0 }, 0},
		"no stock":                       {func(h *History) { h.Stock = nil }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			h := story("", nil)
			h.Stock = &Stock{Units: 10, Each: 5}
			h.Grants = nil
			saw := ""
			for i, client := range []string{"c0", "c1", "c2"} {
				at := Pos(10*i + 2)
				g := held(i+1, client, at, at+8)
				h.Grants = append(h.Grants, g)
				w := g.op(Write, client+".w", at+4, saw)
				h.Ops = append(h.Ops, g.op(Read, client+".r", at+1, saw), w)
				saw = w.ID
			}
			h.Final = map[Cell]string{orders: saw}
			c.change(&h)
			v := mustJudge(t, h, nil)
			if v.Facts.Oversold != c.want {
				t.Errorf("%d units beyond the stock, want %d", v.Facts.Oversold, c.want)
			}
			says := false
			for _, r := range v.Reasons {
				says = says || strings.Contains(r.Text, "units of orders")
			}
			if says != (c.want > 0) {
				t.Errorf("%+v", v.Reasons)
			}
		})
	}
}
