package redisserver

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"
)

// RequireVar is the environment variable that makes a missing redis-server a failure when it is "1".
const RequireVar = "LOCKSIM_REQUIRE_LIVE"

const (
	binary   = "redis-server"
	ports    = 5                // how many ports are tried: another program may take a free one first
	patience = 20 * time.Second // for a server to answer, on a busy machine
)

// Server is one redis-server process. Its methods are safe for concurrent use.
type Server struct {
	port    int
	command *exec.Cmd
	output  *output
	exited  chan struct{} // closed once the process has ended
}

// Start starts a server and waits until it answers. It is stopped when the test has ended. Further
// arguments go to redis-server, such as "--maxmemory", "10mb". The test is skipped, or fails (see
// [RequireVar]), when redis-server is missing or older than version 7, and fails when it does not start.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	if _, err := find(); err != nil {
		missing(t, err)
	}
	s, err := Launch(t.TempDir(), args...)
	if err != nil {
		t.Fatalf("redisserver: %v", err)
	}
	t.Cleanup(s.Stop)
	return s
}

// Launch starts a server for a program that is no test, and waits until it answers. Its working directory
// is dir. The caller stops it. Further arguments are as for [Start]. The error says how to get redis-server
// where it is missing, and what it printed where it does not start.
func Launch(dir string, args ...string) (*Server, error) {
	path, err := find()
	if err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		s, err := start(path, dir, args)
		if err == nil || try == ports || !errors.Is(err, errExited) {
			return s, err
		}
	}
}

// StartN starts n servers, as [Start] does.
func StartN(t testing.TB, n int, args ...string) []*Server {
	t.Helper()
	servers := make([]*Server, n)
	for i := range servers {
		servers[i] = Start(t, args...)
	}
	return servers
}

func missing(t testing.TB, err error) {
	t.Helper()
	if os.Getenv(RequireVar) == "1" {
		t.Fatalf("redisserver: %v, and %s=1 asks for it", err, RequireVar)
		return
	}
	t.Skipf("%v; set %s=1 to make this a failure", err, RequireVar)
}

// errExited says that the process ended by itself: its port was taken, or it did not like its arguments.
var errExited = errors.New("redis-server has exited")

// start starts one process and waits for its answer. It leaves nothing behind when it fails.
func start(path, dir string, args []string) (*Server, error) {
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	args = append([]string{
		"--port", strconv.Itoa(port), "--bind", "127.0.0.1",
		"--save", "", "--appendonly", "no", "--dir", dir, "--daemonize", "no",
	}, args...)
	s := &Server{port: port, command: exec.Command(path, args...), output: &output{}, exited: make(chan struct{})}
	s.command.Stdout, s.command.Stderr = s.output, s.output
	dieWithUs(s.command)
	if err := s.command.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	go func() {
		_ = s.command.Wait()
		close(s.exited)
	}()
	if err := s.answers(); err != nil {
		s.Stop()
		return nil, fmt.Errorf("%w; it printed:\n%s", err, s.output)
	}
	return s, nil
}

// freePort finds a port that nobody listens on at the moment. Redis cannot be asked to choose one.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// Addr is where the server listens: "127.0.0.1:" and a port.
func (s *Server) Addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

// Pid is the id of the process, to stop and continue it by signal.
func (s *Server) Pid() int { return s.command.Process.Pid }

// Stop kills the process and waits for its end. A stopped server stays stopped; Stop may be called again.
func (s *Server) Stop() {
	_ = s.command.Process.Kill()
	<-s.exited
}
