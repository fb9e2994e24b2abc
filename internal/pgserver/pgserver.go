//go:build linux

package pgserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"slices"

	"locksim/internal/dbserver"
	"locksim/internal/live/shim"
)

// ErrMissing is returned where PostgreSQL is not installed, or cannot be run.
var ErrMissing = errors.New("PostgreSQL is missing: install Debian's postgresql")

// port is part of the name of the socket; nothing listens on a network, unless the options have an address.
const port = "5432"

// data is the folder of the database in that of the server.
const data = "data"

// Server is a running PostgreSQL.
type Server struct {
	dbserver.Process
	host  string // for clients: the folder of the socket, or an address
	port  string
	clock *clock // nil: that of the machine
}

func programs() (dir string, err error) {
	if path, err := exec.LookPath("postgres"); err == nil {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			return filepath.Dir(path), nil
		}
	}
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err != nil || len(found) == 0 {
		return "", ErrMissing
	}
	return filepath.Dir(slices.Max(found)), nil
}

// Missing returns the error that Start would return for lack of a program: [ErrMissing] or [ErrNoCompiler]. It is nil
// if they are there.
func Missing() error {
	if _, err := programs(); err != nil {
		return err
	}
	_, err := shim.Compiler()
	return err
}

// Start makes a server with an empty database, and waits until it serves. It ends with [Server.Stop], and soon after
// this program. The error wraps [ErrMissing] where there is no PostgreSQL, and [ErrNoCompiler] where there can be no
// clock.
func Start(ctx context.Context, o Options) (_ *Server, err error) {
	bin, err := programs()
	if err != nil {
		return nil, err
	}
	s := &Server{Process: dbserver.Process{Name: "PostgreSQL", Program: filepath.Join(bin, "postgres"), Env: o.Env}}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Stop())
		}
	}()
	if err := s.Open(o.Dir, "locksim-pg-"); err != nil {
		return nil, err
	}
	s.host, s.port = s.Dir(), port
	if o.Address != "" {
		if s.host, s.port, err = net.SplitHostPort(o.Address); err != nil {
			return nil, fmt.Errorf("the address of PostgreSQL: %w", err)
		}
	}
	initdb := s.Command(ctx, filepath.Join(bin, "initdb"), "-D", filepath.Join(s.Dir(), data), "-U", "locksim", "-A",
		"trust", "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions")
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("make a database: %w\n%s", err, out)
	}
	socket, network := s.Dir(), ""
	if o.Address != "" {
		socket, network = "", s.host
	}
	s.Args = []string{"-D", filepath.Join(s.Dir(), data), "-k", socket, "-p", s.port, "-c", "listen_addresses=" + network,
		"-c", "fsync=off",
		"-c", "dynamic_shared_memory_type=mmap"} // in the folder, not in /dev/shm
	for _, line := range o.Settings {
		s.Args = append(s.Args, "-c", line)
	}
	if o.Clock {
		if s.clock, err = newClock(s.Dir()); err != nil {
			return nil, err
		}
	}
	if err := s.Run(); err != nil {
		return nil, err
	}
	return s, s.Wait(ctx)
}

// Run starts the server, after a Crash, and returns at once: the server recovers what it had committed. It starts no
// goroutine, so it can be called in a bubble.
func (s *Server) Run() error {
	if s.clock == nil {
		return s.Process.Run()
	}
	if err := s.clock.forget(); err != nil {
		return err
	}
	return s.Process.Run(s.clock.Env()...)
}

// Wait waits until the server serves, after [Server.Run]. It must be called outside of any bubble. The error wraps
// [ErrExited] if the server has exited.
func (s *Server) Wait(ctx context.Context) error {
	return s.Await(ctx, func() error {
		return s.Command(ctx, filepath.Join(filepath.Dir(s.Program), "pg_isready"), "-q", "-h", s.host, "-p", s.port).Run()
	})
}

// Source names the database for a driver: a connection string.
func (s *Server) Source() string {
	return fmt.Sprintf("host=%s port=%s user=locksim dbname=postgres sslmode=disable", s.host, s.port)
}
