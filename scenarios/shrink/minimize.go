package shrink

import (
	"locksim/faults"
	"locksim/scenarios/file"
	"locksim/sim/trace"
)

// MaxTrials is how often [Minimize] asks at most whether a scenario fails.
const MaxTrials = 600

// Minimize makes a scenario that fails minimal: the fewest faults,
// then the fewest clients and rounds, then a world, a lock and a workload
// without peculiarities, and short, round times. fails says whether a scenario
// fails in the same way. It is asked [MaxTrials] times at most, never twice
// about the same scenario, and must not change what it is given.
//
// The result is valid and fails, and none of the steps that Minimize knows
// makes it smaller, unless the trials ran out. It depends on the arguments
// alone. sc stays as it is; the result has neither its expectations nor its
// place in a file. A scenario that is not valid, or does not fail when it is
// tried again, is returned as it is.
func Minimize(sc *file.Scenario, fails func(*file.Scenario) bool) *file.Scenario {
	m := &minimizer{best: sc, fails: fails, tried: map[string]bool{}, returns: restarted(sc)}
	if !m.attempt((*file.Scenario).Detach) {
		return sc
	}
	for before := -1; before != m.smaller; {
		before = m.smaller
		m.fewerFaults()
		m.fewerStrikes()
		m.roundTTL()
		m.retrigger()
		m.fewerClients()
		m.fewerRounds()
		m.plainSetting()
		m.plainFaults()
		m.shortTimes()
	}
	return m.best
}

// minimizer looks for something smaller than the best so far.
type minimizer struct {
	best    *file.Scenario
	fails   func(*file.Scenario) bool
	tried   map[string]bool // by their texts
	returns map[string]bool // the servers that come back after a crash
	smaller int             // how often something smaller was found
}

// attempt tries the best scenario with a change, and keeps it if it fails. It
// reports whether it did. What is no valid scenario, or was tried before, is
// not tried, nor what would fail for a reason of its own: see strands.
func (m *minimizer) attempt(change func(*file.Scenario)) bool {
	next := m.best.Clone()
	change(next)
	if m.strands(next) {
		return false
	}
	text, err := file.Format(next)
	if err != nil || m.tried[string(text)] || len(m.tried) == MaxTrials {
		return false
	}
	m.tried[string(text)] = true
	if !m.fails(next) {
		return false
	}
	m.best = next
	m.smaller++
	return true
}

// strands reports whether a server of the schedule crashes and stays away that came back in the first one. A lock that
// is asked of such a server can never be had: that would be another failure, and one that shows nothing.
func (m *minimizer) strands(sc *file.Scenario) bool {
	back := restarted(sc)
	for _, f := range sc.Faults {
		if c, ok := f.Action.(faults.Crash); ok && m.returns[c.Process] && !back[c.Process] {
			return true
		}
	}
	return false
}

// restarted are the servers that a schedule restarts.
func restarted(sc *file.Scenario) map[string]bool {
	out := map[string]bool{}
	for _, f := range sc.Faults {
		if r, ok := f.Action.(faults.Restart); ok && trace.IsServer(r.Process) && r.Process != faults.Holder {
			out[r.Process] = true
		}
	}
	return out
}
