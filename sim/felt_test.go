package sim_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/faults"
	"locksim/sim"
	simredis "locksim/sim/redis"
	"locksim/sim/redis/redisclient"
)

// felt are faults of every kind that strike c0 or r0 at 50 ms, with what is done at
// 40 ms. The last ones have no consequence, whatever c0 does.
var felt = []struct {
	action faults.Action
	before faults.Action
	never  bool
}{
	{action: faults.Pause{Process: "c0", For: 100 * time.Millisecond}},
	{action: faults.Crash{Process: "c0", Mode: faults.CrashProcess}},
	{action: faults.Crash{Process: "c0", Mode: faults.CrashPower}},
	{action: faults.Crash{Process: "r0", Mode: faults.CrashProcess}},
	{action: faults.Crash{Process: "r0", Mode: faults.CrashPower}},
	{action: faults.Restart{Process: "r0"}, before: faults.Crash{Process: "r0", Mode: faults.CrashProcess}},
	{action: faults.KillWorker{Process: "c0"}},
	{action: faults.Suspend{Process: "c0", For: 100 * time.Millisecond}},
	{action: faults.Terminate{Process: "c0", Grace: 10 * time.Millisecond}},
	{action: faults.Slow{Process: "c0", By: 20 * time.Millisecond, For: 100 * time.Millisecond}},
	{action: faults.ClockJump{Clock: "c0", By: time.Hour}},
	{action: faults.ClockJump{Clock: "r0", By: time.Hour}},
	{action: faults.ClockDrift{Clock: "c0", PPM: 1000, For: 100 * time.Millisecond}},
	{action: faults.ClockDrift{Clock: "r0", PPM: 1000, For: 100 * time.Millisecond}},
	{action: faults.ClockFreeze{Clock: "c0", For: 100 * time.Millisecond}},
	{action: faults.ExhaustPool{Process: "c0", For: 100 * time.Millisecond}},
	{action: faults.Partition{Between: []string{"c0"}, And: []string{"r0"}, For: 100 * time.Millisecond}},
	{action: faults.Partition{Between: []string{"c0"}, And: []string{"r0"}, Bytes: faults.BytesDrop,
		For: 100 * time.Millisecond}},
	{action: faults.Partition{Between: []string{"r0"}, And: []string{"r0a"}, For: 100 * time.Millisecond}},
	{action: faults.Partition{Between: []string{"r0"}, And: []string{"r0a"}, Bytes: faults.BytesDrop,
		For: 100 * time.Millisecond}},
	{action: faults.Latency{Between: []string{"c0"}, Add: time.Millisecond, For: 100 * time.Millisecond}},
	{action: faults.Bandwidth{Between: []string{"c0"}, Rate: 1, For: 100 * time.Millisecond}},
	{action: faults.Slice{Between: []string{"c0"}, Size: 7, For: 100 * time.Millisecond}},
	{action: faults.SlowClose{Between: []string{"c0"}, Delay: time.Millisecond, For: 100 * time.Millisecond}},
	{action: faults.Loss{Between: []string{"c0"}, Percent: 60, For: 100 * time.Millisecond}},
	{action: faults.LoseReply{Between: []string{"c0"}, And: []string{"r0"}, Count: 1}},
	{action: faults.DelayMessage{Between: []string{"c0"}, And: []string{"r0"}, By: 50 * time.Millisecond}},
	{action: faults.HalfOpen{Between: []string{"c0"}, And: []string{"r0"}, For: 100 * time.Millisecond}},
	{action: faults.Reset{Between: []string{"c0"}, And: []string{"r0"}}},
	{action: faults.Refuse{Node: "r0", For: 100 * time.Millisecond}},
	{action: faults.Stall{Node: "r0", For: 100 * time.Millisecond}},
	{action: faults.ErrorReply{Node: "r0", Error: faults.ReplyLoading, For: 100 * time.Millisecond}},
	{action: faults.ReadOnly{Node: "r0", For: 100 * time.Millisecond}},
	{action: faults.Failover{Old: faults.OldFenced}},
	{action: faults.Failover{Old: faults.OldDemoted}},
	{action: faults.Failover{Old: faults.OldServing}},
	{action: faults.Evict{Node: "r0", Policy: faults.EvictAllKeysLRU, Keys: 1}},
	{action: faults.Flush{Node: "r0", What: faults.FlushKeys}},
	{action: faults.Flush{Node: "r0", What: faults.FlushScripts}},
	{action: faults.EditKey{Node: "r0"}},
	{action: faults.EditKey{Node: "r0", How: faults.EditOverwrite}},

	{action: faults.Pause{Process: "c1", For: 100 * time.Millisecond}, never: true},
	{action: faults.ClockJump{Clock: "c1", By: time.Hour}, never: true},
	{action: faults.Partition{Between: []string{"c1"}, For: 100 * time.Millisecond}, never: true},
	{action: faults.HalfOpen{Between: []string{"c0"}, And: []string{"s0"}, For: 100 * time.Millisecond}, never: true},
	{action: faults.Stall{Node: "s0", For: 100 * time.Millisecond}, never: true},
	{action: faults.Evict{Node: "r0", Policy: faults.EvictVolatileTTL, Keys: 1}, never: true}, // no key has a TTL
	{action: faults.EditKey{Node: "r0a"}, never: true},                                        // a replica
}

