package play

import (
	"errors"

	"locksim/lock/fence"
)

// MatrixJob is a part of a matrix that is done in one go: one scenario with one
// lock, in several modes, with several seeds. It is a value that can be sent to
// another process.
type MatrixJob struct {
	// File and Source are those of the [Scenario].
	File   string `json:"file"`
	Source string `json:"source"`
	// Lock is the lock's name.
	Lock string `json:"lock"`
	// Modes are modes in which the lock can run.
	Modes []fence.Mode `json:"modes"`
	Seeds Seeds        `json:"seeds"`
	// Weight guesses how long the job takes, compared with others of its plan.
	Weight int `json:"-"`
}

// Play makes the runs, and calls step after those of each seed. The runs of the
// first seed are made twice and compared. extra are locks besides those that
// come with locksim. The result has a tally for each mode, in order.
//
// Errors are those of [Parse], [FindLock] and [Run].
func (j MatrixJob) Play(extra []Lock, step func()) ([]MatrixTally, error) {
	sc, err := Parse(j.File, []byte(j.Source), ServerNames(extra...)...)
	if err != nil {
		return nil, err
	}
	l, err := FindLock(j.Lock, extra)
	if err != nil {
		return nil, err
	}
	tallies := make([]MatrixTally, len(j.Modes))
	for seed := range j.Seeds.All() {
		o, err := Run(sc, l, RunOptions{Seed: seed, Modes: j.Modes, Repeat: j.repeat(seed)})
		if err != nil {
			return nil, err
		}
		for i := range o.Modes {
			tallies[i].add(seed, &o.Modes[i])
		}
		step()
	}
	return tallies, nil
}

func (j MatrixJob) repeat(seed uint64) Repeat {
	if seed == j.Seeds.First {
		return Twice
	}
	return Once
}

// NewMatrixAnswer makes what Play returns an answer.
func NewMatrixAnswer(tallies []MatrixTally, err error) MatrixAnswer {
	if err == nil {
		return MatrixAnswer{Tallies: tallies}
	}
	a := MatrixAnswer{Error: err.Error()}
	if input, ok := errors.AsType[*InputError](err); ok {
		a.BadInput = &InputError{Pos: input.Pos, Msg: input.Msg, Excerpt: input.Excerpt}
	}
	return a
}
