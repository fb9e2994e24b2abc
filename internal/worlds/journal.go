package worlds

import (
	"time"

	"locksim/checker"
	"locksim/internal/journal"
	"locksim/lock/fence"
)

// run is one live run, as the journal has it.
type run struct {
	Scenario, Lock string
	Source         string // the digest of the scenario's file
	Scale          float64
	Seed           uint64
	// Labels are the labels by mode, Reasons the first reason of each.
	Labels  map[fence.Mode]checker.Label
	Reasons map[fence.Mode]string
	// NotPlayed are the faults that the live world lacks, each once.
	NotPlayed []string
	Problem   string
	// Late is by how much the machine was late at most.
	Late time.Duration
}

// find is the run of a pair with a seed that was made, in all modes and without a problem.
func find(j *journal.Journal[run], p *pair, seed uint64) (run, bool) {
	for _, r := range j.Made() {
		if r.Source == p.digest() && r.Lock == p.lock.Name && r.Scale == p.scale && r.Seed == seed && r.Problem == "" &&
			(r.has(p.modes) || len(r.NotPlayed) > 0) {
			return r, true
		}
	}
	return run{}, false
}

// has says that a run was made in each of some modes.
func (r run) has(modes []fence.Mode) bool {
	for _, m := range modes {
		if _, ok := r.Labels[m]; !ok {
			return false
		}
	}
	return true
}
