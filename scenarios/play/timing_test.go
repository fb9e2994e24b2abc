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
)

// historyOf is the history of a run without a fence.
func historyOf(t *testing.T, l play.Lock, text string) checker.History {
	t.Helper()
	o := play.RunOptions{Seed: 1, Modes: []fence.Mode{fence.None}, Alone: true}
	return testruns.Play(t, testruns.Parse(t, text), l, o).Modes[0].History
}

// A run is calm if it has no fault, and if a message and the work of a section take a quarter of a lease at most; a
// lock over several nodes has time for its requests too. No request ends before its answer but an Acquire.
func TestCalm(t *testing.T) {
	const base = "lock: {ttl: 4s}\n"
	works := func(t *testing.T, d time.Duration) play.Lock {
		l := testruns.Kind(t, "single")
		l.Section = play.Section{Writes: []string{"balance"}, Run: func(_ context.Context, h *play.Holder) error {
			if _, err := h.Read("balance"); err != nil {
				return err
			}
			if err := h.Work(d); err != nil {
				return err
			}
			return h.Write("balance")
		}}
		return l
	}
	for name, c := range map[string]struct {
		kind, text string
		lock       play.Lock
		want       bool
	}{
		"short work":                   {text: base + "workload: {hold: 1s}\n", want: true},
		"long work":                    {text: base + "workload: {hold: 1000001us}\n"},
		"short work in parts":          {text: base + "workload: {section: [read: a, work: 500ms, work: 500ms, write: a]}\n", want: true},
		"long work in parts":           {text: base + "workload: {section: [read: a, work: 500ms, work: 501ms, write: a]}\n"},
		"quick messages":               {text: base + "world: {latency: 1s}\nworkload: {hold: 1s}\n", want: true},
		"slow messages":                {text: base + "world: {latency: 1ms..1000001us}\nworkload: {hold: 1s}\n"},
		"a fault":                      {text: base + "workload: {hold: 1s}\nfaults: [{at: 100ms, clock_jump: {clock: c0, by: 1ms}}]\n"},
		"a section within another":     {kind: "reentrant", text: base + "workload: {hold: 100ms, nested: 1}\n"},
		"a reentrant lock":             {kind: "reentrant", text: base + "workload: {hold: 100ms}\n", want: true},
		"requests that end":            {text: base + "workload: {hold: 1s, request: 1h}\n"},
		"extensions that end":          {text: base + "workload: {hold: 1s, extend: 1, extend_within: 1h}\n"},
		"extensions":                   {text: base + "workload: {hold: 1s, extend: 1}\n", want: true},
		"releases that end":            {text: base + "workload: {hold: 1s, release_within: 1h}\n"},
		"an Acquire that ends":         {text: base + "workload: {hold: 1s, acquire_within: 1h}\n", want: true},
		"nodes with time":              {kind: "redlock", text: base + "world: {latency: 2500us}\nworkload: {hold: 1s}\n", want: true},
		"nodes without time":           {kind: "redlock", text: base + "world: {latency: 2501us}\nworkload: {hold: 1s}\n"},
		"one node of a lock of many":   {kind: "redlock", text: "lock: {ttl: 4s, nodes: 1}\nworld: {latency: 2501us}\nworkload: {hold: 1s}\n"},
		"one node":                     {text: base + "world: {latency: 2501us}\nworkload: {hold: 1s}\n", want: true},
		"a short section in Go":        {lock: works(t, 900*time.Millisecond), text: base + "workload: {hold: 2s}\n", want: true},
		"a section in Go that is long": {lock: works(t, 1100*time.Millisecond), text: base + "workload: {hold: 100ms}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			l := c.lock
			if l.New == nil {
				if c.kind == "" {
					c.kind = "single"
				}
				l = testruns.Kind(t, c.kind)
			}
			if got := historyOf(t, l, "name: calm\n"+c.text).Calm; got != c.want {
				t.Errorf("calm is %v, want %v", got, c.want)
			}
		})
	}
}

