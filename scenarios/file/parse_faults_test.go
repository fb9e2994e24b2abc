package file

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"locksim/faults"
)

const ms = time.Millisecond

// everyAction is each kind of action as a file writes it, first with the required
// keys and then with all of them, in a world of two clients, five Redis nodes and
// two replicas.
var everyAction = []struct {
	source string
	want   faults.Action
}{
	{"pause: {process: c0, for: 15s}", faults.Pause{Process: "c0", For: 15 * time.Second}},
	{"crash: {process: c0}", faults.Crash{Process: "c0", Mode: faults.CrashProcess}},
	{"crash: {process: r4, mode: power}", faults.Crash{Process: "r4", Mode: faults.CrashPower}},
	{"restart: {process: r0b}", faults.Restart{Process: "r0b"}},
	{"slow: {process: c1, by: 2s}", faults.Slow{Process: "c1", By: 2 * time.Second}},
	{"slow: {process: c1, by: 2s, for: 1ms}", faults.Slow{Process: "c1", By: 2 * time.Second, For: ms}},
	{"kill_worker: {process: c0}", faults.KillWorker{Process: "c0"}},
	{"exhaust_pool: {process: c0}", faults.ExhaustPool{Process: "c0"}},
	{"exhaust_pool: {process: c0, for: 1ms}", faults.ExhaustPool{Process: "c0", For: ms}},
	{"clock_jump: {clock: r0, by: 5s}", faults.ClockJump{Clock: "r0", By: 5 * time.Second}},
	{"clock_jump: {clock: c0, by: -5s}", faults.ClockJump{Clock: "c0", By: -5 * time.Second}},
	{"clock_drift: {clock: c0, ppm: 10000}", faults.ClockDrift{Clock: "c0", PPM: 10_000}},
	{"clock_drift: {clock: r0a, ppm: -1000000, for: 1ms}", faults.ClockDrift{Clock: "r0a", PPM: -1_000_000, For: ms}},
	{"clock_freeze: {clock: r0}", faults.ClockFreeze{Clock: "r0"}},
	{"clock_freeze: {clock: r0, for: 1ms}", faults.ClockFreeze{Clock: "r0", For: ms}},
	{"latency: {between: [c0], add: 50ms}", faults.Latency{Between: []string{"c0"}, Add: 50 * ms,
		Direction: faults.DirectionBoth}},
	{"latency: {between: [r0], and: [c1], add: 0s, jitter: 2ms, for: 1ms, direction: forward}",
		faults.Latency{Between: []string{"r0"}, And: []string{"c1"}, Jitter: 2 * ms, For: ms,
			Direction: faults.DirectionForward}},
	{"bandwidth: {between: [c0], rate: 10}", faults.Bandwidth{Between: []string{"c0"}, Rate: 10,
		Direction: faults.DirectionBoth}},
	{"bandwidth: {between: [c0], and: [s0], rate: 10, for: 1ms, direction: backward}",
		faults.Bandwidth{Between: []string{"c0"}, And: []string{"s0"}, Rate: 10, For: ms,
			Direction: faults.DirectionBackward}},
	{"slice: {between: [c0], size: 8}", faults.Slice{Between: []string{"c0"}, Size: 8, Direction: faults.DirectionBoth}},
	{"slice: {between: [c0], and: [r0], size: 8, delay: 5us, for: 1ms, direction: both}",
		faults.Slice{Between: []string{"c0"}, And: []string{"r0"}, Size: 8, Delay: 5 * time.Microsecond, For: ms,
			Direction: faults.DirectionBoth}},
	{"slow_close: {between: [c0], delay: 5s}", faults.SlowClose{Between: []string{"c0"}, Delay: 5 * time.Second,
		Direction: faults.DirectionBoth}},
	{"slow_close: {between: [c0], and: [r0], delay: 5s, for: 1ms, direction: forward}",
		faults.SlowClose{Between: []string{"c0"}, And: []string{"r0"}, Delay: 5 * time.Second, For: ms,
			Direction: faults.DirectionForward}},
	{"lose_reply: {between: [c0]}", faults.LoseReply{Between: []string{"c0"}, Count: 1}},
	{"lose_reply: {between: [c0, c1], and: [r0, s0], count: 3}",
		faults.LoseReply{Between: []string{"c0", "c1"}, And: []string{"r0", "s0"}, Count: 3}},
	{"delay_message: {between: [c0], by: 15s}",
		faults.DelayMessage{Between: []string{"c0"}, By: 15 * time.Second, Direction: faults.DirectionForward}},
	{"delay_message: {between: [c0], and: [s0], by: 15s, direction: both}",
		faults.DelayMessage{Between: []string{"c0"}, And: []string{"s0"}, By: 15 * time.Second,
			Direction: faults.DirectionBoth}},
	{"partition: {between: [r0], and: [r0a, r0b], for: 1ms, bytes: drop, direction: forward}",
		faults.Partition{Between: []string{"r0"}, And: []string{"r0a", "r0b"}, For: ms, Bytes: faults.BytesDrop,
			Direction: faults.DirectionForward}},
	{"reset: {between: [c0, c1], and: [r0, s0]}", faults.Reset{Between: []string{"c0", "c1"}, And: []string{"r0", "s0"}}},
	{"refuse: {node: s0}", faults.Refuse{Node: "s0"}},
	{"refuse: {node: r0, for: 1ms}", faults.Refuse{Node: "r0", For: ms}},
	{"stall: {node: r0}", faults.Stall{Node: "r0"}},
	{"stall: {node: s0, for: 1ms}", faults.Stall{Node: "s0", For: ms}},
	{"failover: {}", faults.Failover{To: "r0a", Old: faults.OldFenced}},
	{"failover: {to: r0b, old: serving, clients: [c1]}", faults.Failover{To: "r0b", Old: faults.OldServing,
		Clients: []string{"c1"}}},
	{"failover: {to: r0, old: demoted}", faults.Failover{To: "r0", Old: faults.OldDemoted}},
	{"evict: {node: r0}", faults.Evict{Node: "r0", Policy: faults.EvictAllKeysLRU, Keys: 1}},
	{"evict: {node: r0a, policy: volatile-ttl, keys: 3}", faults.Evict{Node: "r0a", Policy: faults.EvictVolatileTTL,
		Keys: 3}},
	{"flush: {node: r0}", faults.Flush{Node: "r0", What: faults.FlushKeys}},
	{"flush: {node: r0, what: scripts}", faults.Flush{Node: "r0", What: faults.FlushScripts}},
	{"read_only: {node: r0}", faults.ReadOnly{Node: "r0"}},
	{"read_only: {node: r0, for: 1ms}", faults.ReadOnly{Node: "r0", For: ms}},
}

