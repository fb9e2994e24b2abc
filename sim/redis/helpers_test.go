package redis_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"runtime"
	"testing"

	"locksim/sim"
	simredis "locksim/sim/redis"
	"locksim/sim/trace"
)

// seeds is how many seeds a test tries: n, or a tenth of it with -short or
// under the race detector, at least 5.
func seeds(n int) int {
	if testing.Short() || raceEnabled {
		return max(n/10, 5)
	}
	return n
}

// with is a world of these servers.
func with(s simredis.Servers) sim.Config { return sim.Config{Servers: []sim.Kind{s}} }

// run runs a world, of one Redis server where the config names no servers.
func run(t testing.TB, cfg sim.Config, body func(*sim.World) error) *sim.Result {
	t.Helper()
	res, err := sim.Run(served(cfg), body)
	if err != nil {
		t.Fatalf("seed %d: %v", cfg.Seed, err)
	}
	return res
}

// served is the config with one Redis server where it names no servers.
func served(cfg sim.Config) sim.Config {
	if cfg.Servers == nil {
		cfg.Servers = []sim.Kind{simredis.Servers{}}
	}
	return cfg
}

func onProcessors(t *testing.T, n int, cfg sim.Config, body func(w *sim.World) error) *trace.Trace {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
	return run(t, cfg, body).Trace
}

// redisOf is the server r0 of a world.
func redisOf(w *sim.World) *simredis.Server {
	s, err := simredis.On(w, "r0")
	if err != nil {
		panic(err)
	}
	return s
}

// mark notes a result in the trace, in the name of the process.
func mark(p *sim.Process, format string, args ...any) {
	_, _ = p.Mark(trace.Mark{Step: trace.Point, Label: fmt.Sprintf(format, args...)})
}

// count is the number of events of a kind.
func count(res *sim.Result, kind string) int {
	n := 0
	for _, e := range res.Trace.Events {
		if e.Kind() == kind {
			n++
		}
	}
	return n
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

func dial(p *sim.Process, node string) *sim.Conn {
	c, err := p.Dial(context.Background(), "tcp", node)
	if err != nil {
		panic(err)
	}
	return c.(*sim.Conn)
}

func mustWrite(c net.Conn, text string) {
	if _, err := io.WriteString(c, text); err != nil {
		panic(err)
	}
}

func readErr(c net.Conn) error {
	_, err := c.Read(make([]byte, 10))
	return err
}

func writeErr(c net.Conn) error {
	_, err := c.Write([]byte("x"))
	return err
}
