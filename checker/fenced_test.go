package checker_test

import (
	"fmt"
	"math/rand/v2"
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
			fenced(fence.Strict, answered("a", write, 2, 10, 20, ""), func() checker.Op {
				o := answered("b", write, 2, 30, 40, "")
				o.Grant, o.Client = 3, "c3"
				return o
			}()),
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

// The search, porcupine and a check of all orders agree about random histories.
func TestFencedAgreesWithAllOrders(t *testing.T) {
	dice := rand.New(rand.NewPCG(59, 0))
	wrong := 0
	for n := range 4000 {
		rule := []fence.Mode{fence.Check, fence.Seal, fence.Strict}[n%3]
		h := fenced(rule, randomOps(dice)...)
		v, err := checker.Judge(h, nil)
		if err != nil {
			t.Fatal(err)
		}
		f := v.Facts
		broken := f.StaleAccepted+f.LostUpdates+f.Unexplained+f.FalseRejects > 0
		if broken {
			wrong++
		}
		if f.StaleForgotten > f.StaleAccepted || f.Overwritten > f.LostUpdates ||
			(f.Data == checker.DataCorrupted) != (f.StaleAccepted+f.LostUpdates+f.Unexplained > 0) {
			t.Fatalf("the facts contradict each other: %+v", f)
		}
		if ordered := anyOrder(rule, h.Ops, nil, fence.State{}, "", 0); ordered == broken {
			t.Fatalf("rule %s: an order exists: %t, and the facts are %+v\n%+v", rule, ordered, f, h.Ops)
		}
		agrees(t, h, f)
	}
	if wrong < 500 || wrong > 3500 {
		t.Errorf("%d of 4000 histories are wrong: too few of one kind", wrong)
	}
}

// randomOps are up to six operations with three tokens, of which some overlap.
func randomOps(dice *rand.Rand) []checker.Op {
	var ops []checker.Op
	ids := []string{""}
	at := checker.Pos(20)
	for n := range 2 + dice.IntN(5) {
		at += checker.Pos(1 + dice.IntN(6))
		token := uint64(1 + dice.IntN(3))
		o := answered(fmt.Sprintf("o%d", n), checker.Write, token, at, at+checker.Pos(1+dice.IntN(20)), "")
		if dice.IntN(2) == 0 {
			o.Kind, o.Saw = checker.Read, ids[dice.IntN(len(ids))]
		} else {
			ids = append(ids, o.ID)
		}
		if dice.IntN(3) == 0 { // another grant with the same token
			o.Grant, o.Client = o.Grant+3, fmt.Sprintf("c%d", o.Grant+3)
		}
		switch dice.IntN(5) {
		case 0:
			o = refused(o)
		case 1:
			o = unanswered(o)
		}
		ops = append(ops, o)
	}
	return ops
}

// anyOrder tries all orders, by the rules of package fence.
func anyOrder(rule fence.Mode, ops []checker.Op, done []string, s fence.State, value string, sent uint64) bool {
	left := slices.DeleteFunc(slices.Clone(ops), func(o checker.Op) bool { return slices.Contains(done, o.ID) })
	if !slices.ContainsFunc(left, func(o checker.Op) bool { return o.Returned > 0 }) {
		return true
	}
	for _, o := range left {
		if slices.ContainsFunc(left, func(other checker.Op) bool {
			return other.Returned > 0 && other.Returned < o.Invoked
		}) {
			continue
		}
		op := fence.Op{Token: o.Token, Grant: fmt.Sprint(o.Grant)}
		next := slices.Concat(done, []string{o.ID})
		after, refusal := rule.Write(s, op)
		if o.Kind == checker.Read {
			after, refusal = rule.Read(s, op)
		}
		answer, known := o.Outcome, o.Returned > 0
		if !known && anyOrder(rule, ops, next, s, value, sent) {
			return true
		}
		switch {
		case answer == checker.OutcomeRefused:
			if (refusal != nil || o.Token < sent) && anyOrder(rule, ops, next, s, value, sent) {
				return true
			}
		case o.Kind == checker.Read:
			if (!known || o.Saw == value) && anyOrder(rule, ops, next, after, value, max(sent, o.Token)) {
				return true
			}
		case refusal == nil:
			if anyOrder(rule, ops, next, after, o.ID, max(sent, o.Token)) ||
				!known && anyOrder(rule, ops, next, after, value, max(sent, o.Token)) {
				return true
			}
		}
	}
	return false
}
