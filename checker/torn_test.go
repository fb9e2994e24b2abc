package checker

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var savings = Cell{Resource: "orders", Register: "x"}

// transfers is a history of sections that read and write two registers: the one
// without a name and "x".
func transfers(final, finalX string, grants []Grant, ops ...Op) History {
	h := story(final, grants, ops...)
	h.Final[savings] = finalX
	h.SectionWrites = 2
	return h
}

// transfer is the four operations of a whole section that starts at p and takes 12 steps. It reads saw and sawX.
func (g Grant) transfer(name string, p Pos, saw, sawX string) []Op {
	return []Op{
		g.read(name+"1", p, saw), g.read(name+"2", p+3, sawX).in("x"),
		g.write(name+"3", p+6, saw), g.write(name+"4", p+9, sawX).in("x"),
	}
}

type tornCase struct {
	name       string
	h          History
	torn, lost int
	says       string // part of the first reason
	at         []Pos  // where it points to, if given
}

// wholeSections are histories whose sections took effect as a whole or not at all.
func wholeSections() []tornCase {
	a, b, both := together()
	turns := slices.Concat(a.transfer("a", 10, "", ""), b.transfer("b", 30, "a3", "a4"))
	cut := func(n int, change func(Op) Op) []Op {
		ops := b.transfer("b", 30, "a3", "a4")[:n]
		ops[n-1] = change(ops[n-1])
		return slices.Concat(a.transfer("a", 10, "", ""), ops)
	}
	first := a.transfer("a", 10, "", "")
	return []tornCase{
		{name: "in turn", h: transfers("b3", "b4", both, turns...)},
		// The first write was refused and the section stopped there.
		{name: "first write refused", h: transfers("a3", "a4", both, cut(3, Op.refused)...)},
		// The same if the second write was sent nevertheless and refused too.
		{name: "both refused", h: transfers("a3", "a4", both,
			slices.Concat(first, []Op{b.write("b3", 30, "a3").refused(), b.write("b4", 33, "a4").in("x").refused()})...)},
		{name: "first write not sent", h: transfers("a3", "a4", both,
			cut(3, func(o Op) Op { return o.ended(OutcomeNotSent) })...)},
		// The crash was between the reads, or after them.
		{name: "only one read", h: transfers("a3", "a4", both, cut(1, accepted)...)},
		{name: "only reads", h: transfers("a3", "a4", both, cut(2, accepted)...)},
		// The first write had no answer, and never arrived: no effect.
		{name: "first write lost on the way", h: transfers("a3", "a4", both,
			cut(3, func(o Op) Op { return o.unanswered(0) })...)},
		// The last write was not acknowledged, but it is in the data.
		{name: "second write unanswered and there", h: transfers("b3", "b4", both,
			cut(4, func(o Op) Op { return o.unanswered(80) })...)},
		// Both are unanswered and in the data, and a section is based on both.
		{name: "both unanswered and there", h: transfers("b3", "b4", both, slices.Concat(
			[]Op{a.write("a3", 10, "").unanswered(11), a.write("a4", 13, "").in("x").unanswered(14)},
			b.transfer("b", 30, "a3", "a4"))...)},
		// Two sections under one grant.
		{name: "two in a grant", h: transfers("b3", "b4", []Grant{a, b.of("orders")},
			slices.Concat(a.transfer("a", 10, "", ""), a.transfer("b", 30, "a3", "a4"))...)},
		// A client that was stopped read one register before a section and one after it. It has written nothing.
		{name: "torn read, stopped", h: transfers("a3", "a4", both, slices.Concat(first,
			[]Op{b.read("b1", 8, ""), b.read("b2", 40, "a4").in("x"), b.write("b3", 50, "").refused()})...)},
		// Without further writes, a lost section is not torn.
		{name: "whole section lost", lost: 2, h: transfers("a3", "a4", both,
			slices.Concat(b.transfer("b", 9, "", ""), a.transfer("a", 10, "", ""))...)},
	}
}

