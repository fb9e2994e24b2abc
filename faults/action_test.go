package faults_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2/toxics"
	"github.com/google/go-cmp/cmp"

	"locksim/faults"
)

// notebook is a world that can do everything and only writes it down.
type notebook struct {
	did  []string
	fail error
}

func (n *notebook) Pause(process string, d time.Duration) error {
	return n.note("pause %s %v", process, d)
}

func (n *notebook) Crash(process string, mode faults.CrashMode) error {
	return n.note("crash %s %s", process, mode)
}

func (n *notebook) Restart(process string) error { return n.note("restart %s", process) }

func (n *notebook) Slow(process string, by, d time.Duration) error {
	return n.note("slow %s %v %v", process, by, d)
}

func (n *notebook) KillWorker(process string) error { return n.note("kill worker %s", process) }

func (n *notebook) ExhaustPool(process string, d time.Duration) error {
	return n.note("exhaust %s %v", process, d)
}

func (n *notebook) JumpClock(name string, d time.Duration) error {
	return n.note("jump %s %v", name, d)
}

func (n *notebook) DriftClock(name string, ppm int64, d time.Duration) error {
	return n.note("drift %s %d %v", name, ppm, d)
}

// Toxify writes down what the toxics are, with the seed 7.
func (n *notebook) Toxify(w faults.Wire, name string, build func(seed uint64) toxics.Toxic, d time.Duration) error {
	one, two := build(7), build(7)
	if one == two {
		return fmt.Errorf("%s: two links share a toxic", name)
	}
	return n.note("%s %v %v %s %T %+v %v", name, w.Between, w.And, w.Direction, one, settings(one), d)
}

// settings are the exported fields of a toxic.
func settings(toxic toxics.Toxic) any {
	switch x := toxic.(type) {
	case *faults.Lose:
		return x.Count
	case *faults.Delay:
		return x.By
	}
	return toxic
}

func (n *notebook) Cut(p faults.Partition) error {
	return n.note("cut %v %v %v %s %s", p.Between, p.And, p.For, p.Bytes, p.Direction)
}

func (n *notebook) Reset(process, node string) error { return n.note("reset %s %s", process, node) }

func (n *notebook) Refuse(node string, d time.Duration) error {
	return n.note("refuse %s %v", node, d)
}

func (n *notebook) Stall(node string, d time.Duration) error { return n.note("stall %s %v", node, d) }

func (n *notebook) Promote(f faults.Failover) error {
	return n.note("promote %s %s %v", f.To, f.Old, f.Clients)
}

func (n *notebook) Program(node string) (server any, felt func(), err error) {
	return program{n, node}, func() {}, nil
}

// program is a server of a notebook.
type program struct {
	n    *notebook
	node string
}

func (p program) Evict(policy faults.EvictionPolicy, keys int) (deleted int, err error) {
	return keys, p.n.note("evict %s %s %d", p.node, policy, keys)
}

func (p program) Flush(what faults.FlushWhat) (deleted int, err error) {
	return 1, p.n.note("flush %s %s", p.node, what)
}

func (n *notebook) RefuseWrites(node string, d time.Duration) error {
	return n.note("read-only %s %v", node, d)
}

func (n *notebook) note(format string, args ...any) error {
	n.did = append(n.did, fmt.Sprintf(format, args...))
	return n.fail
}

var (
	c0 = []string{"c0"}
	r0 = []string{"r0"}
)

