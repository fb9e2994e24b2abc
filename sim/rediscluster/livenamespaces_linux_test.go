package rediscluster_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// namespace is a network of its own, which ends with the test program.
type namespace struct{ file *os.File }

const thisNamespace = "/proc/thread-self/ns/net"

// newNamespace makes one. The error is that of a kernel that does not allow it.
func newNamespace() (n namespace, err error) {
	err = aside(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("make a network namespace: %w", err)
		}
		n.file, err = os.Open(thisNamespace)
		return err
	})
	return n, err
}

// aside calls f on a thread whose namespace f may change, and then returns to that of the test program. Processes that
// are started meanwhile die with the thread, so it must go on.
func aside(f func() error) error {
	runtime.LockOSThread()
	own, err := os.Open(thisNamespace)
	if err != nil {
		runtime.UnlockOSThread()
		return err
	}
	defer own.Close() //nolint:errcheck // it was only read
	err = f()
	if back := unix.Setns(int(own.Fd()), unix.CLONE_NEWNET); back != nil {
		return fmt.Errorf("return from a network namespace: %w", back) // the thread ends with its goroutine
	}
	runtime.UnlockOSThread()
	return err
}

// do calls f in the namespace. What f starts and dials is there.
func (n namespace) do(f func() error) error {
	return aside(func() error {
		if err := unix.Setns(int(n.file.Fd()), unix.CLONE_NEWNET); err != nil {
			return err
		}
		return f()
	})
}

// ip runs the command ip in the namespace.
func (n namespace) ip(args ...string) error {
	return n.do(func() error {
		if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("ip %v: %w: %s", args, err, out)
		}
		return nil
	})
}

// lan is a network of machines, each in a namespace of its own, on one switch.
type lan struct {
	hub   namespace
	hosts map[string]namespace // by address
	ports map[string]string    // of the switch, by address
}

// newLAN makes one of six machines. Where that is not allowed, the test is skipped with the reason.
func newLAN(t *testing.T) (l *lan, addrs []string) {
	t.Helper()
	l = &lan{hosts: map[string]namespace{}, ports: map[string]string{}}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Skipf("networks of their own take root and the command ip: %v", err)
		}
	}
	fresh := func() namespace {
		n, err := newNamespace()
		must(err)
		t.Cleanup(func() { _ = n.file.Close() })
		return n
	}
	l.hub = fresh()
	must(l.hub.ip("link", "add", "hub", "type", "bridge"))
	must(l.hub.ip("link", "set", "hub", "up"))
	for i := range 6 {
		host, port, ip := fresh(), fmt.Sprint("port", i), fmt.Sprint("10.99.0.", 10+i)
		must(l.hub.ip("link", "add", port, "type", "veth", "peer", "name", "eth0", "netns",
			fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), host.file.Fd())))
		must(l.hub.ip("link", "set", port, "master", "hub", "up"))
		must(host.ip("addr", "add", ip+"/24", "dev", "eth0"))
		must(host.ip("link", "set", "eth0", "up"))
		must(host.ip("link", "set", "lo", "up"))
		addr := net.JoinHostPort(ip, "7000")
		l.hosts[addr], l.ports[addr] = host, port
		addrs = append(addrs, addr)
	}
	return l, addrs
}

// dial dials an address from its own machine, so that no partition is between.
func (l *lan) dial(ctx context.Context, network, addr string) (c net.Conn, err error) {
	err = l.hosts[addr].do(func() error {
		c, err = new(net.Dialer).DialContext(ctx, network, addr)
		return err
	})
	return c, err
}

// cut takes a machine off the switch, and heal connects it again.
func (l *lan) cut(addr string) error  { return l.hub.ip("link", "set", l.ports[addr], "nomaster") }
func (l *lan) heal(addr string) error { return l.hub.ip("link", "set", l.ports[addr], "master", "hub") }

// newLiveLAN starts six real nodes, each on a machine of its own.
func newLiveLAN(t *testing.T, timeout time.Duration) (*liveCluster, *lan) {
	t.Helper()
	liveServer(t)
	l, addrs := newLAN(t)
	g := startLive(t, addrs, timeout, l.dial, func(addr string, f func()) {
		if err := l.hosts[addr].do(func() error { f(); return nil }); err != nil {
			t.Fatal(err)
		}
	})
	return g, l
}
