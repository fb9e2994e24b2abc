package checker

import (
	"math"
	"strings"
	"testing"
	"time"

	"locksim/lock/promise"
)

// alone has c1, which asks at step 20 for a lock that c0 had from step 2 to step 11 and released. Each step takes a
// second.
func alone(change func(h *History)) History {
	h := History{Timing: &Timing{Prompt: true, Undisturbed: math.MaxInt64, Alone: 2 * time.Second,
		Within: map[promise.Cause]time.Duration{promise.CauseOther: time.Hour},
		Sends:  map[string][]time.Duration{"c1": {10 * time.Second, 21 * time.Second}}}}
	for i := range 60 {
		h.Timing.At = append(h.Timing.At, time.Duration(i+1)*time.Second)
	}
	h.Grants = []Grant{
		{ID: 1, Client: "c0", Resource: "orders", Invoked: 1, Granted: 2, Released: 10, ReleaseReturned: 11,
			ReleaseSucceeded: true},
		{ID: 2, Client: "c1", Resource: "orders", Invoked: 20, Granted: 40},
	}
	change(&h)
	return h
}

func TestWithheld(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(h *History)
		want   int
	}{
		{"after a release", func(*History) {}, 1},
		{"granted in time", func(h *History) { h.Grants[1].Granted = 23 }, 0},
		{"granted a little later", func(h *History) { h.Grants[1].Granted = 24 }, 1},
		{"never granted", func(h *History) {
			h.Grants = h.Grants[:1]
			h.Attempts = []Attempt{{Client: "c1", Resource: "orders", Invoked: 20, Outcome: OutcomeUnknown}}
		}, 1},
		{"it sent nothing", func(h *History) { h.Timing.Sends = nil }, 0},
		{"it asked late", func(h *History) { h.Timing.Sends["c1"] = []time.Duration{39 * time.Second} }, 0},
		{"of another lock", func(h *History) { h.Grants[1].Resource = "users" }, 1},
		{"never granted before", func(h *History) { h.Grants = h.Grants[1:] }, 0},
		{"no bound is known", func(h *History) { h.Timing.Alone = 0 }, 0},
		{"no timing", func(h *History) { h.Timing = nil }, 0},
		{"a slow network", func(h *History) { h.Timing.Prompt = false }, 0},
		{"a fault before", func(h *History) { h.Timing.Undisturbed = 23 * time.Second }, 0},
		{"a fault afterwards", func(h *History) { h.Timing.Undisturbed = 23*time.Second + 1 }, 1},
		{"its context ended before", func(h *History) { h.Grants[1].ContextEnded = 22 * time.Second }, 0},
		{"a release that failed", func(h *History) { h.Grants[0].ReleaseSucceeded, h.Grants[0].ReleaseFailed = false, true },
			0},
		{"a release that returned later", func(h *History) { h.Grants[0].ReleaseReturned = 21 }, 0},
		{"a lease that had ended", func(h *History) { h.Grants[0].Until = 9 }, 0},
		{"a lease that was lost", func(h *History) { h.Grants[0].Lost = 9 }, 0},
		{"another client asked", func(h *History) {
			h.Attempts = []Attempt{{Client: "c2", Resource: "orders", Invoked: 22, Outcome: OutcomeUnknown}}
		}, 0},
		{"another client asked later", func(h *History) {
			h.Attempts = []Attempt{{Client: "c2", Resource: "orders", Invoked: 24, Outcome: OutcomeUnknown}}
		}, 1},
		{"an Acquire had failed before", func(h *History) {
			h.Attempts = []Attempt{{Client: "c2", Resource: "orders", Invoked: 12, Returned: 13, Outcome: OutcomeFailed}}
		}, 0},
		{"its own outer lease, in an exclusive lock", func(h *History) {
			h.Grants = append(h.Grants, Grant{ID: 3, Client: "c1", Resource: "orders", Invoked: 14, Granted: 15})
		}, 0},
		{"its own outer lease, in a reentrant lock", func(h *History) {
			h.Entry = EntryReentrant
			h.Grants = append(h.Grants, Grant{ID: 3, Client: "c1", Resource: "orders", Invoked: 14, Granted: 15})
		}, 1},
	} {
		v := mustJudge(t, alone(c.change), nil)
		if c.want > 0 && !strings.Contains(v.Reasons[0].Text, "FreeAfter, for promise.CauseOther") {
			t.Errorf("%s: no hint at FreeAfter in %q", c.name, v.Reasons[0].Text)
		}
		if v.Facts.Withheld != c.want || (v.Label == Stuck) != (c.want > 0) {
			t.Errorf("%s: %d, and %s", c.name, v.Facts.Withheld, v.Label)
		}
	}
}

