package play_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"locksim/checker"
	"locksim/internal/testruns"
	"locksim/lock"
	"locksim/lock/fence"
	"locksim/scenarios/play"
	"locksim/scenarios/subject"
)

// historyOf is the history of a run without a fence.
func historyOf(t *testing.T, l subject.Lock, text string) checker.History {
	t.Helper()
	o := play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}, Alone: true}
	return testruns.Play(t, testruns.Parse(t, text), l, o).Modes[0].History
}

// Whether a run is calm goes by how long the sections of a lock's own took. Package evidence tests the rest.
func TestCalmWithASectionOfItsOwn(t *testing.T) {
	for took, want := range map[time.Duration]bool{900 * time.Millisecond: true, 1100 * time.Millisecond: false} {
		l := testruns.Kind(t, "single")
		l.Section = subject.Section{Writes: []string{"balance"}, Run: func(_ context.Context, h subject.Holder) error {
			if _, err := h.Read("balance"); err != nil {
				return err
			}
			if err := h.Work(took); err != nil {
				return err
			}
			return h.Write("balance")
		}}
		if got := historyOf(t, l, "name: calm\nlock: {ttl: 4s}\nworkload: {hold: 2s}\n").Calm; got != want {
			t.Errorf("sections of %v: calm is %v, want %v", took, got, want)
		}
	}
}

// The driver notes when each fault strikes, and when processes end and start again: from that the evidence has the
// absences of clients. Both clients end their work at 10 s or later. Package evidence tests all faults.
func TestAbsences(t *testing.T) {
	for fault, want := range map[string]string{
		"pause: {process: c0, for: 2s}":                                                "c0 stopped 1s to 3s",
		"kill_worker: {process: c0}":                                                   "c0 crashed 1s to the end",
		"partition: {between: [c0]}":                                                   "c0 away 1s to the end",
		"clock_jump: {clock: r0, by: 1ms}":                                             "",
		"crash: {process: c0}}, {at: 3s, restart: {process: c0}":                       "c0 crashed 1s to 3s",
		"crash: {process: r0}}, {at: 3s, restart: {process: r0}":                       "c0 away 1s to 3s, c1 away 1s to 3s",
		"pause: {process: c0, for: 2s}}, {at: 5s, partition: {between: [c1], for: 1s}": "c0 stopped 1s to 3s, c1 away 5s to 6s",
	} {
		t.Run(fault, func(t *testing.T) {
			h := historyOf(t, testruns.Kind(t, "single"),
				"name: away\nlock: {ttl: 1s}\nworkload: {rounds: 8, hold: 200ms, think: 1s, stagger: 100ms}\nfaults: [{at: 1s, "+
					fault+"}]\n")
			if got := absencesOf(h); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// The time that servers need to settle is that of their kind.
func TestAbsencesOfACluster(t *testing.T) {
	cluster := testruns.Kind(t, "single")
	cluster.Servers = subject.Redis(3)
	cluster.Servers[0].Kind.Settles = 700 * time.Millisecond
	h := historyOf(t, cluster, "name: away\nworld: {redis: 3}\nlock: {ttl: 1s}\n"+
		"workload: {rounds: 8, hold: 200ms, think: 1s, stagger: 100ms}\nfaults: [{at: 1s, stall: {node: r1, for: 2s}}]\n")
	if got, want := absencesOf(h), "c0 away 1s to 3.7s, c1 away 1s to 3.7s"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A fault without an end of its own keeps a client away from when it is first felt to when it is last felt, with the
// delay that it causes before: a message that is late left so much earlier. One that is not felt keeps no client away.
func TestAbsencesWhileFelt(t *testing.T) {
	const text = "name: felt\nlock: {ttl: 5s}\nworld: {clients: 1, latency: 1ms}\nworkload: {rounds: 3, hold: 200ms, " +
		"think: 1s}\nfaults: [{at: %s, %s}]\n"
	for _, c := range []struct {
		at, fault   string
		actor, peer string // of the messages that the fault meets
		count       int    // how many it meets
		late        time.Duration
	}{
		{"100ms", "delay_message: {between: [c0], and: [r0], by: 400ms}", "c0", "r0", 1, 400 * time.Millisecond},
		{"100ms", "lose_reply: {between: [c0], and: [r0]}", "r0", "c0", 1, 0},
		{"100ms", "lose_reply: {between: [c0], and: [r0], count: 3}", "r0", "c0", 3, 0},
		{"100ms", "delay_message: {between: [c0], and: [s0], by: 400ms}", "", "", 0, 0}, // s0 does not grant the lock
		{"1h", "lose_reply: {between: [c0], and: [r0]}", "", "", 0, 0},                  // it does not strike
		{"100ms", "reset: {between: [c0], and: [r0]}", "", "", 0, 0},                    // there is no connection yet
	} {
		t.Run(c.at+" "+c.fault, func(t *testing.T) {
			m := testruns.Play(t, testruns.Parse(t, fmt.Sprintf(text, c.at, c.fault)), testruns.Kind(t, "single"),
				play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}, Alone: true}).Modes[0]
			var met []time.Duration
			for _, e := range m.Trace.Events {
				if e.Kind() == "send" && e.Actor == c.actor && e.Peer == c.peer && len(met) < c.count {
					met = append(met, e.At)
				}
			}
			var want []checker.Absence
			if c.count > 0 {
				want = []checker.Absence{{Span: checker.Span{From: met[0], To: met[c.count-1] + c.late}, Running: true}}
			}
			if got := m.History.Timing.Away["c0"]; !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

// A client that is granted the lock although its process has ended crashes at that instant, once more: the servers may
// have its key from then on.
func TestAbsenceOfALapsedGrant(t *testing.T) {
	l := testruns.Kind(t, "single")
	inner := l.New
	l.New = func(e subject.Env) (lock.Locker, error) {
		locker, err := inner(e)
		return altered{locker, func(ctx context.Context, resource string) (lock.Lease, error) {
			lease, err := locker.Acquire(ctx, resource)
			_ = e.Clock().Sleep(ctx, 2*time.Second) // the process ends meanwhile
			return lease, err
		}}, err
	}
	h := historyOf(t, l, "name: lapsed\nlock: {ttl: 1s}\nworkload: {hold: 100ms}\n"+
		"faults: [{at: 1500ms, crash: {process: c0}}, {at: 3s, restart: {process: c0}}]\n")
	if got, want := absencesOf(h), "c0 crashed 1.5s to 3s, c0 crashed 1.5s to 1.5s"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// absencesOf lists the absences of a history, by client and beginning. The work ends after 9 s.
func absencesOf(h checker.History) string {
	var all []string
	for _, client := range slices.Sorted(maps.Keys(h.Timing.Away)) {
		spans := slices.SortedFunc(slices.Values(h.Timing.Away[client]),
			func(a, b checker.Absence) int { return int(a.From - b.From) })
		for _, a := range spans {
			how := map[bool]string{true: "away", false: "stopped"}[a.Running]
			if a.Crash {
				how = "crashed"
			}
			to := a.To.String()
			if a.To > 7*time.Second {
				to = "the end"
			}
			all = append(all, fmt.Sprintf("%s %s %v to %s", client, how, a.From, to))
		}
	}
	return strings.Join(all, ", ")
}
