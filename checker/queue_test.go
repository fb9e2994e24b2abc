package checker

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func (g Grant) queued(p Pos) Grant { g.Enqueued = p; return g }

// waited is an attempt that was in the queue from one position to another and
// returned at a third.
func waited(client string, from, left, returned Pos) Attempt {
	return Attempt{Client: client, Resource: "orders", Invoked: 1, Returned: returned, Enqueued: from, Left: left,
		Outcome: OutcomeFailed}
}

func TestOvertaken(t *testing.T) {
	// c0 holds until 20; c1 and c2 joined at 5 and 7.
	c0 := held(1, "c0", 2, 20)
	c1, c2 := held(2, "c1", 22, 30).asked(3).queued(5), held(3, "c2", 32, 40).asked(3).queued(7)
	// the same two in the wrong order
	c2first, c1second := held(2, "c2", 22, 30).asked(3).queued(7), held(3, "c1", 32, 40).asked(3).queued(5)
	newcomer := held(2, "c2", 22, 30).asked(21)
	for _, c := range []struct {
		name     string
		grants   []Grant
		attempts []Attempt
		want     int
		says     string
	}{
		// Each in the order in which they joined.
		{name: "in turn", grants: []Grant{c0, c1, c2}},
		// Their requests were invoked in the other order; the node's order
		// counts.
		{name: "joined against asking", grants: []Grant{c0, c1.asked(4), c2.asked(2)}},
		{name: "joined together", grants: []Grant{c0, c2first.queued(5), c1second}},
		// The later one came first.
		{name: "overtaken", grants: []Grant{c0, c2first, c1second}, want: 1,
			says: "c2 was granted orders at step 22 and overtook c1, which had been in the queue since step 5 and was granted " +
				"orders at step 32."},
		// Two passed the same waiter: two grants were out of order.
		{name: "overtaken twice", grants: []Grant{c0, c2first, held(3, "c3", 32, 40).asked(3).queued(9),
			held(4, "c1", 42, 50).asked(3).queued(5)}, want: 2},
		// One passed two waiters: one grant was out of order. The reason names
		// the one that had waited longest.
		{name: "passed two", grants: []Grant{c0, held(2, "c3", 22, 30).asked(3).queued(9),
			held(3, "c1", 32, 40).asked(3).queued(5), held(4, "c2", 42, 50).asked(3).queued(7)},
			want: 1, says: "overtook c1"},
		// A newcomer that was never in the queue passed it.
		{name: "newcomer", grants: []Grant{c0, newcomer, c1second}, want: 1},
		// One that may have joined before, as far as is known, did not.
		{name: "perhaps earlier", grants: []Grant{c0, newcomer.asked(4), c1second}},
		{name: "unknown place", grants: []Grant{c0, c2first, c1second.queued(0)}},
		// A waiter that was never granted it was passed while it was in the
		// queue;
		{name: "waited in vain", grants: []Grant{c0, c2first}, attempts: []Attempt{waited("c1", 5, 60, 61)}, want: 1,
			says: "overtook c1, which had been in the queue since step 5 and left it at step 60."},
		// not after it had left it, or had returned and left a dead entry
		// (F54),
		{name: "left", grants: []Grant{c0, c2first}, attempts: []Attempt{waited("c1", 5, 19, 20)}},
		{name: "gave up", grants: []Grant{c0, c2first}, attempts: []Attempt{waited("c1", 5, 60, 19)}},
		{name: "left just then", grants: []Grant{c0, c2first}, attempts: []Attempt{waited("c1", 5, 22, 23)}},
		// or never returned, or left at an unknown time.
		{name: "never returned", grants: []Grant{c0, c2first}, attempts: []Attempt{waited("c1", 5, 60, 0)}},
		{name: "left unknown", grants: []Grant{c0, c2first}, attempts: []Attempt{waited("c1", 5, 0, 61)}},
		{name: "place unknown", grants: []Grant{c0, c2first}, attempts: []Attempt{waited("c1", 0, 0, 61)}},
		{name: "joined behind", grants: []Grant{c0, c2first}, attempts: []Attempt{waited("c1", 8, 60, 61)}},
		// An attempt without any grant.
		{name: "attempt alone", attempts: []Attempt{waited("c1", 5, 60, 61)}},
		// A grant whose answer was late was made at an unknown time.
		{name: "granted too late", grants: []Grant{c0, c2first.until(21, 0), c1second}},
		{name: "the waiter granted too late", grants: []Grant{c0, c2first, c1second.until(31, 0)}},
		// Another resource has another queue.
		{name: "other resource", grants: []Grant{c0, c2first, c1second.of("stock")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := story("", c.grants)
			h.Attempts, h.Queue = c.attempts, QueueFair
			v := mustJudge(t, h, nil)
			if v.Facts.Overtaken != c.want {
				t.Errorf("overtaken %d, want %d\n%q", v.Facts.Overtaken, c.want, texts(v.Reasons))
			}
			if all := strings.Join(texts(v.Reasons), "\n"); !strings.Contains(all, c.says) {
				t.Errorf("reasons:\n%s\nlack %q", all, c.says)
			}
			if got := corroborate(t, h, v.Facts); got.Agreement != Agrees {
				t.Errorf("%+v", got)
			}
			// A lock that promises no order breaks none.
			h.Queue = QueueNone
			if f := mustJudge(t, h, nil).Facts; f.Overtaken != 0 {
				t.Errorf("without a queue: overtaken %d", f.Overtaken)
			}
		})
	}
}

