package checker

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func deleted(at Pos, node, owner, by string) Deletion {
	return Deletion{At: at, Node: node, Resource: "orders", Owner: owner, By: by}
}

func TestForeignReleases(t *testing.T) {
	overlap := []Grant{held(1, "c0", 2, 30), held(2, "c1", 10, 20)}
	for _, c := range []struct {
		name      string
		deletions []Deletion
		want      int
	}{
		{name: "none"},
		{name: "own", deletions: []Deletion{deleted(5, "r0", "c0", "c0")}},
		{name: "foreign", deletions: []Deletion{deleted(5, "r0", "c0", "c1")}, want: 1},
		{name: "own and foreign", deletions: []Deletion{deleted(5, "r0", "c0", "c0"), deleted(9, "r0", "c1", "c0")}, want: 1},
		// Each node's key counts.
		{name: "on three nodes", deletions: []Deletion{deleted(5, "r0", "c0", "c1"), deleted(5, "r1", "c0", "c1"),
			deleted(6, "r2", "c0", "c1")}, want: 3},
		// Each client deletes the key of the next: a chain of F02.
		{name: "chain", deletions: []Deletion{deleted(5, "r0", "c1", "c0"), deleted(9, "r0", "c2", "c1"),
			deleted(12, "r0", "c2", "c2")}, want: 2},
		// The epilogue's clients count as well.
		{name: "by one without a grant", deletions: []Deletion{deleted(5, "r0", "c1", "c9")}, want: 1},
		{name: "the same twice", deletions: []Deletion{deleted(5, "r0", "c1", "c0"), deleted(5, "r0", "c1", "c0")}, want: 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := story("", nil)
			h.Deletions = c.deletions
			// A run in which nothing went wrong has the fact and no sentence on it.
			v := mustJudge(t, h, nil)
			if v.Facts.ForeignReleases != c.want || v.Label != Untested || len(v.Reasons) != 1 {
				t.Errorf("foreign releases %d, want %d; label %s, reasons %q", v.Facts.ForeignReleases, c.want, v.Label,
					texts(v.Reasons))
			}
			// Any other run has both.
			h.Grants = overlap
			v = mustJudge(t, h, nil)
			if v.Facts.ForeignReleases != c.want || v.Label != Overlap || len(v.Reasons) != 1+c.want {
				t.Errorf("foreign releases %d, want %d; label %s, reasons %q", v.Facts.ForeignReleases, c.want, v.Label,
					texts(v.Reasons))
			}
		})
	}
}

// The sentences are in the order of the trace and name both clients.
func TestForeignReason(t *testing.T) {
	h := story("", []Grant{held(1, "c0", 2, 30), held(2, "c1", 10, 20)})
	h.Deletions = []Deletion{deleted(9, "r1", "c2", "c1"), deleted(5, "r0", "c1", "c0")}
	reasons := mustJudge(t, h, nil).Reasons[1:]
	want := []string{"c0 deleted the key of orders on r0 at step 5, which c1 had set.", "c1 deleted the key of orders " +
		"on r1 at step 9, which c2 had set."}
	if !slices.Equal(texts(reasons), want) || !slices.Equal(reasons[0].At, []Pos{5}) {
		t.Errorf("reasons %+v, want %q", reasons, want)
	}
}

func holds(client string, from, to Pos) Holding {
	return Holding{Client: client, Resource: "orders", From: from, To: to}
}

// A refusal is false if by the nodes' record the client held the lock since the grant of the operation, whatever the
// claims are.
func TestFalseRejectsByHoldings(t *testing.T) {
	mine, theirs := held(1, "c0", 10, 80), held(2, "c1", 20, 40)
	both := []Grant{mine, theirs}
	refused := mine.write("a1", 50, "").refused() // decided at 51
	with := func(grants []Grant, holdings ...Holding) History {
		h := story("", grants, refused)
		h.Holdings = holdings
		return h
	}
	careful := func(h History) History { h.Care = CareSteps; return h }
	reentrant := func(h History) History { h.Entry = EntryReentrant; return h }
	for _, c := range []struct {
		name string
		h    History
		want int
	}{
		// By the claims alone, c0 was overtaken.
		{name: "no record", h: with(both)},
		{name: "held all along", h: with(both, holds("c0", 9, 79)), want: 1},
		{name: "held to the end", h: with(both, holds("c0", 9, 0)), want: 1},
		{name: "held from the very grant", h: with(both, holds("c0", 10, 0)), want: 1},
		{name: "held up to the refusal", h: with(both, holds("c0", 9, 52)), want: 1},
		{name: "lost at the refusal", h: with(both, holds("c0", 9, 51))},
		{name: "lost before", h: with(both, holds("c0", 9, 15))},
		{name: "another client", h: with(both, holds("c1", 9, 79))},
		{name: "another resource", h: with(both, Holding{Client: "c0", Resource: "stock", From: 9, To: 79})},
		// F05: the key was removed and set again, with c1 in between or without.
		{name: "lost and back", h: with(both, holds("c0", 9, 18), holds("c1", 19, 39), holds("c0", 45, 0))},
		{name: "lost and back at once", h: with(both, holds("c0", 9, 45), holds("c0", 45, 0))},
		{name: "held before the grant only", h: with(both, holds("c0", 3, 8), holds("c0", 30, 0))},
		// A stale earlier grant is not rightful because of a later grant of its client.
		{name: "holds by a later grant", h: with([]Grant{mine, theirs, held(3, "c0", 46, 0).asked(44)}, holds("c0", 9, 18),
			holds("c0", 45, 0))},
		// A reported end does not count while the client does not act on it.
		{name: "validity over", h: with([]Grant{mine.until(30, 0), theirs}, holds("c0", 9, 79)), want: 1},
		{name: "loss announced", h: with([]Grant{mine.lost(30, 31), theirs}, holds("c0", 9, 79)), want: 1},
		{name: "loss announced, careful, unseen", h: careful(with([]Grant{mine.lost(30, 0), theirs}, holds("c0", 9, 79))),
			want: 1},
		{name: "loss observed", h: careful(with([]Grant{mine.lost(30, 31), theirs}, holds("c0", 9, 79)))},
		{name: "end observed", h: careful(with([]Grant{mine.until(30, 31), theirs}, holds("c0", 9, 79)))},
		// A client that has released or crashed is no holder, even while the key exists.
		{name: "released early", h: with([]Grant{held(1, "c0", 10, 45), theirs}, holds("c0", 9, 79))},
		// F34: the inner entry has ended, and raised the fence.
		{name: "outer behind inner", h: reentrant(with([]Grant{mine, held(2, "c0", 20, 40)}, holds("c0", 9, 79))), want: 1},
		{name: "outer during inner", h: reentrant(with([]Grant{mine, held(2, "c0", 20, 60)}, holds("c0", 9, 79))), want: 1},
		{name: "outer during inner, no record", h: reentrant(with([]Grant{mine, held(2, "c0", 20, 60)})), want: 1},
		{name: "outer behind another client's", h: reentrant(with(both))},
		// If a lock is not reentrant, the second own claim is too many; the record decides.
		{name: "twice the same client", h: with([]Grant{mine, held(2, "c0", 20, 60)})},
		{name: "twice the same client, held", h: with([]Grant{mine, held(2, "c0", 20, 60)}, holds("c0", 9, 79)), want: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := mustJudge(t, c.h, nil)
			if v.Facts.FalseRejects != c.want {
				t.Errorf("false rejects %d, want %d\n%q", v.Facts.FalseRejects, c.want, texts(v.Reasons))
			}
			if c.want > 0 && v.Label != FalseReject {
				t.Errorf("label %s, want false-reject", v.Label)
			}
		})
	}
}