// worldFor is a world that has whom an action names.
func worldFor(action string) string {
	if strings.HasPrefix(action, "sentinel_") {
		return strings.Replace(bigWorld, "replicas: 2", "replicas: 2, sentinel: 3", 1)
	}
	if strings.HasPrefix(action, "cluster_") || strings.HasPrefix(action, "move_slot") {
		return strings.NewReplacer("redis: 5", "cluster: 6", ", replicas: 2", "").Replace(bigWorld)
	}
	if strings.HasPrefix(action, "leave") || strings.HasPrefix(action, "end_session") {
		return strings.Replace(bigWorld, "redis: 5, clients: 2, latency: 1ms, replicas: 2", "etcd: 3", 1)
	}
	return bigWorld
}

const bigWorld = "name: x\nworld: {redis: 5, clients: 2, latency: 1ms, replicas: 2}\nfaults:\n"

// The run gets the action that the file has, and Format writes it so that Parse
// reads back the same.
func TestParseEveryAction(t *testing.T) {
	for _, tt := range everyAction {
		s, err := Parse("x.yaml", []byte(bigWorld+"  - when: {client: c0, event: read}\n    after: 7ms\n    "+tt.source+"\n"))
		if err != nil {
			t.Error(err)
			continue
		}
		want := []faults.Fault{{When: &faults.Event{Client: "c0", Name: "read", Nth: 1}, After: 7 * ms, Action: tt.want}}
		if diff := cmp.Diff(want, s.Faults, ignoreSource); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.source, diff)
		}
		source, err := Format(s)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse("again.yaml", source)
		if err != nil {
			t.Errorf("%v\n%s", err, source)
			continue
		}
		if diff := cmp.Diff(s.Faults, again.Faults, ignoreSource); diff != "" {
			t.Errorf("%s after Format (-before +after):\n%s", tt.source, diff)
		}
	}
}

