package outcome

import (
	"fmt"
	"slices"
	"strings"

	"locksim/checker"
	"locksim/faults"
	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/lock/promise"
	"locksim/sim/trace"
)

// Answer is one sentence or two of an outcome's answer, with what it answers.
type Answer struct {
	// Question is "Asked", "Happened", "At fault", "Remedy" or "How sure".
	Question string `json:"question"`
	// Text is the answer.
	Text string `json:"text"`
}

// Answers are an outcome in five answers: what was asked, what happened in the run that ended worst, whose fault that is,
// what would have saved it, and how sure all this is. There are none if no run was made.
func Answers(o *Outcome) []Answer {
	m := worst(o)
	if m == nil {
		return nil
	}
	return []Answer{
		{"Asked", asked(o)},
		{"Happened", happened(*m)},
		{"At fault", atFault(o, *m)},
		{"Remedy", remedy(o, *m)},
		{"How sure", howSure(o, *m)},
	}
}

// worst is the run that says most about the lock: one whose label is a broken promise comes before all others, then the
// worst label counts, and then the order. It is nil if no run was made.
func worst(o *Outcome) *ModeRun {
	var found *ModeRun
	rank := func(m *ModeRun) int {
		if broken(o, *m) {
			return 100 + m.Verdict.Label.Severity()
		}
		return m.Verdict.Label.Severity()
	}
	for i := range o.Modes {
		m := &o.Modes[i]
		if m.Trace != nil && (found == nil || rank(m) > rank(found)) {
			found = m
		}
	}
	return found
}

// broken reports whether the label of a run is a broken promise: one that is known, and covers the faults of the scenario.
func broken(o *Outcome, m ModeRun) bool {
	if o.Promise == nil || len(unpromised(o)) > 0 {
		return false
	}
	label := m.Verdict.Label
	against := against(m, excused(o, *o.Promise))
	return slices.Contains(against, label) || exclusive(label) && slices.Contains(against, checker.Overlap)
}

// unpromised are the faults of the schedule, and a failover by Sentinels, that the lock does not promise to survive.
func unpromised(o *Outcome) []string {
	all := faults.Unpromised(*o.Promise, o.Scenario.Faults)
	if f := string(promise.Failover); slices.Contains(classes(o), promise.Failover) &&
		!slices.Contains(o.Promise.Exclusion, promise.Failover) && !slices.Contains(all, f) {
		all = append(all, f)
	}
	return all
}

// asked is the question, with the classes of the faults that the schedule has.
func asked(o *Outcome) string {
	under := "if no fault strikes"
	switch classes := classes(o); {
	case len(classes) == 1:
		under = "if this fault strikes: " + string(classes[0])
	case len(classes) > 1:
		under = "if these faults strike: " + prose.Commas(classes)
	}
	return fmt.Sprintf("Does lock %s let one client in at a time, and does the data stay right, %s?", prose.Visible(o.Lock), under)
}

