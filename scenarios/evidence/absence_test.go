package evidence_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"locksim/checker"
	"locksim/scenarios/evidence"
	"locksim/sim/trace"
)

// absencesOf lists the absences of a history, by client and beginning.
func absencesOf(h checker.History) string {
	var all []string
	for _, client := range slices.Sorted(maps.Keys(h.Timing.Away)) {
		spans := slices.SortedFunc(slices.Values(h.Timing.Away[client]),
			func(a, b checker.Absence) int { return int(a.From - b.From) })
		for _, a := range spans {
			how := "stopped"
			switch {
			case a.Crash:
				how = "crashed"
			case a.Behind:
				how = "behind"
			case a.Running:
				how = "away"
			}
			all = append(all, strings.ReplaceAll(fmt.Sprintf("%s %s %v to %v", client, how, a.From, a.To), "to 9s",
				"to the end"))
		}
	}
	return strings.Join(all, ", ")
}

// checkAbsences compares the absences of runs with what is wanted, by what goes wrong after 1 s.
func checkAbsences(t *testing.T, base string, change func(r *run), want map[string]string) {
	t.Helper()
	for fault, want := range want {
		r := runOf(t, base+"faults: [{at: 1s, "+fault+"}]\n").with(change)
		if got := absencesOf(r.history()); got != want {
			t.Errorf("%s: got %q, want %q", fault, got, want)
		}
	}
}

// A client is away while a fault keeps it from running, and while one keeps it from a server of the lock: from the
// instant at which the fault struck to its end, and for as much longer as the fault delays something. A fault that only
// moves clocks of servers, or takes their keys or scripts, keeps no client from anything.
func TestAbsences(t *testing.T) {
	const both, stopped = "c0 away 1s to 3s, c1 away 1s to 3s", "c0 stopped 1s to 3s, c1 stopped 1s to 3s"
	const down, twoFaults = "c0 away 1s to the end, c1 away 1s to the end", "c0 stopped 1s to 3s, c1 away 5s to 6s"
	checkAbsences(t, "", nil, map[string]string{
		"pause: {process: c0, for: 2s}":                                                "c0 stopped 1s to 3s",
		"slow: {process: c0, by: 500ms, for: 2s}":                                      "c0 stopped 1s to 3.5s",
		"exhaust_pool: {process: c0, for: 2s}":                                         "c0 stopped 1s to 3s",
		"clock_drift: {clock: c0, ppm: 1000, for: 2s}":                                 "c0 stopped 1s to 3s",
		"clock_freeze: {clock: c0, for: 2s}":                                           "c0 stopped 1s to 3s",
		"clock_drift: {clock: r0, ppm: 1000, for: 2s}":                                 stopped,
		"crash: {process: c0}":                                                         "c0 crashed 1s to the end",
		"kill_worker: {process: c0}":                                                   "c0 crashed 1s to the end",
		"crash: {process: r0}":                                                         down,
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
		"pause: {process: c0, for: 2s}}, {at: 5s, partition: {between: [c1], for: 1s}": twoFaults,
	})
}

// A fault that has not struck, or was over before it was felt, keeps no client away.
func TestAbsencesOfFaultsThatDidNotStrike(t *testing.T) {
	checkAbsences(t, "", func(r *run) { r.rec.Faults[0].Fired = false }, map[string]string{
		"pause: {process: c0, for: 2s}":                                 "",
		"partition: {between: [c0]}":                                    "",
		"crash: {process: c1}}, {at: 2s, pause: {process: c0, for: 1s}": "c0 stopped 2s to 3s, c1 crashed 1s to the end",
	})
}

// What strikes after the end of the workload lasts for no time before it.
func TestAbsencesAfterTheEnd(t *testing.T) {
	late := func(r *run) {
		r.rec.Faults[0].Struck = tenth(95)
		for i := range r.rec.Timeline.Ends {
			r.rec.Timeline.Ends[i].At = 95
		}
	}
	checkAbsences(t, "", late, map[string]string{
		"partition: {between: [c0]}": "c0 away 9.5s to 9.5s",
		"crash: {process: c1}":       "c1 crashed 9.5s to 9.5s",
	})
}