// tornSections are histories with a section that took effect in part.
func tornSections() []tornCase {
	a, b, _ := together()
	b.Crashed, b.Released, b.ReleaseReturned = 60, 0, 0
	both := []Grant{a, b}
	first := a.transfer("a", 10, "", "")
	cut := func(last ...Op) []Op { return slices.Concat(first, b.transfer("b", 30, "a3", "a4")[:3], last) }
	second := b.write("b4", 39, "a4").in("x")
	const says = "The section of c1 on orders that began at step 30 is torn: its write b3 (step 37) to orders is in the " +
		"data, but "
	built := slices.Concat(cut(second.refused()), a.transfer("d", 70, "b3", "a4"))
	deaf := slices.Clone(both)
	deaf[1].Crashed, deaf[1].Lost, deaf[1].LostSeen = 0, 5, 6
	seen := slices.Clone(both)
	seen[1].Crashed, seen[1].Until, seen[1].UntilSeen = 0, 38, 39
	crossed := slices.Concat(first, []Op{b.read("b1", 11, ""), b.read("b2", 21, "a4").in("x"), b.write("b3", 24, ""),
		b.write("b4", 27, "a4").in("x")})
	return []tornCase{
		// F73: the crash was between the two writes.
		{name: "crash", h: transfers("b3", "a4", both, cut()...), torn: 1,
			says: says + "it never sent 1 of its 2 writes: it crashed at step 60.", at: []Pos{30, 37, 60}},
		{name: "careful", h: transfers("b3", "a4", seen, cut()...), torn: 1,
			says: says + "it never sent 1 of its 2 writes: it saw that its validity had ended at step 39.",
			at:   []Pos{30, 37, 39}},
		// It had observed a loss long before, and went on: that did not stop it.
		{name: "without a reason", h: transfers("b3", "a4", deaf, cut()...), torn: 1,
			says: says + "it never sent 1 of its 2 writes.", at: []Pos{30, 37}},
		{name: "refused", h: transfers("b3", "a4", both, cut(second.refused())...), torn: 1,
			says: says + "its write b4 (step 40) to orders/x was refused.", at: []Pos{30, 37, 40}},
		{name: "not sent", h: transfers("b3", "a4", both, cut(second.ended(OutcomeNotSent))...), torn: 1,
			says: says + "its write b4 (step 39) to orders/x was never sent."},
		{name: "failed", h: transfers("b3", "a4", both, cut(second.ended(OutcomeFailed))...), torn: 1,
			says: says + "its write b4 (step 39) to orders/x failed."},
		{name: "lost on the way", h: transfers("b3", "a4", both, cut(second.unanswered(0))...), torn: 1,
			says: says + "its write b4 (step 39) to orders/x never arrived."},
		// The first write had no answer, so the client sent no second one; but the first one is in the data.
		{name: "first unanswered and there", torn: 1, h: transfers("b3", "a4", []Grant{a, held(2, "c1", 3, 91)},
			slices.Concat(first, []Op{b.read("b1", 30, "a3"), b.read("b2", 33, "a4").in("x"),
				b.write("b3", 36, "a3").unanswered(37)})...),
			says: says + `it never sent 1 of its 2 writes: the outcome of b3 was "unknown".`},
		// Only the second register's write is in the data.
		{name: "first refused, second taken", torn: 1, h: transfers("a3", "b4", both,
			slices.Concat(first, []Op{b.write("b3", 30, "a3").refused(), second})...),
			says: "its write b4 (step 40) to orders/x is in the data, but its write b3 (step 31) to orders was refused."},
		// Later sections are rightly based on the half. The sum is wrong nevertheless.
		{name: "base of later sections", h: transfers("d3", "d4", both, built...), torn: 1, says: says},
		// The late second write is in the final data, and makes its own section whole; it overwrote a later section
		// unseen.
		{name: "overwritten by the late half", torn: 1, lost: 1, h: transfers("d3", "b4", both,
			slices.Concat(cut(second.unanswered(95)), a.transfer("d", 70, "b3", "a4"))...), says: "c0's write d4 (step 80) to " +
			"orders/x was acknowledged. c1's write b4 (step 95), based on the older value a4, overwrote d4"},
		// It arrived and was overwritten by a section that had read before.
		{name: "overwritten unseen", torn: 1, h: transfers("d3", "d4", both,
			slices.Concat(cut(second.unanswered(75)), a.transfer("d", 70, "b3", "a4"))...),
			says: says + "its write b4 (step 75) to orders/x had no answer, and was overwritten unseen."},
		{name: "refused without an answer", torn: 1, h: transfers("b3", "a4", both, func() []Op {
			late := second.unanswered(75)
			late.Accepted = false
			return cut(late)
		}()...), says: "was refused, and the answer did not come"},
		// A read before and a read after: a write based on the first one overwrites the other section's update. It is
		// lost, and that section torn.
		{name: "torn read, then written", torn: 1, lost: 1, h: transfers("b3", "b4", both, crossed...),
			says: "c0's write a3 (step 17) to orders was acknowledged. c1's write b3 (step 25), based on the initial value, " +
				"overwrote a3"},
	}
}

