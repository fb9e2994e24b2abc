package shrink

import (
	"fmt"
	"slices"
	"time"

	"locksim/faults"
	"locksim/scenarios/file"
	"locksim/sim/trace"
)

// fewerClients looks for one client, two, and then as few as fail. Whoever the
// faults name comes first, and is called c0.
func (m *minimizer) fewerClients() {
	if m.alone() || m.inPairs() {
		return
	}
	for i := m.best.World.Clients - 1; i >= 0; i-- {
		if kept := slices.Delete(m.clientsByRole(), i, i+1); len(kept) > 0 {
			m.attempt(keepClients(kept))
		}
	}
	m.attempt(keepClients(m.clientsByRole()))
}

// alone tries each client alone.
func (m *minimizer) alone() bool {
	all := m.clientsByRole()
	return len(all) > 1 && slices.ContainsFunc(all, func(c string) bool { return m.attempt(keepClients([]string{c})) })
}

// inPairs tries two clients that do what they did, and then two that work in
// another way, in which one of them may do what a third one did.
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

// pairsOf are the pairs of the first names, in either order: who is called c0
// begins first, and draws from other streams of chance.
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

// otherWork are ways of working that bring two clients together again: the same
// as before, more rounds, no time between them or more of it, longer sections,
// and asking so often that a short time in which the lock is wrong is met.
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

// clientsByRole are all clients, those whom the faults name first.
func (m *minimizer) clientsByRole() []string {
	return inOrder(m.best.Faults, m.best.Clients())
}

// keepClients makes a scenario of these clients alone, in this order. Faults go
// that nobody is left for.
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