// The reason names the holder, the resource, the step since when, and what had raised the fence.
func TestFalseRejectReasons(t *testing.T) {
	outer, inner := held(1, "c0", 10, 80).token(1), held(2, "c0", 20, 40).token(2)
	h := story("b1", []Grant{outer, inner}, inner.write("b1", 25, ""), outer.write("a1", 50, "").refused())
	v := mustJudge(t, h, nil)
	const raised = " The highest token that the store had taken by then was 2, of c0's write b1 (step 26)."
	want := "c0's write a1 with token 1 was refused at step 51, although nobody else had a claim on orders: it had been " +
		"granted to c0 at step 10." + raised
	if v.Reasons[0].Text != want || !slices.Equal(v.Reasons[0].At, []Pos{51, 10, 26}) {
		t.Errorf("reason %+v\nwant %q", v.Reasons[0], want)
	}
	h.Grants[1].Client, h.Ops[0].Client = "c1", "c1"
	h.Holdings = []Holding{holds("c0", 9, 0)}
	v = mustJudge(t, h, nil)
	want = "c0's write a1 with token 1 was refused at step 51, although by the nodes' own record c0 had held orders " +
		"since step 9." +
		strings.Replace(raised, "c0's", "c1's", 1)
	if v.Reasons[0].Text != want || !slices.Equal(v.Reasons[0].At, []Pos{51, 9, 26}) {
		t.Errorf("reason %+v\nwant %q", v.Reasons[0], want)
	}
}

// Operations that did not raise the fence are not named: refused ones, ones with a lower token, and the client's own.
func TestFalseRejectReasonsAreSparing(t *testing.T) {
	mine, theirs := held(1, "c0", 40, 90).token(2), held(2, "c1", 10, 30).token(1)
	for _, c := range []struct {
		name string
		h    History
	}{
		{"below", story("b1", []Grant{mine, theirs}, theirs.write("b1", 20, ""), mine.write("a1", 50, "").refused())},
		{"its own", story("a0", []Grant{mine}, mine.write("a0", 45, ""), mine.write("a1", 50, "").refused())},
		{"refused", story("", []Grant{mine, theirs.token(3)}, theirs.token(3).write("b1", 20, "").refused(),
			mine.write("a1", 50, "").refused())},
		{"later", story("b1", []Grant{mine, held(2, "c1", 60, 80).token(3)}, mine.write("a1", 50, "").refused(),
			held(2, "c1", 60, 80).token(3).write("b1", 70, ""))},
		{"elsewhere", story("", []Grant{mine, theirs.token(3)}, mine.write("a1", 50, "").refused())},
	} {
		all := strings.Join(texts(mustJudge(t, c.h, nil).Reasons), "\n")
		if !strings.Contains(all, "c0's write a1 with token 2 was refused at step 51, although nobody else had") ||
			strings.Contains(all, "highest token") {
			t.Errorf("%s: reasons:\n%s", c.name, all)
		}
	}
}

// randomHoldings are spans that follow one another, for two clients.
func randomHoldings(rng *rand.Rand) []Holding {
	var all []Holding
	for _, client := range []string{"c0", "c1"} {
		for p := Pos(1 + rng.IntN(15)); p < 50; p += Pos(rng.IntN(10)) {
			s := Holding{Client: client, Resource: []Resource{"orders", "stock"}[rng.IntN(2)], From: p,
				To: p + Pos(rng.IntN(25))}
			p = s.To
			all = append(all, s)
		}
	}
	return all
}

// A command that puts another value in the place of a key has not deleted it.
func TestForeignReleaseSays(t *testing.T) {
	d := deleted(5, "r0", "c0", "c1")
	for over, want := range map[bool]string{false: "c1 deleted the key", true: "c1 wrote over the key"} {
		d.Over = over
		if got := foreignReason(d).Text; !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
