package checker

import (
	"strings"
	"testing"
)

type dataCase struct {
	name string
	h    History
	lost int
	says string // part of the first reason
}

// rightData are histories that the exact check must accept.
func rightData() []dataCase {
	a, b, both := together()
	twoCells := story("b2", both, a.write("a2", 20, "").in("x"), b.write("b2", 10, ""))
	twoCells.Final[Cell{"orders", "x"}] = "a2"
	return []dataCase{
		// A cell without operations keeps its initial value.
		{name: "nothing", h: story("", nil)},
		// One section after the other.
		{name: "in turn", h: story("b2", both,
			a.read("a1", 10, ""), a.write("a2", 13, ""), b.read("b1", 20, "a2"), b.write("b2", 23, "a2"))},
		// Two sections under one grant; each write belongs to the read before it.
		{name: "two sections in a grant", h: story("a4", both,
			a.read("a1", 10, ""), a.write("a2", 13, ""), a.read("a3", 20, "a2"), a.write("a4", 23, "a2"))},
		// A second write may build on the first without reading it again.
		{name: "write on own write", h: story("a3", both,
			a.read("a1", 10, ""), a.write("a2", 13, ""), a.write("a3", 20, "a2"))},
		// The store refused b2, so b2 may contradict the rest.
		{name: "refused write", h: story("a2", both,
			b.read("b1", 5, ""), a.read("a1", 10, ""), a.write("a2", 13, ""), b.write("b2", 20, "").refused())},
		// An operation that was never sent, or certainly failed, may contradict the rest too.
		{name: "not sent and failed", h: story("a2", both,
			b.write("b1", 5, "").ended(OutcomeNotSent), b.write("b2", 8, "").ended(OutcomeFailed), a.write("a2", 13, ""))},
		// Reads without a value must not count as reads of the initial value.
		{name: "reads without a value", h: story("a2", both,
			a.write("a2", 10, ""), b.read("b1", 20, "").refused(), b.read("b2", 30, "").unanswered(31),
			b.read("b3", 40, "").ended(OutcomeNotSent))},
		// b2 was overwritten unseen. It was not acknowledged, so it is not lost.
		{name: "unknown, never observed", h: story("a2", both,
			b.read("b1", 5, ""), b.write("b2", 8, "").unanswered(9), a.read("a1", 4, ""), a.write("a2", 13, ""))},
		// A later section is based on b2, so b2 counts, and it fits.
		{name: "unknown, observed by a section", h: story("a2", both,
			b.read("b1", 5, ""), b.write("b2", 8, "").unanswered(9), a.read("a1", 12, "b2"), a.write("a2", 15, "b2"))},
		// Only the epilogue sees the late write, and no write came between.
		{name: "unknown, observed by the epilogue", h: story("b2", both,
			a.read("a1", 5, ""), a.write("a2", 8, ""), b.read("b1", 20, "a2"), b.write("b2", 23, "a2").unanswered(80))},
		// b1 read the value before a2 replaced it, while a's section was under way.
		{name: "read inside a section", h: story("a2", both,
			a.read("a1", 10, ""), b.read("b1", 15, ""), a.write("a2", 20, ""))},
		// Reads of one value commute, whatever their order in time.
		{name: "reads of one value", h: story("a2", both,
			a.write("a2", 10, ""), b.read("b1", 20, "a2"), a.read("a3", 30, "a2"), b.read("b2", 40, "a2"))},
		// b1 began where a2 returned: they count as concurrent, so b1 may come first.
		{name: "touching operations", h: story("a2", both, a.write("a2", 10, ""), b.read("b1", 12, ""))},
		// The cells have separate histories, without conditions between them.
		{name: "two cells", h: twoCells},
	}
}

