package checker_test

import (
	"slices"
	"testing"
	"time"

	"locksim/checker"
	"locksim/lock/promise"
)

// dutiful is a history in which every call ends as promised: c0 releases what it had, c1
// gives up when its context ends, and c2, whose lease ends, was paused before. A fourth client had crashed at the
// beginning, so that no waiter has to be woken.
func dutiful() checker.History {
	const ms = time.Millisecond
	timing := &checker.Timing{
		Away: map[string][]checker.Absence{"c2": {{Span: checker.Span{From: 1050 * ms, To: 1150 * ms}}},
			"c9": {{Crash: true}}},
		Lease: 300 * ms, Trips: 20 * ms, Steady: true, Prompt: true, InOrder: true, Grace: time.Minute,
		Sends: map[string][]time.Duration{}, Pace: &checker.Pace{Servers: 1, Pause: 40 * ms, Renewal: 50 * ms},
	}
	for i := range 20 {
		timing.At = append(timing.At, time.Duration(i+1)*100*ms)
	}
	return checker.History{
		Duties: promise.Duties(), Timing: timing, Queue: checker.QueueFair,
		Grants: []checker.Grant{
			{ID: 1, Client: "c0", Resource: "r", Invoked: 1, Granted: 3, Released: 6, ReleaseReturned: 8, ReleaseSucceeded: true,
				LeaseEnded: 600 * ms},
			{ID: 2, Client: "c2", Resource: "r", Invoked: 9, Granted: 10, Until: 12},
		},
		Attempts: []checker.Attempt{
			{Client: "c1", Resource: "r", Invoked: 2, Enqueued: 3, Left: 5, Returned: 5, ContextEnded: 490 * ms,
				Outcome: checker.OutcomeFailed},
		},
		Holdings: []checker.Holding{{Client: "c0", Resource: "r", From: 2, To: 7},
			{Client: "c2", Resource: "r", From: 10, To: 13}},
	}
}

// sends are so many instants, a nanosecond apart.
func sends(first time.Duration, n int) (all []time.Duration) {
	for i := range n {
		all = append(all, first+time.Duration(i))
	}
	return all
}