// exampleSources are the examples of the forms: a fault of each kind with every
// key.
func exampleSources() []string {
	var out []string
	for _, k := range faults.Kinds() {
		var keys []string
		for _, field := range k.Fields {
			keys = append(keys, field.Example())
		}
		out = append(out, fmt.Sprintf("%s: {%s}", k.Name, strings.Join(keys, ", ")))
	}
	return out
}

// The examples of each kind are valid in a file.
func TestParseExamples(t *testing.T) {
	for _, source := range exampleSources() {
		if _, err := Parse("x.yaml", []byte(worldFor(source)+"  - at: 3s\n    "+source+"\n")); err != nil {
			t.Error(err)
		}
	}
}

// What to write in place of a word of another tool can be read, and each such word that is none of ours is refused
// with it.
func TestParseWordsOfOtherTools(t *testing.T) {
	known := append(triggers, "every")
	for _, k := range faults.Kinds() {
		known = append(known, k.Name)
	}
	for _, e := range faults.AllElsewhere() {
		if e.Ours != "" {
			world := bigWorld
			if strings.Contains(e.Ours, "leave") {
				world = worldFor("leave")
			}
			if _, err := Parse("x.yaml", []byte(world+"  - "+e.Ours+"\n")); err != nil {
				t.Errorf("%s of %s: %v", e.Name, e.Tool, err)
			}
		}
		if slices.Contains(known, e.Name) {
			continue
		}
		for _, word := range []string{e.Name, strings.ToUpper(strings.ReplaceAll(e.Name, "-", "_"))} {
			_, err := Parse("x.yaml", []byte(bigWorld+"  - at: 3s\n    "+word+": {between: [c0]}\n"))
			if err == nil || !strings.Contains(err.Error(), e.Name+" of ") || !strings.Contains(err.Error(), e.Ours) {
				t.Errorf("%s of %s: %v", word, e.Tool, err)
			}
		}
	}
}

