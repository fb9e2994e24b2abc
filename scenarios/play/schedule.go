package play

import (
	"errors"
	"sync"
	"time"

	"locksim/faults"
	"locksim/sim/trace"
)

// schedule applies the faults of a run, at their times and at their events. It is
// used on the world's goroutine only.
type schedule struct {
	play   *play
	world  Stage
	fired  []bool
	unable []string   // why the world cannot play a fault; "" if it can, or was not asked
	felt   []feelings // when each fault was felt
	passed map[passage]int
	begun  []bool          // the faults that were to strike, also those that could not
	moved  []faults.Action // what strikes in place of a fault of the scenario, after a fork; nil for one that stays
	failed error
}

// passage is an event of a client, of which schedule counts the occurrences.
type passage struct{ client, event string }

func newSchedule(p *play, w Stage) *schedule {
	s := &schedule{play: p, world: w, fired: make([]bool, len(p.sc.Faults)), unable: make([]string, len(p.sc.Faults)),
		felt: make([]feelings, len(p.sc.Faults)), passed: map[passage]int{},
		begun: make([]bool, len(p.sc.Faults)), moved: make([]faults.Action, len(p.sc.Faults))}
	for i, f := range p.sc.Faults {
		if f.When == nil {
			w.At(f.At, func() { s.trigger(i) })
		}
	}
	w.OnMark(s.mark)
	return s
}

// mark counts an event and applies the faults that it triggers, or plans those that
// strike later.
func (s *schedule) mark(process string, m trace.Mark) {
	event := m.Name()
	at := passage{process, event}
	s.passed[at]++
	for i, f := range s.play.sc.Faults {
		if f.When == nil || f.When.Client != process || f.When.Name != event || f.When.Nth != s.passed[at] {
			continue
		}
		if f.After > 0 {
			s.world.After(f.After, func() { s.trigger(i) })
			continue
		}
		s.trigger(i)
	}
}

// trigger lets a fault strike at the time or event that the scenario says, unless a fork has moved it.
func (s *schedule) trigger(i int) {
	if s.moved[i] == nil {
		s.strike(i)
	}
}

// restartServers restarts the servers that have crashed and whose restart was still
// to come when the workload ended: a crash with a restart is a fault that lasts,
// and all of these end when the world is healed. Crashed clients are not needed any
// more.
func (s *schedule) restartServers() {
	for i, f := range s.play.sc.Faults {
		if r, ok := f.Action.(faults.Restart); ok && !s.fired[i] && trace.IsServer(r.Process) {
			_ = r.Apply(s.world.Faults(func() {})) // a server that has not crashed is not changed
		}
	}
}

// strike applies a fault. A fault that cannot be applied in the current state, such
// as a restart of a running process, is a mistake in the scenario. One for which the world
// lacks the ability is not played.
func (s *schedule) strike(i int) {
	if s.fired[i] || s.play.over {
		return
	}
	f := s.play.sc.Faults[i]
	if s.moved[i] != nil {
		f.Action = s.moved[i]
	}
	now := s.world.Now
	s.begun[i] = true
	s.felt[i].struck = now()
	err := f.Action.Apply(s.play.faultTarget(func() { s.felt[i].add(now()) }))
	if errors.Is(err, faults.ErrUnable) {
		s.unable[i] = err.Error()
		return
	}
	if err != nil && s.failed == nil && s.moved[i] == nil {
		failed := s.play.sc.ErrorAt(f.Pos, "fault %d: %v", i+1, err)
		failed.Err = err
		s.failed = failed
	}
	s.fired[i] = err == nil
}

// feelings are when a fault was felt. The goroutines of the clients add to them.
type feelings struct {
	struck time.Duration

	mu    sync.Mutex
	ended bool // the workload has ended: nothing is added any more
	times []time.Duration
}

// add adds an instant. Of those between the first and the last nothing is kept.
func (f *feelings) add(now time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.ended:
	case len(f.times) < 2:
		f.times = append(f.times, now)
	default:
		f.times[1] = now
	}
}

// wasFelt says for each fault whether it was felt before the call, which ends it.
func (s *schedule) wasFelt() []bool {
	out := make([]bool, len(s.felt))
	for i := range s.felt {
		f := &s.felt[i]
		f.mu.Lock()
		f.ended, out[i] = true, len(f.times) > 0
		f.mu.Unlock()
	}
	return out
}
