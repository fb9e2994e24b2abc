package play

import (
	"errors"
	"fmt"
	"time"

	"locksim/checker"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/sim/trace"
)

// State is the world at one step of a run.
type State struct {
	// Step is the number of the last event that had happened, Event that event.
	// Step may be a little higher than the step asked for, since messages that are
	// sent in one instant are recorded together.
	Step  int
	Event string
	// At is the virtual time.
	At time.Duration
	// Over says that the run had ended before the step.
	Over bool
	// Clients are c0, c1, …, Nodes the servers but the store, replicas too.
	Clients []ClientState
	Nodes   []NodeState
	// Store are the registers, as "resource/register=operation"; Highest is the
	// highest token that the fence has seen.
	Store   []string
	Highest uint64
	// Flights are the links with bytes under way.
	Flights []trace.Flight
}

// ClientState is one client at one step.
type ClientState struct {
	Name string
	// Condition is "running", "paused" or "crashed".
	Condition string
	// Holds says that the lock promises the client its lease: the claim.
	Holds bool
	// Believes says that the client acts as the holder.
	Believes bool
	// Token is that of its latest grant, Left the rest of its lease on the client's
	// clock; both are zero without a grant.
	Token uint64
	Left  time.Duration
}

// NodeState is one server at one step. Role is its role, such as "primary" or
// "replica of r0"; it is empty in a world without replicas.
type NodeState struct {
	Name string
	Role string
	Keys []trace.Key
}

// Inspect plays a run up to a step of its trace and returns the world's state
// there. The step counts from 1. Errors as for [Run].
func Inspect(sc *file.Scenario, l Lock, seed uint64, mode fence.Mode, step int) (*State, error) {
	if err := errors.Join(sc.Validate(), l.Validate()); err != nil {
		return nil, err
	}
	if step < 1 {
		return nil, fmt.Errorf("step %d: steps count from 1", step)
	}
	if mode.NeedsToken() && !l.Tokens {
		return nil, fmt.Errorf("mode %s needs fencing tokens, and lock %s mints none: there is no such run", mode, l.Name)
	}
	l, err := l.sized(sc)
	if err != nil {
		return nil, err
	}
	if l, err = l.taught(sc); err != nil {
		return nil, err
	}
	p := newPlay(sc, l)
	var state *State
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
func (p *play) state() *State {
	t := p.world.Trace()
	s := &State{Step: t.Len()}
	s.settingOf(p.world, p.resources())
	if s.Step > 0 {
		s.Event = t.Events[s.Step-1].String()
	}
	for _, c := range p.clients {
		s.Clients = append(s.Clients, c.state())
	}
	for _, server := range p.world.Ground().Servers() {
		n := NodeState{Name: server.Name, Keys: server.Keys}
		if p.sc.World.Replicas > 0 {
			n.Role = server.Role
		}
		s.Nodes = append(s.Nodes, n)
	}
	return s
}

func (c *client) state() ClientState {
	s := ClientState{Name: c.proc.Name(), Condition: "running"}
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
	s.Left = max(g.lease.Until().Sub(c.view.Now()), 0)
	s.Holds = alive && g.Released == 0 && g.Lost == 0 && g.Until == 0 && s.Left > 0
	s.Believes = alive && g.Released == 0 && !(care != checker.CareNever && g.LostSeen > 0) && g.lossChecked == 0 && g.UntilSeen == 0
	return s
}
