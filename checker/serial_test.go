package checker

import (
	"cmp"
	"slices"
	"strings"
	"testing"
)

var pension = Cell{Resource: "orders", Register: "y"}

// slow makes all operations of a section overlap with everything until p, so that time orders no register.
func slow(p Pos, ops ...Op) []Op {
	for i := range ops {
		ops[i].Invoked, ops[i].Applied, ops[i].Returned = 10, 11, p
	}
	return ops
}

// pair is a section that reads saw and sawX in two registers and writes both.
func (g Grant) pair(name, saw, sawX string) []Op {
	return []Op{g.write(name+"3", 10, saw), g.write(name+"4", 10, sawX).in("x")}
}

// serialCase is a history whose registers are right separately. says is empty if there is also an order of the
// sections.
type serialCase struct {
	name string
	h    History
	says string
	at   []Pos
}

func serialCases() []serialCase {
	a, b, both := together()
	c := held(3, "c2", 4, 92)
	three := append(slices.Clone(both), c)
	slowly := func(sections ...[]Op) []Op { return slow(80, slices.Concat(sections...)...) }
	on := func(g Grant, first, second string, name, saw, saw2 string) []Op {
		return []Op{g.write(name+"1", 10, saw).in(first), g.write(name+"2", 10, saw2).in(second)}
	}
	withPension := func(h History, final string) History { h.Final[pension] = final; return h }
	const none = "No order of the whole sections explains what orders held: "
	return []serialCase{
		{name: "nothing", h: transfers("", "", both)},
		{name: "same order", h: transfers("b3", "b4", both, slowly(a.pair("a", "", ""), b.pair("b", "a3", "a4"))...)},
		// The sum is right either way; but no section read the other's writes.
		{name: "crossed", h: transfers("b3", "a4", both, slowly(a.pair("a", "", "b4"), b.pair("b", "a3", ""))...),
			says: none + "c1's write b3 (step 11) of orders is based on c0's write a3 (step 11); c0's write a4 (step 11) of " +
				"orders/x is based on c1's write b4 (step 11).",
			at: []Pos{11, 11, 11, 11}},
		// Of three sections in a row two are swapped in one register.
		{name: "three, two of them swapped", h: transfers("c3", "c4", three,
			slowly(a.pair("a", "", "b4"), b.pair("b", "a3", ""), c.pair("c", "b3", "a4"))...), says: none},
		{name: "three in a row", h: transfers("c3", "c4", three,
			slowly(a.pair("a", "", ""), b.pair("b", "a3", "a4"), c.pair("c", "b3", "b4"))...)},
		// A third section comes first in one register and last in the other.
		{name: "three, one of them at the wrong end", h: transfers("c3", "b4", three,
			slowly(a.pair("a", "", "c4"), b.pair("b", "a3", "a4"), c.pair("c", "b3", ""))...), says: none},
		// A section that writes elsewhere read one register before a and one after it.
		{name: "torn read", says: none + "c1's read b2 (step 11) of orders/x found c0's write a4 (step 11); c1's read b1 " +
			"(step 11) of orders found the initial value, which c0's write a3 (step 11) replaced.",
			h: withPension(transfers("a3", "a4", both,
				slowly(a.pair("a", "", ""), []Op{b.read("b1", 10, ""), b.read("b2", 10, "a4").in("x")},
					on(b, "y", "z", "b5", "", ""))...), "b51")},
		{name: "torn read the other way", says: none,
			h: withPension(transfers("a3", "a4", both,
				slowly(a.pair("a", "", ""), []Op{b.read("b1", 10, "a3"), b.read("b2", 10, "").in("x")},
					on(b, "y", "z", "b5", "", ""))...), "b51")},
		{name: "read of both before", h: withPension(transfers("a3", "a4", both, slowly(a.pair("a", "", ""),
			[]Op{b.read("b1", 10, ""), b.read("b2", 10, "").in("x")}, on(b, "y", "z", "b5", "", ""))...), "b51")},
		{name: "read of both behind", h: withPension(transfers("a3", "a4", both, slowly(a.pair("a", "", ""),
			[]Op{b.read("b1", 10, "a3"), b.read("b2", 10, "a4").in("x")}, on(b, "y", "z", "b5", "", ""))...), "b51")},
		// A read without a value saw nothing.
		{name: "read without a value", h: withPension(transfers("a3", "a4", both, slowly(a.pair("a", "", ""),
			[]Op{b.read("b1", 10, "a3"), b.read("b2", 10, "").in("x").refused()}, on(b, "y", "z", "b5", "", ""))...), "b51")},
		// A section without writes may have read anything.
		{name: "torn read of a section without writes", h: transfers("a3", "a4", both,
			slowly(a.pair("a", "", ""), []Op{b.read("b1", 10, ""), b.read("b2", 10, "a4").in("x")})...)},
		// a before b before c before a, each in its own register.
		{name: "ring", says: none, h: withPension(transfers("b1", "c1", three,
			slowly(on(a, "y", "", "a", "c2", ""), on(b, "", "x", "b", "a2", ""), on(c, "x", "y", "c", "b2", ""))...), "a1")},
		// Two sections that share no register are ordered by time; a third one, which overlaps both, has them in the
		// opposite order.
		{name: "against time", says: "c0's section had ended at step 12, before c1's began at step 20",
			h: withPension(transfers("c2", "a1", three,
				slices.Concat(on(a, "x", "v", "a", "c1", ""), shift(10, on(b, "", "y", "b", "", "")),
					slow(80, on(c, "x", "", "c", "", "b1")...))...), "b2")},
		{name: "with time", h: withPension(transfers("b1", "c1", three,
			slices.Concat(on(a, "x", "v", "a", "", ""), shift(10, on(b, "", "y", "b", "c2", "")),
				slow(80, on(c, "x", "", "c", "a1", "")...))...), "b2")},
		// The end of the one is the beginning of the other: either may be first.
		{name: "touching", h: withPension(transfers("c2", "a1", three,
			slices.Concat(on(a, "x", "v", "a", "c1", ""), shift(2, on(b, "", "y", "b", "", "")),
				slow(80, on(c, "x", "", "c", "", "b1")...))...), "b2")},
		// A section with an unanswered write has no end.
		{name: "without an end", h: withPension(transfers("c2", "a1", three,
			slices.Concat([]Op{a.write("a1", 10, "c1").in("x").unanswered(60), a.write("a2", 10, "").in("v")},
				shift(10, on(b, "", "y", "b", "", "")), slow(80, on(c, "x", "", "c", "", "b1")...))...), "b2")},
	}
}