func TestWholeSections(t *testing.T) {
	for _, c := range wholeSections() {
		t.Run(c.name, func(t *testing.T) { checkTorn(t, c) })
	}
}

func TestTornSections(t *testing.T) {
	for _, c := range tornSections() {
		t.Run(c.name, func(t *testing.T) { checkTorn(t, c) })
	}
}

func checkTorn(t *testing.T, c tornCase) {
	t.Helper()
	v := mustJudge(t, c.h, nil)
	if v.Facts.TornSections != c.torn || v.Facts.LostUpdates != c.lost {
		t.Errorf("torn %d, lost %d, want %d and %d\n%q", v.Facts.TornSections, v.Facts.LostUpdates, c.torn, c.lost,
			texts(v.Reasons))
	}
	if want := c.torn+c.lost > 0; want != (v.Label == Corrupted) || want != (v.Facts.Data == DataCorrupted) {
		t.Errorf("label %s, data %s, want corrupted = %t\n%q", v.Label, v.Facts.Data, want, texts(v.Reasons))
	}
	if !strings.Contains(v.Reasons[0].Text, c.says) {
		t.Errorf("first reason %q\nlacks %q", v.Reasons[0].Text, c.says)
	}
	// The order of sections is not checked if some are not whole.
	if all := strings.Join(texts(v.Reasons), "\n"); strings.Contains(all, "No order") {
		t.Errorf("reasons:\n%s", all)
	}
	if c.at != nil && !cmp.Equal(v.Reasons[0].At, c.at) {
		t.Errorf("it points to %v, want %v", v.Reasons[0].At, c.at)
	}
	if got := corroborate(t, c.h, v.Facts); got.Agreement != Agrees {
		t.Errorf("%+v", got)
	}
}

// With one write a section, as in the other workload, two registers are independent.
func TestOneWriteIsNeverTorn(t *testing.T) {
	for _, writes := range []int{0, 1} {
		for _, c := range tornSections() {
			c.h.SectionWrites = writes
			if v := mustJudge(t, c.h, nil); v.Facts.TornSections != 0 || (v.Facts.Data == DataCorrupted) != (c.lost > 0) {
				t.Errorf("%s, %d writes: torn %d, data %s", c.name, writes, v.Facts.TornSections, v.Facts.Data)
			}
		}
	}
}

// If a path ends early, it is not known which writes to that register took effect; but a section that never sent one is
// torn in any case.
func TestTornWithBrokenPaths(t *testing.T) {
	for _, c := range tornSections() {
		c.h.Final[savings] = "ghost"
		v := mustJudge(t, c.h, nil)
		want := 0
		if strings.Contains(c.says, "never sent 1 of") {
			want = 1
		}
		if v.Facts.TornSections != want || v.Label != Corrupted {
			t.Errorf("%s: torn %d, want %d, label %s\n%q", c.name, v.Facts.TornSections, want, v.Label, texts(v.Reasons))
		}
	}
}

