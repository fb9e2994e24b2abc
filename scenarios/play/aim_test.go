package play_test

import (
	"slices"
	"testing"
	"time"

	"locksim/internal/testruns"
	"locksim/lock/fence"
	"locksim/scenarios/etcdlocks"
	"locksim/scenarios/outcome"
	"locksim/scenarios/play"
	"locksim/scenarios/subject"
	"locksim/sim/trace"
)

// endsOf are the crashes and restarts of a run.
func endsOf(m *outcome.ModeRun) (crashed, back []trace.Event) {
	for _, e := range m.Trace.Events {
		switch e.Kind() {
		case "crash":
			crashed = append(crashed, e)
		case "restart":
			back = append(back, e)
		}
	}
	return crashed, back
}

// Whoever has the lock at the time is struck, and a restart of the holder is that of the one that crashed as such.
func TestFaultsStrikeTheHolder(t *testing.T) {
	sc := testruns.Parse(t, `
name: whoever-leads
world: {clients: 3}
lock: {kind: watchdog, ttl: 4s}
workload: {kind: leader, rounds: 2, ticks: 20, hold: 500ms, checks_until: lost}
faults:
  - {at: 5s, every: 7s, times: 3, crash: {process: holder}}
  - {at: 6s, restart: {process: holder}}
`)
	m := testruns.Play(t, sc, testruns.Kind(t, "watchdog"),
		play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}}).Modes[0]
	crashed, back := endsOf(&m)
	if len(crashed) != 3 || len(back) != 1 || back[0].Peer != crashed[0].Peer {
		t.Fatalf("crashed: %v; back: %v", crashed, back)
	}
	for i, e := range crashed {
		holder := ""
		for _, before := range m.Trace.Events[:e.N-1] {
			if mark, ok := before.What.(trace.Mark); ok && mark.Step == trace.Granted {
				holder = before.Actor
			}
		}
		strikes := append([]string{m.Record.Faults[0].Holder}, m.Record.Faults[0].Again[0].Holder,
			m.Record.Faults[0].Again[1].Holder)
		if e.Peer != holder || strikes[i] != holder {
			t.Errorf("strike %d: %s crashed and the record says %s, while %s led", i+1, e.Peer, strikes[i], holder)
		}
	}
}

// Where no client has the lock, the next that is granted it is struck.
func TestFaultsWaitForAHolder(t *testing.T) {
	sc := testruns.Parse(t, `
name: nobody-yet
workload: {stagger: 3s, hold: 1s}
faults:
  - {at: 0s, pause: {process: holder, for: 200ms}}
  - {at: 1500ms, partition: {between: [holder], and: [r0], for: 1s}}
`)
	m := testruns.Play(t, sc, testruns.Kind(t, "single"),
		play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}}).Modes[0]
	granted, paused := eventsOf(m.Trace, "c0", "granted", ""), eventsOf(m.Trace, "world", "pause", "c0")
	cut := eventsOf(m.Trace, "world", "cut", "c1")
	if len(granted) != 1 || len(paused) != 1 || paused[0].At < granted[0].At ||
		paused[0].At > granted[0].At+time.Microsecond {
		t.Errorf("c0 is granted the lock at %v, and paused at %v", granted, paused)
	}
	if len(cut) != 1 || cut[0].At < 3*time.Second || m.Record.Faults[1].Holder != "c1" {
		t.Errorf("cut off: %v, as the record says %q; want c1, after its grant", cut, m.Record.Faults[1].Holder)
	}
}

// A restart of the holder, of the leader or of a client by its name that comes again before the next crash starts none,
// and is no error: a crash may be drawn.
func TestRestartOfNone(t *testing.T) {
	for _, tt := range []struct {
		of, world string
		lock      subject.Lock
	}{
		{"holder", "redis: 1", testruns.Kind(t, "fenced")}, {"leader", "etcd: 3", etcdlocks.Lock()},
		{"c1", "redis: 1", testruns.Kind(t, "fenced")},
	} {
		sc := testruns.Parse(t, `
name: restart-of-none
world: {`+tt.world+`, clients: 2}
lock: {kind: `+tt.lock.Name+`, ttl: 2s}
workload: {rounds: 12, hold: 2s, think: 500ms}
faults:
  - {at: 5s, crash: {process: `+tt.of+`}}
  - {at: 6s, every: 5s, times: 3, restart: {process: `+tt.of+`}}
`)
		m := testruns.Play(t, sc, tt.lock, play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}}).Modes[0]
		came := 0
		for _, e := range m.Trace.Events {
			if e.Kind() == "restart" {
				came++
			}
		}
		if came != 1 || !m.FaultsFired[1] || len(m.Record.Faults[1].Again) != 0 {
			t.Errorf("%s: %d restarts, want one; struck: %v %+v", tt.of, came, m.FaultsFired, m.Record.Faults[1])
		}
	}
}

// A holder that is back is none that has fallen: a single restart after that has none to start, and does not strike.
func TestRestartOfHolderThatIsBack(t *testing.T) {
	sc := testruns.Parse(t, `
name: back-already
world: {redis: 1, clients: 2}
lock: {kind: fenced, ttl: 2s}
workload: {rounds: 4, hold: 2s, think: 500ms}
faults:
  - {at: 1s, crash: {process: holder}}
  - {at: 2s, restart: {process: holder}}
  - {at: 3s, restart: {process: holder}}
`)
	m := testruns.Play(t, sc, testruns.Kind(t, "fenced"),
		play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}}).Modes[0]
	if !slices.Equal(m.FaultsFired, []bool{true, true, false}) {
		t.Errorf("struck: %v", m.FaultsFired)
	}
}