// A client is away while a fault keeps it from running, and while one keeps it from a server of the lock: from the
// instant at which the fault struck to its end, and for as much longer as the fault delays something. A fault that only
// moves clocks of servers, or takes their keys or scripts, keeps no client from anything. Both clients end their work
// at 10 s or later.
func TestAbsences(t *testing.T) {
	const both = "c0 away 1s to 3s, c1 away 1s to 3s"
	for fault, want := range map[string]string{
		"pause: {process: c0, for: 2s}":                                                "c0 stopped 1s to 3s",
		"slow: {process: c0, by: 500ms, for: 2s}":                                      "c0 stopped 1s to 3.5s",
		"exhaust_pool: {process: c0, for: 2s}":                                         "c0 stopped 1s to 3s",
		"clock_drift: {clock: c0, ppm: 1000, for: 2s}":                                 "c0 stopped 1s to 3s",
		"clock_freeze: {clock: c0, for: 2s}":                                           "c0 stopped 1s to 3s",
		"clock_drift: {clock: r0, ppm: 1000, for: 2s}":                                 "c0 stopped 1s to 3s, c1 stopped 1s to 3s",
		"crash: {process: c0}":                                                         "c0 crashed 1s to the end",
		"kill_worker: {process: c0}":                                                   "c0 crashed 1s to the end",
		"crash: {process: r0}":                                                         "c0 away 1s to the end, c1 away 1s to the end",
		"partition: {between: [c0], for: 2s}":                                          "c0 away 1s to 3s",
		"partition: {between: [c0]}":                                                   "c0 away 1s to the end",
		"partition: {between: [c0], and: [r0], for: 2s}":                               "c0 away 1s to 3s",
		"partition: {between: [r0], and: [c0], for: 2s}":                               "c0 away 1s to 3s",
		"partition: {between: [c0], and: [s0], for: 2s}":                               "",
		"partition: {between: [r0], for: 2s}":                                          both,
		"partition: {between: [s0], for: 2s}":                                          "",
		"partition: {between: [c0, r0], for: 2s}":                                      "c1 away 1s to 3s",
		"half_open: {between: [c0], and: [r0], for: 2s}":                               "c0 away 1s to 3s",
		"latency: {between: [c0], and: [r0], add: 200ms, jitter: 100ms, for: 2s}":      "c0 away 1s to 3.3s",
		"bandwidth: {between: [c0], and: [r0], rate: 100, for: 2s}":                    "c0 away 1s to 3s",
		"slice: {between: [c0], and: [r0], size: 8, delay: 1ms, for: 2s}":              "c0 away 1s to 3.001s",
		"slow_close: {between: [c0], and: [r0], delay: 1s, for: 2s}":                   "c0 away 1s to 4s",
		"refuse: {node: r0, for: 2s}":                                                  both,
		"stall: {node: r0, for: 2s}":                                                   both,
		"stall: {node: s0, for: 2s}":                                                   "",
		"read_only: {node: r0, for: 2s}":                                               both,
		"clock_jump: {clock: c0, by: 1s}":                                              "",
		"clock_jump: {clock: r0, by: 1ms}":                                             "",
		"evict: {node: r0}":                                                            "",
		"flush: {node: r0, what: scripts}":                                             "",
		"crash: {process: c0}}, {at: 3s, restart: {process: c0}":                       "c0 crashed 1s to 3s",
		"crash: {process: r0}}, {at: 3s, restart: {process: r0}":                       both,
		"pause: {process: c0, for: 2s}}, {at: 5s, partition: {between: [c1], for: 1s}": "c0 stopped 1s to 3s, c1 away 5s to 6s",
		"crash: {process: c0}}, {at: 3s, restart: {process: c0}}, {at: 4s, crash: {process: c0}}, {at: 5s, restart: {process: c0}": "c0 crashed 1s to 3s, c0 crashed 4s to 5s",
	} {
		t.Run(fault, func(t *testing.T) {
			h := historyOf(t, testruns.Kind(t, "single"),
				"name: away\nlock: {ttl: 1s}\nworkload: {rounds: 8, hold: 200ms, think: 1s, stagger: 100ms}\nfaults: [{at: 1s, "+fault+"}]\n")
			if got := absencesOf(h); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

// A stock client of the servers may pause for half a second after trouble of a link, and servers that form a cluster
// need their time to settle after trouble of one of them, or of a link among them, for all clients.
func TestAbsencesLastLonger(t *testing.T) {
	cluster := testruns.Kind(t, "single")
	cluster.Servers = play.Redis(3)
	cluster.Servers[0].Kind.Settles = 700 * time.Millisecond
	for _, c := range []struct {
		lock                play.Lock
		client, fault, want string
	}{
		{testruns.Kind(t, "single"), "stock", "pause: {process: c0, for: 2s}", "c0 stopped 1s to 3.512s"},
		{testruns.Kind(t, "single"), "stock", "partition: {between: [c0], for: 2s}", "c0 away 1s to 3.512s"},
		{testruns.Kind(t, "single"), "stock", "crash: {process: r0}}, {at: 3s, restart: {process: r0}", "c0 away 1s to 3.512s, c1 away 1s to 3.512s"},
		{testruns.Kind(t, "single"), "stock", "crash: {process: c0}}, {at: 3s, restart: {process: c0}", "c0 crashed 1s to 3s"},
		{cluster, "quiet", "pause: {process: c0, for: 2s}", "c0 stopped 1s to 3s"},
		{cluster, "quiet", "stall: {node: r1, for: 2s}", "c0 away 1s to 3.7s, c1 away 1s to 3.7s"},
		{cluster, "quiet", "stall: {node: s0, for: 2s}", ""},
		{cluster, "quiet", "partition: {between: [r1], for: 2s}", "c0 away 1s to 3.7s, c1 away 1s to 3.7s"},
		{cluster, "quiet", "partition: {between: [c0], for: 2s}", "c0 away 1s to 3s"},
		{cluster, "quiet", "crash: {process: r1}}, {at: 3s, restart: {process: r1}", "c0 away 1s to 3.7s, c1 away 1s to 3.7s"},
		{cluster, "stock", "crash: {process: r1}}, {at: 3s, restart: {process: r1}", "c0 away 1s to 4.212s, c1 away 1s to 4.212s"},
	} {
		t.Run(c.fault, func(t *testing.T) {
			h := historyOf(t, c.lock, "name: away\nworld: {redis: 3}\nlock: {ttl: 1s, client: "+c.client+"}\n"+
				"workload: {rounds: 8, hold: 200ms, think: 1s, stagger: 100ms}\nfaults: [{at: 1s, "+c.fault+"}]\n")
			if got := absencesOf(h); got != c.want {
				t.Errorf("%s client: got %q, want %q", c.client, got, c.want)
			}
		})
	}
}

// A fault without an end of its own keeps a client away from when it is first felt to when it is last felt, with the
// delay that it causes before: a message that is late left so much earlier. One that is not felt keeps no client away.
func TestAbsencesWhileFelt(t *testing.T) {
	const text = "name: felt\nlock: {ttl: 5s}\nworld: {clients: 1, latency: 1ms}\nworkload: {rounds: 3, hold: 200ms, think: 1s}\nfaults: [{at: %s, %s}]\n"
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

// A client that is granted the lock although its process has ended crashes at that instant, once more: the servers may have
// its key from then on.
func TestAbsenceOfALapsedGrant(t *testing.T) {
	l := testruns.Kind(t, "single")
	inner := l.New
	l.New = func(e play.Env) (lock.Locker, error) {
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
		spans := slices.SortedFunc(slices.Values(h.Timing.Away[client]), func(a, b checker.Absence) int { return int(a.From - b.From) })
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
