package checker_test

import (
	"testing"
	"time"

	"locksim/checker"
)

// dutiful is a history in which every call ends as promised: c0 releases what it had, c1
// gives up when its context ends, and c2, whose lease ends, was paused before.
func dutiful() checker.History {
	const ms = time.Millisecond
	timing := &checker.Timing{
		Away:  map[string][]checker.Absence{"c2": {{Span: checker.Span{From: 1050 * ms, To: 1150 * ms}}}},
		Lease: 300 * ms, Trips: 20 * ms, Steady: true, Prompt: true, InOrder: true, Slack: time.Minute,
	}
	for i := range 20 {
		timing.At = append(timing.At, time.Duration(i+1)*100*ms)
	}
	return checker.History{
		Duties: checker.Duties(), Timing: timing, Queue: checker.QueueFair, Liveness: checker.LivenessOK,
		Grants: []checker.Grant{
			{ID: 1, Client: "c0", Resource: "r", Invoked: 1, Granted: 3, Released: 6, ReleaseReturned: 8, ReleaseSucceeded: true, LeaseEnded: 600 * ms},
			{ID: 2, Client: "c2", Resource: "r", Invoked: 9, Granted: 10, Until: 12},
		},
		Attempts: []checker.Attempt{
			{Client: "c1", Resource: "r", Invoked: 2, Enqueued: 3, Left: 5, Returned: 5, ContextEnded: 490 * ms, Outcome: checker.OutcomeFailed},
		},
		Holdings: []checker.Holding{{Client: "c0", Resource: "r", From: 2, To: 7}, {Client: "c2", Resource: "r", From: 10, To: 13}},
	}
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
	unsteady := func(h *checker.History) { h.Timing.Steady = false }
	slow := func(h *checker.History) { h.Timing.Prompt = false }
	for _, c := range []struct {
		name    string
		duty    checker.Duty
		breach  func(h *checker.History)
		excuses []func(h *checker.History)
	}{
		{"an attempt outlasts its context", checker.DutyEnds, func(h *checker.History) { h.Attempts[0].ContextEnded = 479 * ms },
			[]func(*checker.History){away("c1", 480*ms, 481*ms), away("c1", 500*ms, 600*ms), func(h *checker.History) { h.Timing.Trips = 21 * ms }}},
		{"a grant outlasts its context", checker.DutyEnds, func(h *checker.History) { h.Grants[0].ContextEnded = 299 * ms },
			[]func(*checker.History){away("c0", 200*ms, 299*ms), func(h *checker.History) { h.Grants[0].ContextEnded = 300 * ms }}},
		{"a place is left behind", checker.DutyEnds, func(h *checker.History) { h.Attempts[0].Left = 6 },
			[]func(*checker.History){away("c1", 0, 0), unsteady, func(h *checker.History) { h.Attempts[0].Outcome = checker.OutcomeUnknown }}},
		{"a place is left for ever", checker.DutyEnds, func(h *checker.History) { h.Attempts[0].Left = 0 },
			[]func(*checker.History){func(h *checker.History) { h.Attempts[0].Enqueued = 6 }}},
		{"a key is left behind", checker.DutyEnds, func(h *checker.History) {
			h.Holdings = append(h.Holdings, checker.Holding{Client: "c1", Resource: "r", From: 7})
		}, []func(*checker.History){
			away("c1", 5000*ms, 6000*ms), unsteady, func(h *checker.History) { h.Timing.InOrder = false },
			func(h *checker.History) { h.Entry, h.Queue = checker.EntryReentrant, checker.QueueNone },
			func(h *checker.History) {
				h.Attempts[0].Client, h.Attempts[0].Enqueued, h.Attempts[0].Left = "c3", 0, 0
			},
			func(h *checker.History) {
				h.Attempts = append(h.Attempts, checker.Attempt{Client: "c1", Resource: "other", Invoked: 6, Outcome: checker.OutcomeUnknown})
			},
		}},
		{"a lease outlasts its release", checker.DutyReports, func(h *checker.History) { h.Grants[0].LeaseEnded = 601 * ms },
			[]func(*checker.History){away("c0", 800*ms, 900*ms)}},
		{"an attempt gives up", checker.DutyWaits, func(h *checker.History) { h.Attempts[0].ContextEnded = 0 },
			[]func(*checker.History){away("c1", 0, 0), unsteady, slow}},
		{"the key stays", checker.DutyReports, func(h *checker.History) { h.Holdings[0].To = 9 },
			[]func(*checker.History){
				unsteady, func(h *checker.History) { h.Grants[0].ReleaseSucceeded = false },
				func(h *checker.History) { h.Entry, h.Queue = checker.EntryReentrant, checker.QueueNone },
				func(h *checker.History) { h.Holdings[0].From = 4 },
			}},
		{"the key was gone", checker.DutyReports, func(h *checker.History) { h.Holdings[0].To = 6 },
			[]func(*checker.History){
				unsteady, func(h *checker.History) { h.Grants[0].ReleaseSucceeded = false },
				func(h *checker.History) {
					h.Holdings = append(h.Holdings, checker.Holding{Client: "c0", Resource: "r", From: 8, To: 9})
				},
				func(h *checker.History) { h.Holdings[0].To = 1; h.Holdings[0].From = 1 },
			}},
		{"a release announces a loss", checker.DutyReports, func(h *checker.History) { h.Grants[0].Lost = 7 },
			[]func(*checker.History){
				func(h *checker.History) { h.Grants[0].ReleaseSucceeded = false },
				func(h *checker.History) { away("c0", 600*ms, 600*ms)(h); h.Grants[0].LeaseEnded = 600 * ms },
			}},
		{"a loss is announced late", checker.DutyTells, func(h *checker.History) {
			h.Grants[1].Lost = 13
			h.Timing.At[12] = 1211 * ms
		},
			[]func(*checker.History){
				away("c2", 1205*ms, 1300*ms), func(h *checker.History) { h.Timing.At[12] = 1210 * ms },
				func(h *checker.History) { h.Grants[1].Lost = 12 },
				func(h *checker.History) { h.Grants[1].Released, h.Grants[1].LeaseEnded = 11, 1100*ms },
			}},
		{"a loss is not announced before the release", checker.DutyTells, func(h *checker.History) {
			h.Grants[1].Released, h.Grants[1].LeaseEnded = 14, 1400*ms
		},
			[]func(*checker.History){away("c2", 0, 1200*ms), func(h *checker.History) { h.Grants[1].Until = 10 }, func(h *checker.History) { h.Grants[1].Lost = 12 }}},
		{"a lease ends without a cause", checker.DutyRenews, func(h *checker.History) {
			h.Timing.Away["c2"] = []checker.Absence{{Span: checker.Span{From: 0, To: 1099 * ms}}}
		},
			[]func(*checker.History){unsteady, slow, away("c2", 0, 1100*ms), func(h *checker.History) { h.Grants[1].Crashed = 11 }, func(h *checker.History) { h.Grants[1].Until = 10 }}},
		{"a try waits", checker.DutyTries, func(h *checker.History) {
			h.Tries = []checker.Try{{Client: "c1", Resource: "r", Invoked: 2, Called: 200 * ms, Returned: 241 * ms}}
		}, []func(*checker.History){away("c1", 241*ms, 300*ms), func(h *checker.History) { h.Tries[0].Called = 201 * ms }}},
		{"an error hides that the context has ended", checker.DutyExplains, func(h *checker.History) { h.Attempts[0].Unexplained = true },
			[]func(*checker.History){away("c1", 0, 0), unsteady, slow}},
		{"a lease is not as the lock says", checker.DutyKeeps, func(h *checker.History) { h.Grants[0].Unkept = []string{"it is not"} }, nil},
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
			if n := count(c.breach, func(h *checker.History) { h.Duties = []checker.Duty{c.duty} }); n != 1 {
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
