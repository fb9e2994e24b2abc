package checker_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"locksim/checker"
	"locksim/lock/fence"
)

// answered is an operation on order that was called and answered at two positions, under the grant of its token.
func answered(id string, kind checker.OpKind, token uint64, from, to checker.Pos, saw string) checker.Op {
	return checker.Op{ID: id, Client: fmt.Sprintf("c%d", token), Grant: int(token), Resource: "order", Register: "value",
		Kind: kind, Token: token, Invoked: from, Returned: to, Outcome: checker.OutcomeOK, Saw: saw}
}

// refused is an operation that was refused.
func refused(o checker.Op) checker.Op {
	o.Outcome, o.Saw = checker.OutcomeRefused, ""
	return o
}

// unanswered is an operation without an answer.
func unanswered(o checker.Op) checker.Op {
	o.Outcome, o.Saw, o.Returned = checker.OutcomeUnknown, "", 0
	return o
}

// underGrant is an operation under another grant, with the same token.
func underGrant(id int, o checker.Op) checker.Op {
	o.Grant, o.Client = id, fmt.Sprintf("c%d", id)
	return o
}

// again is a retry of a write.
func again(of string, o checker.Op) checker.Op {
	o.Again = of
	return o
}

// fenced is the history of a store under test.
func fenced(rule fence.Mode, ops ...checker.Op) checker.History {
	h := checker.History{Fence: rule, Ops: ops}
	for token := 1; token <= 12; token++ {
		h.Grants = append(h.Grants, checker.Grant{ID: token, Client: fmt.Sprintf("c%d", token), Resource: "order",
			Token: uint64(token), Invoked: 1, Granted: 1, Until: checker.Pos(1 + token)})
	}
	return h
}

