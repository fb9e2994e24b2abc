package outcome

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"locksim/checker"
	"locksim/faults"
	"locksim/internal/prose"
	"locksim/lock/fence"
	"locksim/lock/promise"
	"locksim/scenarios/outcome/blame"
	"locksim/sim/trace"
)

// Answer is one sentence or two of an outcome's answer, with what it answers.
type Answer struct {
	// Question is "Asked", "Happened", "At fault", "Remedy" or "How sure".
	Question string `json:"question"`
	// Text is the answer.
	Text string `json:"text"`
}

// WhatHappened is the question of the answer that says what happened.
const WhatHappened = "Happened"

// Answers are an outcome in a few answers: what was asked, what happened in the run that ended worst, whose fault that
// is, what would have saved it and, where that is not plain, how sure all this is. There are none if no run was made.
func Answers(o *Outcome) []Answer {
	m := Worst(o)
	if m == nil {
		return nil
	}
	f := o.Blame(m)
	if m.History.Fence != "" {
		if all := onTrial(o, *m, f); all != nil {
			return all
		}
	}
	all := []Answer{
		{"Asked", asked(o)},
		{WhatHappened, happened(o, *m, f) + longLived(*m)},
		{"At fault", atFault(o, *m, f)},
		{"Remedy", remedy(o, *m, f)},
	}
	if sure := howSure(o, *m); sure != "" {
		all = append(all, Answer{"How sure", sure})
	}
	return all
}

// Worst is the run that says most about the lock: one whose label is a broken promise comes before all others, of these
// the one in the mode that the promise is about, then the worst label counts, and then the order. It is nil if no run
// was made.
func Worst(o *Outcome) *ModeRun {
	var found *ModeRun
	rank := func(m *ModeRun) int {
		rank := m.Verdict.Label.Severity()
		if broken(o, *m) {
			rank += 100
			if string(m.Mode) == o.Promise.Data {
				rank += 100
			}
		}
		return rank
	}
	for i := range o.Modes {
		m := &o.Modes[i]
		if m.Trace != nil && (found == nil || rank(m) > rank(found)) {
			found = m
		}
	}
	return found
}

func ran(o *Outcome) (modes []fence.Mode) {
	for _, m := range o.Modes {
		if m.Trace != nil {
			modes = append(modes, m.Mode)
		}
	}
	return modes
}

// broken reports whether the label of a run is a broken promise: one that is known, and covers the faults of the
// scenario.
func broken(o *Outcome, m ModeRun) bool {
	if o.Promise == nil || len(unpromised(o)) > 0 {
		return false
	}
	label := m.Verdict.Label
	against := against(m, excused(o, *o.Promise))
	return slices.Contains(against, label) || blame.Exclusive(label) && slices.Contains(against, checker.Overlap)
}

// unpromised are the faults of the schedule, and a failover by Sentinels, that the lock does not promise to survive.
func unpromised(o *Outcome) (all []promise.Fault) {
	for _, f := range faults.Unpromised(*o.Promise, o.Scenario.Faults) {
		all = append(all, promise.Fault(f))
	}
	if f := promise.Failover; slices.Contains(classes(o), promise.Failover) &&
		!slices.Contains(o.Promise.Exclusion, promise.Failover) && !slices.Contains(all, f) {
		all = append(all, f)
	}
	return all
}

// asked is the question, with the classes of the faults that the schedule has.
func asked(o *Outcome) string {
	if slices.ContainsFunc(o.Modes, func(m ModeRun) bool { return m.History.Entry == checker.EntryShared }) {
		return fmt.Sprintf("Does the data of %s stay right without a lock, %s?", prose.Visible(o.Lock), under(o))
	}
	return fmt.Sprintf("Does lock %s let one client in at a time, and does the data stay right, "+
		"%s?", prose.Visible(o.Lock), under(o))
}

