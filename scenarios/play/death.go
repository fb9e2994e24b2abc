package play

import (
	"errors"
	"fmt"

	"locksim/sim"
)

// Death is how the program ends in a run: a goroutine that the lock has started panics, which nothing can catch. It is found out
// in one process, and told to another one, in which the run stops before.
type Death struct {
	// Turn is the last turn of the run: the world lets one event happen after the other, and a turn ends when every
	// goroutine waits.
	Turn int `json:"turn" jsonschema:"minimum=1"`
	// Client is whose goroutine it was.
	Client string `json:"client"`
	// Incarnation is which of the processes of the client: 1, and one more after each restart.
	Incarnation int `json:"incarnation" jsonschema:"minimum=1"`
	// Panic is the value of the panic.
	Panic string `json:"panic"`
	// Where is the innermost function of the code under test, with its file and line.
	Where string `json:"where"`
}

// Over is the turn of a run that is over, and whose world is closed.
const Over = -1

// NewDeath is the end of the program after a turn of a run: 0 before the first one, or [Over]. An error says why it is no panic
// of the lock under test.
func NewDeath(f sim.Fatal, turn int) (*Death, error) {
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
	return &Death{Turn: turn, Client: f.Process, Incarnation: f.Incarnation, Panic: f.Text, Where: f.Where}, nil
}

// ErrNoDeath is wrapped by the error for an end of the program that the lock under test, as a program of its own, could not cause.
var ErrNoDeath = errors.New("this is no panic of a client that runs")

// text is what the story says of it.
func (d *Death) text() string {
	return d.Panic + ", in a goroutine that the lock has started, " + d.Where
}

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
	if !s.w.Halt(p.death.Client, p.death.Incarnation, p.death.text()) {
		return fmt.Errorf("%w: the process of %s had crashed, and its code goes on only here; let it end when its context ends, or a call of its %s",
			ErrNoDeath, p.death.Client, "clock or its network returns an error")
	}
	return nil
}
