package checker_test

import (
	"math"
	"slices"
	"testing"

	"locksim/checker"
	"locksim/lock/fence"
)

// on is an operation on another register.
func on(register string, o checker.Op) checker.Op {
	o.Register = register
	return o
}

// withToken is an operation with another token, under the same grant.
func withToken(token uint64, o checker.Op) checker.Op {
	o.Token = token
	return o
}

// Each row of what was tried counts what it says, and not what is nearly that.
func TestFenceTries(t *testing.T) {
	const read, write = checker.Read, checker.Write
	first := answered("a", write, 2, 10, 20, "")
	for name, c := range map[string]struct {
		ops  []checker.Op
		want checker.FenceTries
	}{
		"nothing":   {nil, checker.FenceTries{}},
		"one write": {[]checker.Op{first}, checker.FenceTries{}},
		"a stale write": {
			[]checker.Op{first, answered("b", write, 1, 30, 40, "")},
			checker.FenceTries{Stale: 1},
		},
		"a stale read": {
			[]checker.Op{first, answered("b", read, 1, 30, 40, "a")},
			checker.FenceTries{Stale: 1},
		},
		"a stale write without an answer": {
			[]checker.Op{first, unanswered(answered("b", write, 1, 30, 40, ""))},
			checker.FenceTries{Stale: 1},
		},
		"a stale write after a refusal of the newer one": {
			[]checker.Op{refused(first), answered("b", write, 1, 30, 40, "")},
			checker.FenceTries{Stale: 1},
		},
		"a write after an unanswered newer one": {
			[]checker.Op{unanswered(first), answered("b", read, 1, 30, 40, "")},
			checker.FenceTries{},
		},
		"a newer write": {[]checker.Op{first, answered("b", write, 3, 30, 40, "")}, checker.FenceTries{}},
		"a write before the answer to a newer one": {
			[]checker.Op{first, answered("b", write, 1, 15, 40, "")},
			checker.FenceTries{Together: 1},
		},
		"three writes at once": {
			[]checker.Op{first, answered("b", write, 1, 15, 40, ""), answered("c", write, 3, 17, 30, "")},
			checker.FenceTries{Together: 3},
		},
		"a write beside one without an answer": {
			[]checker.Op{unanswered(first), answered("b", write, 3, 30, 40, "")},
			checker.FenceTries{Together: 1},
		},
		"a read beside a write": {[]checker.Op{first, answered("b", read, 1, 15, 40, "")}, checker.FenceTries{}},
		"writes on two registers at once": {
			[]checker.Op{first, on("other", answered("b", write, 2, 15, 40, ""))},
			checker.FenceTries{},
		},
		"two writes of one grant": {
			[]checker.Op{unanswered(first), answered("b", write, 2, 30, 40, "")},
			checker.FenceTries{},
		},
		"a write sent again": {
			[]checker.Op{first, again("a", answered("b", write, 2, 30, 40, ""))},
			checker.FenceTries{Retries: 1},
		},
		"a write sent again after no answer": {
			[]checker.Op{unanswered(first), again("a", answered("b", write, 2, 30, 40, ""))},
			checker.FenceTries{Retries: 1, Unanswered: 1},
		},
		"a refused write sent again": {
			[]checker.Op{refused(first), again("a", answered("b", write, 2, 30, 40, ""))},
			checker.FenceTries{Retries: 1},
		},
		"equal tokens": {
			[]checker.Op{first, underGrant(3, answered("b", write, 2, 30, 40, ""))},
			checker.FenceTries{Equal: 1},
		},
		"a read with an equal token": {
			[]checker.Op{first, underGrant(3, answered("b", read, 2, 30, 40, "a"))},
			checker.FenceTries{},
		},
		"a token with more digits": {
			[]checker.Op{answered("a", write, 9, 10, 20, ""), answered("b", write, 10, 30, 40, "")},
			checker.FenceTries{Digits: 1},
		},
		"a token with as many digits": {
			[]checker.Op{answered("a", write, 10, 10, 20, ""), answered("b", write, 12, 30, 40, "")},
			checker.FenceTries{},
		},
		"a token with more than 31 bits": {
			[]checker.Op{withToken(math.MaxInt32, first), withToken(math.MaxInt32+1, answered("b", write, 3, 30, 40, ""))},
			checker.FenceTries{Wide: 1},
		},
		"a token with more than 32 bits": {
			[]checker.Op{withToken(math.MaxUint32, first), withToken(math.MaxUint32+1, answered("b", write, 3, 30, 40, ""))},
			checker.FenceTries{Wide: 1},
		},
		"a token with more than 31 bits and one with more than 32": {[]checker.Op{withToken(math.MaxInt32, first),
			withToken(math.MaxUint32+1, answered("b", write, 3, 30, 40, ""))}, checker.FenceTries{Wide: 1}},
		"tokens with 32 bits": {
			[]checker.Op{withToken(math.MaxInt32+1, first), withToken(math.MaxUint32, answered("b", write, 3, 30, 40, ""))},
			checker.FenceTries{},
		},
		"tokens with 31 bits": {
			[]checker.Op{withToken(math.MaxInt32-1, first), withToken(math.MaxInt32, answered("b", write, 3, 30, 40, ""))},
			checker.FenceTries{},
		},
		"two registers with different tokens": {
			[]checker.Op{first, on("other", answered("b", write, 3, 30, 40, ""))},
			checker.FenceTries{Keys: 1},
		},
		"two registers with equal tokens": {
			[]checker.Op{first, on("other", answered("b", write, 2, 30, 40, ""))},
			checker.FenceTries{},
		},
		"three registers": {
			[]checker.Op{first, on("other", answered("b", write, 3, 30, 40, "")),
				on("third", answered("c", write, 2, 50, 60, ""))},
			checker.FenceTries{Keys: 2},
		},
		"a write that was never sent": {[]checker.Op{first, func() checker.Op {
			o := answered("b", write, 1, 30, 40, "")
			o.Outcome = checker.OutcomeNotSent
			return o
		}()}, checker.FenceTries{}},
	} {
		h := fenced(fence.Check, c.ops...)
		if err := h.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got := h.FenceTries(); got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
		if h.Fence = ""; h.FenceTries() != (checker.FenceTries{}) {
			t.Errorf("%s: a store that is right is tried", name)
		}
	}
}

