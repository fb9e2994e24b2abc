package scene

import (
	"fmt"
	"time"

	"locksim/internal/prose"
	"locksim/scenarios/outcome"
)

// Origin says where an outcome comes from, in two words: "seed 1", or "live" for runs on real servers.
func Origin(o *outcome.Outcome) string {
	if o.Live != nil {
		return "live"
	}
	return fmt.Sprintf("seed %d", o.Seed)
}

// Made says how the runs of an outcome were made: how often each, or at which scale on real servers.
func Made(o *outcome.Outcome, r outcome.Repeat) string {
	if o.Live != nil {
		return fmt.Sprintf("real servers and processes, durations of the file ×%v", o.Live.Scale)
	}
	return Repeated(r)
}

// Obstacles are what keeps runs on real servers from being those that the scenario describes: faults that were not
// played, a machine that was late, and differences from the simulated world that are explained. There are none in the
// simulated world.
func Obstacles(o *outcome.Outcome) []string {
	var out []string
	for i := range o.Scenario.Faults {
		var in []string
		why := ""
		for _, m := range Ran(o) {
			if i < len(m.NotPlayed) && m.NotPlayed[i] != "" {
				in, why = append(in, string(m.Mode)), m.NotPlayed[i]
			}
		}
		if why != "" {
			out = append(out, fmt.Sprintf("Fault %d was not played in mode %s: %s.", i+1, prose.Commas(in), why))
		}
	}
	for _, m := range Ran(o) {
		if limit := o.Scenario.LateLimit(); m.Late > limit {
			out = append(out, fmt.Sprintf("The machine was busy in mode %s: a process that was due had to wait for up to %v, "+
				"and more than %v is too much for the leases and timeouts of this scenario. The label is true of this run, but "+
				"the machine is part of what it shows: give a larger scale, or the machine less to do.",
				m.Mode, m.Late.Round(time.Millisecond), limit))
		}
	}
	if o.Live == nil {
		return out
	}
	for _, d := range o.Live.Differences {
		if d.Why != "" {
			out = append(out, fmt.Sprintf("The worlds differ: %v. That is explained: %s.", d, d.Why))
		}
	}
	if why := o.Live.Uncompared; why != "" {
		out = append(out, fmt.Sprintf("The labels were not compared with those of the simulated world: %s.", why))
	}
	return out
}
