package play

import (
	"math/rand/v2"
	"slices"
	"time"

	"locksim/faults"
)

// Fork makes a run a continuation of another one: equal to it up to a step, and by other random numbers from there on.
//
// Every delay that is drawn later is drawn anew: of the network, of the replication, between the attempts of a client.
// So is every fault of the schedule that has not struck by then. It strikes at an instant drawn evenly between the fork
// and Until, whatever it would have waited for; where several are open, they keep the order of the scenario. One that
// lasts for a time lasts for between half of it and one and a half times of it. What it does, and to which process,
// stays. A fault that has struck runs to its end. One that cannot strike where it is moved, such as the restart of a
// server that runs, is left out.
type Fork struct {
	// Step is the number of the last event that both runs have for certain; 0 is the start.
	Step int
	// Seed decides everything that is random from there on.
	Seed uint64
	// Until is the latest virtual time at which a fault strikes that is drawn anew.
	Until time.Duration
	// Struck says for each fault of the scenario whether it strikes in the run of which this is a continuation. Only those
	// are drawn anew: one that never struck still waits for its time or event.
	Struck []bool
}

// redraw draws the faults anew that have not struck.
func (s *schedule) redraw(f *Fork) {
	dice := rand.New(rand.NewPCG(f.Seed, uint64(f.Step)))
	var open []int
	for i := range s.play.sc.Faults {
		if !s.begun[i] && i < len(f.Struck) && f.Struck[i] {
			open = append(open, i)
		}
	}
	now := s.world.Now()
	times := make([]time.Duration, len(open))
	for n := range times {
		times[n] = now + time.Duration(dice.Int64N(int64(max(f.Until-now, 0))+1))
	}
	slices.Sort(times)
	for n, i := range open {
		s.moved[i] = lasting(s.play.sc.Faults[i].Action, dice)
		s.world.At(times[n], func() { s.begin(i) })
	}
}

// lasting is a fault whose length is drawn anew. One that lasts until the world is healed, or for no time, stays.
func lasting(a faults.Action, dice *rand.Rand) faults.Action {
	form, ok := faults.Open(a)
	if !ok {
		return a
	}
	for _, field := range form.Fields {
		if l, ok := field.Holds.(faults.Length); ok && *l.To > 0 {
			*l.To = max((*l.To/2 + time.Duration(dice.Int64N(int64(*l.To)+1))).Round(time.Millisecond), time.Millisecond)
		}
	}
	return form.Action()
}
