package checker

import (
	"errors"
	"strings"
	"testing"

	"locksim/lock/promise"
)

// soundHistory is a valid history with every kind of event.
func soundHistory() History {
	a := held(1, "c0", 2, 30).until(25, 26).lost(20, 22)
	b := held(2, "c1", 40, 0).crashed(60)
	h := story("a2", []Grant{a, b}, a.read("a1", 10, ""), a.write("a2", 13, ""),
		b.read("b1", 42, "").refused(), b.write("b2", 45, "").ended(OutcomeNotSent),
		b.write("b3", 48, "").ended(OutcomeFailed), b.write("b4", 50, "").unanswered(70))
	h.Care = CareSteps
	h.Attempts = []Attempt{{Client: "c2", Resource: "orders", Invoked: 5, Returned: 9, Outcome: OutcomeUnknown,
		Enqueued: 10, Left: 12}}
	h.Queue, h.SectionWrites = QueueFair, 1
	h.Grants[1].Enqueued = 39
	h.Deletions = []Deletion{{At: 31, Node: "r0", Resource: "orders", Owner: "c0", By: "c0"}}
	h.Holdings = []Holding{holds("c0", 2, 10), holds("c0", 10, 10), holds("c0", 10, 31), holds("c1", 5, 20),
		{Client: "c0", Resource: "stock", From: 3, Again: 5}, holds("c1", 40, 0)}
	return h
}

func TestValidateAccepts(t *testing.T) {
	if err := soundHistory().Validate(); err != nil {
		t.Fatal(err)
	}
}

// What a history may have at the limits of its rules.
func TestValidateAcceptsLimits(t *testing.T) {
	for name, change := range map[string]func(h *History){
		"a release that succeeded":              func(h *History) { h.Grants[0].ReleaseSucceeded = true },
		"a release that failed":                 func(h *History) { h.Grants[0].ReleaseFailed = true },
		"a release of a lock that was not held": func(h *History) { h.Grants[0].ReleaseNotHeld = true },
		"a release that returned at once":       func(h *History) { h.Grants[0].ReleaseReturned = 30 },
		"a claim that was doubted at its grant": func(h *History) { h.Grants[0].Doubted = 2 },
		"a lease that was revived at its end":   func(h *History) { h.Grants[0].Revived = 25 },
		"an end that was seen at once":          func(h *History) { h.Grants[0].UntilSeen, h.Grants[0].LostSeen = 25, 20 },
		"a release at the grant":                func(h *History) { h.Grants[0] = held(1, "c0", 2, 2) },
		"a crash at the grant":                  func(h *History) { h.Grants[1].Crashed, h.Ops = 40, h.Ops[:2] },
		"a grant that returned at once":         func(h *History) { h.Grants[0].Invoked = 2 },
		"a grant that queued until it was made": func(h *History) { h.Grants[1].Enqueued = 40 },
		"an attempt that returned at once":      func(h *History) { h.Attempts[0].Returned = 5 },
		"an attempt that never returned":        func(h *History) { h.Attempts[0].Returned = 0 },
		"an attempt whose context ended":        func(h *History) { h.Attempts[0].ContextEnded = 1 },
		"an attempt that left the queue at once": func(h *History) {
			h.Attempts[0].Left = h.Attempts[0].Enqueued
		},
		"all duties":              func(h *History) { h.Duties = promise.Duties() },
		"a section of one write":  func(h *History) { h.SectionWrites = 1 },
		"sections of many writes": func(h *History) { h.SectionWrites = 9 },
		"a value that is filled":  func(h *History) { h.Fill, h.Ops = true, h.Ops[:2] },
		"an operation at once": func(h *History) {
			h.Ops[0].Invoked, h.Ops[0].Applied, h.Ops[0].Returned = 11, 11,
				11
		},
		"an operation at the grant":       func(h *History) { h.Ops[0].Invoked = 2 },
		"an operation at the crash":       func(h *History) { h.Ops[2].Returned = 60 },
		"a holding that ended at once":    func(h *History) { h.Holdings[0].To = 2 },
		"holdings of others that overlap": func(h *History) { h.Holdings[0].Client = "c7" },
	} {
		h := soundHistory()
		if change(&h); h.Validate() != nil {
			t.Errorf("%s: %v", name, h.Validate())
		}
	}
}