// does is what every kind of action asks the world for, and how it reads.
var does = []struct {
	action       faults.Action
	asks, phrase string
}{
	{pause, "pause c0 15s", "pause c0 for 15s"},
	{crash, "crash c1 process", "crash c1 (process)"},
	{faults.Crash{Process: "r0", Mode: faults.CrashPower}, "crash r0 power", "crash r0 (power)"},
	{faults.Restart{Process: "r0"}, "restart r0", "restart r0"},
	{faults.Slow{Process: "c0", By: ms}, "slow c0 1ms 0s", "slow the timers of c0 by 1ms until the end"},
	{faults.Slow{Process: "c0", By: ms, For: 5 * ms}, "slow c0 1ms 5ms", "slow the timers of c0 by 1ms for 5ms"},
	{faults.KillWorker{Process: "c0"}, "kill worker c0", "kill the worker of c0"},
	{faults.ExhaustPool{Process: "c0", For: ms}, "exhaust c0 1ms", "exhaust the pools of c0 for 1ms"},
	{faults.ClockJump{Clock: "r0", By: ms}, "jump r0 1ms", "set the clock of r0 forward by 1ms"},
	{faults.ClockJump{Clock: "c0", By: -ms}, "jump c0 -1ms", "set the clock of c0 back by 1ms"},
	{faults.ClockDrift{Clock: "c0", PPM: 100}, "drift c0 100 0s", "drift the clock of c0 by +100 ppm until the end"},
	{faults.ClockDrift{Clock: "c0", PPM: -100, For: ms}, "drift c0 -100 1ms", "drift the clock of c0 by -100 ppm for 1ms"},
	{faults.ClockFreeze{Clock: "c0", For: ms}, "drift c0 -1000000 1ms", "freeze the clock of c0 for 1ms"},
	{faults.Latency{Between: c0, And: r0, Add: ms, Jitter: 2 * ms, For: 9 * ms},
		"latency [c0] [r0] both *faults.Jitter &{Add:1ms Spread:2ms Seed:7} 9ms",
		"delay messages between c0 and r0 (both) by 1ms to 3ms for 9ms"},
	{faults.Bandwidth{Between: c0, Rate: 10, Direction: faults.DirectionForward},
		"bandwidth [c0] [] forward *toxics.BandwidthToxic &{Rate:10} 0s",
		"limit connections between c0 and everything else (forward) to 10 KB/s until the end"},
	{faults.Slice{Between: c0, And: r0, Size: 8, Delay: ms},
		"slice [c0] [r0] both *toxics.SlicerToxic &{AverageSize:8 SizeVariation:0 Delay:1000} 0s",
		"slice messages between c0 and r0 (both) into 8 bytes, 1ms apart, until the end"},
	{faults.SlowClose{Between: c0, And: r0, Delay: 5 * ms, For: ms},
		"slow_close [c0] [r0] both *toxics.SlowCloseToxic &{Delay:5} 1ms",
		"end connections between c0 and r0 (both) 5ms late for 1ms"},
	{faults.LoseReply{Between: c0, And: []string{"r0", "r1"}},
		"lose_reply [c0] [r0 r1] backward *faults.Lose 1 0s", "lose the next reply to c0 from r0, r1"},
	{faults.LoseReply{Between: c0, Count: 3},
		"lose_reply [c0] [] backward *faults.Lose 3 0s", "lose the next 3 replies to c0 from everything else"},
	{faults.LoseReply{Between: c0, And: r0, Skip: 2},
		"lose_reply [c0] [r0] backward *faults.Lose 1 0s", "lose the reply after the next 2 to c0 from r0"},
	{faults.DelayMessage{Between: c0, And: r0, By: ms, Skip: 2},
		"delay_message [c0] [r0] forward *faults.Delay 1ms 0s", "delay the message after the next 2 between c0 and r0 " +
			"(forward) by 1ms"},
	{faults.DelayMessage{Between: c0, And: r0, By: ms},
		"delay_message [c0] [r0] forward *faults.Delay 1ms 0s", "delay the next message between c0 and r0 (forward) by 1ms"},
	{faults.DelayMessage{Between: c0, And: r0, By: ms, Direction: faults.DirectionBoth},
		"delay_message [c0] [r0] both *faults.Delay 1ms 0s", "delay the next message between c0 and r0 (both) by 1ms"},
	{cut, "cut [c0] [r0 s0] 1s hold both", "cut c0 off from r0, s0 for 1s (hold, both)"},
	{faults.Partition{Between: c0, Bytes: faults.BytesDrop, Direction: faults.DirectionForward},
		"cut [c0] [] 0s drop forward", "cut c0 off from everything else until the end (drop, forward)"},
	{faults.Reset{Between: c0, And: r0}, "reset c0 r0", "reset the connections of c0 to r0"},
	{faults.Refuse{Node: "s0"}, "refuse s0 0s", "refuse connections to s0 until the end"},
	{faults.Stall{Node: "r0", For: ms}, "stall r0 1ms", "stall r0 for 1ms"},
	{faults.Failover{}, "promote r0a fenced []", "fail over to r0a (old primary fenced)"},
	{faults.Failover{To: "r0b", Old: faults.OldServing, Clients: c0},
		"promote r0b serving [c0]", "fail over to r0b for c0 (old primary serving)"},
	{faults.Evict{Node: "r0"}, "evict r0 allkeys-lru 1", "evict 1 key from r0 (allkeys-lru)"},
	{faults.Evict{Node: "r0", Policy: faults.EvictVolatileTTL, Keys: 3}, "evict r0 volatile-ttl 3",
		"evict 3 keys from r0 (volatile-ttl)"},
	{faults.Flush{Node: "r0"}, "flush r0 keys", "flush the keys of r0"},
	{faults.Flush{Node: "r0", What: faults.FlushScripts}, "flush r0 scripts", "flush the scripts of r0"},
	{faults.ReadOnly{Node: "r0", For: ms}, "read-only r0 1ms", "make r0 read-only for 1ms"},
}

