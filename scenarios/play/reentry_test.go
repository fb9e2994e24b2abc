package play_test

import (
	"slices"
	"testing"

	"locksim/checker"
	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/subject"
)

// pretending is a lock that says that it has owners, and keeps them out.
type pretending struct{ lock.Locker }

func (p pretending) As(string) lock.Locker { return p }

// A lock that promises to let its owner in and does not breaks its promise; one without owners breaks none.
func TestWaitsForItself(t *testing.T) {
	const nested = "name: nested\nworld: {clients: 2}\nlock: {ttl: 10s, backoff: 50ms..200ms}\n" +
		"workload: {rounds: 1, nested: 1, hold: 2s, stagger: 1s, checks_until: steps}\n"
	single := testruns.Kind(t, "single")
	pretends := single
	pretends.Name = "pretends"
	pretends.New = func(e subject.Env) (lock.Locker, error) {
		l, err := single.New(e)
		return pretending{l}, err
	}
	for _, c := range []struct {
		lock  subject.Lock
		entry checker.Entry
		waits int
		broke bool
	}{
		{single, checker.EntryOwnerless, 2, false},
		{testruns.Kind(t, "watchdog"), checker.EntryOwnerless, 2, false},
		{testruns.Kind(t, "reentrant"), checker.EntryReentrant, 0, false},
		{pretends, checker.EntryReentrant, 2, true},
	} {
		t.Run(c.lock.Name, func(t *testing.T) {
			o := testruns.Play(t, testruns.Parse(t, nested), c.lock, play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}})
			m := o.Modes[0]
			if m.History.Entry != c.entry || m.Verdict.Facts.SelfWaits != c.waits {
				t.Errorf("entry %s, %d waited for themselves; want %s, %d", m.History.Entry, m.Verdict.Facts.SelfWaits, c.entry,
					c.waits)
			}
			broken := outcome.Violations(o, c.lock.JudgedBy())
			if stuck := slices.ContainsFunc(broken,
				func(v outcome.Violation) bool { return v.Label == checker.Stuck }); stuck != c.broke {
				t.Errorf("violations %v, want stuck: %t; %v", broken, c.broke, m.Verdict.Reasons)
			}
			if why := outcome.Vacuous(o); (why == "") != (c.entry == checker.EntryReentrant) {
				t.Errorf("evidence unless %q", why)
			}
		})
	}
}
