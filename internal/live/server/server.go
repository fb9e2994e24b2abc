package server

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/redis/go-redis/v9"

	"locksim/faults"
	"locksim/internal/live/guard"
)

// Server is one server. Its methods are safe for concurrent use.
type Server struct {
	name, addr string
	dir        string // its private folder, in which all its processes work
	group      *Group
	engine     engine
	clock      *clock        // nil: that of the machine
	gate       Gate          // of a Redis or a Sentinel
	bus        string        // the address of that of a node of a Redis Cluster
	admin      *redis.Client // of a Redis
	asks       *redis.SentinelClient
	id         string // of a Sentinel, or a node of a Redis Cluster

	mu     sync.Mutex
	up     running
	leader string // the address at which a replica of a Redis reaches its primary

	logged  sync.Mutex
	primary string // the name of the node of a Redis Cluster that it follows by its log, "" for none
}

// running says whether a server runs.
type running string

const (
	runs    running = "runs"
	stalled running = "is stalled"
	down    running = "is down"
)

// engine starts and ends the processes of a server.
type engine interface {
	// start starts them, and waits until the server accepts connections. The error wraps errExited if it has ended before.
	start(ctx context.Context) error
	// kill kills them, and waits for their end.
	kill() error
	// output is the end of what they have printed.
	output() string
}

// Name is r0, r1, …, r0a, … for a replica of r0, sen0, …, rc0, …, e0, …, z0, …, p0 or m0.
func (s *Server) Name() string { return s.name }

// Addr is the address for clients: "127.0.0.1:" and a port. It stays the same over restarts.
func (s *Server) Addr() string { return s.addr }

// Gate is how other servers know a Redis or a Sentinel.
func (s *Server) Gate() Gate { return s.gate }

// ID is the id by which Sentinels know each other, and the nodes of a Redis Cluster; "" for other servers.
func (s *Server) ID() string { return s.id }

// Kind is what it is.
func (s *Server) Kind() Kind { return s.group.options.Kind }

// Dir is the server's private folder.
func (s *Server) Dir() string { return s.dir }

// Down reports whether the server has crashed and was not restarted.
func (s *Server) Down() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.up == down
}

// running reports whether the server has neither crashed nor stalled.
func (s *Server) running() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.up == runs
}

// Crash kills all processes of the server, also if it is stalled, and waits for their end. What they have given to the
// operating system stays. A power failure is the same for the files of a server that syncs before it answers, or has no
// files; the caller must have cut the network. It cannot be played for a Redis that syncs once a second.
func (s *Server) Crash(mode faults.CrashMode) error {
	if err := s.losesNothing(mode); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.up == down {
		return nil
	}
	s.up = down
	return s.engine.kill()
}

// Restart starts a server that has crashed, on the same address and with the files that it has left, and waits until it
// accepts connections. A member of a cluster serves when a majority of the members runs.
func (s *Server) Restart(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.up != down {
		return fmt.Errorf("restart %s: it %w", s.name, faults.ErrRuns)
	}
	if err := s.engine.start(ctx); err != nil {
		return errors.Join(fmt.Errorf("start %s: %w; it printed:\n%s", s.name, err, s.engine.output()), s.engine.kill())
	}
	s.up = runs
	return nil
}

// Stall stops all processes of the server: it does not answer, its connections stay open, and its clocks go on.
func (s *Server) Stall() error { return s.signal("stall", guard.Stop, stalled) }

// Resume ends a stall. The server handles what has arrived meanwhile.
func (s *Server) Resume() error { return s.signal("resume", guard.Continue, runs) }

func (s *Server) signal(verb string, do func(dir string) error, then running) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.up == down {
		return fmt.Errorf("%s %s: it is down", verb, s.name)
	}
	if err := do(s.dir); err != nil {
		return fmt.Errorf("%s %s: %w", verb, s.name, err)
	}
	s.up = then
	return nil
}

// close forgets a server whose processes were killed.
func (s *Server) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.engine.kill()
	s.up = down
	if s.admin != nil {
		err = errors.Join(err, s.admin.Close())
	}
	if s.asks != nil {
		err = errors.Join(err, s.asks.Close())
	}
	return errors.Join(err, s.clock.close())
}

// Output is the end of what the server has printed since it was started.
func (s *Server) Output() string { return s.engine.output() }

// unable says why a server cannot do something.
func (s *Server) unable(why string) error {
	return fmt.Errorf("%w: %s: %s", faults.ErrUnable, s.name, why)
}