// spared disturbs r1 from the beginning on, and r2 too from a second on. A lease has so many seconds.
func spared(h *History, from, lease time.Duration) {
	t := h.Timing
	h.Voters, t.Undisturbed, t.Majority, t.Lease = 3, time.Second, from*time.Second, lease*time.Second
	t.Struck = []Struck{{Node: "r1", At: time.Second}, {Node: "r2", At: t.Majority}}
}

func TestFailedCalls(t *testing.T) {
	attempt := func(change func(h *History, a *Attempt)) func(h *History) {
		return func(h *History) {
			a := Attempt{Client: "c1", Resource: "orders", Invoked: 20, Returned: 30, Outcome: OutcomeFailed, Error: "no luck"}
			h.Grants, h.Timing.Alone = h.Grants[:1], 0
			change(h, &a)
			h.Attempts = append(h.Attempts, a)
		}
	}
	call := func(change func(h *History, c *Call)) func(h *History) {
		return func(h *History) {
			c := Call{Client: "c0", Resource: "orders", What: "Release", About: 2, Called: 10 * time.Second,
				Returned: 11 * time.Second, Result: ResultFailed, Error: "no luck"}
			h.Grants = h.Grants[:1]
			change(h, &c)
			h.Calls = append(h.Calls, c)
		}
	}
	for _, c := range []struct {
		name   string
		change func(h *History)
		want   int
	}{
		{"an Acquire", attempt(func(*History, *Attempt) {}), 1},
		{"that never returned", attempt(func(_ *History, a *Attempt) { a.Returned = 0 }), 0},
		{"that says that the lock is taken", attempt(func(_ *History, a *Attempt) { a.Taken = true }), 0},
		{"after the end of its context", attempt(func(_ *History, a *Attempt) { a.ContextEnded = 30 * time.Second }), 0},
		{"after a fault", attempt(func(h *History, _ *Attempt) { h.Timing.Undisturbed = 30 * time.Second }), 0},
		{"before a fault", attempt(func(h *History, _ *Attempt) { h.Timing.Undisturbed = 31 * time.Second }), 1},
		{"with a majority undisturbed", attempt(func(h *History, _ *Attempt) { spared(h, 31, 21) }), 1},
		{"until the instant of its return", attempt(func(h *History, _ *Attempt) { spared(h, 30, 21) }), 0},
		{"half a lease after its call", attempt(func(h *History, _ *Attempt) { spared(h, 31, 20) }), 0},
		{"saying that the lock is taken", attempt(func(h *History, a *Attempt) {
			spared(h, 31, 21)
			a.Taken = true
		}), 0},
		{"after the end of its context too", attempt(func(h *History, a *Attempt) {
			spared(h, 31, 21)
			a.ContextEnded = 30 * time.Second
		}), 0},
		{"on a slow network", attempt(func(h *History, _ *Attempt) { h.Timing.Prompt = false }), 0},
		{"while another client asked", attempt(func(h *History, _ *Attempt) {
			h.Attempts = []Attempt{{Client: "c2", Resource: "orders", Invoked: 29, Outcome: OutcomeUnknown}}
		}), 0},
		{"while another client asked, of a lock that names its errors", attempt(func(h *History, _ *Attempt) {
			h.TakenNamed = true
			h.Attempts = []Attempt{{Client: "c2", Resource: "orders", Invoked: 29, Outcome: OutcomeUnknown}}
		}), 1},
		{"after a release that failed", attempt(func(h *History, _ *Attempt) { h.Grants[0].ReleaseSucceeded = false }), 0},
		{"the second of two", attempt(func(h *History, _ *Attempt) {
			h.Attempts = []Attempt{{Client: "c1", Resource: "orders", Invoked: 14, Returned: 15, Outcome: OutcomeFailed}}
		}), 1},

		{"a Release", call(func(*History, *Call) {}), 1},
		{"that says that the lock is not held", call(func(_ *History, c *Call) { c.Result = ResultNotHeld }), 1},
		{"the same of a reentrant lock",
			call(func(h *History, c *Call) { h.Entry, c.Result = EntryReentrant, ResultNotHeld }), 0},
		{"that succeeded", call(func(_ *History, c *Call) { c.Result = ResultDone }), 0},
		{"without a result", call(func(_ *History, c *Call) { c.Result = "" }), 0},
		{"of a lease that ended before it returned", call(func(h *History, _ *Call) { h.Grants[0].Until = 11 }), 0},
		{"of a lease that ended later", call(func(h *History, _ *Call) { h.Grants[0].Until = 12 }), 1},
		{"of a lease that was lost", call(func(h *History, _ *Call) { h.Grants[0].Lost = 11 }), 0},
		{"of a lease that was over when it came", call(func(h *History, _ *Call) { h.Grants[0].ExpiredAtCall = true }), 0},
		{"of a doubted grant", call(func(h *History, _ *Call) { h.Grants[0].Doubted = 5 }), 0},
		{"after the end of its context", call(func(_ *History, c *Call) { c.ContextEnded = true }), 0},
		{"after a call that its context ended", call(func(h *History, _ *Call) {
			h.Calls = []Call{{Client: "c0", Resource: "orders", What: "Extend", About: 2, Called: 5 * time.Second,
				ContextEnded: true}}
		}), 0},
		{"after a fault", call(func(h *History, _ *Call) { h.Timing.Undisturbed = 11 * time.Second }), 0},
		{"while another client has the lock", call(func(h *History, _ *Call) {
			h.Grants = append(h.Grants, Grant{ID: 3, Client: "c2", Resource: "orders", Invoked: 8, Granted: 9})
		}), 0},
		{"with a majority undisturbed", call(func(h *History, _ *Call) { spared(h, 31, 21) }), 0},
		{"after another client had it", call(func(h *History, _ *Call) {
			h.Grants[0].Invoked, h.Grants[0].Granted = 5, 6
			h.Grants = append(h.Grants, Grant{ID: 3, Client: "c2", Resource: "orders", Invoked: 1, Granted: 2, Released: 3,
				ReleaseReturned: 4})
			h.Calls = nil
		}), 0}, // it is about step 2, which is no grant of c0 any more
		{"an Extend", call(func(_ *History, c *Call) {
			c.What, c.Called, c.Returned = "Extend", 5*time.Second,
				6*time.Second
		}), 1},
		{"an Extend that the end of the lease cut short", call(func(h *History, c *Call) {
			c.What, c.Called, c.Returned = "Extend", 5*time.Second, 6*time.Second
			h.Grants[0].Until, h.Timing.Trips = 7, 2*time.Second
		}), 0},
		{"an Extend in time", call(func(h *History, c *Call) {
			c.What, c.Called, c.Returned = "Extend", 5*time.Second, 6*time.Second
			h.Grants[0].Until, h.Timing.Trips = 7, time.Second
		}), 1},
		{"an Extend that is not allowed", call(func(_ *History, c *Call) { c.What, c.Result = "Extend", ResultRefused }), 0},
		{"an Extend after the release",
			call(func(_ *History, c *Call) { c.What, c.Called, c.Returned = "Extend", 12*time.Second, 13*time.Second }), 0},
	} {
		v := mustJudge(t, alone(c.change), nil)
		if v.Facts.FailedCalls != c.want || (v.Label == Misconduct) != (c.want > 0) {
			t.Errorf("%s: %d, and %s", c.name, v.Facts.FailedCalls, v.Label)
		}
	}
}

// A failed call says which nodes faults had struck.
func TestFailedCallNamesTheNodes(t *testing.T) {
	h := alone(func(h *History) {
		spared(h, 31, 21)
		h.Grants = h.Grants[:1]
		h.Attempts = []Attempt{{Client: "c1", Resource: "orders", Invoked: 20, Returned: 30, Outcome: OutcomeFailed,
			Error: "no luck"}}
	})
	const want = "c1 asked for orders at step 20, and Acquire failed at step 30, although faults had struck only r1, " +
		"a minority of the 3 nodes: no luck."
	if v := mustJudge(t, h, nil); v.Reasons[0].Text != want {
		t.Errorf("got %q", v.Reasons[0].Text)
	}
}