// classes are those of the faults of the schedule, each once, in the order of their first faults; a failover by Sentinels
// is one, whatever has made them do it.
func classes(o *Outcome) []promise.Fault {
	var out []promise.Fault
	for _, f := range o.Scenario.Faults {
		if c := faults.ClassIn(o.Scenario.Faults, f.Action); !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	if !slices.Contains(out, promise.Failover) && slices.ContainsFunc(o.Modes, switched) {
		out = append(out, promise.Failover)
	}
	return out
}

// switched reports whether Sentinels have replaced the primary in a run: whatever made them do it, the lock was struck by
// a failover.
func switched(m ModeRun) bool {
	return m.Trace != nil && slices.ContainsFunc(m.Trace.Events, func(e trace.Event) bool {
		s, ok := e.What.(trace.Sentinel)
		return ok && s.Event == "+switch-master"
	})
}

// exclusive reports whether a label is about two clients that had the lock at once, or about the data.
func exclusive(l checker.Label) bool {
	return l == checker.Corrupted || l == checker.Rescued || l == checker.Overlap
}

// happened says who had the lock, who got it too, and whose write overwrote whose; of a run that ended by something
// else it says the first reason.
func happened(m ModeRun) string {
	if !exclusive(m.Verdict.Label) {
		return firstReason(m)
	}
	var parts []string
	late := staleWrite(m)
	if s := sharedBefore(m, late); s != nil {
		while := "although it was still promised to %s"
		if !s.Claims {
			while = "while %s, whose lease had ended, still believed that it had it"
		}
		parts = append(parts, fmt.Sprintf("%s had the lock from step %d, and %s was granted it at step %d, "+while+".",
			s.Held.Client, s.Held.Granted, s.Granted.Client, s.Granted.Granted, s.Held.Client))
	}
	if late != nil {
		text := fmt.Sprintf("At step %d the store took the late write %s of %s", late.Applied, late.ID, late.Client)
		before, after := neighbours(m.History, *late)
		switch {
		case overwrites(before, late):
			text += fmt.Sprintf(", which overwrote %s of %s", before.ID, before.Client)
		case overwrites(late, after):
			text += fmt.Sprintf(", and at step %d that of %s, %s, which overwrote it", after.Applied, after.Client, after.ID)
		}
		parts = append(parts, text+".")
	}
	if len(parts) == 0 || m.Verdict.Label == checker.Corrupted && late == nil {
		parts = append(parts, dataReason(m))
	}
	return strings.Join(parts, " ")
}

// firstReason is the reason behind the label.
func firstReason(m ModeRun) string {
	if len(m.Verdict.Reasons) == 0 {
		return "The run ended " + string(m.Verdict.Label) + "."
	}
	return m.Verdict.Reasons[0].Text
}

// dataReason is the first reason that is not about claims that overlapped, which come before those about the data.
func dataReason(m ModeRun) string {
	claims := claimsShared(m.History)
	for _, r := range m.Verdict.Reasons {
		if len(r.At) > 0 && !claims[r.At[0]] {
			return r.Text
		}
	}
	return firstReason(m)
}

// sharedBefore is the first grant at which another client had the lock, of claims if there is one: the promise that is
// judged. late is the stale write of the run, whose grant it should be about; it may be nil.
func sharedBefore(m ModeRun, late *checker.Op) *checker.SharedGrant {
	var found *checker.SharedGrant
	rank := func(s checker.SharedGrant) int {
		switch {
		case s.Claims:
			return 2
		case late != nil && s.Held.ID == late.Grant:
			return 1
		}
		return 0
	}
	for _, s := range checker.SharedGrants(m.History) {
		if found == nil || rank(s) > rank(*found) || rank(s) == rank(*found) && s.Granted.Granted < found.Granted.Granted {
			found = &s
		}
	}
	return found
}

// staleWrite is the first write that the store took although the lock had been granted again by then; nil for none. A client
// that has entered a reentrant lock again makes nothing late.
func staleWrite(m ModeRun) *checker.Op {
	var found *checker.Op
	for _, op := range m.History.Ops {
		if op.Kind != checker.Write || !op.Accepted || found != nil && op.Applied >= found.Applied {
			continue
		}
		mine := grantOf(m.History, op)
		if slices.ContainsFunc(m.History.Grants, func(g checker.Grant) bool {
			entered := m.History.Entry == checker.EntryReentrant && g.Client == mine.Client
			return g.Resource == op.Resource && g.Granted > mine.Granted && g.Granted < op.Applied && !entered
		}) {
			found = &op
		}
	}
	return found
}

// grantOf is the grant under which an operation was sent, as [checker.History.Validate] demands one.
func grantOf(h checker.History, op checker.Op) checker.Grant {
	for _, g := range h.Grants {
		if g.ID == op.Grant {
			return g
		}
	}
	return checker.Grant{}
}

// neighbours are the writes that the store took in a cell last before a write and first after it; nil for none.
func neighbours(h checker.History, write checker.Op) (before, after *checker.Op) {
	for _, op := range h.Ops {
		switch {
		case op.Kind != checker.Write || !op.Accepted || op.Resource != write.Resource || op.Register != write.Register:
		case op.Applied < write.Applied && (before == nil || op.Applied > before.Applied):
			before = &op
		case op.Applied > write.Applied && (after == nil || op.Applied < after.Applied):
			after = &op
		}
	}
	return before, after
}

// overwrites reports whether a write replaced the one before it, of another client, without having read it.
func overwrites(before, write *checker.Op) bool {
	return before != nil && write != nil && before.Client != write.Client && write.Saw != before.ID
}

// atFault says whose fault the end of a run is: that of the lock, of its client, or of none, as the network was within
// its rights.
func atFault(o *Outcome, m ModeRun) string {
	f := m.Verdict.Facts
	switch label := m.Verdict.Label; {
	case label.Clean():
		return "No one's: nothing went wrong."
	case label == checker.Unknown:
		return "Not known: the run does not decide whether the data is right."
	case label == checker.Panicked:
		return "The lock's: its code panicked."
	case !exclusive(label):
		return lockAtFault(o, m, endings[label])
	case f.ClaimOverlaps > 0:
		return lockAtFault(o, m, "it let a second client in while the first one's lease was running")
	}
	late := staleWrite(m)
	switch {
	case late == nil && f.BeliefOverlaps > 0:
		return "The client's, not the lock's: it went on after its lease had ended. No lock with a lease can prevent that."
	case late == nil:
		return "Not known: the clients took turns, and the data is wrong all the same."
	}
	g := grantOf(m.History, *late)
	if g.Until > 0 && late.Invoked > g.Until || g.Lost > 0 && late.Invoked > g.Lost {
		return fmt.Sprintf("The client's, not the lock's: %s sent its write after its lease had ended. "+
			"A pause can come right before a write, so no lock with a lease can prevent that.", late.Client)
	}
	return fmt.Sprintf("Not the lock's, nor that of %s, which sent its write under a lease that had not ended: "+
		"the network may deliver late.", late.Client)
}

// lockAtFault says that a run ended by what the lock did, and whether that breaks its promise, where that is known.
func lockAtFault(o *Outcome, m ModeRun, what string) string {
	switch {
	case o.Promise == nil && exclusive(m.Verdict.Label) && len(relied(o)) > 0:
		return fmt.Sprintf("The lock's, if it promises to survive %s: %s.", prose.Commas(relied(o)), what)
	case o.Promise == nil && !exclusive(m.Verdict.Label):
		return fmt.Sprintf("The lock's, unless it makes no such promise: %s.", what)
	case o.Promise == nil:
		return fmt.Sprintf("The lock's: %s.", what)
	case len(unpromised(o)) > 0:
		return fmt.Sprintf("The choice of this lock, which does not promise to survive %s: %s.", prose.Commas(unpromised(o)), what)
	case !broken(o, m):
		return fmt.Sprintf("Not the lock's, which does not promise to prevent this: %s.", what)
	case len(o.Scenario.Faults) == 0, len(o.Promise.Exclusion) == len(promise.Faults()): // every lock can be asked about all
		return fmt.Sprintf("The lock's: %s.", what)
	}
	return fmt.Sprintf("The lock's, which promises to survive %s: %s.", prose.Commas(classes(o)), what)
}

// relied are the classes of the faults of a schedule after which servers or clocks do not do what locks rely on.
func relied(o *Outcome) []promise.Fault {
	return slices.DeleteFunc(classes(o), func(c promise.Fault) bool { return !c.Undermines() })
}

// remedy says what would have saved a run: the duty that was broken has its own, and the other modes of the outcome show
// whether a fence is one.
func remedy(o *Outcome, m ModeRun) string {
	for _, r := range m.Verdict.Reasons {
		if do := r.Duty.Remedy(); do != "" && !exclusive(m.Verdict.Label) {
			return do
		}
	}
	var kept, tried []fence.Mode
	for _, other := range o.Modes {
		if other.Trace == nil || other.Mode == fence.None {
			continue
		}
		tried = append(tried, other.Mode)
		if l := other.Verdict.Label; l.Severity() < m.Verdict.Label.Severity() && other.Verdict.Facts.Data == checker.DataRight {
			kept = append(kept, other.Mode)
		}
	}
	switch label := m.Verdict.Label; {
	case label.Clean():
		return "None is needed for this run."
	case label == checker.Rescued:
		return "The fence at the store, which was there: it refused the late write."
	case !exclusive(label):
		return "A change of the lock: a fence protects the data, and not this."
	case len(kept) > 0:
		return fmt.Sprintf("A fence at the store. With %s the same run kept the data right: the store refused the late write.", or(kept))
	case len(tried) > 0:
		return fmt.Sprintf("None that was tried: fencing %s did not help.", or(tried))
	case label == checker.Overlap:
		return "For the data, a fence at the store. For work outside the store, a lock that survives this fault, or work that may be done twice."
	}
	return "Perhaps a fence at the store, which refuses writes of earlier holders; none was tried (--fencing)."
}

// or joins modes by commas, and the last one by "or".
func or(modes []fence.Mode) string {
	n := len(modes) - 1
	if n == 0 {
		return string(modes[0])
	}
	return fmt.Sprintf("%s or %s", prose.Commas(modes[:n]), modes[n])
}

// howSure says what a repetition shows, and what one run does not.
func howSure(o *Outcome, m ModeRun) string {
	safe := m.Verdict.Label.Clean()
	switch {
	case o.Live != nil:
		return "This is what happened on real servers, once. Another run has another order of events, and may end otherwise."
	case safe && m.Verdict.Facts.Contended == 0:
		return "Not at all about two clients at once: no client had to wait for another."
	case safe:
		return "Sure for this run, which is no proof: another seed is another order of events. Many runs are a better test (locksim explore)."
	}
	return fmt.Sprintf("Sure that it can happen: seed %d always gives this run. How often it happens, one run does not tell.", o.Seed)
}

// endings describe the labels, as the end of a sentence about a run.
var endings = map[checker.Label]string{
	checker.Corrupted:   "the data ended corrupted",
	checker.Unknown:     "the data was not decided",
	checker.Panicked:    "the lock panicked",
	checker.Stuck:       "the lock could not be taken again",
	checker.Hung:        "a call did not return",
	checker.FalseReject: "a rightful holder was refused",
	checker.Void:        "a grant promised nothing",
	checker.Revived:     "a lease that had ended held again",
	checker.Misconduct:  "a call did not end as promised",
	checker.Overtaken:   "a waiter was overtaken",
	checker.Repeated:    "the work was done twice",
	checker.Regressed:   "a token did not grow",
	checker.Overlap:     "no harm came of it",
	checker.Untested:    "nobody ever had the lock",
	checker.Safe:        "nothing went wrong",
	checker.Rescued:     "a fence saved the data",
}

// Ending is what a label says, as the end of a sentence about a run.
func Ending(l checker.Label) string { return endings[l] }

// Title is the title of the scenario. One without a title, as a search draws it, has what broke in its place, or its name
// where nothing did.
func (o *Outcome) Title() string {
	m := worst(o)
	switch {
	case o.Scenario.Title != "":
		return o.Scenario.Title
	case m == nil || m.Verdict.Label.Clean():
		return o.Scenario.Name
	}
	what := Ending(m.Verdict.Label)
	switch f := m.Verdict.Facts; {
	case f.ClaimOverlaps > 0 && exclusive(m.Verdict.Label):
		what = "two clients had the lock at once"
	case m.Verdict.Label == checker.Overlap:
		what = "two clients believed at once that they had the lock"
	}
	under := ""
	if classes := classes(o); len(classes) > 0 {
		under = " (" + prose.Commas(classes) + ")"
	}
	return fmt.Sprintf("%s: %s%s", o.Lock, what, under)
}