// At one instant the sections begin before others end, so that those which only touch may be in either order.
func TestByTime(t *testing.T) {
	want := []instant{{at: 1, section: 2}, {at: 2, section: 1}, {at: 2, section: 2}, {at: 2, section: 0, ends: true},
		{at: 2, section: 3, ends: true}, {at: 3, section: 0}}
	for i, a := range want {
		for j, b := range want {
			if got := byTime(a, b); cmp.Compare(got, 0) != cmp.Compare(i, j) {
				t.Errorf("%+v is compared to %+v with the result %d", a, b, got)
			}
		}
	}
}

// shift moves operations in time.
func shift(by Pos, ops []Op) []Op {
	for i := range ops {
		ops[i].Invoked, ops[i].Applied, ops[i].Returned = ops[i].Invoked+by, ops[i].Applied+by, ops[i].Returned+by
	}
	return ops
}

// The order of the sections is checked separately: each register is right.
func TestSerialSections(t *testing.T) {
	for _, c := range serialCases() {
		t.Run(c.name, func(t *testing.T) {
			fillFinal(&c.h)
			v := mustJudge(t, c.h, nil)
			if v.Facts.LostUpdates+v.Facts.TornSections > 0 {
				t.Fatalf("lost %d, torn %d, want none\n%q", v.Facts.LostUpdates, v.Facts.TornSections, texts(v.Reasons))
			}
			if want := c.says != ""; want != (v.Facts.Data == DataCorrupted) {
				t.Errorf("data %s, want corrupted = %t\n%q", v.Facts.Data, want, texts(v.Reasons))
			}
			if !strings.Contains(v.Reasons[0].Text, c.says) {
				t.Errorf("first reason %q\nlacks %q", v.Reasons[0].Text, c.says)
			}
			if c.at != nil && !slices.Equal(v.Reasons[0].At, c.at) {
				t.Errorf("it points to %v, want %v", v.Reasons[0].At, c.at)
			}
			if got := corroborate(t, c.h, v.Facts); got.Agreement != Agrees {
				t.Errorf("%+v", got)
			}
			c.h.SectionWrites = 1
			if v := mustJudge(t, c.h, nil); v.Facts.Data != DataRight {
				t.Errorf("register by register: data %s\n%q", v.Facts.Data, texts(v.Reasons))
			}
		})
	}
}

// fillFinal adds the epilogue reads of registers that a case does not name: each was written at most once.
func fillFinal(h *History) {
	for _, o := range h.Ops {
		if _, read := h.Final[o.cell()]; !read && o.Kind == Write {
			h.Final[o.cell()] = o.ID
		}
	}
}

// Three sections may have any order, but the same in both registers: of the 36 pairs of orders 6 are right and 30 are
// mutants of them.
func TestSerialPermutations(t *testing.T) {
	var grants []Grant
	for i, client := range []string{"c0", "c1", "c2"} {
		grants = append(grants, held(i+1, client, Pos(2+i), 90))
	}
	orders := [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}
	row := func(register string, order []int) (ops []Op, final string) {
		for _, i := range order {
			w := grants[i].write(grants[i].Client+register, 10, final).in(register)
			ops, final = append(ops, w), w.ID
		}
		return ops, final
	}
	for _, first := range orders {
		for _, second := range orders {
			ops, final := row("", first)
			opsX, finalX := row("x", second)
			h := transfers(final, finalX, grants, slow(80, append(ops, opsX...)...)...)
			v := mustJudge(t, h, nil)
			if want := slices.Equal(first, second); want != (v.Facts.Data == DataRight) {
				t.Errorf("orders %v and %v: data %s, want right = %t\n%q", first, second, v.Facts.Data, want, texts(v.Reasons))
			}
			if v.Facts.Data == DataCorrupted && len(v.Reasons[0].At) < 4 {
				t.Errorf("orders %v and %v: the reason points to %v only: %s", first, second, v.Reasons[0].At, v.Reasons[0].Text)
			}
		}
	}
}

// Sections of one write are checked register by register: what else one has read may be of different instants.
func TestSectionsOfOneWriteMayReadAtDifferentInstants(t *testing.T) {
	a, b, both := together()
	for _, writes := range []int{0, 1} {
		h := transfers("a3", "a4", both, a.write("a3", 10, ""), a.write("a4", 14, "").in("x"),
			b.read("b1", 9, "").took(30), b.read("b2", 31, "a4").in("x"), b.write("b5", 35, "").in("y"))
		h.SectionWrites = writes
		fillFinal(&h)
		if v := mustJudge(t, h, nil); v.Facts.Data != DataRight {
			t.Errorf("sections of %d writes: data %s, want right: %q", writes, v.Facts.Data, texts(v.Reasons))
		}
	}
}
