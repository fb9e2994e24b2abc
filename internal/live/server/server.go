package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"locksim/faults"
	"locksim/internal/live/guard"
)

// Server is one server. Its methods are safe for concurrent use.
type Server struct {
	name, addr string
	dir        string // its private folder, in which all its processes work
	group      *Group
	program    program
	admin      *redis.Client // of a Redis

	mu      sync.Mutex
	running *process // nil after a crash
	leader  string   // the address at which a replica reaches its primary
}

// program is how a server is started.
type program struct {
	// command makes the command. It is called again for each restart.
	command func() *exec.Cmd
	// ready returns nil once the process with this id serves.
	ready func(ctx context.Context, pid int) error
}

// process is a running server.
type process struct {
	cmd    *exec.Cmd
	output *output
	exited chan struct{} // closed once it has ended
}

// Name is r0, r1, …, r0a, … for a replica of r0, e0, …, z0, …, or p0.
func (s *Server) Name() string { return s.name }

// Addr is the address for clients: "127.0.0.1:" and a port. It stays the same over restarts.
func (s *Server) Addr() string { return s.addr }

// Dir is the server's private folder.
func (s *Server) Dir() string { return s.dir }

// Down reports whether the server has crashed and was not restarted.
func (s *Server) Down() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running == nil
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
	return s.kill()
}

func (s *Server) kill() error {
	if s.running == nil {
		return nil
	}
	err := guard.Kill(s.dir)
	<-s.running.exited
	s.running = nil
	return err
}

// Restart starts a server that has crashed, on the same address and with the files that it has left, and waits until it
// serves.
func (s *Server) Restart(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running != nil {
		return fmt.Errorf("restart %s: it has not crashed", s.name)
	}
	return s.start(ctx)
}

// Stall stops all processes of the server: it answers nobody, its connections stay open, and its clocks go on.
func (s *Server) Stall() error { return s.signal("stall", guard.Stop) }

// Resume ends a stall. The server handles what has arrived meanwhile.
func (s *Server) Resume() error { return s.signal("resume", guard.Continue) }

func (s *Server) signal(verb string, do func(dir string) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == nil {
		return fmt.Errorf("%s %s: it is down", verb, s.name)
	}
	if err := do(s.dir); err != nil {
		return fmt.Errorf("%s %s: %w", verb, s.name, err)
	}
	return nil
}

// errExited says that a process has ended before it served: its port was taken, or its arguments were wrong.
var errExited = errors.New("the server has exited")

// start starts the server and waits until it serves. The caller holds the mutex.
func (s *Server) start(ctx context.Context) error {
	cmd := s.program.command()
	cmd.Dir = s.dir
	cmd.Env = append(cmd.Env, "HOME="+s.dir, "PATH="+os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC")
	guard.Prepare(cmd)
	p := &process{cmd: cmd, output: &output{}, exited: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p.output, p.output
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", s.name, err)
	}
	go func() {
		_ = cmd.Wait()
		close(p.exited)
	}()
	s.running = p
	if err := s.serves(ctx, p); err != nil {
		return errors.Join(fmt.Errorf("start %s: %w; it printed:\n%s", s.name, err, p.output), s.kill())
	}
	return nil
}

// serves waits until a process serves.
func (s *Server) serves(ctx context.Context, p *process) error {
	for {
		err := s.program.ready(ctx, p.cmd.Process.Pid)
		if err == nil {
			return nil
		}
		select {
		case <-p.exited:
			return errExited
		case <-ctx.Done():
			return fmt.Errorf("it does not serve: %w (%w)", ctx.Err(), err)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// close forgets a server whose processes were killed.
func (s *Server) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running != nil {
		<-s.running.exited
		s.running = nil
	}
	if s.admin != nil {
		return s.admin.Close()
	}
	return nil
}

// Output is the end of what the running process has printed.
func (s *Server) Output() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running == nil {
		return ""
	}
	return s.running.output.String()
}

// enough bounds the stored output of a server.
const enough = 16 << 10

// output stores the end of what a server prints.
type output struct {
	mu   sync.Mutex
	text []byte
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text = append(o.text, p...)
	o.text = o.text[max(0, len(o.text)-enough):]
	return len(p), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return strings.TrimSpace(string(o.text))
}

// unable says why a server cannot do something.
func (s *Server) unable(why string) error {
	return fmt.Errorf("%w: %s: %s", faults.ErrUnable, s.name, why)
}