// Each wrong answer of a store is told as what it is.
func TestFencedFacts(t *testing.T) {
	const read, write = checker.Read, checker.Write
	for name, c := range map[string]struct {
		h    checker.History
		want func(f checker.Facts) bool
		says string
	}{
		"a stale write is refused": {
			fenced(fence.Check, answered("a", write, 2, 10, 20, ""), refused(answered("b", write, 1, 30, 40, "")),
				answered("r", read, 2, 50, 60, "a")),
			func(f checker.Facts) bool { return f.StaleRejected == 1 && f.Data == checker.DataRight }, ""},
		"a stale write is accepted": {
			fenced(fence.Check, answered("a", write, 2, 10, 20, ""), answered("b", write, 1, 30, 40, "")),
			func(f checker.Facts) bool { return f.StaleAccepted == 1 && f.Data == checker.DataCorrupted },
			"b with token 1 was accepted (step 40), although c2's write a with token 2 had been answered before it was sent"},
		"it has forgotten": {
			fenced(fence.Check, answered("a", write, 3, 10, 20, ""), refused(answered("b", write, 2, 30, 40, "")),
				answered("c", write, 1, 50, 60, "")),
			func(f checker.Facts) bool { return f.StaleForgotten == 1 && f.StaleAccepted == 1 }, "forgotten the highest token"},
		"what the server of the store records is not asked": {
			fenced(fence.Check, answered("a", write, 2, 10, 20, ""), func() checker.Op {
				o := refused(answered("b", write, 1, 30, 40, ""))
				o.Applied = 35
				return o
			}()),
			func(f checker.Facts) bool { return f.StaleRejected == 1 && f.FalseRejects == 0 }, ""},
		"reads count under seal": {
			fenced(fence.Seal, answered("r", read, 2, 10, 20, ""), answered("a", write, 1, 30, 40, "")),
			func(f checker.Facts) bool { return f.StaleAccepted == 1 }, "Reads count under rule seal."},
		"reads do not count under check": {
			fenced(fence.Check, answered("r", read, 2, 10, 20, ""), answered("a", write, 1, 30, 40, "")),
			func(f checker.Facts) bool { return f.StaleAccepted == 0 && f.Data == checker.DataRight }, ""},
		"it may be stricter than check": {
			fenced(fence.Check, answered("r", read, 2, 10, 20, ""), refused(answered("a", write, 1, 30, 40, ""))),
			func(f checker.Facts) bool { return f.FalseRejects == 0 && f.StaleRejected == 1 }, ""},
		"equal tokens of two grants": {
			fenced(fence.Strict, answered("a", write, 2, 10, 20, ""), underGrant(3, answered("b", write, 2, 30, 40, ""))),
			func(f checker.Facts) bool { return f.StaleAccepted == 1 }, "different grants"},
		"a rightful holder is refused": {
			fenced(fence.Check, answered("a", write, 9, 10, 20, ""), refused(answered("b", write, 10, 30, 40, ""))),
			func(f checker.Facts) bool { return f.FalseRejects == 1 && f.Data == checker.DataRight },
			`As text "10" is below "9"`},
		"a write is gone": {
			fenced(fence.Check, answered("a", write, 1, 10, 20, ""), answered("r", read, 2, 30, 40, "")),
			func(f checker.Facts) bool { return f.LostUpdates == 1 && f.Overwritten == 0 }, "the write is gone"},
		"the check is not atomic": {
			fenced(fence.Check, answered("a", write, 1, 10, 40, ""), answered("b", write, 2, 20, 30, ""),
				answered("r", read, 2, 50, 60, "a")),
			func(f checker.Facts) bool { return f.Overwritten == 1 && f.LostUpdates == 1 }, "not one step"},
		"a late write is taken": {
			fenced(fence.Check, unanswered(answered("a", write, 1, 10, 0, "")), answered("b", write, 2, 20, 30, ""),
				answered("r", read, 2, 50, 60, "a")),
			func(f checker.Facts) bool { return f.Overwritten == 1 }, "it has no answer"},
		"a write without an answer may come at any time": {
			fenced(fence.Check, unanswered(answered("a", write, 2, 10, 0, "")), answered("b", write, 2, 20, 30, ""),
				answered("r", read, 2, 50, 60, "a")),
			func(f checker.Facts) bool { return f.Data == checker.DataRight }, ""},
		"a write that is sent again may bring its value back": { // between the two copies of a comes b
			fenced(fence.Check, answered("a", write, 3, 10, 11, ""), underGrant(4, answered("b", write, 3, 13, 16, "")),
				again("a", answered("a2", write, 3, 14, 17, "")), answered("r", read, 3, 18, 22, "a"),
				underGrant(4, answered("c", write, 3, 19, 21, "")), answered("s", read, 2, 23, 25, "c")),
			func(f checker.Facts) bool { return f.Data == checker.DataRight }, ""},
		"a last read has a grant of its own": {
			func() checker.History {
				h := fenced(fence.Strict, refused(answered("a", write, 2, 12, 13, "")))
				h.Last = []checker.Op{underGrant(0, answered("last", read, 2, 11, 15, ""))}
				return h
			}(),
			func(f checker.Facts) bool { return f.FalseRejects == 0 && f.StaleRejected == 1 }, ""},
		"it has forgotten who sent an equal token": {
			fenced(fence.Strict, answered("a", write, 2, 10, 20, ""),
				underGrant(3, refused(answered("b", write, 2, 30, 40, ""))),
				underGrant(3, answered("c", write, 2, 50, 60, ""))),
			func(f checker.Facts) bool { return f.StaleForgotten == 1 && f.StaleAccepted == 1 }, "forgotten the highest token"},
		"it had answered one of two with the highest token": {
			fenced(fence.Seal, answered("a", write, 3, 10, 40, ""), answered("r", read, 3, 12, 20, ""),
				refused(answered("b", write, 2, 25, 30, "")), answered("c", write, 1, 50, 60, "")),
			func(f checker.Facts) bool { return f.StaleForgotten == 1 }, "forgotten the highest token"},
		"it had refused one before it knew the highest token": {
			fenced(fence.Check, answered("a", write, 2, 10, 20, ""), refused(answered("b", write, 1, 25, 30, "")),
				answered("c", write, 3, 35, 40, ""), answered("d", write, 1, 50, 60, "")),
			func(f checker.Facts) bool { return f.StaleForgotten == 0 && f.StaleAccepted == 1 }, ""},
		"a stale write whose answer comes later has taken effect": {
			fenced(fence.Check, answered("a", write, 2, 10, 20, ""), answered("b", write, 1, 30, 60, ""),
				answered("r", read, 2, 40, 50, "b")),
			func(f checker.Facts) bool { return f.Overwritten == 1 && f.StaleAccepted == 0 }, "it was sent after that"},
		"a write that its client gave up was under way": {
			fenced(fence.Check, func() checker.Op {
				o := answered("a", write, 1, 10, 15, "")
				o.Outcome = checker.OutcomeUnknown
				return o
			}(), answered("b", write, 2, 20, 30, ""), answered("r", read, 2, 50, 60, "a")),
			func(f checker.Facts) bool { return f.Overwritten == 1 }, "it has no answer"},
		"an equal token of another grant is taken": {
			fenced(fence.Strict, answered("a", write, 2, 10, 20, ""), underGrant(3, answered("b", write, 2, 15, 40, "")),
				answered("r", read, 2, 50, 60, "b")),
			func(f checker.Facts) bool { return f.Unexplained == 1 }, "no order of the operations"},
		"the holder of the highest token is refused its second write": {
			fenced(fence.Check, answered("a", write, 2, 10, 20, ""), refused(answered("b", write, 2, 30, 40, ""))),
			func(f checker.Facts) bool { return f.FalseRejects == 1 && f.StaleRejected == 0 }, "was refused"},
		"a token was written without its value": {
			fenced(fence.Check, answered("a", write, 1, 10, 20, ""), unanswered(answered("b", write, 3, 22, 0, "")),
				refused(answered("c", write, 2, 30, 40, "")), answered("r", read, 2, 50, 60, "a")),
			func(f checker.Facts) bool { return f.Data == checker.DataRight && f.FalseRejects == 0 }, ""},
		"a stale write is accepted after a right read": {
			fenced(fence.Check, answered("a", write, 2, 10, 20, ""), answered("b", write, 1, 30, 60, ""),
				answered("r", read, 2, 40, 50, "a")),
			func(f checker.Facts) bool { return f.StaleAccepted == 1 && f.Unexplained == 0 }, "b with token 1 was accepted"},
		"two keys have nothing to do with each other": {
			fenced(fence.Check, answered("a", write, 2, 10, 20, ""), on("other", answered("b", write, 1, 30, 40, ""))),
			func(f checker.Facts) bool { return f.Data == checker.DataRight }, ""},
		"a last read finds what is left": {
			func() checker.History {
				h := fenced(fence.Check, answered("a", write, 2, 10, 20, ""))
				h.Last = []checker.Op{underGrant(0, answered("last", read, 3, 30, 40, ""))}
				return h
			}(),
			func(f checker.Facts) bool { return f.LostUpdates == 1 }, "the write is gone"},
		"a retry is under way, and its first copy is over": {
			fenced(fence.Check, answered("a", write, 1, 10, 15, ""), again("a", unanswered(answered("a2", write, 1, 17, 0, ""))),
				answered("b", write, 2, 20, 30, ""), answered("r", read, 2, 50, 60, "a")),
			func(f checker.Facts) bool { return f.Overwritten == 1 }, "took effect after"},
		"a read finds what was refused": {
			fenced(fence.Check, answered("a", write, 2, 10, 20, ""), refused(answered("b", write, 1, 25, 30, "")),
				answered("r", read, 2, 40, 50, "b")),
			func(f checker.Facts) bool { return f.LostUpdates == 1 && f.Overwritten == 0 }, "the write is gone"},
		"a read finds what is sent later": {
			fenced(fence.Check, answered("a", write, 2, 10, 20, ""), answered("r", read, 2, 30, 40, "b"),
				answered("b", write, 1, 50, 60, "")),
			func(f checker.Facts) bool { return f.Unexplained == 1 && f.LostUpdates == 0 }, "found b"},
		"a read finds what nobody wrote": {
			fenced(fence.Check, answered("r", read, 2, 10, 20, "x")),
			func(f checker.Facts) bool { return f.Unexplained == 1 }, "found x"},
	} {
		t.Run(name, func(t *testing.T) {
			v, err := checker.Judge(c.h, nil)
			if err != nil {
				t.Fatal(err)
			}
			if !c.want(v.Facts) {
				t.Errorf("the facts are %+v", v.Facts)
			}
			said := slices.ContainsFunc(v.Reasons, func(r checker.Reason) bool { return strings.Contains(r.Text, c.says) })
			if !said {
				t.Errorf("no sentence says %q: %+v", c.says, v.Reasons)
			}
			agrees(t, c.h, v.Facts)
		})
	}
}

