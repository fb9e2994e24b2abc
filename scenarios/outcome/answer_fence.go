package outcome

import (
	"fmt"

	"locksim/checker"
	"locksim/internal/prose"
	"locksim/scenarios/outcome/blame"
)

// This file has the answers about a store that is itself under test: see [checker.History].Fence.

// OnTrial is the name of the store that is under test in an outcome: that of the fence or, in a scenario that does not
// name it, that of the lock with the fence. "" means that the store is s0, which is right.
func (o *Outcome) OnTrial() string {
	for _, m := range o.Modes {
		switch {
		case m.History.Fence == "":
		case o.Scenario.Store != "":
			return o.Scenario.Store
		default:
			return o.Lock
		}
	}
	return ""
}

// Subject is what is judged: "lock single", "fence my-fence", or "fence my-fence with lock single". name is its name,
// kind and store what a scenario has in lock.kind and store.
func Subject(name, kind, store string) string {
	switch {
	case store == "":
		return "lock " + name
	case name == store:
		return "fence " + store
	}
	return "fence " + store + " with lock " + kind
}

// Subject is what is judged in an outcome: see the function of that name.
func (o *Outcome) Subject() string { return Subject(o.Lock, o.Scenario.Lock.Kind, o.Scenario.Store) }

// onTrial are the answers if the store decides, or if nothing is wrong; nil if the run says something of the lock.
func onTrial(o *Outcome, m ModeRun, f blame.Finding) []Answer {
	if f.Deed == blame.Panics && o.OnTrial() == o.Lock { // the lock is that of the fence's trial
		return []Answer{askedOfFence(o, m), {WhatHappened, firstReason(m)}, {"At fault", "The fence's: its code panicked."},
			{"Remedy", "Mend the fence: let it return an error."}}
	}
	switch f.Culprit {
	case blame.Store, blame.NoOne, blame.Client, blame.Network, blame.Unknown: // a client that is late tries the fence
	default:
		return nil
	}
	asked := askedOfFence(o, m)
	if f.Culprit != blame.Store {
		all := []Answer{asked, {WhatHappened, m.answered()}, {"At fault", "No one's: each answer was right."},
			{"Remedy", "None is needed for this run."}}
		if sure := howSure(o, m); sure != "" {
			all = append(all, Answer{"How sure", sure})
		}
		return all
	}
	return []Answer{asked, {WhatHappened, firstReason(m) + requestsBetween(&m)},
		{"At fault", fmt.Sprintf("The fence's: %s (step %d).", f.Does(),
			f.At)}, {"Remedy", f.Mend()}}
}

// requestsBetween says where the story has the requests between which a store under test gave the wrong answer; ""
// where it is one request for each operation at most.
func requestsBetween(m *ModeRun) string {
	steps := newFenceTeller(m).requests()
	if len(steps) < 3 {
		return ""
	}
	steps = steps[max(0, len(steps)-maxRequests):]
	return fmt.Sprintf(" The %d requests that led to it are in the story, from step %d to step %d.", len(steps), steps[0],
		steps[len(steps)-1])
}

// askedOfFence is the question about a store under test.
func askedOfFence(o *Outcome, m ModeRun) Answer {
	return Answer{"Asked", fmt.Sprintf("Does the fence %s refuse each write that is stale by the rule %s, and no other, "+
		"and keep what it has acknowledged, %s?", prose.Visible(o.OnTrial()), m.History.Fence, under(o))}
}

// untroubled says why a run is no evidence for a store under test: it refused nothing as stale.
func (m ModeRun) untroubled() string {
	switch f := m.Verdict.Facts; {
	case f.Grants == 0:
		return "no client was granted the lock"
	case f.StaleRejected == 0:
		return "the store refused no stale operation"
	case f.Data == checker.DataUndecided:
		return "the data is undecided"
	}
	return ""
}

// answered says how many operations a store under test had to decide on.
func (m ModeRun) answered() string {
	writes, refused := 0, 0
	for _, o := range m.History.Ops {
		if o.Kind == checker.Write {
			writes++
		}
		if o.Outcome == checker.OutcomeRefused {
			refused++
		}
	}
	return fmt.Sprintf("%s were sent, and the store refused %s.", prose.Count(writes, "write"),
		prose.Count(refused, "operation"))
}
