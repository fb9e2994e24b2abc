package file_test

import (
	"testing"
	"time"

	"locksim/checker"
	"locksim/faults"
	"locksim/lock/fence"
	"locksim/scenarios/file"
	"locksim/scenarios/kinds/server"
	"locksim/scenarios/zklocks/facts"
)

// TestParseErrors has the mistakes that a file can have. These can only be made in
// Go.
func TestValidateScenariosBuiltInGo(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spoil func(*file.Scenario)
		want  string
	}{
		{"nothing", func(*file.Scenario) {}, ""},
		{"at the limits", func(s *file.Scenario) {
			s.World = file.World{Redis: file.MaxRedis, Clients: file.MaxClients, Latency: file.Range{0, file.MaxLatency}}
			s.Workload.Rounds, s.Workload.Think = file.MaxRounds, file.MaxDuration
			s.Faults = make([]faults.Fault, file.MaxFaults)
			for i := range s.Faults {
				s.Faults[i] = faults.Fault{At: file.MaxDuration, Action: faults.Pause{Process: "c15", For: file.MaxDuration}}
			}
		}, ""},
		{"latency without end", func(s *file.Scenario) { s.World.Latency.Max = time.Hour },
			"world.latency: 1h0m0s is too long: a message takes up to 1m0s, or delay the messages that matter by a fault"},
		{"steps of a clock that are no part of a millisecond",
			func(s *file.Scenario) { s.World.ClockStep = 3 * time.Microsecond },
			"world.clock_step: 3µs is no whole part of 1ms: give a length such as 1µs, 100µs or 1ms, or 0s for none"},
		{"steps of a clock longer than a message", func(s *file.Scenario) {
			s.World.ClockStep, s.World.Latency.Min = time.Millisecond, 100*time.Microsecond
		}, "world.clock_step: 1ms is longer than the shortest message, which takes 100µs, and no lock can tell in time by " +
			"such a clock: make it shorter, or world.latency longer"},
		{"a day of tries", func(s *file.Scenario) {
			s.Lock.TTL, s.Workload.Hold, s.Lock.Backoff = 24*time.Hour, 24*time.Hour,
				file.Range{time.Millisecond, 100 * time.Millisecond}
		}, "workload.hold: while one client holds the lock for 24h0m0s, each other one tries 864000 times, once in 100ms: " +
			"more than a run can play. Make hold or ttl shorter, or lock.backoff longer"},
		{"a day with a notice", func(s *file.Scenario) {
			s.Lock.TTL, s.Workload.Hold, s.Lock.Wait = 24*time.Hour, 24*time.Hour, file.WaitNotify
		}, ""},
		{"a day alone", func(s *file.Scenario) {
			s.Lock.TTL, s.Workload.Hold, s.World.Clients = 24*time.Hour, 24*time.Hour, 1
		}, ""},
		{"zero value", func(s *file.Scenario) { *s = file.Scenario{} },
			`name: "" cannot be a name: use up to 64 of a-z, 0-9 and -`},
		{"unknown care", func(s *file.Scenario) { s.Workload.ChecksUntil = "" },
			`workload.checks_until: the word is empty: write never, lost or steps`},
		{"no action", func(s *file.Scenario) { s.Faults = []faults.Fault{{}} },
			"faults[0].action: the fault does nothing: give it an action, such as a pause"},
		{"too many faults", func(s *file.Scenario) { s.Faults = make([]faults.Fault, file.MaxFaults+1) },
			"faults: there are 65: a scenario has at most 64"},
		{"pause without end", func(s *file.Scenario) {
			s.Faults = []faults.Fault{{Action: faults.Pause{Process: "c0", For: file.MaxDuration + 1}}}
		}, "faults[0].pause.for: 24h0m0.000000001s is out of range: give a time from 0s to 24h"},
		{"cut without end", func(s *file.Scenario) {
			s.Faults = []faults.Fault{{Action: faults.Partition{Between: []string{"c0"}, For: 25 * time.Hour}}}
		}, "faults[0].partition.for: 25h0m0s is out of range: give a time from 0s to 24h"},
		{"a fault that cannot strike a server", func(s *file.Scenario) {
			s.World.Redis, s.World.Servers = 0,
				[]file.ServerCount{{Facts: server.Facts{Name: "etcd", Prefix: "e", Leader: "leader", Lacks: facts.Server.Lacks},
					Count: 3}}
			s.Faults = []faults.Fault{{Action: faults.Stall{Node: "e0", For: time.Second}},
				{Action: faults.ClockJump{Clock: "leader", By: time.Second}}}
		}, "faults[1].clock_jump.clock: leader is one of the etcd servers, which clock_jump cannot strike: Redis nodes " +
			"have it"},
		{"the pool of a client that has none", func(s *file.Scenario) {
			s.World.Redis, s.World.Servers = 0,
				[]file.ServerCount{{Facts: server.Facts{Name: "etcd", Prefix: "e", Lacks: facts.Server.Lacks}, Count: 3}}
			s.Faults = []faults.Fault{{Action: faults.ExhaustPool{Process: "c0", For: time.Second}}}
		}, "faults[0].exhaust_pool.process: c0 is one of the clients of etcd servers, which exhaust_pool cannot strike: " +
			"Redis nodes have it"},
		{"the pool of a client with Redis nodes too", func(s *file.Scenario) {
			s.World.Servers = []file.ServerCount{{Facts: server.Facts{Name: "etcd", Prefix: "e", Lacks: facts.Server.Lacks},
				Count: 3}}
			s.Faults = []faults.Fault{{Action: faults.ExhaustPool{Process: "c0", For: time.Second}}}
		}, ""},
		{"the same fault elsewhere", func(s *file.Scenario) {
			s.World.Servers = []file.ServerCount{{Facts: server.Facts{Name: "etcd", Prefix: "e", Lacks: facts.Server.Lacks},
				Count: 3}}
			s.Faults = []faults.Fault{{Action: faults.ClockJump{Clock: "c0", By: time.Second}},
				{Action: faults.ClockJump{Clock: "r0", By: time.Second}}}
		}, ""},
		{"unknown lock", func(s *file.Scenario) { s.Expect = expectation("", fence.None, checker.Safe) },
			`expect.: "" cannot be a kind of lock: write a word such as fenced`},
		{"unknown mode", func(s *file.Scenario) { s.Expect = expectation("fenced", "seel", checker.Safe) },
			`expect.fenced.seel: there is no fencing mode "seel": did you mean seal? Or choose one of none, check, seal, strict, claim, cas`},
		{"unknown label", func(s *file.Scenario) { s.Expect = expectation("fenced", fence.None, "") },
			`expect.fenced.none: there is no label "": choose one of corrupted, unknown, panicked, stuck, hung, false-reject, rescued, void, revived, misconduct, overtaken, repeated, regressed, overlap, untested, safe, n/a`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := file.Defaults()
			s.Name = "built-in-go"
			tt.spoil(s)
			got := ""
			if err := s.Validate(); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("Validate:\n got %s\nwant %s", got, tt.want)
			}
		})
	}
}

func expectation(kind string, mode fence.Mode, label checker.Label) map[string]map[fence.Mode]checker.Label {
	return map[string]map[fence.Mode]checker.Label{kind: {mode: label}}
}

func TestRangeString(t *testing.T) {
	for r, want := range map[file.Range]string{
		{}: "0s", {time.Millisecond, time.Millisecond}: "1ms", {time.Millisecond, 5 * time.Second}: "1ms..5s",
	} {
		if got := r.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