// The last reads of a store are tries too.
func TestFenceTriesOfLastReads(t *testing.T) {
	h := fenced(fence.Check, answered("a", checker.Write, 9, 10, 20, ""))
	h.Last = []checker.Op{underGrant(0, answered("last", checker.Read, 10, 30, 40, "a"))}
	if got := h.FenceTries(); got != (checker.FenceTries{Digits: 1}) {
		t.Errorf("%+v", got)
	}
}

// The tries of several runs are added, listed, and what is missing is named, row by row.
func TestFenceTriesAreListed(t *testing.T) {
	all := checker.FenceTries{Stale: 1, Together: 2, Retries: 3, Unanswered: 4, Equal: 5, Digits: 6, Wide: 7, Keys: 1000}
	sum := all
	sum.Add(all)
	if want := (checker.FenceTries{Stale: 2, Together: 4, Retries: 6, Unanswered: 8, Equal: 10, Digits: 12, Wide: 14,
		Keys: 2000}); sum != want {
		t.Errorf("the sum is %+v", sum)
	}
	const text = "operations that came after a newer one 1, pairs of writes at once 2, writes sent again 3, of them " +
		"without an answer before 4, pairs of writes of two holders with equal tokens 5, keys whose tokens came to need " +
		"more digits 6, keys whose tokens came to need more than 31 or 32 bits 7, pairs of keys with different tokens 1,000"
	if all.String() != text {
		t.Errorf("listed are %s", all)
	}
	if missing := all.Missing(fence.Strict); len(missing) > 0 {
		t.Errorf("missing are %q", missing)
	}
	var none checker.FenceTries
	if none.String() != "nothing" || len(none.Missing(fence.Strict)) != 8 {
		t.Errorf("of nothing: %s, missing %q", none, none.Missing(fence.Strict))
	}
	const equal = "pairs of writes of two holders with equal tokens"
	if got := none.Missing(fence.Seal); slices.Contains(got, equal) || len(got) != 7 {
		t.Errorf("missing under seal are %q: only strict tells equal tokens apart", got)
	}
}
