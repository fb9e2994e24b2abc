package outcome_test

import (
	"strings"
	"testing"

	"locksim/checker"
	"locksim/faults"
	"locksim/lock/fence"
	"locksim/lock/promise"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/sim/trace"
)

// Two clients write one cell, the second one after the first one's lease has ended, or while it is running, or after
// the first one has released: the answers blame the client, the lock, or none of the two.
func TestAnswers(t *testing.T) {
	first := checker.Grant{ID: 1, Client: "c0", Resource: "order", Token: 1, Invoked: 1, Granted: 2, Released: 20,
		ReleaseReturned: 21}
	second := checker.Grant{ID: 2, Client: "c1", Resource: "order", Token: 2, Invoked: 9, Granted: 10, Released: 15,
		ReleaseReturned: 16}
	write := func(id, client string, grant int, invoked, applied checker.Pos) checker.Op {
		return checker.Op{ID: id, Client: client, Grant: grant, Resource: "order", Kind: checker.Write, Invoked: invoked,
			Applied: applied, Returned: applied + 1, Accepted: true, Outcome: checker.OutcomeOK}
	}
	ended, released := first, first
	ended.Until = 5
	released.Released, released.ReleaseReturned = 7, 8
	for name, tc := range map[string]struct {
		first    checker.Grant
		invoked  checker.Pos
		happened string
		fault    string
	}{
		"its lease had ended": {ended, 17, "while c0, whose lease had ended, still believed that it had it. At step 18 the " +
			"store took the write c0.w1 of c0, which overwrote c1.w1 of c1.", "The client's, not the lock's: c0 sent its " +
			"write c0.w1 after its lease had ended."},
		"its lease was running": {first, 17, "c1 was granted it at step 10, although it was still promised to c0.",
			"The lock's: it lets a second client in"},
		"its write came late": {released, 6, "At step 18 the store took the late write c0.w1 of c0, which overwrote " +
			"c1.w1 of c1.", "The network's, not the lock's: c0 sent its write c0.w1 under its lease"},
	} {
		h := checker.History{
			Care: checker.CareNever, Grants: []checker.Grant{tc.first, second},
			Ops:   []checker.Op{write("c1.w1", "c1", 2, 11, 12), write("c0.w1", "c0", 1, tc.invoked, 18)},
			Final: map[checker.Cell]string{{Resource: "order"}: "c0.w1"},
		}
		run := outcome.ModeRun{Mode: "none", Trace: &trace.Trace{}, History: h}
		if err := run.Judge(nil); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		sc := &file.Scenario{Name: "drawn", Faults: []faults.Fault{{Action: faults.Pause{}}}}
		o := &outcome.Outcome{Scenario: sc, Lock: "theirs", Seed: 7, Modes: []outcome.ModeRun{run}}
		said := map[string]string{}
		for _, a := range outcome.Answers(o) {
			said[a.Question] = a.Text
		}
		for question, want := range map[string]string{
			"Asked": "if this fault strikes: pause?", "Happened": tc.happened, "At fault": tc.fault,
			"Remedy": "none was tried",
		} {
			if !strings.Contains(said[question], want) {
				t.Errorf("%s: %s: %q, want %q", name, question, said[question], want)
			}
		}
		if got := o.Title(); !strings.HasPrefix(got, "theirs: ") {
			t.Errorf("%s: the title is %q", name, got)
		}
	}
}

// A write between an inner entry of its client and the grant of another one is not late.
func TestNoLateWriteInsideAnEntry(t *testing.T) {
	h := checker.History{
		Care: checker.CareNever, Entry: checker.EntryReentrant,
		Grants: []checker.Grant{
			{ID: 1, Client: "c0", Resource: "order", Invoked: 1, Granted: 2, Released: 20, ReleaseReturned: 21},
			{ID: 2, Client: "c0", Resource: "order", Invoked: 3, Granted: 4, Released: 5, ReleaseReturned: 6},
			{ID: 3, Client: "c1", Resource: "order", Invoked: 9, Granted: 10, Released: 15, ReleaseReturned: 16},
		},
		Ops: []checker.Op{{ID: "c0.w1", Client: "c0", Grant: 1, Resource: "order", Kind: checker.Write, Invoked: 7,
			Applied: 8, Returned: 9,
			Accepted: true, Outcome: checker.OutcomeOK}},
		Final: map[checker.Cell]string{{Resource: "order"}: "c0.w1"},
	}
	run := outcome.ModeRun{Mode: "none", Trace: &trace.Trace{}, History: h}
	if err := run.Judge(nil); err != nil {
		t.Fatal(err)
	}
	o := &outcome.Outcome{Scenario: &file.Scenario{Name: "drawn"}, Lock: "theirs", Seed: 7, Modes: []outcome.ModeRun{run}}
	said := outcome.Answers(o)[1].Text
	if !strings.Contains(said, "c1 was granted it at step 10, although it was still promised to c0.") ||
		strings.Contains(said, "late write") {
		t.Errorf("happened: %q", said)
	}
}

