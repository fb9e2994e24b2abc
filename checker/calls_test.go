package checker

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// An attempt gave up if its context had ended, or if another client was there when it returned.
func TestCallsOfAcquire(t *testing.T) {
	failed := Attempt{Client: "c1", Resource: "orders", Invoked: 10, Returned: 20, Outcome: OutcomeFailed}
	with := func(change func(a *Attempt)) Attempt { a := failed; change(&a); return a }
	grant := Grant{ID: 1, Client: "c0", Resource: "orders", Invoked: 1, Granted: 2}
	holder := func(change func(g *Grant)) []Grant { g := grant; change(&g); return []Grant{g} }
	for _, c := range []struct {
		name   string
		grants []Grant
		tries  []Attempt
		want   string
	}{
		{"no other client", nil, []Attempt{failed}, "Acquire granted 0, failed 1"},
		{"never returned", nil, []Attempt{with(func(a *Attempt) { a.Returned = 0 })}, ""},
		{"its context had ended", nil, []Attempt{with(func(a *Attempt) { a.ContextEnded = 1 })},
			"Acquire granted 0, gave up 1"},
		{"it says so", nil, []Attempt{with(func(a *Attempt) { a.Taken, a.ContextEnded = true, 1 })},
			"Acquire granted 0, taken 1"},
		{"a holder", []Grant{grant}, []Attempt{failed}, "Acquire granted 1, gave up 1"},
		{"a holder of another lock", holder(func(g *Grant) { g.Resource = "users" }), []Attempt{failed},
			"Acquire granted 1, failed 1"},
		{"the client itself", holder(func(g *Grant) { g.Client = "c1" }), []Attempt{failed}, "Acquire granted 1, failed 1"},
		{"a release that returned later", holder(func(g *Grant) { g.Released, g.ReleaseReturned = 15, 21 }),
			[]Attempt{failed}, "Acquire granted 1, gave up 1"},
		{"a release that had returned", holder(func(g *Grant) { g.Released, g.ReleaseReturned = 15, 20 }), []Attempt{failed},
			"Acquire granted 1, failed 1"},
		{"a holder that had crashed", holder(func(g *Grant) { g.Crashed = 20 }), []Attempt{failed},
			"Acquire granted 1, failed 1"},
		{"a grant that came later", holder(func(g *Grant) { g.Invoked, g.Granted = 20, 30 }), []Attempt{failed},
			"Acquire granted 1, gave up 1"},
		{"a client that asked later", holder(func(g *Grant) { g.Invoked, g.Granted = 21, 30 }), []Attempt{failed},
			"Acquire granted 1, failed 1"},
		{"another attempt, and the first of the two", nil,
			[]Attempt{failed, with(func(a *Attempt) { a.Client, a.Invoked, a.Returned = "c2", 15, 25 })},
			"Acquire granted 0, gave up 1, failed 1"},
		{"an attempt that ended before", nil,
			[]Attempt{failed, with(func(a *Attempt) { a.Client, a.Invoked, a.Returned = "c2", 15, 20 })},
			"Acquire granted 0, failed 2"},
	} {
		if got := strings.Join(countCalls(History{Grants: c.grants, Attempts: c.tries}).Texts(), "; "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Releases and extensions are counted by their result, tries that found the lock taken with the Acquires.
func TestCallsOfLeases(t *testing.T) {
	h := History{Tries: []Try{{Taken: true}, {}}}
	for _, what := range []string{"Extend", "Release", "Acquire"} {
		for n, r := range []Result{ResultDone, ResultNotHeld, ResultFailed} {
			for range n + 1 {
				h.Calls = append(h.Calls, Call{What: what, Result: r})
			}
		}
		h.Calls = append(h.Calls, Call{What: what})
	}
	got := strings.Join(countCalls(h).Texts(), "; ")
	if want := "Acquire granted 0, taken 1; Extend succeeded 1, not held 2, failed 3; Release succeeded 1, not held 2, " +
		"failed 3"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	c := countCalls(h)
	if sum := c.Plus(c); sum != (Calls{0, 2, 0, 0, 2, 4, 6, 2, 4, 6}) {
		t.Errorf("twice %+v is %+v", c, sum)
	}
}

// Errors that differ only in numbers are one; the most frequent come first, and not too many are kept.
func TestCallErrors(t *testing.T) {
	h := History{Attempts: []Attempt{{Invoked: 5, Error: "EOF"}, {Invoked: 7}}}
	for i := range 3 {
		h.Calls = append(h.Calls, Call{What: "Release", Called: time.Duration(3 - i), Result: ResultFailed,
			Error: fmt.Sprintf("read c0:%d1: timeout", i)})
	}
	var got []string
	for _, e := range callErrors(h) {
		got = append(got, e.String())
	}
	if want := []string{"Release 3: read c0:21: timeout", "Acquire 1: EOF"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	var many []CallError
	for i := range 30 {
		many = append(many, CallError{"Release", strings.Repeat("x", i), i})
	}
	if all := AddErrors(nil, many); len(all) != mostErrors || all[0].Count != 29 || len(many) != 30 {
		t.Errorf("%d errors are kept, the first %v", len(all), all[0])
	}
}
