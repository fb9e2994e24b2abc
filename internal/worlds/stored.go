package worlds

import (
	"time"

	"locksim/checker"
	"locksim/internal/book"
	"locksim/lock/fence"
)

// run is one live run, as the book has it.
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

// key is what a live run is of. Of the runs with the same one the latest counts.
type key struct {
	source, lock string
	scale        float64
	seed         uint64
}

func (r run) key() key { return key{r.Source, r.Lock, r.Scale, r.Seed} }

// find is the run of a pair with a seed that was made, in all modes and without a problem.
func find(b *book.Book[key, run], p *pair, seed uint64) (run, bool) {
	r, ok := b.Latest(key{p.digest(), p.lock.Name, p.scale, seed})
	return r, ok && r.Problem == "" && (r.has(p.modes) || len(r.NotPlayed) > 0)
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
