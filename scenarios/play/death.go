package play

import (
	"errors"
	"fmt"

	"locksim/scenarios/outcome"
	"locksim/sim"
)

// Over is the turn of a run that is over, and whose world is closed.
const Over = -1

// NewDeath is the end of the program after a turn of a run: 0 before the first one, or [Over]. An error says why it is no panic
// of the lock under test.
func NewDeath(f sim.Fatal, turn int) (*outcome.Death, error) {
	switch {
	case turn == 0:
		return nil, fmt.Errorf("%w: the run had not begun", ErrNoDeath)
	case turn == Over:
		return nil, fmt.Errorf("%w: the run was over, and its world was closed", ErrNoDeath)
	case f.Where == "":
		return nil, fmt.Errorf("%w: its code was not running", ErrNoDeath)
	case f.Process == "":
		return nil, fmt.Errorf("%w: the goroutine is none of a client", ErrNoDeath)
	}
	return &outcome.Death{Turn: turn, Client: f.Process, Incarnation: f.Incarnation, Panic: f.Text, Where: f.Where}, nil
}

// ErrNoDeath is wrapped by the error for an end of the program that the lock under test, as a program of its own, could not cause.
var ErrNoDeath = errors.New("this is no panic of a client that runs")

// whole is the run with its end: that of the body or, if the program ends in it, the last turn before that.
func (p *play) whole(w Stage) error {
	s := w.(*simWorld) // only such runs have another end
	s.onTurn = p.onTurn
	if p.death == nil {
		err := p.body(w)
		if p.onTurn != nil {
			p.onTurn(Over)
		}
		return err
	}
	s.last = p.death.Turn
	switch err := p.body(w); {
	case err == nil:
		return fmt.Errorf("%w: the run is over before its turn %d", ErrNoDeath, p.death.Turn)
	case !stopped(err):
		return err
	}
	if p.overAt == 0 {
		p.overAt, p.felt = w.Trace().Len(), p.schedule.wasFelt()
	}
	p.probe, p.final = &probe{acquired: true}, p.epilogue()
	if !s.w.Halt(p.death.Client, p.death.Incarnation, p.death.Text()) {
		return fmt.Errorf("%w: the process of %s had crashed, and its code goes on only here; let it end when its context ends, or a call of its %s",
			ErrNoDeath, p.death.Client, "clock or its network returns an error")
	}
	return nil
}