// A fault without an end of its own keeps a client away from when it is first felt to when it is last felt, with the
// delay that it causes before: a message that is late left so much earlier. One that is not felt keeps no client away.
func TestAbsencesWhileFelt(t *testing.T) {
	for _, c := range []struct {
		fault string
		felt  []time.Duration
		want  string
	}{
		{"delay_message: {between: [c0], and: [r0], by: 400ms}", []time.Duration{tenth(20)}, "c0 away 1.6s to 2s"},
		{"lose_reply: {between: [c0], and: [r0]}", []time.Duration{tenth(20)}, "c0 away 2s to 2s"},
		{"lose_reply: {between: [c0], and: [r0], count: 3}", []time.Duration{tenth(20), tenth(25)}, "c0 away 2s to 2.5s"},
		{"lose_reply: {between: [c0], and: [r0]}", nil, ""},
		{"reset: {between: [c0], and: [r0]}", []time.Duration{tenth(12)}, "c0 away 1.2s to 1.2s"},
		{"reset: {between: [c0], and: [s0]}", []time.Duration{tenth(12)}, ""},
		{"evict: {node: r0}", []time.Duration{tenth(12)}, ""},
	} {
		r := runOf(t, "faults: [{at: 1s, "+c.fault+"}]\n")
		r.rec.Faults[0].Felt = c.felt
		if got := absencesOf(r.history()); got != c.want {
			t.Errorf("%s, felt at %v: got %q, want %q", c.fault, c.felt, got, c.want)
		}
	}
}

// A stock client of the servers may pause for half a second after trouble of a link or of its own, one that asks
// Sentinels for longer.
func TestAbsencesLastLonger(t *testing.T) {
	faults := map[string]string{
		"pause: {process: c0, for: 2s}":                          "c0 stopped 1s to 3.512s",
		"partition: {between: [c0], for: 2s}":                    "c0 away 1s to 3.512s",
		"crash: {process: r0}}, {at: 3s, restart: {process: r0}": "c0 away 1s to 3.512s, c1 away 1s to 3.512s",
		"crash: {process: c0}}, {at: 3s, restart: {process: c0}": "c0 crashed 1s to 3s",
	}
	checkAbsences(t, "lock: {client: stock}\n", nil, faults)
	for fault, want := range faults {
		faults[fault] = strings.ReplaceAll(want, "3.512s", "11s")
	}
	checkAbsences(t, "lock: {client: stock}\n", func(r *run) { r.terms.Watched = true }, faults)
}

// Servers that form a cluster need their time to settle after trouble of one of them, or of a link among them, for all
// clients.
func TestAbsencesOfACluster(t *testing.T) {
	const both = "c0 away 1s to 3.7s, c1 away 1s to 3.7s"
	base := "world: {redis: 3}\n"
	cluster := func(r *run) { r.terms.Settles = 700 * time.Millisecond }
	checkAbsences(t, base, cluster, map[string]string{
		"pause: {process: c0, for: 2s}":                          "c0 stopped 1s to 3s",
		"stall: {node: r1, for: 2s}":                             both,
		"stall: {node: s0, for: 2s}":                             "",
		"partition: {between: [r1], for: 2s}":                    both,
		"partition: {between: [c0], and: [r2], for: 2s}":         both,
		"partition: {between: [c0], for: 2s}":                    "c0 away 1s to 3s",
		"crash: {process: r1}}, {at: 3s, restart: {process: r1}": both,
	})
	base += "lock: {client: stock}\n"
	checkAbsences(t, base, cluster, map[string]string{
		"crash: {process: r1}}, {at: 3s, restart: {process: r1}": "c0 away 1s to 4.212s, c1 away 1s to 4.212s",
		"stall: {node: r1, for: 2s}":                             "c0 away 1s to 4.212s, c1 away 1s to 4.212s",
	})
}

