package play

import (
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"locksim/faults"
	"locksim/scenarios/evidence"
	"locksim/sim/trace"
)

// schedule applies the faults of a run, at their times and at their events. It is
// used on the world's goroutine only.
type schedule struct {
	play    *play
	world   Stage
	fired   []bool
	unable  []string    // why the world cannot play a fault; "" if it can, or was not asked
	strikes [][]*strike // of each fault
	passed  map[passage]int
	begun   []bool          // the faults that were to strike, also those that could not
	moved   []faults.Action // what strikes in place of a fault of the scenario, after a fork; nil for one that stays
	dice    *rand.Rand      // for faults that may strike
	aim     aim             // of faults that strike the holder of the lock
	healed  bool            // the time is over in which any workload ends: nothing strikes again
	failed  error
}

// passage is an event of a client, of which schedule counts the occurrences.
type passage struct{ client, event string }

func newSchedule(p *play, w Stage) *schedule {
	s := &schedule{play: p, world: w, fired: make([]bool, len(p.sc.Faults)), unable: make([]string, len(p.sc.Faults)),
		strikes: make([][]*strike, len(p.sc.Faults)), passed: map[passage]int{},
		begun: make([]bool, len(p.sc.Faults)), moved: make([]faults.Action, len(p.sc.Faults))}
	if slices.ContainsFunc(p.sc.Faults, func(f faults.Fault) bool { return f.Probability > 0 }) {
		s.dice = rand.New(w.Clients()[0].Source("faults"))
	}
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
	s.aim.note(s.world.Clients, process, m)
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
	for _, i := range s.aim.served(m) {
		s.strike(i)
	}
}

// trigger lets a fault strike at the time or event that the scenario says, unless a fork has moved it.
func (s *schedule) trigger(i int) {
	if s.moved[i] == nil {
		s.begin(i)
	}
}

// begin lets a fault strike, and again as often as it says.
func (s *schedule) begin(i int) {
	s.begun[i] = true
	s.again(i, s.play.sc.Faults[i].Most())
}

// again lets a fault strike now, and so many times in all from now on.
func (s *schedule) again(i, left int) {
	if s.play.over {
		return
	}
	f := s.play.sc.Faults[i]
	if f.Probability == 0 || s.dice.IntN(100) < f.Probability {
		s.strike(i)
	}
	if left > 1 {
		s.world.After(f.Every, func() {
			if !s.healed {
				s.again(i, left-1)
			}
		})
	}
}

// restartServers restarts the servers that have crashed and whose restart was still
// to come when the workload ended: a crash with a restart is a fault that lasts,
// and all of these end when the world is healed. Crashed clients are not needed any
// more.
func (s *schedule) restartServers() {
	for i, f := range s.play.sc.Faults {
		if r, ok := f.Action.(faults.Restart); ok && !s.fired[i] && trace.IsServer(r.Process) && r.Process != faults.Holder {
			_ = r.Apply(s.world.Faults(func() {})) // a server that has not crashed is not changed
		}
	}
}

// strike applies a fault. A fault that cannot be applied in the current state, such
// as a restart of a running process, is a mistake in the scenario. One for which the world
// lacks the ability is not played.
func (s *schedule) strike(i int) {
	f := s.play.sc.Faults[i]
	if s.moved[i] != nil {
		f.Action = s.moved[i]
	}
	now := s.world.Now
	one := &strike{at: now()}
	if faults.Aims(f.Action) {
		if one.holder = s.aim.at(i, f.Action); one.holder == "" {
			return
		}
		f.Action = faults.Aim(f.Action, one.holder)
	}
	s.strikes[i] = append(s.strikes[i], one)
	err := f.Action.Apply(s.play.faultTarget(func() { one.feel(now()) }))
	if errors.Is(err, faults.ErrRuns) && f.Every > 0 { // the crash before it was not drawn
		s.strikes[i] = s.strikes[i][:len(s.strikes[i])-1]
		return
	}
	if errors.Is(err, faults.ErrUnable) {
		s.unable[i] = err.Error()
		return
	}
	if err != nil && s.failed == nil && s.moved[i] == nil {
		failed := s.play.sc.ErrorAt(f.Pos, "fault %d: %v", i+1, err)
		failed.Err = err
		s.failed = failed
	}
	s.fired[i] = s.fired[i] || err == nil
}

// strike is one time that a fault struck. The goroutines of the clients add to when it was felt.
type strike struct {
	at     time.Duration
	holder string // whom it struck as the holder

	mu    sync.Mutex
	ended bool // the workload has ended: nothing is added any more
	felt  []time.Duration
}

// feel adds an instant. Of those between the first and the last nothing is kept.
func (s *strike) feel(now time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ended:
	case len(s.felt) < 2:
		s.felt = append(s.felt, now)
	default:
		s.felt[1] = now
	}
}

// end says whether the strike was felt before the call, which ends that.
func (s *strike) end() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	return len(s.felt) > 0
}

// record is the strike as evidence.
func (s *strike) record() evidence.Strike {
	s.mu.Lock()
	defer s.mu.Unlock()
	return evidence.Strike{Struck: s.at, Felt: slices.Clone(s.felt), Holder: s.holder}
}

// wasFelt says for each fault whether it was felt before the call, which ends it.
func (s *schedule) wasFelt() []bool {
	out := make([]bool, len(s.strikes))
	for i, all := range s.strikes {
		for _, one := range all {
			out[i] = one.end() || out[i]
		}
	}
	return out
}