// Each mutant tears one of two consecutive sections; the checker must find each of them.
func TestTornMutants(t *testing.T) {
	a, b, both := together()
	whole := func() History {
		return transfers("b3", "b4", both, slices.Concat(a.transfer("a", 10, "", ""), b.transfer("b", 30, "a3", "a4"))...)
	}
	if v := mustJudge(t, whole(), nil); v.Facts.Data != DataRight {
		t.Fatalf("before any mutation: %q", texts(v.Reasons))
	}
	const aWrite, bWrite, bWriteX = 2, 6, 7
	for _, m := range []struct {
		name   string
		mutate func(*History)
	}{
		{"the last write is dropped", func(h *History) { h.Ops, h.Final[savings] = h.Ops[:bWriteX], "a4" }},
		{"the third write is dropped", func(h *History) {
			h.Ops, h.Final[orders] = slices.Delete(h.Ops, bWrite, bWriteX),
				"a3"
		}},
		{"the first write is dropped", func(h *History) {
			h.Ops = slices.Delete(h.Ops, aWrite, aWrite+1)
			rebase(h, "a3", "")
		}},
		{"a write is refused", func(h *History) { h.Ops[bWriteX], h.Final[savings] = h.Ops[bWriteX].refused(), "a4" }},
		{"a write has no answer and no effect",
			func(h *History) { h.Ops[bWriteX], h.Final[savings] = h.Ops[bWriteX].unanswered(0), "a4" }},
		{"a write never left", func(h *History) {
			h.Ops[bWrite], h.Final[orders] = h.Ops[bWrite].ended(OutcomeNotSent),
				"a3"
		}},
		{"one register goes back", func(h *History) { h.Final[savings] = "a4" }},
		{"the other one goes back", func(h *History) { h.Final[orders] = "a3" }},
		{"one register goes back to the beginning", func(h *History) { h.Final[savings] = "" }},
		{"a write goes to the wrong register", func(h *History) {
			h.Ops[bWriteX].Register, h.Ops[bWriteX].Saw = "", "b3"
			h.Final[orders], h.Final[savings] = "b4", "a4"
		}},
		{"a section misses the other one in one register", func(h *History) { rebase(h, "a3", "") }},
		{"two writes of one section", func(h *History) {
			w := h.Ops[aWrite]
			w.ID, w.Saw, w.Invoked, w.Applied, w.Returned = "a5", "a3", 24, 25, 26
			h.Ops = append(h.Ops, w)
			rebase(h, "a3", "a5")
			h.Ops[len(h.Ops)-1].Saw = "a3"
		}},
	} {
		h := whole()
		m.mutate(&h)
		v := mustJudge(t, h, nil)
		if v.Facts.TornSections == 0 || v.Label != Corrupted {
			t.Errorf("%s: torn %d, label %s, want torn and corrupted", m.name, v.Facts.TornSections, v.Label)
		}
		if got := corroborate(t, h, v.Facts); got.Agreement != Agrees {
			t.Errorf("%s: %+v", m.name, got)
		}
	}
}

// rebase changes the base of operations from one id to another.
func rebase(h *History, from, to string) {
	for i := range h.Ops {
		if h.Ops[i].Saw == from {
			h.Ops[i].Saw = to
		}
	}
}

// The boundaries between sections of one grant.
func TestGuardedSections(t *testing.T) {
	acts := map[rune]act{'r': {Read, ""}, 'R': {Read, "x"}, 'w': {Write, ""}, 'W': {Write, "x"}}
	for _, c := range []struct {
		what string
		want []string
	}{
		{"rRwW", []string{"rRwW"}},
		{"rwRW", []string{"rwRW"}},
		{"wW", []string{"wW"}},
		// The next one begins after the last write,
		{"rRwWrRwW", []string{"rRwW", "rRwW"}},
		{"wWwW", []string{"wW", "wW"}},
		// or at a read of a register that was read or written,
		{"rRrRwW", []string{"rR", "rRwW"}},
		{"rRrwW", []string{"rR", "rwW"}},
		{"wrRwW", []string{"w", "rRwW"}},
		{"rRwrRwW", []string{"rRw", "rRwW"}},
		// or at a second write.
		{"wwW", []string{"w", "wW"}},
		{"rRwwW", []string{"rRw", "wW"}},
	} {
		g := held(1, "c0", 2, 0)
		h := transfers("", "", []Grant{g})
		for i, r := range c.what {
			h.Ops = append(h.Ops, g.op(acts[r].kind, string(r)+string(rune('0'+i)), Pos(10+i), "").in(acts[r].register))
		}
		var got []string
		for _, s := range guardedSections(h) {
			name := ""
			for _, o := range s.ops {
				name += o.ID[:1]
			}
			got = append(got, name)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: sections %q, want %q", c.what, got, c.want)
		}
	}
}

// A reason says of each write that is missing what became of it.
func TestFate(t *testing.T) {
	w := held(1, "c0", 2, 9).write("w", 4, "")
	for want, o := range map[string]Op{
		"was acknowledged and lost": w,
		"was refused":               w.refused(),
		"was never sent":            w.ended(OutcomeNotSent),
		"failed":                    w.ended(OutcomeFailed),
		"never arrived":             w.unanswered(0),
		"had no answer, and was overwritten unseen": w.unanswered(5),
		"was refused, and the answer did not come":  {Outcome: OutcomeUnknown, Applied: 5},
	} {
		if got := (guardedSection{}).fate(&o); got != want {
			t.Errorf("%+v %s, want %s", o, got, want)
		}
	}
}
