package outcome

import (
	"slices"

	"locksim/faults"
	"locksim/lock/promise"
	"locksim/scenarios/outcome/blame"
)

// Blame says whose fault the end of a run is, and what decided it.
func (o *Outcome) Blame(m *ModeRun) blame.Finding {
	c := blame.Case{Scenario: o.Scenario, Mode: m.Mode, Verdict: m.Verdict, History: m.History,
		Terms: m.Terms, Record: m.Record, Failed: failed(o, m)}
	if o.Promise != nil {
		c.Unpromised = unpromised(o)
	}
	return blame.Find(c)
}

// failed are the classes of the faults that struck in a run, or may have, after which servers or clocks do not do what
// the lock relies on, and which it does not promise to survive. That a client's wall clock jumps, and that clocks drift
// within what a lock allows for, is not among them: no lock has to rely on the contrary.
func failed(o *Outcome, m *ModeRun) (out []promise.Fault) {
	own := o.Promise
	if o.Own != nil {
		own = o.Own
	}
	add := func(c promise.Fault) {
		survived := own != nil && slices.Contains(own.Exclusion, c)
		if c.Undermines() && c != promise.WallClock && c != promise.ClockDrift && !survived && !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	for i, f := range o.Scenario.Faults {
		if i >= len(m.FaultsFired) || m.FaultsFired[i] {
			add(faults.ClassIn(o.Scenario.Faults, f.Action))
		}
	}
	if switched(*m) {
		add(promise.Failover)
	}
	return out
}