// badActions are mistakes in a fault, each with the position of the caret and the
// message.
var badActions = []struct{ source, want string }{
	{"after: 1s", "x.yaml:4:5: faults[0] lacks an action: add one, such as pause: {process: c0, for: 15s}"},
	{"after: 1s\n    stall: {node: r0}", "x.yaml:5:12: faults[0].after: there is no event that it could be after: add " +
		"when, or put the time into at"},
	{"restart: {}", "x.yaml:5:5: faults[0].restart lacks the key process: add one, such as process: c0"},
	{"restart: {process: s0}",
		`x.yaml:5:24: faults[0].restart.process: there is no "s0" here: choose from the clients c0 and c1 (holder for the one that has the lock), the Redis nodes r0 to r4, and the replicas r0a and r0b`},
	{"crash: {process: c0, mode: \"\"}", "x.yaml:5:32: faults[0].crash.mode: the value is empty: write one such as " +
		"mode: process, or leave mode out (default: process)"},
	{"slow: {process: r0, by: 1s}",
		`x.yaml:5:21: faults[0].slow.process: there is no client "r0": world.clients makes c0 and c1`},
	{"duplicate: {between: [c0], percent: 40}", `x.yaml:5:5: faults[0] has no key "duplicate": for duplicate of Chaos Mesh ` +
		"write {at: 3s, lose_reply: {between: [c0], and: [r0]}} (TCP gives a program each byte once; what a server gets " +
		"twice is a request that was sent again when its answer was lost, by a client such as lock: {client: stock})"},
	{"reset: {between: [c1], and: [r0], probability: 80}", `x.yaml:5:39: faults[0].reset has no key "probability": it says ` +
		"when the fault strikes, and stands beside reset: write {probability: …, reset: {…}}"},
	{"reset: {between: [c1], and: [r0], toxicity: 0.8}", `x.yaml:5:39: faults[0].reset has no key "toxicity": for toxicity ` +
		"of Toxiproxy write {every: 500ms, probability: 80, reset: {between: [c0], and: [r0]}} (it is probability, in " +
		"percent, of each strike)"},
	{"loss: {between: [c0], and: [r0], percent: 101}",
		"x.yaml:5:47: faults[0].loss.percent: 101 is out of range: give 1 to " +
			"100 percent"},
	{"probability: 0.8\n    stall: {node: r0}",
		"x.yaml:5:18: faults[0].probability: want a percentage from 1 to 99, such as 80, " +
			"found the number 0.8"},
	{"times: 3\n    stall: {node: r0}", "x.yaml:5:12: faults[0].times: the fault strikes once: add the time from one " +
		"strike to the next, such as every: 15s, or leave times out"},
	{"slow: {process: c0}", "x.yaml:5:5: faults[0].slow lacks the key by: add one, such as by: 2s"},
	{"slow: {process: c0, by: 25h}", "x.yaml:5:29: faults[0].slow.by: 25h0m0s is out of range: give a time from 0s " +
		"to 24h"},
	{"slow: {process: c0, by: 1s, for: 0s}", "x.yaml:5:38: faults[0].slow.for: the value is empty: write one such as " +
		"for: 15s, or leave for out (default: until every client has ended its workload)"},
	{"kill_worker: {process: c0, for: 1s}", `x.yaml:5:32: faults[0].kill_worker has no key "for": choose one of process`},
	{"exhaust_pool: {process: c7}",
		`x.yaml:5:29: faults[0].exhaust_pool.process: there is no client "c7": world.clients makes c0 and c1`},
	{"clock_jump: {clock: s0, by: 1s}",
		`x.yaml:5:25: faults[0].clock_jump.clock: there is no "s0" here: choose from the clients c0 and c1 (holder for the one that has the lock), the Redis nodes r0 to r4, and the replicas r0a and r0b`},
	{"clock_jump: {clock: r0, by: 5}", "x.yaml:5:33: faults[0].clock_jump.by: want a length of time with its unit, such " +
		"as 2s or 500ms, found the number 5"},
	{"clock_jump: {clock: r0, by: 0s}", "x.yaml:5:33: faults[0].clock_jump.by: 0s is nothing: give a time such as 5s " +
		"or -5s"},
	{"clock_jump: {clock: r0, by: -25h}", "x.yaml:5:33: faults[0].clock_jump.by: 25h0m0s is out of range: give a time " +
		"from 0s to 24h"},
	{"clock_drift: {clock: r0, ppm: 1%}",
		`x.yaml:5:35: faults[0].clock_drift.ppm: want a whole number, such as 3, found "1%"`},
	{"clock_drift: {clock: r0, ppm: 9000001}", "x.yaml:5:35: faults[0].clock_drift.ppm: 9000001 is out of range: give " +
		"-1000000 to 9000000 millionths of the true rate, but not 0"},
	{"clock_freeze: {clock: r0c}",
		`x.yaml:5:27: faults[0].clock_freeze.clock: there is no "r0c" here: choose from the clients c0 and c1 (holder for the one that has the lock), the Redis nodes r0 to r4, and the replicas r0a and r0b`},
	{"latency: {add: 1s}", "x.yaml:5:5: faults[0].latency lacks the key between: add one, such as between: [c0]"},
	{"latency: {between: [c0]}", "x.yaml:5:5: faults[0].latency.add: nothing is late: give add, jitter or both, such " +
		"as 50ms"},
	{"latency: {between: [c0], add: 1s, direction: up}",
		`x.yaml:5:50: faults[0].latency.direction: "up" is not known: choose both, forward or backward`},
	{"latency: {between: [r0], and: [r0a], add: 1s}", "x.yaml:5:15: faults[0].latency.between: no link of this kind " +
		"leads from one side to the other: put clients on one and nodes on the other; between r0 and its replicas only a " +
		"partition can be"},
	{"partition: {between: [c0], and: [c1]}", "x.yaml:5:17: faults[0].partition.between: no link of this kind leads " +
		"from one side to the other: put clients on one and nodes on the other; between r0 and its replicas only a " +
		"partition can be"},
	{"partition: {between: [r0, r1], and: [r2]}", "x.yaml:5:17: faults[0].partition.between: no link of this kind leads " +
		"from one side to the other: put clients on one and nodes on the other; between r0 and its replicas only a " +
		"partition can be"},
	{"slice: {between: [c0, c1, r0, r1, r2, r3, r4, r0a, r0b, s0], size: 1}", "x.yaml:5:13: faults[0].slice.between: no " +
		"link of this kind leads from one side to the other: put clients on one and nodes on the other; between r0 and its " +
		"replicas only a partition can be"},
	{"bandwidth: {between: [c0], rate: 0}", "x.yaml:5:38: faults[0].bandwidth.rate: 0 is out of range: give 1 to " +
		"1000000 KB/s"},
	{"slice: {between: [c0]}", "x.yaml:5:5: faults[0].slice lacks the key size: add one, such as size: 8, in bytes"},
	{"slice: {between: [c0, r7], size: 1}",
		`x.yaml:5:27: faults[0].slice.between[1]: there is no "r7" here: choose from the clients c0 and c1 (holder for the one that has the lock), the Redis nodes r0 to r4, the replicas r0a and r0b, and the store s0`},
	{"slow_close: {between: [c0], delay: 1us}", "x.yaml:5:40: faults[0].slow_close.delay: 1µs is not a whole number of " +
		"milliseconds: the toxic counts no finer"},
	{"lose_reply: {between: [r0]}",
		`x.yaml:5:28: faults[0].lose_reply.between[0]: there is no client "r0": world.clients makes c0 and c1`},
	{"lose_reply: {between: [c0], and: [c1]}",
		`x.yaml:5:39: faults[0].lose_reply.and[0]: there is no "c1" here: choose from the Redis nodes r0 to r4, the replicas r0a and r0b, and the store s0`},
	{"lose_reply: {between: [c0], count: 0}", "x.yaml:5:40: faults[0].lose_reply.count: the value is empty: write one " +
		"such as count: 1, or leave count out (default: 1)"},
	{"lose_reply: {between: [c0], count: 1001}", "x.yaml:5:40: faults[0].lose_reply.count: 1001 is out of range: give 1 " +
		"to 1000 replies"},
	{"delay_message: {between: [c0], by: -1s}", "x.yaml:5:40: faults[0].delay_message.by: -1s is no length of time: " +
		"give one such as 15s"},
	{"delay_message: {between: [c0], and: s0, by: 1s}",
		`x.yaml:5:41: faults[0].delay_message.and: want a list, such as [c0], found "s0"`},
	{"reset: {between: [c0]}", "x.yaml:5:5: faults[0].reset lacks the key and: add one, such as and: [r0]"},
	{"reset: {between: [c0], and: []}", "x.yaml:5:28: faults[0].reset.and: no name is given: say which nodes are on the " +
		"other side, such as [r0]"},
	{"refuse: {node: c0}",
		`x.yaml:5:20: faults[0].refuse.node: there is no "c0" here: choose from the Redis nodes r0 to r4, the replicas r0a and r0b, and the store s0`},
	{"stall: {node: r0, for: -1s}", "x.yaml:5:28: faults[0].stall.for: -1s is no length of time: give one such as 15s"},
	{"failover: {to: r1}",
		`x.yaml:5:20: faults[0].failover.to: there is no "r1" here: choose from the first primary r0, and the replicas r0a and r0b`},
	{"failover: {old: dead}",
		`x.yaml:5:21: faults[0].failover.old: "dead" is not known: choose fenced, serving or demoted`},
	{"failover: {clients: []}", "x.yaml:5:16: faults[0].failover.clients: the value is empty: write one such as " +
		"clients: [c0], or leave clients out (default: all of them)"},
	{"failover: {clients: [c2]}",
		`x.yaml:5:26: faults[0].failover.clients[0]: there is no client "c2": world.clients makes c0 and c1`},
	{"evict: {node: s0}",
		`x.yaml:5:19: faults[0].evict.node: there is no "s0" here: choose from the Redis nodes r0 to r4, and the replicas r0a and r0b`},
	{"evict: {node: r0, policy: noeviction}",
		`x.yaml:5:31: faults[0].evict.policy: "noeviction" is not known: choose allkeys-lru, allkeys-random, volatile-lru, volatile-random or volatile-ttl`},
	{"evict: {node: r0, keys: 0}", "x.yaml:5:29: faults[0].evict.keys: the value is empty: write one such as keys: 1, " +
		"or leave keys out (default: 1)"},
	{"flush: {node: r0, what: all}", `x.yaml:5:29: faults[0].flush.what: "all" is not known: choose keys or scripts`},
	{"read_only: {nod: r0}",
		`x.yaml:5:17: faults[0].read_only has no key "nod": did you mean node? Or choose one of node, for`},
}