// Each breach of a duty counts once, and only for a lock that promises the duty. What
// excuses it is enough.
func TestDuties(t *testing.T) {
	const ms = time.Millisecond
	away := func(client string, from, to time.Duration) func(*checker.History) {
		return func(h *checker.History) {
			h.Timing.Away[client] = append(h.Timing.Away[client], checker.Absence{Span: checker.Span{From: from, To: to}})
		}
	}
	absent := func(client string, from, to time.Duration) func(*checker.History) {
		return func(h *checker.History) {
			h.Timing.Away[client] = append(h.Timing.Away[client], checker.Absence{Span: checker.Span{From: from, To: to},
				Running: true})
		}
	}
	unsteady := func(h *checker.History) { h.Timing.Steady = false }
	slow := func(h *checker.History) { h.Timing.Prompt = false }
	for _, c := range []struct {
		name    string
		duty    promise.Duty
		breach  func(h *checker.History)
		excuses []func(h *checker.History)
	}{
		{"an attempt outlasts its context", promise.DutyEnds,
			func(h *checker.History) { h.Attempts[0].ContextEnded = 479 * ms },
			[]func(*checker.History){away("c1", 480*ms, 481*ms), away("c1", 500*ms, 600*ms),
				func(h *checker.History) { h.Timing.Trips = 21 * ms }}},
		{"a grant outlasts its context", promise.DutyEnds, func(h *checker.History) { h.Grants[0].ContextEnded = 299*ms - 1 },
			[]func(*checker.History){away("c0", 200*ms, 299*ms),
				func(h *checker.History) { h.Grants[0].ContextEnded = 299 * ms }}},
		{"a grant outlasts a context that ended at once", promise.DutyEnds,
			func(h *checker.History) { h.Grants[0].ContextEnded = 1 }, nil},
		{"a grant is over when the last answer comes", promise.DutyTells, func(h *checker.History) {
			h.Grants[1].Until,
				h.Grants[1].OverBefore = 10, true
		},
			[]func(*checker.History){away("c2", 900*ms, 1000*ms), func(h *checker.History) { h.Grants[1].OverBefore = false }}},
		{"the lock knows of a loss and keeps silent", promise.DutyTells, func(h *checker.History) { h.Grants[0].Known = 5 },
			[]func(*checker.History){away("c0", 500*ms, 500*ms), away("c0", 600*ms, 600*ms),
				func(h *checker.History) { h.Entry, h.Queue = checker.EntryReentrant, checker.QueueNone },
				func(h *checker.History) { h.Grants[0].Known = 6 },
				func(h *checker.History) { h.Grants[0].Known = 3 }}},
		{"a place is left behind", promise.DutyEnds, func(h *checker.History) { h.Attempts[0].Left = 6 },
			[]func(*checker.History){away("c1", 0, 180*ms), unsteady,
				func(h *checker.History) { h.Attempts[0].Outcome = checker.OutcomeUnknown }}},
		{"a place is left for ever", promise.DutyEnds, func(h *checker.History) { h.Attempts[0].Left = 0 },
			[]func(*checker.History){func(h *checker.History) { h.Attempts[0].Enqueued = 6 }}},
		{"a key is left behind", promise.DutyEnds, func(h *checker.History) {
			h.Holdings = append(h.Holdings, checker.Holding{Client: "c1", Resource: "r", From: 7})
		}, []func(*checker.History){
			away("c1", 5000*ms, 6000*ms), unsteady,
			func(h *checker.History) { h.SessionKeys = true }, func(h *checker.History) { h.Timing.InOrder = false },
			func(h *checker.History) { h.Entry, h.Queue = checker.EntryReentrant, checker.QueueNone },
			func(h *checker.History) {
				h.Attempts[0].Client, h.Attempts[0].Enqueued, h.Attempts[0].Left = "c3", 0, 0
			},
			func(h *checker.History) {
				h.Attempts = append(h.Attempts, checker.Attempt{Client: "c1", Resource: "other", Invoked: 6,
					Outcome: checker.OutcomeUnknown})
			},
			func(h *checker.History) { // it is that of the client's next Acquire
				h.Grants = append(h.Grants, checker.Grant{ID: 3, Client: "c1", Resource: "other", Invoked: 6, Granted: 20})
			},
		}},
		{"a lease outlasts its release", promise.DutyReports, func(h *checker.History) { h.Grants[0].LeaseEnded = 601 * ms },
			[]func(*checker.History){away("c0", 800*ms, 900*ms)}},
		{"an attempt gives up", promise.DutyWaits, func(h *checker.History) { h.Attempts[0].ContextEnded = 0 },
			[]func(*checker.History){away("c1", 0, 180*ms), unsteady, slow}},
		{"the key stays", promise.DutyReports, func(h *checker.History) { h.Holdings[0].To = 9 },
			[]func(*checker.History){
				unsteady, func(h *checker.History) { h.Grants[0].ReleaseSucceeded = false },
				func(h *checker.History) { h.Entry, h.Queue = checker.EntryReentrant, checker.QueueNone },
				func(h *checker.History) { h.Holdings[0].From = 4 },
				func(h *checker.History) { away("c0", 100*ms, 100*ms)(h); h.Holdings[0].Again = 5 },
				func(h *checker.History) { away("c0", 800*ms, 900*ms)(h); h.Holdings[0].Again = 5 },
			}},
		{"the key stays, and is asked for again", promise.DutyReports, func(h *checker.History) {
			h.Holdings[0].To,
				h.Holdings[0].Again = 9, 5
		},
			[]func(*checker.History){away("c0", 0, 300*ms)}},
		{"the key stays, and the client was away", promise.DutyReports,
			func(h *checker.History) { h.Holdings[0].To = 9; away("c0", 0, 300*ms)(h) },
			[]func(*checker.History){func(h *checker.History) { h.Holdings[0].Again = 5 }}},
		{"the key was gone", promise.DutyReports, func(h *checker.History) { h.Holdings[0].To = 6 },
			[]func(*checker.History){
				unsteady, func(h *checker.History) { h.Grants[0].ReleaseSucceeded = false },
				func(h *checker.History) {
					h.Holdings = append(h.Holdings, checker.Holding{Client: "c0", Resource: "r", From: 8, To: 9})
				},
				func(h *checker.History) { h.Holdings[0].To = 1; h.Holdings[0].From = 1 },
			}},
		{"a loss is announced of a lease that goes on", promise.DutyTells, func(h *checker.History) {
			left := 410*ms + 1 // until 710 ms and a bit
			h.Grants[0].Left, h.Grants[0].Lost, h.Timing.At[4] = &left, 5, 700*ms
			h.Grants[0].Released, h.Grants[0].LeaseEnded = 7, 800*ms
			h.Timing.At[5], h.Timing.At[6] = 700*ms, 800*ms
			h.Attempts[0].ContextEnded = 690 * ms
			h.Holdings[0].To = 8
			h.Duties = slices.DeleteFunc(h.Duties, func(d promise.Duty) bool { return d == promise.DutyRenews })
		}, []func(*checker.History){
			unsteady, slow, away("c0", 100*ms, 100*ms), func(h *checker.History) { h.Grants[0].Left = nil },
			func(h *checker.History) { *h.Grants[0].Left-- }, func(h *checker.History) { h.Holdings[0].From = 4 },
			func(h *checker.History) {
				h.Holdings[0].To = 5
				h.Holdings = append(h.Holdings, checker.Holding{Client: "c0", Resource: "r", From: 6, To: 8})
			},
			func(h *checker.History) {
				g := &h.Grants[0]
				g.Released, g.ReleaseReturned, g.ReleaseSucceeded, g.Crashed = 0, 0, false, 4
			},
			func(h *checker.History) { h.Entry, h.Queue = checker.EntryReentrant, checker.QueueNone },
		}},
		{"a loss is announced late", promise.DutyTells, func(h *checker.History) {
			h.Grants[1].Lost = 13
			h.Timing.At[12] = 1211 * ms
		},
			[]func(*checker.History){
				away("c2", 1205*ms, 1300*ms), func(h *checker.History) { h.Timing.At[12] = 1210 * ms },
				func(h *checker.History) { h.Grants[1].Lost = 12 },
				func(h *checker.History) { h.Grants[1].Released, h.Grants[1].LeaseEnded = 11, 1100*ms },
			}},
		{"a loss of a lease that was present is not announced", promise.DutyTells, func(h *checker.History) {
			h.Timing.Away["c2"] = nil
			h.Grants[1].Released, h.Grants[1].LeaseEnded, h.Grants[1].Until = 14, 1400*ms, 11
			h.Duties = slices.DeleteFunc(h.Duties, func(d promise.Duty) bool { return d == promise.DutyRenews })
		}, []func(*checker.History){
			func(h *checker.History) { h.Grants[1].Until = 10 }, func(h *checker.History) { h.Grants[1].Until = 14 },
			func(h *checker.History) { h.Grants[1].Lost = 11 }, func(h *checker.History) { h.Timing.At[13] = 1110 * ms },
		}},
		{"a loss is not announced before the release", promise.DutyTells, func(h *checker.History) {
			h.Grants[1].Released, h.Grants[1].LeaseEnded = 14, 1400*ms
		},
			[]func(*checker.History){away("c2", 0, 1200*ms), func(h *checker.History) { h.Grants[1].Until = 10 },
				func(h *checker.History) { h.Grants[1].Lost = 12 }}},
		{"a lease ends without a cause", promise.DutyRenews, func(h *checker.History) {
			h.Timing.Away["c2"] = []checker.Absence{{Span: checker.Span{From: 0, To: 1099 * ms}}}
		},
			[]func(*checker.History){unsteady, slow, away("c2", 0, 1100*ms),
				func(h *checker.History) { h.Grants[1].Crashed = 11 }, func(h *checker.History) { h.Grants[1].Until = 10 }}},
		{"a try waits", promise.DutyTries, func(h *checker.History) {
			h.Tries = []checker.Try{{Client: "c1", Resource: "r", Invoked: 2, Called: 200 * ms, Returned: 241 * ms}}
		}, []func(*checker.History){away("c1", 241*ms, 300*ms), func(h *checker.History) { h.Tries[0].Called = 201 * ms }}},
		{"an error hides that the context has ended", promise.DutyExplains,
			func(h *checker.History) { h.Attempts[0].Unexplained = true },
			[]func(*checker.History){away("c1", 0, 180*ms), unsteady, slow}},
		{"a release fails", promise.DutyReports, func(h *checker.History) {
			h.Grants[0].ReleaseSucceeded,
				h.Grants[0].ReleaseFailed = false, true
		},
			[]func(*checker.History){
				unsteady, slow, away("c0", 0, 80*ms), away("c0", 800*ms, 900*ms),
				func(h *checker.History) { h.Grants[0].ReleaseContextEnded = true },
				func(h *checker.History) { h.Holdings[0].To = 6 }, func(h *checker.History) { h.Holdings[0].From = 4 },
				func(h *checker.History) { h.Grants[0].Until = 7 }, // and the key ends by itself at 7
			}},
		{"a release fails that deleted the key of a lease that ends meanwhile", promise.DutyReports,
			func(h *checker.History) {
				g := &h.Grants[0]
				g.ReleaseSucceeded, g.ReleaseFailed, g.Until = false, true, 7
				h.Deletions = []checker.Deletion{{At: 7, Node: "r0", Resource: "r", Owner: "c0", By: "c0"}}
			}, []func(*checker.History){unsteady, func(h *checker.History) { h.Deletions[0].By = "c9" }}},
		{"a release fails with the context of its caller", promise.DutyReports, func(h *checker.History) {
			g := &h.Grants[0]
			g.ReleaseSucceeded, g.ReleaseContextEnded, g.ReleaseContextOver, h.Holdings[0].To = false, true, true, 9
		},
			[]func(*checker.History){
				unsteady, slow, away("c0", 300*ms, 400*ms), func(h *checker.History) { h.Holdings[0].To = 8 },
				func(h *checker.History) { h.Grants[0].ReleaseContextOver = false },
			}},
		{"a release denies the lock", promise.DutyReports, func(h *checker.History) {
			h.Grants[0].ReleaseSucceeded, h.Grants[0].ReleaseNotHeld, h.Holdings[0].To = false, true, 9
		},
			[]func(*checker.History){
				unsteady, slow, away("c0", 300*ms, 400*ms), func(h *checker.History) { h.Holdings[0].To = 8 },
				func(h *checker.History) { h.SessionKeys = true; away("c0", 610*ms, 620*ms)(h) },
				func(h *checker.History) { h.Entry, h.Queue = checker.EntryReentrant, checker.QueueNone },
			}},
		{"a call does not return", promise.DutyReturns, func(h *checker.History) {
			h.Timing.Away["c0"] = []checker.Absence{{Span: checker.Span{From: 0, To: 2000 * ms}, Running: true}}
			h.Calls = []checker.Call{{Client: "c0", Resource: "r", What: "Release", About: 3, Called: 600 * ms, Due: 700 * ms,
				Returned: 721 * ms}}
		}, []func(*checker.History){away("c0", 721*ms, 800*ms), away("c0", 500*ms, 600*ms),
			func(h *checker.History) { h.Calls[0].Due = 701 * ms }}},
		{"a release wakes no waiter", promise.DutyWakes, func(h *checker.History) {
			h.Attempts, h.Timing.At[0], h.Timing.At[1] = nil, 290*ms, 290*ms
			delete(h.Timing.Away, "c9")
		}, []func(*checker.History){
			unsteady, slow, away("c9", 940*ms, 940*ms), func(h *checker.History) { h.Timing.Trips = 50 * ms },
			func(h *checker.History) {
				h.Grants[0].ReleaseSucceeded, h.Grants[0].ReleaseFailed, h.Grants[0].ReleaseContextEnded = false, true, true
			},
			func(h *checker.History) { h.Tries = []checker.Try{{Client: "c2", Resource: "r", Invoked: 9}} },
		}},
		{"a release wakes no waiter, and trouble comes too late", promise.DutyWakes, func(h *checker.History) {
			h.Attempts, h.Timing.At[0], h.Timing.At[1] = nil, 290*ms, 290*ms
			h.Timing.Away["c9"] = []checker.Absence{{Span: checker.Span{From: 941 * ms, To: 1000 * ms}}}
		}, nil},
		{"a waiter does not pause when its network is in trouble", promise.DutySpares, func(h *checker.History) {
			h.Timing.Sends["c1"] = sends(401*ms, 41)
			absent("c1", 500*ms, 500*ms)(h)
		}, []func(*checker.History){
			away("c1", 500*ms, 500*ms), func(h *checker.History) { h.Timing.Sends["c1"] = sends(401*ms, 40) },
		}},
		{"one that gives up does not tell the next", promise.DutyWakes, func(h *checker.History) {
			h.Grants[0].Invoked, h.Grants[0].Granted, h.Holdings[0].From = 3, 4, 4
			h.Attempts[0].Invoked, h.Timing.At[1], h.Timing.At[2] = 3, 380*ms, 390*ms
			h.Timing.At[8] = 910 * ms
			delete(h.Timing.Away, "c9")
		}, []func(*checker.History){
			func(h *checker.History) { h.Timing.InOrder = false },
			func(h *checker.History) { h.Entry, h.Queue = checker.EntryReentrant, checker.QueueNone },
			func(h *checker.History) { h.Timing.At[8] = 960 * ms },
			func(h *checker.History) {
				h.Attempts[0].Returned, h.Attempts[0].Enqueued, h.Attempts[0].Left = 9, 0, 0
				h.Attempts[0].ContextEnded, h.Grants[1].Invoked = 940*ms, 8
				h.Timing.At[7], h.Timing.At[8], h.Timing.At[9] = 910*ms, 950*ms, 990*ms
			},
		}},
		{"a waiter does not pause", promise.DutySpares, func(h *checker.History) {
			h.Timing.Sends["c1"] = sends(401*ms, 25)
		}, []func(*checker.History){
			unsteady, slow, absent("c1", 500*ms, 500*ms), away("c1", 500*ms, 500*ms),
			func(h *checker.History) { h.Timing.Sends["c1"] = sends(401*ms, 24) },
			func(h *checker.History) { h.Timing.Sends["c1"] = append(sends(201*ms, 24), 501*ms) },
			func(h *checker.History) { h.Timing.Pace.Servers = 2 },
			func(h *checker.History) { h.Timing.Sends["c1"][24] = 200 * ms; slices.Sort(h.Timing.Sends["c1"]) },
			func(h *checker.History) { h.Timing.Pace.Pause = 37 * ms },
			func(h *checker.History) { h.Timing.Pace = nil },
			func(h *checker.History) { h.Tries = []checker.Try{{Client: "c1", Resource: "r", Invoked: 2}} },
			func(h *checker.History) {
				h.Attempts = append(h.Attempts, checker.Attempt{Client: "c3", Resource: "r", Invoked: 1, Returned: 3,
					ContextEnded: ms, Outcome: checker.OutcomeFailed})
				h.Timing.Away["c3"] = []checker.Absence{{Span: checker.Span{To: 2000 * ms}}}
			},
		}},
		{"a lease is not as the lock says", promise.DutyKeeps,
			func(h *checker.History) { h.Grants[0].Unkept = []string{"it is not"} }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			count := func(changes ...func(*checker.History)) int {
				t.Helper()
				h := dutiful()
				for _, change := range changes {
					change(&h)
				}
				v, err := checker.Judge(h, nil)
				if err != nil {
					t.Fatal(err)
				}
				checker.PointsWhereItSays(t, v.Reasons)
				for _, r := range v.Reasons {
					if r.Duty != "" && r.Duty != c.duty {
						t.Errorf("%q is said to break the duty %s", r.Text, r.Duty)
					}
				}
				if named := slices.ContainsFunc(v.Reasons,
					func(r checker.Reason) bool { return r.Duty != "" }); named != (v.Facts.Misconduct > 0) {
					t.Errorf("a reason names its duty: %v, misconduct %d", named, v.Facts.Misconduct)
				}
				if (v.Facts.Misconduct > 0) != (v.Label == checker.Misconduct) {
					t.Errorf("misconduct %d, label %s", v.Facts.Misconduct, v.Label)
				}
				return v.Facts.Misconduct
			}
			if n := count(); n != 0 {
				t.Fatalf("%d breaches before", n)
			}
			if n := count(c.breach); n != 1 {
				t.Errorf("%d breaches, want 1", n)
			}
			if n := count(c.breach, func(h *checker.History) { h.Duties = []promise.Duty{c.duty} }); n != 1 {
				t.Errorf("%d breaches of the only duty, want 1", n)
			}
			if n := count(c.breach, func(h *checker.History) { h.Duties = nil }); n != 0 {
				t.Errorf("%d breaches without a duty", n)
			}
			for i, excuse := range c.excuses {
				if n := count(c.breach, excuse); n != 0 {
					t.Errorf("excuse %d: %d breaches", i, n)
				}
			}
		})
	}
}