// TestFelt shows for each kind of fault that it is felt while a client works, and
// not when the client has ended its work before the fault strikes.
func TestFelt(t *testing.T) {
	var covered []string
	for _, tt := range felt {
		covered = append(covered, tt.action.Kind())
		for _, works := range []bool{true, false} {
			got := isFelt(t, tt.before, tt.action, works)
			if want := works && !tt.never; got != want {
				t.Errorf("%v: felt %v, want %v while c0 works: %v", tt.action, got, want, works)
			}
		}
	}
	for _, form := range faults.Kinds() {
		if !slices.Contains(covered, form.Name) && form.Needs() == 0 { // the packages of the others have their tests
			t.Errorf("no case has the kind %s", form.Name)
		}
	}
}

// isFelt applies a fault in a world in which c0 works for a second, or for no
// longer than 20 ms.
func isFelt(t *testing.T, before, action faults.Action, works bool) bool {
	t.Helper()
	var called atomic.Bool
	got := false
	cfg := sim.Config{Clients: 2, Latency: ms, Servers: []sim.Kind{simredis.Servers{Nodes: 1, Replicas: 1}, sinks{"s0"}}}
	run(t, cfg, func(w *sim.World) error {
		w.WatchKeys("k")
		p := w.Client(0)
		opt := redisclient.Quiet()
		opt.Addr, opt.ReadTimeout, opt.DialTimeout = p.Address(simredis.Primary), 30*time.Millisecond, 30*time.Millisecond
		r := redisclient.With(p, opt)
		w.At(40*time.Millisecond, func() {
			if before != nil {
				must(t, before.Apply(w.Faults()))
			}
		})
		w.At(50*time.Millisecond, func() { must(t, action.Apply(w.Faults().WhenFelt(func() { called.Store(true) }))) })
		p.Go(func() {
			_ = r.Ping(p.Context()).Err()
			for works && w.Now() < time.Second && useAll(p, r) == nil {
			}
		})
		must(t, w.RunFor(2*time.Second))
		w.Heal()
		got = called.Load()
		return w.RunUntil(w.Idle)
	})
	return got
}

// useAll has a process use its connections, its clocks and its timers. The error
// says that the process has ended.
func useAll(p *sim.Process, r *redis.Client) error {
	ctx, cancel := context.WithTimeout(p.Context(), 100*time.Millisecond)
	defer cancel()
	_ = r.Append(ctx, "k", "x").Err()
	_ = r.Eval(ctx, "return 1", nil).Err()
	if c, err := p.Dial(ctx, "tcp", simredis.Primary); err == nil {
		if _, err := c.Write([]byte("PING\r\n")); err == nil {
			_, _ = c.Read(make([]byte, 7))
		}
		_ = c.Close()
	}
	_, _ = p.Clock().Now(), p.WallClock().Now()
	if err := p.Point("used all"); err != nil {
		return err
	}
	return p.Clock().Sleep(p.Context(), 5*time.Millisecond)
}
