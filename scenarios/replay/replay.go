// Package replay repeats a stored run: it finds the lock by its name, plays the scenario again, and compares every
// figure.
package replay

import (
	"locksim/faults"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/redislocks"
	"locksim/scenarios/subject"
)

// Setup is the scenario and the lock of a stored run. extra are locks that do not
// come with locksim. An invalid scenario or an unknown lock is an *InputError.
func Setup(f *outcome.RunFile, extra []subject.Lock) (*file.Scenario, subject.Lock, error) {
	if f.Live != nil {
		return nil, subject.Lock{}, &file.InputError{Pos: faults.Pos{File: f.File}, Msg: "this is a run on real servers, " +
			"which nothing can repeat exactly: make another one with --live, or run the scenario in the simulated world"}
	}
	l, err := redislocks.Find(f.Lock, extra) // first, since it may bring the servers of the scenario along
	if err != nil {
		return nil, subject.Lock{}, &file.InputError{Pos: faults.Pos{File: f.File}, Msg: err.Error(), Err: err}
	}
	sc, err := file.Parse(f.File, []byte(f.Source), subject.ServerNames(extra...)...)
	if err != nil {
		return nil, subject.Lock{}, err
	}
	return sc, l, nil
}

// Run repeats a stored run and compares every figure except the timing. A
// difference is a [*outcome.ReplayError]; the outcome is returned with it. Other errors are
// those of [Setup] and [play.Run].
func Run(f *outcome.RunFile, extra []subject.Lock, repeat outcome.Repeat) (*outcome.Outcome, error) {
	sc, l, err := Setup(f, extra)
	if err != nil {
		return nil, err
	}
	o, err := play.Run(sc, l, play.RunOptions{Seed: f.Seed, Modes: f.FencingModes(), Repeat: repeat, Death: f.Death})
	if err != nil {
		return nil, err
	}
	if e := f.Compare(outcome.NewRunFile(o)); e != nil {
		return o, e
	}
	return o, nil
}