// Each mutant lets one of five waiters pass another.
func TestOvertakenMutants(t *testing.T) {
	fair := func() History {
		h := story("", nil)
		h.Queue = QueueFair
		for i := range 5 {
			g := held(i+1, "c"+string(rune('0'+i)), Pos(20+10*i), Pos(25+10*i)).asked(2).queued(Pos(5 + i))
			h.Grants = append(h.Grants, g)
		}
		h.Attempts = []Attempt{waited("c5", 12, 90, 91)}
		return h
	}
	if f := mustJudge(t, fair(), nil).Facts; f.Overtaken+f.ClaimOverlaps > 0 {
		t.Fatalf("before any mutation: %+v", f)
	}
	swap := func(i, j int) func(*History) {
		return func(h *History) {
			h.Grants[i].Enqueued, h.Grants[j].Enqueued = h.Grants[j].Enqueued, h.Grants[i].Enqueued
		}
	}
	for _, m := range []struct {
		name   string
		want   int
		mutate func(*History)
	}{
		{"the first two swapped", 1, swap(0, 1)},
		{"the last two swapped", 1, swap(3, 4)},
		{"first and last swapped", 4, swap(0, 4)},
		{"two pairs swapped", 2, func(h *History) { swap(0, 1)(h); swap(2, 3)(h) }},
		{"the queue upside down", 4, func(h *History) { swap(0, 4)(h); swap(1, 3)(h) }},
		{"one is not recorded", 1, func(h *History) { h.Grants[2].Enqueued, h.Grants[2].Invoked = 0, 15 }},
		{"the last one came first", 4, func(h *History) { h.Grants[4].Enqueued = 3 }},
		{"the first one came last", 1, func(h *History) { h.Grants[0].Enqueued = 11 }},
		{"one in vain had been there before all", 5, func(h *History) { h.Attempts[0].Enqueued = 3 }},
		{"one in vain had been there before the last", 1, func(h *History) {
			h.Attempts[0].Enqueued,
				h.Grants[4].Enqueued = 12, 13
		}},
	} {
		h := fair()
		m.mutate(&h)
		f := mustJudge(t, h, nil).Facts
		if f.Overtaken != m.want {
			t.Errorf("%s: overtaken %d, want %d", m.name, f.Overtaken, m.want)
		}
		if got := corroborate(t, h, f); got.Agreement != Agrees {
			t.Errorf("%s: %+v", m.name, got)
		}
		if got := corroborate(t, h, Facts{Data: DataRight}); got.Agreement != Contradicts {
			t.Errorf("%s: corroborate agrees with facts without it: %+v", m.name, got)
		}
	}
}

