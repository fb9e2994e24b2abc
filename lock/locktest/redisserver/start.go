package redisserver

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// requireVar is the environment variable that makes a missing redis-server a failure when it is "1".
const requireVar = "LOCKSIM_REQUIRE_LIVE"

const (
	ports    = 5                // number of ports to try: another program may take a free one first
	patience = 20 * time.Second // for a server's answer, on a busy machine
)

// Server is one redis-server process. Its methods are safe for concurrent use.
type Server struct {
	port    int
	command *exec.Cmd
	output  *output
	exited  chan struct{} // closed once the process has ended
}

// Start starts a server and waits until it answers. It is stopped at the end of the test. Further arguments are passed
// to redis-server, such as "--maxmemory", "10mb". If redis-server is missing or older than version 7, the test is
// skipped, or fails with LOCKSIM_REQUIRE_LIVE=1 in the environment. It fails if the server does not start.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	if _, err := Find(); err != nil {
		missing(t, err)
	}
	s, err := Launch(t.TempDir(), args...)
	if err != nil {
		t.Fatalf("redisserver: %v", err)
	}
	t.Cleanup(s.Stop)
	return s
}

// Launch starts a server outside of tests, and waits until it answers. Its working directory is dir. The caller stops
// it. Further arguments are as for [Start]. The error says how to install redis-server if it is missing, and has its
// output if it does not start.
func Launch(dir string, args ...string) (*Server, error) {
	path, err := Find()
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
	if os.Getenv(requireVar) == "1" {
		t.Fatalf("redisserver: %v, and %s=1 asks for it", err, requireVar)
		return
	}
	t.Skipf("%v; set %s=1 to make this a failure", err, requireVar)
}

// errExited says that the process exited: its port was taken, or its arguments were wrong.
var errExited = errors.New("redis-server has exited")

// start starts one process and waits for its answer. If it fails the process is stopped.
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
	dieWithParent(s.command)
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

// freePort finds a port without a listener. Redis cannot choose one itself.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// Addr is the address of the server: "127.0.0.1:" and a port.
func (s *Server) Addr() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)) }

// Pid is the id of the process, to stop and continue it by signals.
func (s *Server) Pid() int { return s.command.Process.Pid }

// Stop kills the process and waits for its end. It may be called again; a stopped server cannot be restarted.
func (s *Server) Stop() {
	_ = s.command.Process.Kill()
	<-s.exited
}

// enough bounds the stored output of a server.
const enough = 16 << 10

// output stores the beginning of a server's output, for the error when it does not start.
type output struct {
	mu   sync.Mutex
	text strings.Builder
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if room := enough - o.text.Len(); room > 0 {
		o.text.Write(p[:min(len(p), room)])
	}
	return len(p), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// oldest is the first version whose scripts replicate effects and have one time throughout.
const oldest = 7

var version = regexp.MustCompile(`v=(\d+)\.`)

// Find returns the path of redis-server, or of valkey-server where there is no other. The error says that it is
// missing, or too old, and how to install it. Find searches once per program.
func Find() (string, error) { return find() }

var find = sync.OnceValues(func() (string, error) {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		path, err = exec.LookPath("valkey-server")
	}
	if err != nil {
		return "", errors.New("there is no redis-server and no valkey-server on the PATH (Debian and Ubuntu: apt-get " +
			"install redis-server)")
	}
	said, err := exec.Command(path, "--version").Output()
	if err != nil {
		return "", fmt.Errorf("%s --version fails: %w", path, err)
	}
	return path, newEnough(path, string(said))
})

func newEnough(path, said string) error {
	m := version.FindStringSubmatch(said)
	if m == nil {
		return fmt.Errorf("%s prints no version: %q", path, said)
	}
	if major, err := strconv.Atoi(m[1]); err != nil || major < oldest {
		return fmt.Errorf("%s is version %s: version %d or later is needed", path, m[1], oldest)
	}
	return nil
}
