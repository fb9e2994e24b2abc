package matrix

import (
	"errors"
	"slices"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/subject"
)

// Job is a part of a matrix that one process does: one scenario with one lock, in
// several modes, with several seeds. It is a value that can be sent to another
// process.
type Job struct {
	// File and Source are the same as in [file.Scenario].
	File   string `json:"file"`
	Source string `json:"source"`
	// Lock is the lock's name.
	Lock string `json:"lock"`
	// Modes are the modes in which the lock can run.
	Modes []fence.Mode  `json:"modes"`
	Seeds outcome.Seeds `json:"seeds"`
	// Weight estimates the time of the job, compared with others of its plan.
	Weight int `json:"-"`
}

// Play makes the runs, and calls step after those of each seed. The runs of the
// first seed are repeated and compared. If a fault strikes at a named point that no
// client passed, the scenario is also played without its faults. extra are locks that do not come with
// locksim. The result has a tally for each mode, in order.
//
// Errors are those of [file.Parse], [redislocks.Find] and [play.Run].
func (j Job) Play(extra []subject.Lock, step func()) ([]Tally, error) {
	sc, err := file.Parse(j.File, []byte(j.Source), subject.ServerNames(extra...)...)
	if err != nil {
		return nil, err
	}
	l, err := redislocks.Find(j.Lock, extra)
	if err != nil {
		return nil, err
	}
	tallies := make([]Tally, len(j.Modes))
	for seed := range j.Seeds.All() {
		o, err := play.Run(sc, l, play.RunOptions{Seed: seed, Modes: j.Modes, Repeat: j.repeat(seed)})
		if err != nil {
			return nil, err
		}
		ownerless := o.Modes[0].History.Entry == checker.EntryOwnerless
		if ownerless && !slices.Contains(sc.LockNames(), l.Name) { // what it does then is asked by self-deadlock
			return nil, sc.ErrorAt(sc.Pos("workload.nested"), "workload.nested: lock %s has no owners, and promises nothing of "+
				"being entered again", l.Name)
		}
		for i := range o.Modes {
			tallies[i].count(sc, seed, &o.Modes[i])
		}
		step()
	}
	return tallies, j.addCalmPoints(sc, l, tallies)
}

func (j Job) repeat(seed uint64) outcome.Repeat {
	if seed == j.Seeds.First {
		return outcome.Twice
	}
	return outcome.Once
}

// NewAnswer makes an answer of the results of Play.
func NewAnswer(tallies []Tally, err error) Answer {
	if err == nil {
		return Answer{Tallies: tallies}
	}
	a := Answer{Error: err.Error()}
	if input, ok := errors.AsType[*file.InputError](err); ok {
		a.BadInput = &file.InputError{Pos: input.Pos, Msg: input.Msg, Excerpt: input.Excerpt}
	}
	return a
}
