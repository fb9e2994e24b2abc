package upstream

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// patience is how long a test waits for what must happen.
const patience = 20 * time.Second

// waitFor returns when cond is true. It asks every few milliseconds, and fails the test after patience.
func waitFor(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !cond(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("after %v still not: %s", patience, what)
		}
	}
}

// wait returns when c is closed, and fails the test after patience.
func wait(t *testing.T, what string, c <-chan struct{}) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(patience):
		t.Fatalf("after %v still not: %s", patience, what)
	}
}

// program is the path of a program. Where it is missing it skips the test, or fails it with LOCKSIM_REQUIRE_LIVE=1.
func program(t *testing.T, name, install string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		missing(t, fmt.Sprintf("%s is missing: %s", name, install))
	}
	return path
}

func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("LOCKSIM_REQUIRE_LIVE") == "1" {
		t.Fatalf("%s, and LOCKSIM_REQUIRE_LIVE=1 asks for it", what)
	}
	t.Skipf("%s; set LOCKSIM_REQUIRE_LIVE=1 to make this a failure", what)
}

// start runs a server until the end of the test. It is ready when ready says so; exited tells that it has ended before.
func start(t *testing.T, cmd *exec.Cmd, ready func() bool) (exited bool) {
	t.Helper()
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		<-ended
	})
	for end := time.Now().Add(patience); !ready(); time.Sleep(5 * time.Millisecond) {
		select {
		case <-ended:
			t.Logf("%s has ended:\n%s", cmd.Path, out.String())
			return true
		default:
		}
		if time.Now().After(end) {
			t.Fatalf("%s is not ready after %v", cmd.Path, patience)
		}
	}
	return false
}

// startOnPort starts the server that command makes for a free port, and tries again where another program took the
// port.
func startOnPort(t *testing.T, command func(port string) *exec.Cmd, ready func(addr string) bool) (addr string) {
	t.Helper()
	for range 3 {
		port := freePort(t)
		addr = net.JoinHostPort("127.0.0.1", port)
		if exited := start(t, command(port), func() bool { return ready(addr) }); !exited {
			return addr
		}
	}
	t.Fatal("the server does not start")
	return ""
}

// freePort is a port of the loopback interface on which nothing listens.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// startRedis starts a Redis server with more environment, and returns its address.
func startRedis(t *testing.T, env ...string) (addr string) {
	t.Helper()
	path := program(t, "redis-server", "install Debian's redis-server")
	dir := t.TempDir()
	return startOnPort(t, func(port string) *exec.Cmd {
		cmd := exec.Command(path, "--bind", "127.0.0.1", "--port", port, "--dir", dir, "--save", "", "--appendonly", "no")
		cmd.Env = append(os.Environ(), env...)
		return cmd
	}, func(addr string) bool {
		c := redis.NewClient(&redis.Options{Addr: addr, MaxRetries: -1, DialTimeout: time.Second})
		defer func() { _ = c.Close() }()
		return c.Ping(context.Background()).Err() == nil
	})
}

// direct is a client of a Redis server that no proxy delays. It is closed at the end of the test.
func direct(t *testing.T, addr string) *redis.Client {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: addr})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// impatient is a client that gives up a request when its context ends, and does not send it again.
func impatient(t *testing.T, addr string) *redis.Client {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: addr, ContextTimeoutEnabled: true, MaxRetries: -1})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// calls is how often a Redis server has executed a command. Those inside scripts count too.
func calls(t *testing.T, c *redis.Client, command string) (n int) {
	t.Helper()
	info, err := c.Info(context.Background(), "commandstats").Result()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(info) {
		if stats, ok := strings.CutPrefix(line, "cmdstat_"+command+":calls="); ok {
			if _, err := fmt.Sscanf(stats, "%d", &n); err != nil {
				t.Fatal(err)
			}
		}
	}
	return n
}

// get is the value of a key, "" if there is none.
func get(t *testing.T, c *redis.Client, key string) string {
	t.Helper()
	v, err := c.Get(context.Background(), key).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		t.Fatal(err)
	}
	return v
}

// command is whether bytes have a command, or an argument, of the protocol of Redis.
func command(b []byte, word string) bool {
	return strings.Contains(strings.ToLower(string(b)), "\r\n"+word+"\r\n")
}
