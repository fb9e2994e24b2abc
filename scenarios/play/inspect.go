package play

import (
	"errors"
	"fmt"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/outcome"
	"locksim/scenarios/subject"
)

// Inspect plays a run up to a step of its trace and returns the world's state
// there. The step counts from 1. Errors as for [Run].
func Inspect(sc *file.Scenario, l subject.Lock, seed uint64, mode fence.Mode, step int) (*outcome.State, error) {
	if err := errors.Join(sc.Validate(), l.Validate()); err != nil {
		return nil, err
	}
	if step < 1 {
		return nil, fmt.Errorf("step %d: steps count from 1", step)
	}
	if mode.NeedsToken() && !l.Tokens {
		return nil, fmt.Errorf("mode %s needs fencing tokens, and lock %s mints none: there is no such run", mode, l.Name)
	}
	l, err := l.In(sc)
	if err != nil {
		return nil, err
	}
	lesson, err := teach(l, sc)
	if err != nil {
		return nil, err
	}
	p := newPlay(sc, lesson)
	var state *outcome.State
	_, err = p.simulate(seed, mode, step, func(w Stage) error {
		err := p.body(w)
		state = p.state()
		state.Over = err == nil
		if stopped(err) {
			err = nil
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("scenario %s, lock %s, seed %d, mode %s: %w", sc.Name, l.Name, seed, mode, err)
	}
	return state, nil
}

// state reads the state of the world, on its goroutine, while all others are blocked.
func (p *play) state() *outcome.State {
	t := p.world.Trace()
	s := &outcome.State{Step: t.Len()}
	settingOf(s, p.world, p.resources())
	if s.Step > 0 {
		s.Event = t.Events[s.Step-1].String()
	}
	for _, c := range p.clients {
		s.Clients = append(s.Clients, c.state())
	}
	for _, server := range p.world.Ground().Servers() {
		n := outcome.NodeState{Name: server.Name, Keys: server.Keys}
		if p.sc.World.Replicas > 0 || server.Family != "" {
			n.Role = server.Follows
		}
		s.Nodes = append(s.Nodes, n)
	}
	return s
}

func (c *client) state() outcome.ClientState {
	s := outcome.ClientState{Name: c.proc.Name(), Condition: "running"}
	switch {
	case c.view.Crashed():
		s.Condition = "crashed"
	case c.view.Paused():
		s.Condition = "paused"
	}
	if len(c.grants) == 0 {
		return s
	}
	g := c.grants[len(c.grants)-1]
	alive := s.Condition != "crashed"
	care := c.play.sc.Workload.ChecksUntil
	s.Token = g.Token
	s.Left = max(c.until(g.lease).Sub(c.view.Now()), 0)
	s.Holds = alive && g.Released == 0 && g.Lost == 0 && g.Until == 0 && s.Left > 0
	s.Believes = alive && g.Released == 0 && !(care != checker.CareNever && g.LostSeen > 0) && g.lossChecked == 0 &&
		g.UntilSeen == 0
	return s
}
