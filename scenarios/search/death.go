package search

import (
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/outcome/failure"
	"locksim/scenarios/play"
	"locksim/scenarios/shrink"
	"locksim/scenarios/subject"
)

// Died makes the failure of a case in whose run the program ends, since a goroutine that the lock has started panics.
// Errors are those of [play.Run], which wrap [play.ErrNoDeath] if the lock is not to blame.
func Died(l subject.Lock, c Case, d *outcome.Death) (*Found, error) {
	f := &Found{Failure: failure.Failure{Lock: l.Name, Seed: c.Seed, Runs: 1, FirstSeed: c.Seed,
		Drawn: len(c.Scenario.Faults)}, trial: &Trial{Case: c, lock: l}, death: d}
	_, err := f.adopt(c.Scenario)
	return f, err
}

// ExamineDeath is [Found.Examine] for a failure of [Died]. dies plays a scenario, or knows how its run ends: nil if the
// program does not end in it. It must give the same answers in the same order each time.
func (f *Found) ExamineDeath(dies func(*file.Scenario) *outcome.Death) error {
	first, last := f.death, f.death
	small := shrink.Minimize(struck(f.Outcome), func(sc *file.Scenario) bool {
		if misleads(f.trial.lock, f.trial.Scenario, sc) {
			return false
		}
		d := dies(sc)
		if d == nil || d.Where != first.Where {
			return false
		}
		last = d
		return true
	})
	f.death, f.Same, f.Again, f.Replays = last, 1, 1, 1
	_, err := f.adopt(small)
	return err
}

// Strikes reports whether every fault of a scenario strikes before the program ends in its run.
func (f *Found) Strikes(sc *file.Scenario, d *outcome.Death) bool {
	l := f.trial.lock
	o, err := play.Run(sc, l, play.RunOptions{Seed: f.trial.Played(), Modes: f.modes(), Death: d})
	return err == nil && len(o.NeverFired()) == 0
}