// begunLater moves all instants of a history.
func begunLater(h *checker.History, d time.Duration) {
	for i := range h.Timing.At {
		h.Timing.At[i] += d
	}
	for i := range h.Timing.Away["c2"] {
		h.Timing.Away["c2"][i].From += d
		h.Timing.Away["c2"][i].To += d
	}
	for i := range h.Grants {
		if h.Grants[i].LeaseEnded > 0 {
			h.Grants[i].LeaseEnded += d
		}
	}
	for i := range h.Attempts {
		if h.Attempts[i].ContextEnded > 0 {
			h.Attempts[i].ContextEnded += d
		}
	}
}

// What was over before the call of Acquire excuses nothing. What was not is enough: requests under way, the key of a
// process that has crashed, a connection that has broken without notice.
func TestExcusesEnd(t *testing.T) {
	const ms = time.Millisecond
	breaches := map[string]struct {
		client string
		called time.Duration
		breach func(h *checker.History)
	}{
		"a place is left behind": {"c1", 200 * ms, func(h *checker.History) { h.Attempts[0].Left = 6 }},
		"a key is left behind": {"c1", 200 * ms, func(h *checker.History) {
			h.Holdings = append(h.Holdings, checker.Holding{Client: "c1", Resource: "r", From: 4})
		}},
		"an attempt gives up":        {"c1", 200 * ms, func(h *checker.History) { h.Attempts[0].ContextEnded = 0 }},
		"an error hides its context": {"c1", 200 * ms, func(h *checker.History) { h.Attempts[0].Unexplained = true }},
		"a release fails": {"c0", 100 * ms, func(h *checker.History) {
			h.Grants[0].ReleaseSucceeded,
				h.Grants[0].ReleaseFailed = false, true
		}},
		"a release denies the lock": {"c0", 100 * ms, func(h *checker.History) {
			h.Grants[0].ReleaseSucceeded, h.Grants[0].ReleaseNotHeld, h.Holdings[0].To = false, true, 9
		}},
		"a release fails with its context": {"c0", 100 * ms, func(h *checker.History) {
			g := &h.Grants[0]
			g.ReleaseSucceeded, g.ReleaseContextEnded, g.ReleaseContextOver, h.Holdings[0].To = false, true, true, 9
		}},
		"a loss is announced early": {"c0", 100 * ms, func(h *checker.History) {
			left := time.Minute
			h.Duties = slices.DeleteFunc(h.Duties, func(d promise.Duty) bool { return d == promise.DutyRenews })
			h.Grants[0].Left, h.Grants[0].Lost = &left, 5
		}},
	}
	for name, b := range breaches {
		for what, c := range map[string]struct {
			change func(timing *checker.Timing, at checker.Span)
			excuse time.Duration // for how long after its end
		}{
			"a pause": {func(timing *checker.Timing, s checker.Span) {
				timing.Away[b.client] = []checker.Absence{{Span: s}}
			}, 20 * ms},
			"a cut": {func(timing *checker.Timing, s checker.Span) {
				timing.Away[b.client] = []checker.Absence{{Span: s, Running: true}}
			}, 20 * ms},
			"a crash": {func(timing *checker.Timing, s checker.Span) {
				timing.Away[b.client] = []checker.Absence{{Span: s, Crash: true}}
			}, 320 * ms},
			"a broken connection": {func(timing *checker.Timing, s checker.Span) {
				timing.Unlinked = map[string][]checker.Span{b.client: {s}}
			}, 0},
		} {
			for _, past := range []time.Duration{0, 1} {
				h := dutiful()
				b.breach(&h)
				begunLater(&h, time.Second)
				to := b.called + time.Second - c.excuse - past
				c.change(h.Timing, checker.Span{From: to - ms, To: to})
				v, err := checker.Judge(h, nil)
				if err != nil {
					t.Fatal(err)
				}
				if want := int(past); v.Facts.Misconduct != want {
					t.Errorf("%s, and %s that ended %v before the call: %d breaches, want %d", name, what, c.excuse+past,
						v.Facts.Misconduct, want)
				}
			}
		}
	}
}

