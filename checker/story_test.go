package checker

import (
	"regexp"
	"slices"
	"strconv"
	"testing"
)

// The helpers below build short histories. All operations are on the resource
// "orders"; one that starts at p is decided by the store at p+1 and answered at
// p+2, unless the history says otherwise.

var orders = Cell{Resource: "orders"}

// held is a grant to a client from one position to the release at another; 0 for
// none. Acquire was called at the position before.
func held(id int, client string, from, to Pos) Grant {
	g := Grant{ID: id, Client: client, Resource: "orders", Invoked: from - 1, Granted: from, Released: to}
	if to > 0 {
		g.ReleaseReturned = to + 1
	}
	return g
}

func (g Grant) token(t uint64) Grant    { g.Token = t; return g }
func (g Grant) asked(p Pos) Grant       { g.Invoked = p; return g }
func (g Grant) lost(at, seen Pos) Grant { g.Lost, g.LostSeen = at, seen; return g }
func (g Grant) until(at, seen Pos) Grant {
	g.Until, g.UntilSeen = at, seen
	return g
}
func (g Grant) crashed(p Pos) Grant { g.Crashed = p; return g }
func (g Grant) of(r Resource) Grant { g.Resource = r; return g }

func (g Grant) op(kind OpKind, id string, at Pos, saw string) Op {
	return Op{ID: id, Client: g.Client, Grant: g.ID, Resource: g.Resource, Kind: kind, Token: g.Token, Saw: saw,
		Invoked: at, Applied: at + 1, Returned: at + 2, Accepted: true, Outcome: OutcomeOK}
}

func (g Grant) read(id string, at Pos, saw string) Op  { return g.op(Read, id, at, saw) }
func (g Grant) write(id string, at Pos, saw string) Op { return g.op(Write, id, at, saw) }

func (o Op) in(register string) Op { o.Register = register; return o }
func (o Op) took(p Pos) Op         { o.Returned = p; return o }

func (o Op) refused() Op {
	o.Outcome, o.Accepted = OutcomeRefused, false
	return o
}

// unanswered makes the outcome unknown; the store accepted it at p, 0 for never.
func (o Op) unanswered(p Pos) Op {
	o.Outcome, o.Returned, o.Applied, o.Accepted = OutcomeUnknown, 0, p, p > 0
	return o
}

func (o Op) ended(as Outcome) Op {
	o.Outcome, o.Applied, o.Accepted = as, 0, false
	return o
}

// story is a history of one cell.
func story(final string, grants []Grant, ops ...Op) History {
	return History{Grants: grants, Ops: ops, Final: map[Cell]string{orders: final}}
}

func mustJudge(t *testing.T, h History, none *Facts) Verdict {
	t.Helper()
	v, err := Judge(h, none)
	if err != nil {
		t.Fatalf("judge: %v", err)
	}
	pointsWhereItSays(t, v.Reasons)
	return v
}

var (
	stepInText = regexp.MustCompile(`(\(?)\bsteps? (\d+)`)
	// twoStepsOfOne are in sentences that name an operation by its step and say when it began or returned.
	twoStepsOfOne = regexp.MustCompile(`yet the data has them|\) of \S+ found |had been acknowledged`)
)

// pointsWhereItSays fails the test if a reason does not point to the steps that its sentence names, and only then to
// others.
func pointsWhereItSays(t *testing.T, reasons []Reason) {
	t.Helper()
	for _, r := range reasons {
		loose := twoStepsOfOne.MatchString(r.Text)
		var named []Pos
		for _, m := range stepInText.FindAllStringSubmatch(r.Text, -1) {
			n, _ := strconv.Atoi(m[2])
			if !loose || m[1] == "" { // in brackets it is the step of an operation
				named = append(named, Pos(n))
			}
		}
		switch {
		case loose && (len(r.At) < 1 || slices.ContainsFunc(named, func(p Pos) bool { return !slices.Contains(r.At, p) })),
			!loose && !slices.Equal(named, r.At[:min(len(named), len(r.At))]):
			t.Errorf("%q points to the steps %v, want %v", r.Text, r.At, named)
		}
	}
}

func texts(reasons []Reason) []string {
	var all []string
	for _, r := range reasons {
		all = append(all, r.Text)
	}
	return all
}

// together are two grants whose claims overlap: only the data matters.
func together() (a, b Grant, both []Grant) {
	a, b = held(1, "c0", 2, 90), held(2, "c1", 3, 91)
	return a, b, []Grant{a, b}
}