// Whichever server of a cluster leads is one of its servers.
func TestAbsencesOfALeader(t *testing.T) {
	cluster := func(r *run) {
		r.rec.Servers = trace.Servers{{Name: "e0", Kind: "etcd", Role: trace.RoleMember},
			{Name: "e1", Kind: "etcd", Role: trace.RoleMember}}
		r.terms.Settles, r.terms.Leaders = 700*time.Millisecond, []string{"leader"}
	}
	checkAbsences(t, "world: {etcd: 3}\n", cluster, map[string]string{
		"stall: {node: leader, for: 2s}":                 "c0 away 1s to 3.7s, c1 away 1s to 3.7s",
		"partition: {between: [leader], for: 2s}":        "c0 away 1s to 3.7s, c1 away 1s to 3.7s",
		"partition: {between: [e0], and: [e1], for: 2s}": "c0 away 1s to 3.7s, c1 away 1s to 3.7s",
	})
}

// A lock that needs replicas is granted to nobody while the links between them and the primary are in trouble: a client
// reaches the servers that it asks, and waits behind.
func TestAbsencesBehind(t *testing.T) {
	family := func(r *run) {
		r.rec.Servers = trace.Servers{{Name: "r0", Family: "r0", Role: trace.RolePrimary},
			{Name: "r0a", Family: "r0", Role: trace.RoleReplica}, {Name: "r1"}}
	}
	const link, both = "partition: {between: [r0], and: [r0a], for: 2s}", "c0 behind 1s to 3s, c1 behind 1s to 3s"
	base := "world: {redis: 2, replicas: 1}\n"
	checkAbsences(t, base, family, map[string]string{link: ""})
	checkAbsences(t, base, func(r *run) { family(r); r.terms.Replicas = 1 }, map[string]string{
		link: both,
		"partition: {between: [r0a], and: [r0], for: 2s}": both,
		"partition: {between: [c0], and: [r0], for: 2s}":  "c0 away 1s to 3s",
		"pause: {process: c0, for: 2s}":                   "c0 stopped 1s to 3s",
	})
}

// A client that has ended by itself, as it was asked to, is not away. One that is granted the lock although its process
// has ended crashes at that instant, once more: the servers may have its key from then on.
func TestAbsencesOfEndedClients(t *testing.T) {
	for name, c := range map[string]struct {
		change func(r *run)
		want   string
	}{
		"it crashed again, and was restarted": {func(r *run) {
			r.rec.Timeline.Ends = append(r.rec.Timeline.Ends, evidence.End{At: 40, Name: "c0"})
			r.rec.Timeline.Starts = append(r.rec.Timeline.Starts, evidence.Start{At: 50, Name: "c0"})
		}, "c0 crashed 1s to 3s, c0 crashed 4s to 5s"},
		"it exited": {func(r *run) { r.rec.Timeline.Ends[0].Exit = true }, ""},
		"it was granted the lock later": {func(r *run) { r.rec.Clients[0].Lapsed = []time.Duration{tenth(35)} },
			"c0 crashed 1s to 3s, c0 crashed 3.5s to 3.5s"},
		"restarted, and two lives": {func(r *run) { r.rec.Clients = append(r.rec.Clients, evidence.Client{Name: "c0"}) },
			"c0 crashed 1s to 3s"},
		"another was restarted": {func(r *run) { r.rec.Timeline.Starts[0].Name = "c1" }, "c0 crashed 1s to the end"},
		"restarted before":      {func(r *run) { r.rec.Timeline.Starts[0].At = 5 }, "c0 crashed 1s to the end"},
	} {
		r := runOf(t, "faults: [{at: 1s, crash: {process: c0}}, {at: 3s, restart: {process: c0}}]\n").with(c.change)
		if got := absencesOf(r.history()); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