// A holder whose lease is renewed sends no more than its renewals and extensions need. A lock that does not promise
// renewals may send what it likes.
func TestRenewalsAreSpaced(t *testing.T) {
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		change func(h *checker.History)
		want   int
	}{
		"renewals":         {func(h *checker.History) { h.Timing.Sends["c0"] = sends(301*ms, 22) }, 0},
		"a flood":          {func(*checker.History) {}, 1},
		"extensions":       {func(h *checker.History) { h.Timing.Pace.Extends = 1 }, 0},
		"short intervals":  {func(h *checker.History) { h.Timing.Pace.Renewal = 42 * ms }, 0},
		"no promise":       {func(h *checker.History) { h.Duties = []promise.Duty{promise.DutySpares} }, 0},
		"after the claim":  {func(h *checker.History) { h.Timing.Sends["c0"] = sends(601*ms, 23) }, 0},
		"before the grant": {func(h *checker.History) { h.Timing.Sends["c0"][0] = 300 * ms }, 0},
		"away": {func(h *checker.History) {
			h.Timing.Away["c0"] = []checker.Absence{{Span: checker.Span{From: 300 * ms, To: 300 * ms}}}
		}, 0},
		"an Acquire within": {func(h *checker.History) {
			h.Entry, h.Queue = checker.EntryReentrant, checker.QueueNone
			h.Grants = append(h.Grants, checker.Grant{ID: 3, Client: "c0", Resource: "r", Invoked: 4, Granted: 5, Released: 6,
				ReleaseReturned: 7, ReleaseSucceeded: true, LeaseEnded: 600 * ms})
		}, 1}, // the inner one
	} {
		t.Run(name, func(t *testing.T) {
			h := dutiful()
			h.Timing.Sends["c0"] = sends(301*ms, 23)
			h.Timing.Sends["c0"][22] = 600 * ms
			if name == "an Acquire within" {
				h.Timing.Sends["c0"] = sends(501*ms, 23)
			}
			c.change(&h)
			v, err := checker.Judge(h, nil)
			if err != nil {
				t.Fatal(err)
			}
			if v.Facts.Misconduct != c.want {
				t.Errorf("%d breaches, want %d: %v", v.Facts.Misconduct, c.want, v.Reasons)
			}
		})
	}
}
