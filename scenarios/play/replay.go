package play

import (
	"locksim/faults"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
)

// Setup is the scenario and the lock of a stored run. extra are locks that do not
// come with locksim. An invalid scenario or an unknown lock is an *InputError.
func Setup(f *outcome.RunFile, extra []Lock) (*file.Scenario, Lock, error) {
	if f.Live != nil {
		return nil, Lock{}, &file.InputError{Pos: faults.Pos{File: f.File}, Msg: "this is a run on real servers, which " +
			"nothing can repeat exactly: make another one with --live, or run the scenario in the simulated world"}
	}
	l, err := FindLock(f.Lock, extra) // first, since it may bring the servers of the scenario along
	if err != nil {
		return nil, Lock{}, &file.InputError{Pos: faults.Pos{File: f.File}, Msg: err.Error(), Err: err}
	}
	sc, err := file.Parse(f.File, []byte(f.Source), ServerNames(extra...)...)
	if err != nil {
		return nil, Lock{}, err
	}
	return sc, l, nil
}

// Replay repeats a stored run and compares every figure except the timing. A
// difference is a [*outcome.ReplayError]; the outcome is returned with it. Other errors are
// those of [Setup] and [Run].
func Replay(f *outcome.RunFile, extra []Lock, repeat outcome.Repeat) (*outcome.Outcome, error) {
	sc, l, err := Setup(f, extra)
	if err != nil {
		return nil, err
	}
	o, err := Run(sc, l, RunOptions{Seed: f.Seed, Modes: f.FencingModes(), Repeat: repeat, Death: f.Death})
	if err != nil {
		return nil, err
	}
	if e := f.Compare(outcome.NewRunFile(o)); e != nil {
		return o, e
	}
	return o, nil
}
