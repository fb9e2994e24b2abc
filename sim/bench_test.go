package sim_test

import (
	"context"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"locksim/sim"
	"locksim/sim/redis/redisclient"
)

// command is one round trip of a client.
type command func(ctx context.Context, r *redis.Client) error

var compareAndDelete = redis.NewScript(`-- release
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0`)

var commands = map[string]command{
	"plain": func(ctx context.Context, r *redis.Client) error {
		return r.SetNX(ctx, "lock", "owner", 10*time.Second).Err()
	},
	"script": func(ctx context.Context, r *redis.Client) error {
		return compareAndDelete.Run(ctx, r, []string{"lock"}, "owner").Err()
	},
}

// BenchmarkRoundTrip compares a command in the world, traced, with the same
// client and miniredis over loopback TCP. Both are measured alternately in one
// run, so that their ratio is meaningful on a noisy machine.
func BenchmarkRoundTrip(b *testing.B) {
	for _, name := range []string{"plain", "script"} {
		b.Run(name, func(b *testing.B) { compareRoundTrips(b, commands[name]) })
	}
}

func compareRoundTrips(b *testing.B, do command) {
	const turn = 500
	tcp := loopback(b)
	var world, real time.Duration
	for b.Loop() {
		world += timed(func() { worldTurn(b, do, turn) })
		real += timed(func() { repeat(b, tcp, do, turn) })
	}
	n := float64(b.N * turn)
	b.ReportMetric(float64(world.Nanoseconds())/n/1e3, "world-µs/cmd")
	b.ReportMetric(float64(real.Nanoseconds())/n/1e3, "tcp-µs/cmd")
	b.ReportMetric(float64(world)/float64(real), "world/tcp")
	b.ReportMetric(0, "ns/op") // the time of one turn is not meaningful
}

func timed(f func()) time.Duration {
	began := time.Now()
	f()
	return time.Since(began)
}

// worldTurn includes building and closing the world.
func worldTurn(b *testing.B, do command, n int) {
	run(b, sim.Config{Seed: 1}, func(w *sim.World) error {
		p := w.Client(0)
		p.Go(func() { repeat(b, redisclient.New(p, "r0"), do, n) })
		return w.RunUntil(w.Idle)
	})
}

func repeat(b *testing.B, r *redis.Client, do command, n int) {
	for range n {
		if err := do(context.Background(), r); err != nil {
			b.Error(err)
			return
		}
	}
}

func loopback(b *testing.B) *redis.Client {
	m := miniredis.NewMiniRedis()
	if err := m.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(m.Close)
	opt := redisclient.Quiet()
	opt.Addr = m.Addr()
	r := redis.NewClient(opt)
	b.Cleanup(func() { _ = r.Close() })
	return r
}