// wrongData are histories that the exact check must reject.
func wrongData() []dataCase {
	a, b, both := together()
	elsewhere := story("a1", both, a.write("a1", 10, "").in("x"))
	elsewhere.Final[Cell{"orders", "x"}] = "a1"
	return []dataCase{
		// The lost update: both read the initial value, both wrote.
		{name: "lost update", lost: 1, says: "c1's write b2 (step 21) to orders was acknowledged. c0's write a2 (step 31), " +
			"based on the initial value, overwrote b2: b2 is lost.",
			h: story("a2", both, a.read("a1", 10, ""), b.read("b1", 15, ""), b.write("b2", 20, ""), a.write("a2", 30, ""))},
		// F13: the packet was under way after its sender had given up. Only the epilogue sees its effect.
		{name: "late packet", lost: 1, says: "c1's write b2",
			h: story("a2", both, a.read("a1", 5, ""), a.write("a2", 8, "").unanswered(80), b.read("b1", 20, ""),
				b.write("b2", 23, ""))},
		// A whole branch is lost; the reason names the write that replaced it, not a later one.
		{name: "lost branch", lost: 2, says: "c1's write b2 (step 21) to orders was acknowledged. c0's write a2 (step 41), " +
			"based on the initial value, overwrote b3, which follows from b2: b2 is lost.",
			h: story("a3", both, a.read("a1", 10, ""), b.write("b2", 20, ""), b.write("b3", 30, "b2"), a.write("a2", 40, ""),
				a.write("a3", 50, "a2"))},
		// The stale write comes between two writes of a section that goes on: it overwrites the one, and the other
		// overwrites it. The reason has all three, in the order of time.
		{name: "stale in between", lost: 1, says: "c1's write b2 (step 21) to orders was acknowledged. c0's write a2 (step " +
			"31), based on the initial value, overwrote it, and was acknowledged. c1's write b3 (step 41), based on the older " +
			"value b2, overwrote a2: a2 is lost.",
			h: story("b3", both, a.read("a1", 10, ""), b.write("b2", 20, ""), a.write("a2", 30, ""), b.write("b3", 40, "b2"))},
		// The write that comes first in that order had no answer.
		{name: "unanswered before", lost: 1, says: "c1's write b2 (step 21) to orders was taken by the store, without an " +
			"answer. c0's write a2 (step 31)",
			h: story("b3", both, b.write("b2", 20, "").unanswered(21), a.write("a2", 30, ""), b.write("b3", 40, "b2"))},
		// An acknowledged write without any effect.
		{name: "write without effect", lost: 1, says: "c0's write a1 (step 11) to orders was acknowledged. The store took " +
			"no write that undid it, but the final value is the initial value: a1 is lost.",
			h: story("", both, a.write("a1", 10, ""))},
		// The final value was never written.
		{name: "final from nowhere", says: "The final value of orders is ghost, which no client wrote there.",
			h: story("ghost", both)},
		// The final value is a write that the store had refused.
		{name: "final was refused",
			says: `The final value of orders is a1, a write of c0 whose outcome was "refused" (step 11).`,
			h:    story("a1", both, a.write("a1", 10, "").refused())},
		// A write is based on a value that was never written.
		{name: "based on nothing", says: "c0's write a1 (step 11) of orders is based on ghost, which no client wrote there.",
			h: story("a1", both, a.write("a1", 10, "ghost"))},
		// An id that was written to another register does not count here.
		{name: "written elsewhere", says: "which no client wrote there", h: elsewhere},
		// The final id is the id of a read.
		{name: "final is a read", says: "which no client wrote there", h: story("a1", both, a.read("a1", 10, ""))},
		// Two writes are each based on the other; the path never ends.
		{name: "circle", says: "The writes of orders run in a circle: c1's write b1",
			h: story("b1", both, a.write("a1", 10, "b1"), b.write("b1", 10, "a1"))},
		// The shortest cycle.
		{name: "based on itself", says: "run in a circle: c0's write a1", h: story("a1", both, a.write("a1", 10, "a1"))},
		// A cycle off the path: both writes are lost, and the search for their origin must end.
		{name: "circle off the path", lost: 2, says: "c1's write b3 (step 31), based on the initial value, overwrote b1, " +
			"which follows from a1: a1 is lost.",
			h: story("b3", both, a.write("a1", 10, "b1"), b.write("b1", 10, "a1"), b.write("b3", 30, ""))},
		// A lost write that is based on nothing known.
		{name: "lost and rootless", lost: 1, says: "c0's write a1 (step 11) to orders was acknowledged. c1's write b3 " +
			"(step 31), based on the initial value, overwrote a1: a1 is lost.",
			h: story("b3", both, a.write("a1", 10, "ghost"), b.write("b3", 30, ""))},
		// b2's outcome is unknown, but a1 read it: it took effect, and was lost then.
		{name: "observed and gone", says: "c0's read a1 (step 16) of orders found b2, which is not among the writes that " +
			"led to the final value, b3.",
			h: story("b3", both, b.write("b2", 8, "").unanswered(9), a.read("a1", 15, "b2"), b.write("b3", 20, ""))},
		// A read found something that was never written.
		{name: "read from nowhere", says: "c0's read a1 (step 11) of orders found ghost, which no client wrote there.",
			h: story("", both, a.read("a1", 10, "ghost"))},
		// A read of the old value, begun after the new one had been acknowledged.
		{name: "read of the past", says: "c0's write a1 (step 11) of orders had returned at step 12, before c1's read b1 " +
			"(step 21) began at step 20",
			h: story("a1", both, a.write("a1", 10, ""), b.read("b1", 20, ""))},
		// A read of a value before its write began.
		{name: "read of the future", says: "c1's read b1 (step 11) of orders had returned at step 12, before c0's write a1",
			h: story("a1", both, b.read("b1", 10, "a1"), a.write("a1", 20, ""))},
		// The same with a write of unknown outcome, which cannot take effect before it began either.
		{name: "unknown acts early", says: "before c0's write a1",
			h: story("a1", both, b.read("b1", 10, "a1"), a.write("a1", 20, "").unanswered(21))},
		// In the data a1 precedes b1, in time b1 precedes a1.
		{name: "writes against time", says: "c1's write b1 (step 11) of orders had returned at step 12, before c0's write " +
			"a1 (step 21) began at step 20",
			h: story("b1", both, b.write("b1", 10, "a1"), a.write("a1", 20, ""))},
		// The first and the last of three writes contradict time, neighbours do not.
		{name: "against time at a distance", says: "c1's write b2 (step 11) of orders had returned at step 12, before c0's " +
			"write a1 (step 21)",
			h: story("b2", both, a.write("a1", 20, "").took(60), b.write("b1", 9, "a1").took(61),
				a.write("a2", 8, "b1").took(50), b.write("b2", 10, "a2"))},
	}
}