func TestParseBadActions(t *testing.T) {
	for _, tt := range badActions {
		source := bigWorld + "  - at: 3s\n    " + tt.source + "\n"
		_, err := Parse("x.yaml", []byte(source))
		var input *InputError
		if !errors.As(err, &input) {
			t.Errorf("%s: Parse = %v, want an *InputError", tt.source, err)
			continue
		}
		got, caret, _ := strings.Cut(err.Error(), "\n")
		if got != tt.want || !strings.HasSuffix(caret, "^") {
			t.Errorf("%s:\n got %s\nwant %s\n%s", tt.source, got, tt.want, caret)
		}
	}
}

// Whether a trigger can fire depends on the workload and on restarts, and which
// nodes exist depends on the locks.
func TestFaultsThatDependOnTheRest(t *testing.T) {
	for _, tt := range []struct{ name, source, want string }{
		{"a register writes once a round", "faults: [{when: {client: c0, event: write, nth: 2}, crash: {process: c0}}]\n",
			"2 is too many: c0 passes write once a round, and workload.rounds is 1; lower nth or raise the rounds"},
		{"a transfer writes twice a round", "workload: {kind: transfer}\nfaults: [{when: {client: c0, event: write, nth: " +
			"2}, crash: {process: c0}}]\n", ""},
		{"and not three times", "workload: {kind: transfer}\nfaults: [{when: {client: c0, event: written, nth: 3}, crash: " +
			"{process: c0}}]\n",
			"3 is too many: c0 passes written twice a round, and workload.rounds is 1; lower nth or raise the rounds"},
		{"a transfer is granted once", "workload: {kind: transfer}\nfaults: [{when: {client: c0, event: granted, nth: 2}, " +
			"crash: {process: c0}}]\n",
			"2 is too many: c0 passes granted once a round, and workload.rounds is 1; lower nth or raise the rounds"},
		{"a restarted client begins its rounds again", "faults: [{at: 1s, crash: {process: c0}}, {at: 2s, restart: " +
			"{process: c0}}, {when: {client: c0, event: read, nth: 2}, stall: {node: r0}}]\n", ""},
		{"a leader writes in each tick", "workload: {kind: leader, ticks: 4}\nfaults: [{when: {client: c0, event: write, " +
			"nth: 4}, crash: {process: c0}}]\n", ""},
		{"and in no other", "workload: {kind: leader, ticks: 4}\nfaults: [{when: {client: c0, event: write, nth: 5}, " +
			"crash: {process: c0}}]\n",
			"5 is too many: c0 passes write 4 times a round, and workload.rounds is 1; lower nth or raise the rounds"},
		{"a lock's own point has no limit", "faults: [{when: {client: c0, event: reentered, nth: 9}, stall: {node: r0}}]\n",
			""},
		{"after too long", "faults: [{when: {client: c0, event: read}, after: 25h, stall: {node: r0}}]\n",
			"25h0m0s is out of range: give a time from 0s to 24h"},
		{"after no time", "faults: [{when: {client: c0, event: read}, after: 0s, stall: {node: r0}}]\n",
			"0s is no length of time: leave after out to strike at the event itself"},
		{"a Redlock has five nodes", "lock: {kind: redlock}\nfaults: [{at: 1s, stall: {node: r4}}]\n", ""},
		{"and not six", "lock: {kind: redlock}\nfaults: [{at: 1s, stall: {node: r5}}]\n",
			`there is no "r5" here: choose from the Redis nodes r0 to r4, and the store s0`},
		{"every quorum has five", "locks: [quorum]\nfaults: [{at: 1s, stall: {node: r4}}]\n", ""},
		{"not every lock has five", "locks: [single, redlock]\nfaults: [{at: 1s, stall: {node: r4}}]\n",
			`there is no "r4" here: choose from the Redis nodes r0, and the store s0`},
		{"unless the world has five", "world: {redis: 5}\nlocks: [all]\nfaults: [{at: 1s, stall: {node: r4}}]\n", ""},
		{"an unknown lock may need all nodes", "lock: {kind: theirs}\nfaults: [{at: 1s, stall: {node: r8}}]\n", ""},
		{"no replica to fail over to", "faults: [{at: 1s, failover: {}}]\n",
			"r0 has no replica to promote; set world.replicas to 1 or more"},
	} {
		_, err := Parse("x.yaml", []byte("name: x\n"+tt.source))
		var input *InputError
		got := ""
		if errors.As(err, &input) {
			_, got, _ = strings.Cut(input.Msg, ": ")
		}
		if got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
}