// Two clients have the lock at once, after a pause and a jump of a node's clock. Whose fault that is depends on what
// the lock promises, and of two modes the answers are about the one in which the promise is broken.
func TestAnswersOfAPromise(t *testing.T) {
	h := checker.History{
		Care: checker.CareNever,
		Grants: []checker.Grant{
			{ID: 1, Client: "c0", Resource: "order", Invoked: 1, Granted: 2, Released: 20, ReleaseReturned: 21},
			{ID: 2, Client: "c1", Resource: "order", Invoked: 9, Granted: 10, Released: 15, ReleaseReturned: 16},
		},
	}
	shared := outcome.ModeRun{Mode: "claim", Trace: &trace.Trace{}, History: h}
	if err := shared.Judge(nil); err != nil {
		t.Fatal(err)
	}
	void := outcome.ModeRun{Mode: "none", Trace: &trace.Trace{}, Verdict: checker.Verdict{
		Label: checker.Corrupted, Facts: checker.Facts{Data: checker.DataCorrupted, BeliefOverlaps: 1}}}
	sc := &file.Scenario{Name: "drawn", Faults: []faults.Fault{{Action: faults.Pause{}},
		{Action: faults.ClockJump{Clock: "r0"}}}}
	for name, tc := range map[string]struct {
		promise *promise.Promise
		modes   []outcome.ModeRun
		want    string
	}{
		"unknown": {nil, []outcome.ModeRun{shared}, "The choice of this lock, unless it promises to survive " +
			"node-clock: a second client was let in"},
		"not promised": {&promise.Promise{Exclusion: []promise.Fault{promise.Pause}}, []outcome.ModeRun{shared},
			"which does not promise to survive node-clock: a second"},
		"promised": {&promise.Promise{Exclusion: []promise.Fault{promise.Pause, promise.NodeClock}},
			[]outcome.ModeRun{shared}, "The lock's, which promises to survive pause, node-clock: it lets"},
		"asked of all": {&promise.Promise{Exclusion: promise.Faults()}, []outcome.ModeRun{shared}, "The lock's: it lets"},
		"worse, but right": {&promise.Promise{Exclusion: promise.Faults()}, []outcome.ModeRun{void, shared},
			"The lock's: it lets"},
	} {
		answers := outcome.Answers(&outcome.Outcome{Scenario: sc, Lock: "theirs", Promise: tc.promise, Modes: tc.modes})
		if got := answers[2].Text; !strings.Contains(got, tc.want) {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// The remedy of a call that did not end as promised is that of the duty which it breaks.
func TestRemedyOfADuty(t *testing.T) {
	for _, d := range promise.Duties() {
		run := outcome.ModeRun{Mode: "none", Trace: &trace.Trace{}, Verdict: checker.Verdict{Label: checker.Misconduct,
			Reasons: []checker.Reason{{Text: "It waited. Remedy: none."}, {Text: "It waited.", Duty: d}}}}
		o := &outcome.Outcome{Scenario: &file.Scenario{Name: "drawn"}, Lock: "theirs", Seed: 7, Modes: []outcome.ModeRun{run}}
		if got := outcome.Answers(o)[3].Text; got != d.Remedy() {
			t.Errorf("%s: %q, want %q", d, got, d.Remedy())
		}
	}
}

// Where the promise is broken in two modes, the answers are about the one in which it is judged, as headline and story
// are.
func TestAnswersAreAboutTheJudgedMode(t *testing.T) {
	broken := func(mode fence.Mode) outcome.ModeRun {
		return outcome.ModeRun{Mode: mode, Trace: &trace.Trace{}, Verdict: checker.Verdict{Label: checker.Misconduct,
			Facts: checker.Facts{Misconduct: 1}, Reasons: []checker.Reason{{Text: "Something."}}}}
	}
	o := &outcome.Outcome{Scenario: &file.Scenario{Name: "drawn"}, Lock: "theirs",
		Promise: &promise.Promise{Data: "claim"},
		Modes:   []outcome.ModeRun{broken(fence.None), broken(fence.Claim)}}
	if got := outcome.Answers(o)[1].Text; got != "In mode claim: Something." {
		t.Errorf("happened: %q", got)
	}
}