// agrees fails the test if porcupine has another opinion.
func agrees(t *testing.T, h checker.History, f checker.Facts) {
	t.Helper()
	second, err := checker.Corroborate(h, f)
	if err != nil {
		t.Fatal(err)
	}
	if second.Agreement == checker.Contradicts {
		t.Errorf("%s: %+v", second.Why, h.Ops)
	}
}

// A history of a store under test that contradicts itself is malformed.
func TestMalformedFenced(t *testing.T) {
	const read, write = checker.Read, checker.Write
	first := answered("a", write, 2, 10, 20, "")
	sent := answered("b", write, 2, 30, 40, "")
	for name, c := range map[string]struct {
		h    checker.History
		says string
	}{
		"a rule that compares no tokens": {fenced(fence.Claim, first), `the rule "claim"`},
		"a retry of a store that is right": {func() checker.History {
			h := fenced("", first, again("a", sent))
			h.Final = map[checker.Cell]string{{Resource: "order", Register: "value"}: "a"}
			for i := range h.Ops {
				h.Ops[i].Applied, h.Ops[i].Accepted = h.Ops[i].Returned, true
			}
			return h
		}(), "only writes to a store under test are sent again"},
		"a read that is sent again": {fenced(fence.Check, first, again("a", answered("r", read, 2, 30, 40, "a"))),
			"it is a retry"},
		"a retry of a later write": {fenced(fence.Check, again("a", sent), first), "which is not before it"},
		"a retry of itself":        {fenced(fence.Check, first, again("b", sent)), "which is not before it"},
		"a retry of a read": {fenced(fence.Check, answered("r", read, 2, 10, 20, ""), again("r", sent)),
			"no first write"},
		"a retry of a retry": {fenced(fence.Check, first, again("a", sent), again("b", answered("c", write, 2, 50, 60, ""))),
			"no first write"},
		"a retry of another grant": {fenced(fence.Check, first, underGrant(3, again("a", sent))), "no first write"},
		"a retry with another token": {
			fenced(fence.Check, first, underGrant(2, again("a", answered("b", write, 3, 30, 40, "")))), "no first write"},
		"a retry on another cell": {fenced(fence.Check, first, func() checker.Op {
			o := again("a", sent)
			o.Register = "other"
			return o
		}()), "no first write"},
		"a last read without an id": {func() checker.History {
			h := fenced(fence.Check, first)
			h.Last = []checker.Op{answered("", read, 2, 50, 60, "a")}
			return h
		}(), "a last read lacks its id"},
		"a last read with the id of a write": {func() checker.History {
			h := fenced(fence.Check, first)
			h.Last = []checker.Op{answered("a", read, 2, 50, 60, "a")}
			return h
		}(), "a last read lacks its id"},
	} {
		_, err := checker.Judge(c.h, nil)
		if !errors.Is(err, checker.ErrMalformed) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", name, err, c.says)
		}
	}
}
