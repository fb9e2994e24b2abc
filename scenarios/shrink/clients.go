package shrink

import (
	"fmt"
	"slices"
	"time"

	"locksim/faults"
	"locksim/scenarios/file"
	"locksim/sim/trace"
)

// fewerClients looks for one client, two, and then for the fewest that fail. The
// clients that the faults name come first, and the first is called c0.
func (m *minimizer) fewerClients() {
	if m.oneClient() || m.inPairs() {
		return
	}
	for i := m.best.World.Clients - 1; i >= 0; i-- {
		if kept := slices.Delete(m.clientsByRole(), i, i+1); len(kept) > 0 {
			m.attempt(keepClients(kept))
		}
	}
	m.attempt(keepClients(m.clientsByRole()))
}

func (m *minimizer) oneClient() bool {
	all := m.clientsByRole()
	return len(all) > 1 && slices.ContainsFunc(all, func(c string) bool { return m.attempt(keepClients([]string{c})) })
}

// inPairs tries two clients with the same workload, and then two with another, in
// which one of them may replace a third.
func (m *minimizer) inPairs() bool {
	all := m.clientsByRole()
	if len(all) < 3 {
		return false
	}
	for _, work := range otherWork(m.best) {
		for _, pair := range pairsOf(all) {
			if m.attempt(func(s *file.Scenario) { keepClients(pair)(s); work(s) }) {
				return true
			}
		}
	}
	return false
}

// pairsOf are the pairs of the first names, in either order: c0 begins first, and
// draws from another stream than c1.
func pairsOf(names []string) [][]string {
	const few = 4
	names = names[:min(few, len(names))]
	var out [][]string
	for _, a := range names {
		for _, b := range names {
			if a != b {
				out = append(out, []string{a, b})
			}
		}
	}
	return out
}

// otherWork are workloads in which two clients contend again: the same as before,
// more rounds, no time between them or more of it, longer sections, and attempts so
// frequent that they fall into a short time in which the lock is wrong.
func otherWork(s *file.Scenario) []func(*file.Scenario) {
	var all []func(*file.Scenario)
	for _, hold := range []time.Duration{s.Workload.Hold, s.Lock.TTL / 2} {
		for _, think := range []time.Duration{s.Workload.Think, 0, s.Lock.TTL / 4} {
			for _, more := range []int{0, 2} {
				all = append(all, func(s *file.Scenario) {
					s.Workload.Hold, s.Workload.Think = hold, think
					s.Workload.Rounds += more
				})
			}
		}
	}
	for _, backoff := range []time.Duration{10 * time.Millisecond, time.Millisecond} {
		all = append(all, func(s *file.Scenario) { s.Lock.Backoff = file.Range{Min: backoff, Max: backoff} })
	}
	return all
}

// clientsByRole are all clients, those that the faults name first.
func (m *minimizer) clientsByRole() []string {
	return inOrder(m.best.Faults, m.best.Clients())
}

// keepClients makes a scenario of these clients alone, in this order. Faults that
// need another client are removed.
func keepClients(kept []string) func(*file.Scenario) {
	rename := func(name string) string {
		if !trace.IsClient(name) {
			return name
		}
		if i := slices.Index(kept, name); i >= 0 {
			return fmt.Sprint("c", i)
		}
		return ""
	}
	return func(s *file.Scenario) {
		var left []faults.Fault
		for _, f := range s.Faults {
			if now, ok := renamed(f, rename); ok {
				left = append(left, now)
			}
		}
		s.Faults, s.World.Clients = left, len(kept)
	}
}

// fewerRounds looks for the fewest rounds. Events of later rounds become events
// of the last.
func (m *minimizer) fewerRounds() {
	const few = 8
	for rounds := 1; rounds < m.best.Workload.Rounds; rounds++ {
		if rounds == few {
			rounds = m.best.Workload.Rounds - 1
		}
		if m.attempt(roundsOf(rounds)) {
			return
		}
	}
}

func roundsOf(rounds int) func(*file.Scenario) {
	return func(s *file.Scenario) {
		s.Workload.Rounds = rounds
		for _, f := range s.Faults {
			if f.When != nil {
				f.When.Nth = min(f.When.Nth, rounds)
			}
		}
	}
}