// under says which classes of fault the schedule has.
func under(o *Outcome) string {
	under := "if no fault strikes"
	switch classes := classes(o); {
	case len(classes) == 1:
		under = "if this fault strikes: " + string(classes[0])
	case len(classes) > 1:
		under = "if these faults strike: " + prose.Commas(classes)
	}
	return under
}

// classes are those of the faults of the schedule, each once, in the order of their first faults; a failover by
// Sentinels, or in a Redis Cluster, is one, whatever has made them do it.
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

// switched reports whether Sentinels, or the nodes of a Redis Cluster, have replaced a primary in a run: whatever made
// them do it, the lock was struck by a failover.
func switched(m ModeRun) bool {
	return m.Trace != nil && slices.ContainsFunc(m.Trace.Events, func(e trace.Event) bool {
		switch x := e.What.(type) {
		case trace.Sentinel:
			return x.Event == "+switch-master"
		case trace.Cluster:
			return x.Event == "elected" || x.Event == "takes-over"
		}
		return false
	})
}

// happened says what broke the lock in a run, who had it and who got it too, and whose write overwrote whose; of a run
// that ended by something else it says the first reason. Of several modes it names the one.
func happened(o *Outcome, m ModeRun, f blame.Finding) string {
	mode := ""
	if len(ran(o)) > 1 && !m.Verdict.Label.Clean() {
		mode = fmt.Sprintf("In mode %s: ", m.Mode)
	}
	var parts []string
	if says := f.Says(); says != "" && tellsEvent(m, f) && (f.Culprit != blame.Section || f.Deed == blame.Reenters) {
		parts = append(parts, strings.ToUpper(says[:1])+says[1:]+".")
	}
	if !blame.Exclusive(m.Verdict.Label) {
		return mode + strings.Join(append(parts, firstReason(m)), " ")
	}
	stale := staleWrite(m)
	if f.Besides != nil && stale != nil {
		parts[0] += " The stale write came before that, and has another cause."
	}
	if s := sharedBefore(m, stale); s != nil {
		parts = append(parts, fmt.Sprintf("%s had the lock from step %d, and %s was granted it at step %d, %s.",
			s.Held.Client, s.Held.Granted, s.Granted.Client, s.Granted.Granted, beside(*s)))
	}
	if stale != nil {
		what := "write"
		if f.Culprit == blame.Network && f.Op == stale.ID {
			what = "late write"
		}
		text := fmt.Sprintf("At step %d the store took the %s %s of %s", stale.Applied, what, stale.ID, stale.Client)
		before, after := neighbours(m.History, *stale)
		switch {
		case overwrites(before, stale):
			text += fmt.Sprintf(", which overwrote %s of %s", before.ID, before.Client)
		case overwrites(stale, after):
			text += fmt.Sprintf(", and at step %d that of %s, %s, which overwrote it", after.Applied, after.Client, after.ID)
		}
		parts = append(parts, text+".")
	}
	if m.Verdict.Label == checker.Rescued || len(parts) == 0 || m.Verdict.Label == checker.Corrupted && stale == nil {
		parts = append(parts, dataReason(m))
	}
	return mode + strings.Join(parts, " ")
}

// tellsEvent reports whether the event that decides is told: of a run that ended otherwise its first reason says it,
// but for what no client saw.
func tellsEvent(m ModeRun, f blame.Finding) bool {
	return blame.Exclusive(m.Verdict.Label) || f.Deed == blame.Displaces
}

