package play_test

import (
	"testing"
	"time"

	"locksim/internal/testruns"
	"locksim/lock/fence"
	"locksim/scenarios/play"
	"locksim/sim/trace"
)

// A fault strikes at the occurrence of the event that it names, neither before nor
// again, and exactly after the given delay.
func TestFaultsStrikeAtTheirEvents(t *testing.T) {
	sc := testruns.Parse(t, `
name: at-their-events
workload: {rounds: 3}
faults:
  - when: {client: c0, event: read, nth: 2}
    clock_jump: {clock: c0, by: 1s}
  - when: {client: c1, event: release, nth: 1}
    after: 300ms
    clock_jump: {clock: c1, by: 1s}
`)
	m := testruns.Play(t, sc, testruns.Kind(t, "single"),
		play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}}).Modes[0]
	for _, c := range []struct {
		client, event string
		nth           int
		after         time.Duration
	}{{"c0", "read", 2, 0}, {"c1", "release", 1, 300 * time.Millisecond}} {
		passed := eventsOf(m.Trace, c.client, c.event, "")
		struck := eventsOf(m.Trace, "world", "clock-jump", c.client)
		if len(passed) != 3 || len(struck) != 1 {
			t.Fatalf("%s passed %s %d times, and its fault struck %d times", c.client, c.event, len(passed), len(struck))
		}
		if got, want := struck[0].At, passed[c.nth-1].At+c.after; got < want || got > want+time.Microsecond {
			t.Errorf("%s: struck at %v, want %v", c.client, got, want)
		}
	}
}

// eventsOf are the events of a kind that an actor recorded, about a peer.
func eventsOf(t *trace.Trace, actor, kind, peer string) []trace.Event {
	var out []trace.Event
	for _, e := range t.Events {
		if e.Actor == actor && e.Kind() == kind && e.Peer == peer {
			out = append(out, e)
		}
	}
	return out
}