// Each mutant breaks the sound history in one place. The error must say where.
func TestValidateRejects(t *testing.T) {
	grant := func(f func(*Grant)) func(*History) { return func(h *History) { f(&h.Grants[0]) } }
	crashed := func(f func(*Grant)) func(*History) { return func(h *History) { f(&h.Grants[1]) } }
	attempt := func(f func(*Attempt)) func(*History) { return func(h *History) { f(&h.Attempts[0]) } }
	deletion := func(f func(*Deletion)) func(*History) { return func(h *History) { f(&h.Deletions[0]) } }
	holding := func(i int, f func(*Holding)) func(*History) { return func(h *History) { f(&h.Holdings[i]) } }
	op := func(i int, f func(*Op)) func(*History) { return func(h *History) { f(&h.Ops[i]) } }
	for _, c := range []struct {
		says  string
		spoil func(*History)
	}{
		{"the id is used twice", grant(func(g *Grant) { g.ID = 2 })},
		{"id is below 1", grant(func(g *Grant) { g.ID = 0 })},
		{"a grant lacks its client or resource", grant(func(g *Grant) { g.Client = "" })},
		{"a grant lacks its client or resource", grant(func(g *Grant) { g.Resource = "" })},
		{"a grant lacks the position", grant(func(g *Grant) { g.Invoked = 0 })},
		{"a grant lacks the position", grant(func(g *Grant) { g.Granted = 0 })},
		{"a grant's position is negative", grant(func(g *Grant) { g.Until, g.UntilSeen = -1, 0 })},
		{"a grant returned before it was invoked", grant(func(g *Grant) { g.Invoked = 3 })},
		{"released before it was granted", grant(func(g *Grant) { g.Released = 1 })},
		{"a release returned that was never invoked", grant(func(g *Grant) { g.Released = 0 })},
		{"a release failed that never returned", grant(func(g *Grant) { g.ReleaseReturned, g.ReleaseFailed = 0, true })},
		{"a release returned before it was invoked", grant(func(g *Grant) { g.ReleaseReturned = 29 })},
		{"a release succeeded that failed or never returned", crashed(func(g *Grant) { g.ReleaseSucceeded = true })},
		{"a release succeeded that failed or never returned",
			grant(func(g *Grant) { g.ReleaseSucceeded, g.ReleaseFailed = true, true })},
		{"a release of a lock that was not held succeeded, failed or never returned",
			crashed(func(g *Grant) { g.ReleaseNotHeld = true })},
		{"a release of a lock that was not held succeeded, failed or never returned",
			grant(func(g *Grant) { g.ReleaseNotHeld, g.ReleaseFailed = true, true })},
		{"a release of a lock that was not held succeeded, failed or never returned",
			grant(func(g *Grant) { g.ReleaseNotHeld, g.ReleaseSucceeded = true, true })},
		{"a context of a grant ended before the run", grant(func(g *Grant) { g.ContextEnded = -1 })},
		{"a context of a grant ended before the run", grant(func(g *Grant) { g.LeaseEnded = -1 })},
		{"a claim was doubted before its grant", grant(func(g *Grant) { g.Doubted = 1 })},
		{"a grant was revived before its validity had ended", grant(func(g *Grant) { g.Revived = 24 })},
		{"a grant was revived before its validity had ended", crashed(func(g *Grant) { g.Revived = 50 })},
		{"the context of an attempt ended before the run", attempt(func(a *Attempt) { a.ContextEnded = -1 })},
		{"or of one that never returned", attempt(func(a *Attempt) { a.ContextEnded, a.Returned = 1, 0 })},
		{`duty "sings" is not known`, func(h *History) { h.Duties = []promise.Duty{promise.DutyEnds, "sings"} }},
		{"a loss was seen before it happened", grant(func(g *Grant) { g.Lost = 23 })},
		{"a loss was seen before it happened", grant(func(g *Grant) { g.Lost = 0 })},
		{"an end of validity was seen before it came", grant(func(g *Grant) { g.Until = 27 })},
		{"an end of validity was seen before it came", grant(func(g *Grant) { g.Until = 0 })},
		{"an end was seen before its grant", grant(func(g *Grant) { g.Until, g.UntilSeen = 1, 1 })},
		{"an end was seen before its grant", grant(func(g *Grant) { g.Lost, g.LostSeen = 1, 1 })},
		{"a process that had crashed", grant(func(g *Grant) { g.Crashed = 1 })},
		{"acted on its grant after its crash", crashed(func(g *Grant) { g.Released = 61 })},
		{"acted on its grant after its crash", grant(func(g *Grant) { g.Crashed, g.Released, g.ReleaseReturned = 25, 0, 0 })},
		{"a grant joined the queue before it was invoked", crashed(func(g *Grant) { g.Enqueued = 38 })},
		{"a grant joined the queue before it was invoked", crashed(func(g *Grant) { g.Enqueued = -1 })},
		{"a grant joined the queue after it had returned", crashed(func(g *Grant) { g.Enqueued = 41 })},
		{"an attempt joined the queue before it was invoked", attempt(func(a *Attempt) { a.Enqueued = 4 })},
		{"an attempt joined the queue before it was invoked", attempt(func(a *Attempt) { a.Enqueued = -1 })},
		{"an attempt left the queue before it joined it", attempt(func(a *Attempt) { a.Left = 9 })},
		{"an attempt left the queue before it joined it", attempt(func(a *Attempt) { a.Enqueued = 0 })},
		{"an attempt left the queue before it joined it", attempt(func(a *Attempt) { a.Left = -1 })},
		{"a deletion lacks its position", deletion(func(d *Deletion) { d.At = 0 })},
		{"a deletion lacks its node or resource", deletion(func(d *Deletion) { d.Node = "" })},
		{"a deletion lacks its node or resource", deletion(func(d *Deletion) { d.Resource = "" })},
		{"a deletion lacks the client", deletion(func(d *Deletion) { d.Owner = "" })},
		{"a deletion lacks the client", deletion(func(d *Deletion) { d.By = "" })},
		{"a holding lacks its client or resource", holding(0, func(s *Holding) { s.Client = "" })},
		{"a holding lacks its client or resource", holding(0, func(s *Holding) { s.Resource = "" })},
		{"a holding lacks the position", holding(0, func(s *Holding) { s.From = 0 })},
		{"a holding lacks the position", holding(0, func(s *Holding) { s.To = -1 })},
		{"a holding ended before it began", holding(0, func(s *Holding) { s.From = 11 })},
		{"a request in a holding is not in it", holding(0, func(s *Holding) { s.Again = 2 })},
		{"a request in a holding is not in it", holding(0, func(s *Holding) { s.Again = 10 })},
		{"two holdings of one client overlap", holding(0, func(s *Holding) { s.To = 11 })},
		{"two holdings of one client overlap", holding(0, func(s *Holding) { s.To = 0 })},
		{"two holdings of one client overlap", holding(5, func(s *Holding) { s.From = 19 })},
		{`entry "often" is not known`, func(h *History) { h.Entry = "often" }},
		{`queue "long" is not known`, func(h *History) { h.Queue = "long" }},
		{"a fair queue and reentrant entry", func(h *History) { h.Entry = EntryReentrant }},
		{"a section fills a value and makes 2 writes", func(h *History) { h.Fill, h.SectionWrites, h.Ops = true, 2, nil }},
		{`operation "b3": grant 2 has filled orders before`, func(h *History) { h.Fill = true }},
		{"a section makes -1 writes", func(h *History) { h.SectionWrites = -1 }},
		{"an attempt lacks its client", attempt(func(a *Attempt) { a.Client = "" })},
		{"an attempt lacks its client or resource", attempt(func(a *Attempt) { a.Resource = "" })},
		{"an attempt lacks the position", attempt(func(a *Attempt) { a.Invoked = 0 })},
		{"an attempt returned before it was invoked", attempt(func(a *Attempt) { a.Returned = 4 })},
		{"an attempt that succeeded is a grant", attempt(func(a *Attempt) { a.Outcome = OutcomeOK })},
		{"an attempt's outcome is not known", attempt(func(a *Attempt) { a.Outcome = "" })},
		{"it names grant 7, which is not in the history", op(0, func(o *Op) { o.Grant = 7 })},
		{"ids are unique and not empty", op(0, func(o *Op) { o.ID = "" })},
		{"ids are unique and not empty", op(0, func(o *Op) { o.ID = "a2" })},
		{"no epilogue read of orders", func(h *History) { h.Final = nil }},
		{"no epilogue read of orders/x", op(0, func(o *Op) { o.Register = "x" })},
		{"kind is not known", op(0, func(o *Op) { o.Kind = "append" })},
		{"an operation's outcome is not known", op(0, func(o *Op) { o.Outcome = "fine" })},
		{"client is not its grant's", op(0, func(o *Op) { o.Client = "c1" })},
		{"resource is not its grant's", op(0, func(o *Op) { o.Resource = "stock" })},
		{"an operation lacks the position", op(0, func(o *Op) { o.Invoked = 0 })},
		{"an operation was invoked before its grant", op(0, func(o *Op) { o.Invoked = 1 })},
		{"an operation returned before it was invoked", op(0, func(o *Op) { o.Returned = 9 })},
		{"the store decided on an operation before it was invoked", op(0, func(o *Op) { o.Applied = 9 })},
		{"an operation's client acted after its crash", op(5, func(o *Op) { o.Invoked = 61 })},
		{"an operation's client acted after its crash", op(2, func(o *Op) { o.Returned = 61 })},
		{"was answered and did not return", op(0, func(o *Op) { o.Returned = 0 })},
		{"was answered before the store decided", op(0, func(o *Op) { o.Applied = 13 })},
		{"was answered and never reached the store", op(2, func(o *Op) { o.Applied = 0 })},
		{"was accepted and never reached the store", op(5, func(o *Op) { o.Applied = 0 })},
		{"succeeded and the store had refused it", op(1, func(o *Op) { o.Accepted = false })},
		{"was refused and the store had accepted it", op(2, func(o *Op) { o.Accepted = true })},
		{"was never sent and reached the store", op(3, func(o *Op) { o.Applied = 46 })},
		{"failed for certain and the store had accepted it", op(4, func(o *Op) { o.Applied, o.Accepted = 49, true })},
		{`operation "a2": it is based on the initial value, but its section read a9`, op(0, func(o *Op) { o.Saw = "a9" })},
		{`parse care "much"`, func(h *History) { h.Care = "much" }},
	} {
		h := soundHistory()
		c.spoil(&h)
		_, err := Judge(h, nil)
		if !errors.Is(err, ErrMalformed) {
			t.Errorf("want an error that says %q, got %v", c.says, err)
		} else if !strings.Contains(err.Error(), c.says) {
			t.Errorf("error %q\nlacks %q", err, c.says)
		}
		if _, err := Corroborate(h, Facts{}); !errors.Is(err, ErrMalformed) {
			t.Errorf("%s: Corroborate accepted it: %v", c.says, err)
		}
	}
}