// beside says how a client still had the lock when another one was granted it: only a lease whose end came before is
// said to have ended.
func beside(s checker.SharedGrant) string {
	g, by := s.Held, s.Granted.Granted
	switch {
	case s.Claims:
		return fmt.Sprintf("although it was still promised to %s", g.Client)
	case g.Until > 0 && g.Until <= by || g.Lost > 0 && g.Lost <= by:
		return fmt.Sprintf("while %s, whose lease had ended, still believed that it had it", g.Client)
	}
	return fmt.Sprintf("while %s, which had been told of no loss, believed that it had it", g.Client)
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

// staleWrite is the first write that the store took although the lock had been granted again by then; nil for none. A
// client that has entered a reentrant lock again makes nothing late.
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

// atFault says whose fault the end of a run is, and why.
func atFault(o *Outcome, m ModeRun, f blame.Finding) string {
	what := f.Does()
	if what == "" {
		what = m.Verdict.Ending()
	}
	if f.At > 0 && f.Says() != "" && tellsEvent(m, f) {
		what += fmt.Sprintf(" (step %d)", f.At)
	}
	switch f.Culprit {
	case blame.Lock:
		text := lockAtFault(o, m, f, what)
		if f.Besides != nil {
			other := atFault(o, m, *f.Besides)
			text += " The stale write before that is " + strings.ToLower(other[:1]) + other[1:]
		}
		return text
	case blame.Choice:
		return choiceAtFault(o, m, f)
	case blame.Section:
		return sectionAtFault(f)
	case blame.Client:
		if f.Op == "" {
			return fmt.Sprintf("The client's, not the lock's: %s went on after its lease had ended. No lock with a "+
				"lease can prevent that.", f.By)
		}
		since := "after its lease had ended"
		if f.Told {
			since = "after it had been told that its lease was lost"
		}
		return fmt.Sprintf("The client's, not the lock's: %s sent its write %s %s%s%s.", f.By, f.Op, span(f.After), since,
			forHow(f.Ran))
	case blame.Network:
		return fmt.Sprintf("The network's, not the lock's: %s sent its write %s under its lease, and the store "+
			"decided on it %safter that had ended.",
			f.By, f.Op, span(f.After))
	case blame.NoOne:
		return noOneAtFault(f)
	}
	if m.Verdict.Label == checker.Unknown {
		return "Not known: the run does not decide whether the data is right."
	}
	return "Not known: the run does not tell what led to this."
}

// span is a time, as the beginning of a part of a sentence; "" if it is not known.
func span(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return prose.Seconds(d) + " "
}

// forHow says how much of a time a client ran; "" if that is not known.
func forHow(ran time.Duration) string {
	if ran == 0 {
		return ""
	}
	return fmt.Sprintf(", and ran for %s of that", prose.Seconds(ran))
}

// sectionAtFault says what the code under the lock did, or the program between the two.
func sectionAtFault(f blame.Finding) string {
	switch f.Deed {
	case blame.Shares:
		return "The program's, not the lock's: it gives two clients one owner."
	case blame.Repeats:
		return "The section's, not the lock's: it does not look, after the grant, whether the work is done."
	}
	return fmt.Sprintf("The section's, not the lock's: %s.", f.Says())
}

// noOneAtFault says that nothing went wrong, or that nobody could have known.
func noOneAtFault(f blame.Finding) string {
	switch {
	case f.Deed == blame.Blind:
		return fmt.Sprintf("No one's: %s could not be told that its lock had gone to %s.", f.By, f.Of)
	case f.Deed == blame.StoodStill && f.Op != "":
		return fmt.Sprintf("No one's: the process of %s stood still from before the end of its lease until it sent %s. "+
			"No lock with a lease can prevent that.", f.By, f.Op)
	case f.Deed == blame.StoodStill:
		return fmt.Sprintf("No one's: the process of %s stood still when its lease ended. No lock with a lease "+
			"can prevent that.", f.By)
	}
	return "No one's: nothing went wrong."
}

// choiceAtFault says what the lock does not promise to survive, and what that did.
func choiceAtFault(o *Outcome, m ModeRun, f blame.Finding) string {
	what := m.Verdict.Ending()
	switch {
	case f.Deed == blame.Rejects:
		return fmt.Sprintf("The choice of the fence: %s refused a client that rightfully held the lock.", m.Mode)
	case f.Deed == blame.Forgets && f.Key != "":
		what = fmt.Sprintf("the key %s of %s on %s was gone at step %d", trace.Name(f.Key), f.Of, f.Server, f.At)
	case f.Deed == blame.Forgets:
		what = "a second client was let in while the first one had the lock"
	}
	if o.Promise == nil {
		return fmt.Sprintf("The choice of this lock, unless it promises to survive %s: %s.", prose.Commas(f.Failed), what)
	}
	return fmt.Sprintf("The choice of this lock, which does not promise to survive %s: "+
		"%s.", prose.Commas(f.Failed), what)
}

// lockAtFault says that a run ended by what the lock did, and whether that breaks its promise, where that is known.
func lockAtFault(o *Outcome, m ModeRun, f blame.Finding, what string) string {
	exclusive := blame.Exclusive(m.Verdict.Label)
	switch {
	case f.Deed == blame.Panics:
		return "The lock's: its code panicked."
	case exclusive && slices.Contains(unconditional, f.Deed):
	case o.Promise == nil && exclusive && len(relied(o)) > 0:
		return fmt.Sprintf("The lock's, if it promises to survive %s: %s.", prose.Commas(relied(o)), what)
	case o.Promise == nil && !exclusive:
		return fmt.Sprintf("The lock's, unless it makes no such promise: %s.", what)
	case o.Promise == nil:
	case !broken(o, m) && !exclusive:
		return fmt.Sprintf("Not the lock's, which does not promise to prevent this: %s.", what)
	case !broken(o, m), len(o.Scenario.Faults) == 0:
	case len(o.Promise.Exclusion) == len(promise.Faults()): // every lock can be asked about all
	default:
		return fmt.Sprintf("The lock's, which promises to survive %s: %s.", prose.Commas(classes(o)), what)
	}
	return fmt.Sprintf("The lock's: %s.", what)
}

// unconditional are the deeds that no promise excuses.
var unconditional = []blame.Deed{
	blame.Deletes, blame.Overwrites, blame.Prolongs, blame.GivesUp, blame.Retakes, blame.Revives, blame.Unrenewed,
}

// relied are the classes of the faults of a schedule after which servers or clocks do not do what locks rely on.
func relied(o *Outcome) []promise.Fault {
	return slices.DeleteFunc(classes(o), func(c promise.Fault) bool { return !c.Undermines() })
}

// remedy says what would have saved a run: to mend what broke it, and then the fence, which limits the harm. The other
// modes of the outcome show whether a fence does.
func remedy(o *Outcome, m ModeRun, f blame.Finding) string {
	label := m.Verdict.Label
	if label.Clean() {
		return "None is needed for this run."
	}
	exclusive := blame.Exclusive(label)
	for _, r := range m.Verdict.Reasons {
		if do := r.Duty.Remedy(); do != "" && !exclusive {
			return do
		}
	}
	mend := f.Mend()
	switch {
	case f.Culprit == blame.Choice && f.Deed == blame.Rejects:
		return "Another fence: seal, with a lock that mints tokens, or none where the work may be done again."
	case f.Culprit == blame.Choice && slices.Equal(f.Failed, []promise.Fault{promise.Intervention}):
		mend = "Let only those touch the lock's key or session by hand who know that its holder is gone."
	case f.Culprit == blame.Choice:
		mend = fmt.Sprintf("Choose a lock, or servers, that survive %s.", prose.Commas(f.Failed))
	case mend == "" && !exclusive:
		mend = cmp.Or(m.Verdict.Remedy(), "A change of the lock.")
	}
	switch {
	case label == checker.Repeated, f.Deed == blame.Tears, f.Deed == blame.Uncompared:
		return mend
	case !exclusive:
		return mend + " A fence protects the data, and not this."
	}
	return strings.TrimSpace(mend + " " + fenced(o, m, f, mend != ""))
}

// fenced says what a fence does about a run that ended so: limits says that something else is to be mended first.
func fenced(o *Outcome, m ModeRun, f blame.Finding, limits bool) string {
	var kept, tried []fence.Mode
	for _, other := range o.Modes {
		if other.Trace == nil || other.Mode == fence.None {
			continue
		}
		tried = append(tried, other.Mode)
		milder := other.Verdict.Label.Severity() < m.Verdict.Label.Severity()
		if milder && other.Verdict.Facts.Data == checker.DataRight {
			kept = append(kept, other.Mode)
		}
	}
	others := untried(o, tried)
	switch {
	case m.Verdict.Label == checker.Rescued && limits:
		return "The fence at the store limited the harm: it refused what was stale."
	case m.Verdict.Label == checker.Rescued:
		return "The fence at the store, which was there: it refused what was stale."
	case len(kept) > 0 && f.Culprit == blame.Client:
		return fmt.Sprintf("Since a pause can come right after the look, a fence at the store too: with %s the same run "+
			"kept the data right.",
			or(kept))
	case len(kept) > 0 && limits:
		return fmt.Sprintf("A fence at the store limits the harm: with %s the same run kept the data right.", or(kept))
	case len(kept) > 0:
		return fmt.Sprintf("A fence at the store. With %s the same run kept the data right: the store refused "+
			"what was stale.", or(kept))
	case len(tried) > 0 && len(others) > 0:
		return fmt.Sprintf("No fence that was tried helped: %s. Not tried: "+
			"%s.", prose.Commas(tried), prose.Commas(others))
	case len(tried) > 0:
		return fmt.Sprintf("No fence helps: %s did not.", prose.Commas(tried))
	case m.Verdict.Label == checker.Overlap:
		return "For the data, a fence at the store. For work outside the store, work that may be done twice."
	case limits:
		return "A fence at the store may limit the harm; none was tried (--fencing)."
	}
	return "Perhaps a fence at the store, which refuses writes of earlier holders; none was tried (--fencing)."
}

// untried are the modes of fence that the outcome has no run of, and that the lock could be used with.
func untried(o *Outcome, tried []fence.Mode) (out []fence.Mode) {
	tokens := slices.ContainsFunc(o.Modes, func(m ModeRun) bool {
		return slices.ContainsFunc(m.History.Grants, func(g checker.Grant) bool { return g.Token > 0 })
	})
	for _, mode := range fence.Modes() {
		if mode != fence.None && !slices.Contains(tried, mode) && (tokens || !mode.NeedsToken()) {
			out = append(out, mode)
		}
	}
	return out
}

// or joins modes by commas, and the last one by "or".
func or(modes []fence.Mode) string {
	n := len(modes) - 1
	if n == 0 {
		return string(modes[0])
	}
	return fmt.Sprintf("%s or %s", prose.Commas(modes[:n]), modes[n])
}

// howSure says what the run does not show; "" for a failure, which the same seed gives again.
func howSure(o *Outcome, m ModeRun) string {
	safe := m.Verdict.Label.Clean()
	switch {
	case o.Live != nil:
		return "This is what happened on real servers, once. Another run has another order of events, and may end " +
			"otherwise."
	case safe && m.Verdict.Facts.Contended == 0:
		return "Not at all about two clients at once: no client had to wait for another."
	case safe:
		return "Sure for this run, which is no proof: another seed is another order of events. Many runs are a " +
			"better test (locksim explore)."
	}
	return ""
}

// Title is the title of the scenario. One without a title, as a search draws it, has what broke in its place, or its
// name where nothing did.
func (o *Outcome) Title() string {
	m := Worst(o)
	switch {
	case o.Scenario.Title != "":
		return o.Scenario.Title
	case m == nil || m.Verdict.Label.Clean():
		return o.Scenario.Name
	}
	what := m.Verdict.Ending()
	switch f := m.Verdict.Facts; {
	case f.ClaimOverlaps > 0 && blame.Exclusive(m.Verdict.Label):
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