func TestDataRight(t *testing.T) {
	for _, c := range rightData() {
		t.Run(c.name, func(t *testing.T) {
			v := mustJudge(t, c.h, nil)
			if v.Facts.Data != DataRight || v.Facts.LostUpdates != 0 {
				t.Errorf("data %s, lost %d, want right\n%q", v.Facts.Data, v.Facts.LostUpdates, texts(v.Reasons))
			}
		})
	}
}

func TestDataCorrupted(t *testing.T) {
	for _, c := range wrongData() {
		t.Run(c.name, func(t *testing.T) {
			v := mustJudge(t, c.h, nil)
			if v.Facts.Data != DataCorrupted || v.Facts.LostUpdates != c.lost || v.Label != Corrupted {
				t.Errorf("data %s, lost %d, label %s, want corrupted with lost %d", v.Facts.Data, v.Facts.LostUpdates, v.Label,
					c.lost)
			}
			if !strings.Contains(v.Reasons[0].Text, c.says) {
				t.Errorf("first reason %q\nlacks %q", v.Reasons[0].Text, c.says)
			}
		})
	}
}

// The first reason of a lost update must lead a reader to both writes.
func TestLostUpdatePositions(t *testing.T) {
	v := mustJudge(t, wrongData()[0].h, nil)
	if at := v.Reasons[0].At; len(at) != 2 || at[0] != 21 || at[1] != 31 {
		t.Errorf("positions %v, want [21 31]", at)
	}
}

// A history beyond the budget is undecided, one that just fits is decided.
func TestDataBudget(t *testing.T) {
	h := wrongData()[0].h
	if v := judge(h, nil, len(h.Ops)); v.Label != Corrupted {
		t.Errorf("within the budget: %s, want corrupted", v.Label)
	}
	v := judge(h, nil, len(h.Ops)-1)
	if v.Label != Unknown || v.Facts.Data != DataUndecided {
		t.Errorf("beyond the budget: %s, data %s, want unknown", v.Label, v.Facts.Data)
	}
	if want := "4 operations are more than the budget of 3"; !strings.Contains(v.Reasons[0].Text, want) {
		t.Errorf("first reason %q lacks %q", v.Reasons[0].Text, want)
	}
}

// If the path ends early, contradictions that follow from that are not reported: the reads here are right.
func TestBrokenPathIsOneReason(t *testing.T) {
	a, b, both := together()
	h := story("ghost", both, a.read("a1", 10, ""), b.read("b1", 20, ""))
	f := checkData(h, MaxOperations)
	if f.wrong.count != 1 || f.data != DataCorrupted {
		t.Errorf("data %s with reasons %q, want corrupted with one", f.data, texts(f.wrong.sentences()))
	}
}
