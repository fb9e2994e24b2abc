package play_test

import (
	"slices"
	"testing"
	"time"

	"locksim/internal/testruns"
	"locksim/lock/fence"
	"locksim/scenarios/play"
)

// A fault that repeats strikes again after the same time each, as often as it says, and each strike is one of the
// record, with when it was felt.
func TestFaultsStrikeAgain(t *testing.T) {
	sc := testruns.Parse(t, `
name: again
workload: {rounds: 3, hold: 3s}
faults:
  - {at: 2s, every: 1500ms, times: 4, pause: {process: c0, for: 100ms}}
  - {every: 4s, clock_jump: {clock: c1, by: 1s}}
`)
	m := testruns.Play(t, sc, testruns.Kind(t, "single"),
		play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}}).Modes[0]
	var paused []time.Duration
	for _, e := range eventsOf(m.Trace, "world", "pause", "c0") {
		paused = append(paused, e.At.Round(time.Millisecond))
	}
	if want := []time.Duration{2 * time.Second, 3500 * time.Millisecond, 5 * time.Second,
		6500 * time.Millisecond}; !slices.Equal(paused, want) {
		t.Errorf("c0 is paused at %v, want %v", paused, want)
	}
	rec := m.Record.Faults
	if len(rec) != 2 || len(rec[0].Again) != 3 || len(rec[1].Again) < 2 || !m.FaultsFired[0] || !m.FaultsFelt[0] {
		t.Fatalf("the record has %+v", rec)
	}
	if first := rec[1].Struck; first != 4*time.Second {
		t.Errorf("a fault without a trigger strikes first at %v, want after the time between two strikes", first)
	}
	if last := rec[0].Again[2]; last.Struck != 6500*time.Millisecond {
		t.Errorf("the last strike is at %v, want 6.5s", last.Struck)
	}
}

// Chance decides each strike of a fault with a probability: by the seed, and as often as it says.
func TestFaultsStrikeByChance(t *testing.T) {
	sc := testruns.Parse(t, `
name: by-chance
workload: {rounds: 3, hold: 10s}
faults:
  - {every: 100ms, times: 200, probability: 30, clock_jump: {clock: c1, by: 1ms}}
`)
	struck := func(seed uint64) (at []time.Duration) {
		m := testruns.Play(t, sc, testruns.Kind(t, "single"),
			play.RunOptions{Seed: seed, Modes: []fence.Mode{fence.None}}).Modes[0]
		for _, e := range eventsOf(m.Trace, "world", "clock-jump", "c1") {
			at = append(at, e.At.Round(time.Millisecond))
		}
		return at
	}
	one, again, other := struck(1), struck(1), struck(2)
	if !slices.Equal(one, again) || slices.Equal(one, other) {
		t.Errorf("seed 1 strikes at %v, then at %v, and seed 2 at %v", one, again, other)
	}
	if n := len(one); n < 40 || n > 80 {
		t.Errorf("%d of 200 strikes with a probability of 30 percent", n)
	}
}
