package play

import (
	"errors"
	"fmt"
	"slices"

	"locksim/scenarios/outcome"
	"locksim/sim"
)

// Course is how far a run has come.
type Course struct {
	// Turn is the number of the last turn, see [outcome.Death]: 0 before the first one.
	Turn int `json:"turn"`
	// Over says that the run is over, and that its world is closed.
	Over bool `json:"over"`
	// Ended are the processes that have crashed or ended, as "c0/1" for the first one of c0.
	Ended []string `json:"ended"`
}

func incarnationOf(client string, n int) string { return fmt.Sprintf("%s/%d", client, n) }

// NewDeath is the end of the program in a run. An error says why it is no panic of the lock under test.
func NewDeath(f sim.Fatal, c Course) (*outcome.Death, error) {
	d := &outcome.Death{Turn: c.Turn, Client: f.Process, Incarnation: f.Incarnation, Panic: f.Text, Where: f.Where}
	switch {
	case c.Over:
		return nil, fmt.Errorf("%w: the run was over, and its world was closed", ErrNoDeath)
	case c.Turn == 0:
		return nil, fmt.Errorf("%w: the run had not begun", ErrNoDeath)
	case f.Where == "":
		return nil, fmt.Errorf("%w: its code was not running", ErrNoDeath)
	case f.Process == "":
		return nil, fmt.Errorf("%w: the goroutine is none of a client", ErrNoDeath)
	case slices.Contains(c.Ended, incarnationOf(f.Process, f.Incarnation)):
		return nil, afterCrash(d)
	}
	return d, nil
}

// afterCrash is the error for a panic in code that no real process would run.
func afterCrash(d *outcome.Death) error {
	return fmt.Errorf("%w: the process of %s had crashed or ended, and its code goes on only here: let it end, without "+
		"a panic, when the context of its process has ended", ErrNoDeath, d.Client)
}

// ErrNoDeath is wrapped by the error for an end of the program that the lock under test, as a program of its own, could
// not cause.
var ErrNoDeath = errors.New("this is no panic of a client that runs")

// whole is the run with its end: that of the body or, if the program ends in it, the last turn before that.
func (p *play) whole(w Stage) error {
	s := w.(*simWorld) // only such runs have another end
	if p.stuck != nil {
		s.last = p.stuck.turn
		err := p.noted(s)
		s.w.StandStill()
		return err
	}
	if p.death == nil {
		return p.noted(s)
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
	p.probe, p.waiting, p.loops, p.final = &probe{}, nil, "", p.epilogue()
	if !s.w.Halt(p.death.Client, p.death.Incarnation, p.death.Text()) {
		return afterCrash(p.death)
	}
	return nil
}

// noted is the whole body; [RunOptions.Note] is told how far it comes.
func (p *play) noted(s *simWorld) error {
	if p.note == nil {
		return p.body(s)
	}
	var c Course
	s.onTurn = func(n int) {
		c.Turn = n
		p.note(c)
	}
	s.w.OnEnd(func(process string, incarnation int) {
		c.Ended = append(c.Ended, incarnationOf(process, incarnation))
		p.note(c)
	})
	defer func() {
		c.Over = true
		p.note(c)
	}()
	return p.body(s)
}