func TestApplyUsesTheAbilityAndFillsDefaults(t *testing.T) {
	for _, tt := range does {
		world := new(notebook)
		if err := faults.Validate(tt.action); err != nil {
			t.Errorf("%v: %v", tt.action, err)
		}
		if err := tt.action.Apply(world); err != nil {
			t.Errorf("%v: %v", tt.action, err)
		}
		if diff := cmp.Diff([]string{tt.asks}, world.did); diff != "" {
			t.Errorf("%s: the world did (-want +got):\n%s", tt.action.Kind(), diff)
		}
		if got := fmt.Sprint(tt.action); got != tt.phrase {
			t.Errorf("reads %q, want %q", got, tt.phrase)
		}
	}
}

func TestResetGoesThroughThePairs(t *testing.T) {
	reset := faults.Reset{Between: []string{"c0", "c1"}, And: []string{"r0", "s0"}}
	world := new(notebook)
	if err := reset.Apply(world); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"reset c0 r0", "reset c0 s0", "reset c1 r0", "reset c1 s0"}, world.did); diff != "" {
		t.Errorf("the world did (-want +got):\n%s", diff)
	}
	broken := &notebook{fail: errors.New("no such node")}
	if err := reset.Apply(broken); !errors.Is(err, broken.fail) || len(broken.did) != 1 {
		t.Errorf("Apply = %v after %v; want the first error, and nothing after it", err, broken.did)
	}
}

// Without its ability no world can do it, and whatever the world complains of
// is said with the action.
func TestApplyNamesTheActionInErrors(t *testing.T) {
	broken := &notebook{fail: errors.New("no process c0")}
	for _, tt := range does {
		for _, world := range []any{struct{}{}, nil, 7} {
			err := tt.action.Apply(world)
			want := fmt.Sprintf("%s: the world is unable to do this: a %T cannot %s", tt.phrase, world, tt.action.Kind())
			if !errors.Is(err, faults.ErrUnable) || err.Error() != want {
				t.Errorf("got %v, want %s", err, want)
			}
		}
		err := tt.action.Apply(broken)
		if !errors.Is(err, broken.fail) {
			t.Errorf("%v: the cause is lost in %v", tt.action, err)
		}
	}
	want := "pause c0 for 15s: no process c0"
	if err := pause.Apply(broken); err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// A world offers the abilities that it has; a fault finds the one it needs.
func ExampleFault() {
	fault := faults.Fault{
		When:   &faults.Event{Client: "c0", Name: faults.EventRead, Nth: 1},
		After:  time.Second,
		Action: faults.Pause{Process: "c0", For: 15 * time.Second},
	}
	if err := fault.Validate(); err != nil {
		fmt.Println(err)
	}
	world := new(notebook)
	if err := fault.Action.Apply(world); err != nil {
		fmt.Println(err)
	}
	fmt.Println(fault)
	fmt.Println(world.did)
	// Output:
	// pause c0 for 15s, 1s after c0 passes read
	// [pause c0 15s]
}

// A fault of the network is a toxic on each link of a wire. Defaults are filled
// in before the world sees them.
func ExampleToxifier() {
	late := faults.DelayMessage{Between: []string{"c0"}, And: []string{"s0"}, By: 15 * time.Second}
	world := new(notebook)
	fmt.Println(late, late.Apply(world))
	fmt.Println(world.did[0])
	// Output:
	// delay the next message between c0 and s0 (forward) by 15s <nil>
	// delay_message [c0] [s0] forward *faults.Delay 15s 0s
}