// drawQueue draws requests that wait for a lock, which is granted to one at a
// time and mostly to the first. Some are not recorded.
func drawQueue(t *rapid.T) History {
	h := History{Queue: QueueFair}
	now := Pos(30)
	for i := range rapid.IntRange(1, 6).Draw(t, "requests") {
		asked := Pos(rapid.IntRange(1, 12).Draw(t, "asked"))
		joined := asked + Pos(rapid.IntRange(0, 12).Draw(t, "joined after"))
		if rapid.IntRange(0, 4).Draw(t, "place known") == 0 {
			joined = 0
		}
		client := "c" + string(rune('0'+i))
		if rapid.IntRange(0, 4).Draw(t, "granted") == 0 {
			returned := Pos(rapid.IntRange(int(asked), 90).Draw(t, "returned"))
			a := Attempt{Client: client, Resource: "orders", Invoked: asked, Returned: returned, Enqueued: joined,
				Outcome: OutcomeFailed}
			if joined > 0 {
				a.Left = Pos(rapid.IntRange(int(joined), 90).Draw(t, "left"))
			}
			h.Attempts = append(h.Attempts, a)
			continue
		}
		now += Pos(rapid.IntRange(0, 4).Draw(t, "free for"))
		g := Grant{ID: i + 1, Client: client, Resource: "orders", Invoked: asked, Enqueued: joined, Granted: now}
		now += Pos(rapid.IntRange(0, 8).Draw(t, "held for"))
		g.Released = now
		h.Grants = append(h.Grants, g)
	}
	return h
}

// bruteOvertaken applies the definition to each pair.
func bruteOvertaken(h History) int {
	passed := func(g Grant, from, to Pos) bool {
		since := g.Enqueued
		if since == 0 {
			since = g.Invoked
		}
		return from > 0 && from < since && to > g.Granted && g.Released > g.Granted
	}
	count := 0
	for _, g := range h.Grants {
		overtook := slices.ContainsFunc(h.Grants, func(w Grant) bool {
			return w.Released > w.Granted && passed(g, w.Enqueued, w.Granted)
		}) || slices.ContainsFunc(h.Attempts, func(a Attempt) bool { return passed(g, a.Enqueued, min(a.Left, a.Returned)) })
		if overtook {
			count++
		}
	}
	return count
}

// The exact check, the definition and the model of a fair lock agree.
func TestOvertakenAgainstBruteForce(t *testing.T) {
	overtook, fair := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		h := drawQueue(t)
		v, err := Judge(h, nil)
		if err != nil {
			t.Fatal(err)
		}
		if want := bruteOvertaken(h); v.Facts.Overtaken != want {
			t.Fatalf("overtaken %d, brute force says %d\n%q", v.Facts.Overtaken, want, texts(v.Reasons))
		}
		if got, err := Corroborate(h, v.Facts); err != nil || got.Agreement != Agrees {
			t.Fatalf("%+v, %v\n%+v", got, err, v.Facts)
		}
		count(&overtook, v.Facts.Overtaken > 0)
		count(&fair, v.Facts.Overtaken == 0)
	})
	t.Logf("overtaken in %d, fair in %d", overtook, fair)
	if min(overtook, fair) == 0 {
		t.Errorf("the generator is unbalanced: overtaken in %d, fair in %d", overtook, fair)
	}
}

// What the servers recorded is left out, and the history itself stays as it was.
func TestOfClients(t *testing.T) {
	h := History{Queue: QueueFair, Timing: &Timing{},
		Grants: []Grant{held(1, "c0", 2, 20), held(2, "c2", 22, 30).asked(3).queued(7),
			held(3, "c1", 32, 40).asked(3).queued(5)},
		Attempts:  []Attempt{waited("c3", 8, 12, 14)},
		Holdings:  []Holding{{Client: "c0", Resource: "orders", From: 1}},
		Deletions: []Deletion{{At: 9, Node: "r0", Resource: "orders", Owner: "c0", By: "c1"}}}
	of := h.OfClients()
	if of.Timing != nil || of.Holdings != nil || of.Deletions != nil || of.Grants[1].Enqueued != 0 ||
		of.Attempts[0].Enqueued != 0 || of.Attempts[0].Left != 0 {
		t.Errorf("it has a record of the servers: %+v", of)
	}
	if v, err := Judge(of, nil); err != nil || v.Label != Safe {
		t.Errorf("%s, %v", v.Label, err)
	}
	if v, err := Judge(h, nil); err != nil || v.Label != Overtaken || h.Attempts[0].Left != 12 {
		t.Errorf("the history has changed: %s, %v", v.Label, err)
	}
}
