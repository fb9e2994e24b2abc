package redis_test

import (
	"testing"
	"time"

	"locksim/sim"
	simredis "locksim/sim/redis"
	"locksim/sim/redis/redisclient"
	"locksim/sim/trace"
)

// manyUses is a run that looks at all that a server could have kept from another run, and leaves as much as it can.
func manyUses(w *sim.World) error {
	p := w.Client(0)
	p.Go(func() {
		ctx := p.Context()
		r := redisclient.New(p, "r0")
		for _, args := range [][]any{
			{"INFO"}, {"DBSIZE"}, {"KEYS", "*"}, {"GET", "s"}, {"TTL", "s"}, {"HGETALL", "h"}, {"PUBSUB", "CHANNELS"}, {"TIME"},
			{"SCRIPT", "EXISTS", "e0e1f9fabfc9d4800c877a703b823ac0578ff8db"}, {"CLIENT", "GETNAME"},
			{"SET", "s", "v", "PX", "50000"}, {"HSET", "h", "a", "1", "b", "2", "c", "3"},
			{"HEXPIRE", "h", "100", "FIELDS", "1", "a"},
			{"SADD", "set", "a", "b", "c", "d", "e"}, {"SRANDMEMBER", "set", "2"}, {"SPOP", "set"},
			{"XADD", "x", "*", "f", "v"}, {"XGROUP", "CREATE", "x", "g", "0"}, {"XREADGROUP", "GROUP", "g", "c", "STREAMS", "x",
				">"},
			{"ZADD", "z", "1", "m"}, {"PFADD", "hll", "v"}, {"RPUSH", "l", "v"}, {"SWAPDB", "0", "3"}, {"SET", "t", "v"},
			{"SCRIPT", "LOAD", "return 1"}, {"EVAL", "return redis.call('TIME')", "0"}, {"OBJECT", "IDLETIME", "t"}, {"NOSUCH"},
			{"INFO"},
		} {
			_ = r.Do(ctx, args...).Err() // the trace has the answer
		}
		for range 2 {
			s := r.Subscribe(ctx, "news")
			_, _ = s.Receive(ctx)
			r.Publish(ctx, "news", "none")
			_, _ = s.ReceiveTimeout(ctx, time.Second)
		}
	})
	return w.RunUntil(w.Idle)
}

// A run leaves nothing to one that uses its servers again: A, B and A give the traces of A and B alone.
func TestReuseLeavesNothing(t *testing.T) {
	play := func(reuse *simredis.Reuse, seed uint64, nodes int) *trace.Trace {
		t.Helper()
		cfg := sim.Config{Seed: seed, Servers: []sim.Kind{simredis.Servers{Nodes: nodes, Reuse: reuse}}}
		return run(t, cfg, manyUses).Trace
	}
	shared := new(simredis.Reuse)
	for i, of := range []struct {
		seed  uint64
		nodes int
	}{{1, 1}, {2, 3}, {1, 1}, {3, 5}, {2, 3}, {1, 1}} {
		if d := trace.Diff(play(nil, of.seed, of.nodes), play(shared, of.seed, of.nodes)); d != nil {
			t.Errorf("run %d, on servers used before: %v", i, d)
		}
	}
}
