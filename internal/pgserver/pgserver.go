//go:build linux

package pgserver

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"locksim/internal/live/guard"
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
	dir     string
	program string
	args    []string
	env     []string
	host    string // for clients: the folder of the socket, or an address
	port    string
	cmd     *exec.Cmd    // nil: it does not run
	guard   *guard.Guard // nil: the caller's
	clock   *clock       // nil: that of the machine
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
	s := &Server{dir: o.Dir, env: o.Env}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Stop())
		}
	}()
	if s.dir == "" {
		if s.guard, err = guard.Start("locksim-pg-"); err != nil {
			return nil, err
		}
		s.dir = s.guard.Dir()
	}
	s.host, s.port = s.dir, port
	if o.Address != "" {
		if s.host, s.port, err = net.SplitHostPort(o.Address); err != nil {
			return nil, fmt.Errorf("the address of PostgreSQL: %w", err)
		}
	}
	if err := guard.Own(s.dir); err != nil {
		return nil, err
	}
	initdb := s.command(ctx, filepath.Join(bin, "initdb"), "-D", filepath.Join(s.dir, data), "-U", "locksim", "-A",
		"trust", "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions")
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("make a database: %w\n%s", err, out)
	}
	s.program = filepath.Join(bin, "postgres")
	socket, network := s.dir, ""
	if o.Address != "" {
		socket, network = "", s.host
	}
	s.args = []string{"-D", filepath.Join(s.dir, data), "-k", socket, "-p", s.port, "-c", "listen_addresses=" + network,
		"-c", "fsync=off",
		"-c", "dynamic_shared_memory_type=mmap"} // in the folder, not in /dev/shm
	for _, line := range o.Settings {
		s.args = append(s.args, "-c", line)
	}
	if o.Clock {
		if s.clock, err = newClock(s.dir); err != nil {
			return nil, err
		}
	}
	if err := s.Run(); err != nil {
		return nil, err
	}
	return s, s.Wait(ctx)
}

// Wait waits until the server serves, after [Server.Run]. It must be called outside of any bubble. The error wraps
// [ErrExited] if the server has exited.
func (s *Server) Wait(ctx context.Context) error {
	for {
		ready := s.command(ctx, filepath.Join(filepath.Dir(s.program), "pg_isready"), "-q", "-h", s.host, "-p", s.port)
		if ready.Run() == nil {
			return nil
		}
		reason := ctx.Err()
		if guard.Exited(s.cmd.Process) {
			reason = ErrExited
		}
		if reason != nil {
			log, _ := os.ReadFile(s.log())
			return fmt.Errorf("PostgreSQL does not serve: %w\n%s", reason, log)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// log is the file for what the server says.
func (s *Server) log() string { return filepath.Join(s.dir, "log") }

// Run starts the server, after a Crash, and returns at once: the server recovers what it had committed. It starts no
// goroutine, so it can be called in a bubble.
func (s *Server) Run() error {
	log, err := os.OpenFile(s.log(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close() //nolint:errcheck // the server has it
	if s.clock != nil {
		if err := s.clock.forget(); err != nil {
			return err
		}
	}
	cmd := s.command(context.Background(), s.program, s.args...)
	cmd.Env = append(cmd.Env, s.env...)
	if s.clock != nil {
		cmd.Env = append(cmd.Env, s.clock.Env()...)
	}
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start PostgreSQL: %w", err)
	}
	s.cmd = cmd
	return nil
}

// Crash kills all processes of the server, and waits for their end. What it has committed is in its files.
func (s *Server) Crash() error {
	if s.cmd == nil {
		return nil
	}
	err := guard.Kill(s.dir)
	_ = s.cmd.Wait() // it was killed
	s.cmd = nil
	return err
}

// command is a program that runs as an unprivileged user.
func (s *Server) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = s.dir
	cmd.Env = []string{"HOME=" + s.dir, "PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}
	guard.Prepare(cmd)
	return cmd
}

// Source names the database for a driver: a connection string.
func (s *Server) Source() string {
	return fmt.Sprintf("host=%s port=%s user=locksim dbname=postgres sslmode=disable", s.host, s.port)
}

// Dir is the private folder of the server, in which its socket is.
func (s *Server) Dir() string { return s.dir }

// Stop ends the server, and removes its folder.
func (s *Server) Stop() error {
	if s.guard == nil {
		return errors.Join(s.Crash(), os.RemoveAll(s.dir))
	}
	err := s.guard.End()
	if s.cmd != nil {
		_ = s.cmd.Wait() // it was killed
	}
	return err
}
