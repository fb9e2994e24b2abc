package search

import (
	"time"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/spaces"
	"locksim/scenarios/subject"
)

// Noted lists in words what users of a lock should know although it breaks no promise: what a client meets that asks
// for the lock which it has, if the lock has no owners. It is seen in a run without faults. The space comes from
// [Discover].
func Noted(l subject.Lock, s spaces.Space) []string {
	if l.TestsFence() || l.Section.Run != nil {
		return nil
	}
	sc := calmScenario(s)
	w := &sc.Workload
	// The second client asks while the first one works on in its outer section.
	w.Nested, w.Rounds, w.ChecksUntil = 1, 1, checker.CareSteps
	w.Hold = max(sc.Lock.TTL/5, time.Millisecond)
	w.Stagger = w.Hold / 2
	o, err := play.Run(sc, l, play.RunOptions{Seed: calmSeed, Modes: []fence.Mode{fence.None}, Alone: true})
	if err != nil || o.Modes[0].History.Entry != checker.EntryOwnerless {
		return nil
	}
	return []string{"a client that asks again for a lock that it has " + met(&o.Modes[0])}
}

// met says what a client met that asked for the lock which it had.
func met(m *outcome.ModeRun) string {
	granted := false
	for _, g := range m.History.Grants {
		for _, outer := range m.History.Grants {
			granted = granted || outer.Client == g.Client && outer.Granted < g.Invoked && outer.Claim().Contains(g.Granted)
		}
	}
	switch f := m.Verdict.Facts; {
	case f.SelfWaits > 0:
		return "waits for itself: the lock has no owners, and promises nothing of that"
	case granted && len(checker.SharedGrants(m.History)) > 0:
		return "is granted it at once, and its inner release gives the lock to others: the lock has no owners, and " +
			"promises nothing of that"
	case granted:
		return "is granted it at once, although the lock has no owners, and promises nothing of that"
	}
	return "gets an error: the lock has no owners"
}
