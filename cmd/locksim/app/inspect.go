package app

import (
	"fmt"

	"locksim/lock/fence"
	"locksim/reports"
	"locksim/reports/terminal"
	"locksim/scenarios/play"
)

// inspect stops the run at a step and prints the world.
func (s runs) inspect(r *recording, f replayFlags) error {
	mode, err := parseMode(f.mode)
	if err != nil {
		return fmt.Errorf("--mode: %w", err)
	}
	command := fmt.Sprintf("%s replay %s --mode %s --until-step %d", s.command(), quote(r.name), mode, f.until)
	sc, l, err := r.run.Setup(s.extra)
	if err != nil {
		return r.failed(err, command)
	}
	if mode.NeedsToken() && !l.Tokens {
		return fmt.Errorf("--mode %s: this mode needs fencing tokens, and lock %s mints none: choose %s", mode, l.Name, fence.None)
	}
	state, err := play.Inspect(sc, l, r.run.Seed, mode, f.until)
	if err != nil {
		return r.failed(err, command)
	}
	at := reports.Moment{Scenario: sc.Name, Lock: l.Name, Seed: r.run.Seed, Mode: mode}
	if f.json {
		return s.printJSON(newStateFile(at, state))
	}
	return s.print(terminal.State(s.out, at, state, reports.Options{Colour: s.colour(isTerminal)}))
}
