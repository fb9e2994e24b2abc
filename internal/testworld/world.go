// Package testworld runs worlds for the tests of the kernel and of its kinds of
// servers, and has helpers for such tests.
package testworld

import (
	"context"
	"fmt"
	"io"
	"net"
	"runtime"
	"testing"

	"locksim/sim"
	"locksim/sim/redis"
	"locksim/sim/store"
	"locksim/sim/trace"
)

// Run runs a world, of one Redis server and the store if the config has no
// servers. An error of the run ends the test.
func Run(t testing.TB, cfg sim.Config, body func(*sim.World) error) *sim.Result {
	t.Helper()
	res, err := sim.Run(Served(cfg), body)
	if err != nil {
		t.Fatalf("seed %d: %v", cfg.Seed, err)
	}
	return res
}

// RunOn is [Run] with GOMAXPROCS set to processors. It returns the trace.
func RunOn(t testing.TB, processors int, cfg sim.Config, body func(*sim.World) error) *trace.Trace {
	t.Helper()
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
	return Run(t, cfg, body).Trace
}

// Served is the config with one Redis server and the store if it has no
// servers.
func Served(cfg sim.Config) sim.Config {
	if cfg.Servers == nil {
		cfg.Servers = []sim.Kind{redis.Servers{}, store.Server{}}
	}
	return cfg
}

// Seeds is the number of seeds of a test: n, or a tenth of it with -short or
// under the race detector, at least 5.
func Seeds(n int) int {
	if testing.Short() || raceEnabled {
		return max(n/10, 5)
	}
	return n
}

// Must fails the test if there is an error, and does not end it.
func Must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

// Redis is the server r0 of a world.
func Redis(w *sim.World) *redis.Server {
	s, err := redis.On(w, "r0")
	if err != nil {
		panic(err)
	}
	return s
}

// Mark records a result in the trace, as a mark of the process.
func Mark(p *sim.Process, format string, args ...any) {
	_, _ = p.Mark(trace.Mark{Step: trace.Point, Label: fmt.Sprintf(format, args...)})
}

// Count is the number of events of a kind.
func Count(res *sim.Result, kind string) int {
	n := 0
	for _, e := range res.Trace.Events {
		if e.Kind() == kind {
			n++
		}
	}
	return n
}

// Dial opens a connection of a process to a server.
func Dial(p *sim.Process, server string) *sim.Conn {
	c, err := p.Dial(context.Background(), "tcp", server)
	if err != nil {
		panic(err)
	}
	return c.(*sim.Conn)
}

// MustWrite writes a text to a connection, and panics if that fails.
func MustWrite(c net.Conn, text string) {
	if _, err := io.WriteString(c, text); err != nil {
		panic(err)
	}
}

// ReadError is the error of a read.
func ReadError(c net.Conn) error {
	_, err := c.Read(make([]byte, 10))
	return err
}

// WriteError is the error of a write.
func WriteError(c net.Conn) error {
	_, err := c.Write([]byte("x"))
	return err
}
