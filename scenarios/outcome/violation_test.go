package outcome_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"locksim/checker"
	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/sim/trace"
)

// ran is a run of a mode with the given facts.
func ran(mode fence.Mode, f checker.Facts) outcome.ModeRun {
	if f.Liveness == "" {
		f.Liveness = checker.LivenessOK
	}
	if f.Data == "" {
		f.Data = checker.DataRight
	}
	return outcome.ModeRun{Mode: mode, Verdict: checker.Verdict{Facts: f}, Trace: &trace.Trace{}}
}

func ownerless(m outcome.ModeRun) outcome.ModeRun {
	m.History.Entry = checker.EntryOwnerless
	return m
}

// Each fact counts in the modes that the promise covers.
func TestViolations(t *testing.T) {
	seal, claim := lock.Promise{Data: "seal"}, lock.Promise{Data: "claim"}
	calm := ran(fence.None, checker.Facts{Data: checker.DataCorrupted})
	calm.History.Calm = true
	for _, c := range []struct {
		name    string
		promise lock.Promise
		run     outcome.ModeRun
		want    []outcome.Violation
	}{
		{"right", seal, ran(fence.Seal, checker.Facts{}), nil},
		{"claims overlap", claim, ran(fence.None, checker.Facts{ClaimOverlaps: 1}),
			[]outcome.Violation{{Mode: fence.None, Label: checker.Overlap}}},
		{"beliefs overlap", claim, ran(fence.None, checker.Facts{BeliefOverlaps: 1}), nil},
		{"stuck", claim, ran(fence.None, checker.Facts{Liveness: checker.LivenessStuck}),
			[]outcome.Violation{{Mode: fence.None, Label: checker.Stuck}}},
		{"leaked", seal, ran(fence.Seal, checker.Facts{Liveness: checker.LivenessLeaked}),
			[]outcome.Violation{{Mode: fence.Seal, Label: checker.Stuck}}},
		{"corrupted without a fence", seal, ran(fence.None, checker.Facts{Data: checker.DataCorrupted}), nil},
		{"corrupted behind the fence", seal, ran(fence.Seal, checker.Facts{Data: checker.DataCorrupted}),
			[]outcome.Violation{{Mode: fence.Seal, Label: checker.Corrupted}}},
		{"corrupted behind a weaker fence", seal, ran(fence.Check, checker.Facts{Data: checker.DataCorrupted}), nil},
		{"corrupted behind claims", claim, ran(fence.Claim, checker.Facts{Data: checker.DataCorrupted}),
			[]outcome.Violation{{Mode: fence.Claim, Label: checker.Corrupted}}},
		{"rightful holder refused", seal, ran(fence.Seal, checker.Facts{FalseRejects: 1}),
			[]outcome.Violation{{Mode: fence.Seal, Label: checker.FalseReject}}},
		{"refused without a token", claim, ran(fence.Claim, checker.Facts{FalseRejects: 1}), nil},
		{"void", claim, ran(fence.None, checker.Facts{VoidGrants: 1}),
			[]outcome.Violation{{Mode: fence.None, Label: checker.Void}}},
		{"revived", claim, ran(fence.None, checker.Facts{RevivedClaims: 1}),
			[]outcome.Violation{{Mode: fence.None, Label: checker.Revived}}},
		{"overdue", claim, ran(fence.None, checker.Facts{Overdue: 1}),
			[]outcome.Violation{{Mode: fence.None, Label: checker.Stuck}}},
		{"refused while free", claim, ran(fence.None, checker.Facts{Denied: 1}),
			[]outcome.Violation{{Mode: fence.None, Label: checker.Stuck}}},
		{"overdue, not promised", lock.Promise{Exclusion: claim.Exclusion, FreeWithin: lock.TermAnyTime},
			ran(fence.None, checker.Facts{Overdue: 1}), nil},
		{"kept out by itself", lock.Promise{Exclusion: claim.Exclusion, FreeWithin: lock.TermAnyTime},
			ran(fence.None, checker.Facts{SelfExcluded: 1}),
			[]outcome.Violation{{Mode: fence.None, Label: checker.Stuck}}},
		{"kept out by itself, and it lives with that", lock.Promise{SelfExcludes: true},
			ran(fence.None, checker.Facts{SelfExcluded: 1}), nil},
		{"kept out by its own client", claim, ran(fence.None, checker.Facts{SelfWaits: 1}),
			[]outcome.Violation{{Mode: fence.None, Label: checker.Stuck}}},
		{"kept out by its own client, and has no owners", claim, ownerless(ran(fence.None, checker.Facts{SelfWaits: 1})),
			nil},
		{"overtaken", lock.Promise{Order: lock.FIFO}, ran(fence.None, checker.Facts{Overtaken: 1}),
			[]outcome.Violation{{Mode: fence.None, Label: checker.Overtaken}}},
		{"overtaken, no order promised", claim, ran(fence.None, checker.Facts{Overtaken: 1}), nil},
		{"a token went back", seal, ran(fence.Seal, checker.Facts{TokenRegressions: 1}),
			[]outcome.Violation{{Mode: fence.Seal, Label: checker.Regressed}}},
		{"a token was given twice", seal, ran(fence.None, checker.Facts{TokenDuplicates: 1}),
			[]outcome.Violation{{Mode: fence.None, Label: checker.Regressed}}},
		{"tokens without an order", lock.Promise{Data: "claim", TokensUnordered: true},
			ran(fence.None, checker.Facts{TokenRegressions: 1, TokenDuplicates: 1}), nil},
		{"work done twice", seal, ran(fence.Seal, checker.Facts{Recomputed: 2, WorkTwice: 1}),
			[]outcome.Violation{{Mode: fence.Seal, Label: checker.Repeated}}},
		{"work done twice in a mode without a promise", seal, ran(fence.None, checker.Facts{Recomputed: 2, WorkTwice: 1}),
			[]outcome.Violation{{Mode: fence.None, Label: checker.Repeated}}},
		{"work done twice after the end of a lease", seal, ran(fence.None, checker.Facts{Recomputed: 1}), nil},
		{"calm and corrupted", seal, calm, []outcome.Violation{{Mode: fence.None, Label: checker.Corrupted}}},
		{"not run", seal, outcome.ModeRun{Mode: fence.Seal, Verdict: checker.Verdict{Label: checker.NotApplicable}}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want,
				outcome.Violations(&outcome.Outcome{Scenario: file.Defaults(), Modes: []outcome.ModeRun{c.run}},
					c.promise)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A lock is judged in every mode that ran, whatever mode its promise names: a fence protects the data, and nothing
// else. The data, and the rights of a holder, are judged in the mode of the promise and in calm runs, the second with
// tokens alone.
func TestViolationsInEachMode(t *testing.T) {
	all := checker.Facts{
		Data: checker.DataCorrupted, Liveness: checker.LivenessStuck, Overdue: 1, Denied: 1, FalseRejects: 1, VoidGrants: 1,
		RevivedClaims: 1, Misconduct: 1, Overtaken: 1, WorkTwice: 1, ClaimOverlaps: 1,
	}
	for _, calm := range []bool{false, true} {
		for _, data := range []string{"", "seal", "claim"} {
			for _, mode := range fence.Modes() {
				var want []checker.Label
				if calm || string(mode) == data {
					want = append(want, checker.Corrupted)
				}
				want = append(want, checker.Stuck)
				if (calm || string(mode) == data) && (mode == fence.Check || mode == fence.Seal || mode == fence.Strict) {
					want = append(want, checker.FalseReject)
				}
				want = append(want, checker.Void, checker.Revived, checker.Misconduct, checker.Overtaken, checker.Repeated,
					checker.Overlap)
				m := ran(mode, all)
				m.History.Calm = calm
				var got []checker.Label
				for _, v := range outcome.Violations(&outcome.Outcome{Modes: []outcome.ModeRun{m}},
					lock.Promise{Data: data, Order: lock.FIFO}) {
					if v.Mode != mode {
						t.Errorf("the violation is in mode %s, want %s", v.Mode, mode)
					}
					got = append(got, v.Label)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("calm %v, data promised in mode %q, mode %s (-want +got):\n%s", calm, data, mode, diff)
				}
			}
		}
	}
}

// A lock that may stay taken for any time is not stuck by any of the three facts; another one is stuck by each.
func TestViolationStuck(t *testing.T) {
	for _, f := range []checker.Facts{{Liveness: checker.LivenessStuck}, {Liveness: checker.LivenessLeaked}, {Overdue: 1},
		{Denied: 1}} {
		for _, term := range append(lock.Terms(), "") {
			o := &outcome.Outcome{Modes: []outcome.ModeRun{ran(fence.None, f)}}
			if got := len(outcome.Violations(o, lock.Promise{FreeWithin: term})); (got == 0) != (term == lock.TermAnyTime) ||
				got > 1 {
				t.Errorf("%+v, free within %q: %d violations", f, term, got)
			}
		}
	}
}

func TestVacuous(t *testing.T) {
	met := checker.Facts{Grants: 2, Holders: 2, Contended: 1}
	fired := func(all ...bool) outcome.ModeRun {
		m := ran(fence.None, met)
		m.FaultsFired, m.FaultsFelt = all, all
		return m
	}
	partial := fired()
	partial.PartialPause = true
	numb := fired(true, true)
	numb.FaultsFelt = []bool{false, false}
	undecided := met
	undecided.Data = checker.DataUndecided
	for _, c := range []struct {
		want string
		runs []outcome.ModeRun
	}{
		{"", []outcome.ModeRun{fired(), fired(true, true)}},
		{"", []outcome.ModeRun{fired(true, false)}},
		{"", []outcome.ModeRun{fired(), {Mode: fence.Seal}}},
		{"no client was granted the lock", []outcome.ModeRun{fired(), ran(fence.Seal, checker.Facts{})}},
		{"every grant came too late", []outcome.ModeRun{ran(fence.None, checker.Facts{Grants: 2})}},
		{"one client alone held the lock", []outcome.ModeRun{ran(fence.None, checker.Facts{Grants: 2, Holders: 1})}},
		{"no client was kept out", []outcome.ModeRun{ran(fence.None, checker.Facts{Grants: 2, Holders: 2})}},
		{"no fault was felt", []outcome.ModeRun{numb}},
		{"no fault struck", []outcome.ModeRun{fired(false, false)}},
		{"the lock acted during a pause", []outcome.ModeRun{partial}},
		{"the data is undecided", []outcome.ModeRun{ran(fence.None, undecided)}},
	} {
		if got := outcome.Vacuous(&outcome.Outcome{Modes: c.runs}); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// A client whose request ends before the lock can answer gives up: the lock has not
// refused it.
func TestRequestsThatEndAreNoRefusal(t *testing.T) {
	sc := testruns.Parse(t, `name: hurried
world: {redis: 1, clients: 2, latency: 20ms}
lock: {kind: single, ttl: 10s, backoff: 100ms}
workload: {rounds: 3, hold: 100ms, stagger: 1s, request: 30ms}
`)
	m := testruns.Play(t, sc, testruns.Kind(t, "single"),
		play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}}).Modes[0]
	if f := m.Verdict.Facts; f.Attempts == 0 || f.Denied > 0 {
		t.Errorf("%d attempts failed, %d of them count as refused: %v", f.Attempts, f.Denied, m.Verdict.Reasons)
	}
}

// A lock may live with its own key where the client sends a request again, and not where it does not.
func TestResendExcludes(t *testing.T) {
	run := ran(fence.None, checker.Facts{SelfExcluded: 1})
	for client, want := range map[file.ClientProfile]int{file.ClientStock: 0, file.ClientQuiet: 1} {
		sc := file.Defaults()
		sc.Lock.Client = client
		o := &outcome.Outcome{Scenario: sc, Modes: []outcome.ModeRun{run}}
		if got := outcome.Violations(o, lock.Promise{ResendExcludes: true}); len(got) != want {
			t.Errorf("client %s: %v, want %d violations", client, got, want)
		}
		if got := outcome.Violations(o, lock.Promise{}); len(got) != 1 {
			t.Errorf("client %s, a lock that does not live with that: %v, want a violation", client, got)
		}
	}
}
