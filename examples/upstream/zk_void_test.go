//go:build unix

package upstream

import (
	"bufio"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"
)

// zkLocks is how many locks are tried at once: whether one is granted is a race.
const zkLocks = 40

// The environment variables that make this program the process of b have the servers, and the node above the locks.
const (
	zkServersVar = "UPSTREAM_ZOOKEEPER"
	zkParentVar  = "UPSTREAM_PARENT"
)

// zkName is the node of a lock.
func zkName(parent string, i int) string { return fmt.Sprintf("%s/%d", parent, i) }

// TestShowsZkVoid shows that Lock.Lock returns nil to a client whose session has ended, while another client has the
// lock. The process of b waits for locks that a has, and is stopped. a unlocks them, which the server tells b; the
// sessions of b end, and with them its nodes; c takes the locks. When b goes on, it reads that a has unlocked and, at
// once, that its connections are closed. Where the question for the children of the lock was queued but not sent, it is
// asked in the new session. The lock finds no node before its own, and does not look whether its own is there.
//
// Whether b is granted a lock is a race of its goroutines, so the test is played with LOCKSIM_SOAK=1 only.
func TestShowsZkVoid(t *testing.T) {
	if servers := os.Getenv(zkServersVar); servers != "" {
		waitForLocks(strings.Split(servers, ","), os.Getenv(zkParentVar))
		return
	}
	if os.Getenv("LOCKSIM_SOAK") != "1" {
		t.Skip("a race of goroutines, which a busy machine can decide otherwise; LOCKSIM_SOAK=1 plays it")
	}
	t.Parallel()
	addr := startZooKeeper(t)
	// Three addresses, as of an ensemble: with one the client drops what was queued before it connects anew.
	servers := []string{addr, startProxy(t, addr, nil, nil).addr, startProxy(t, addr, nil, nil).addr}
	a, c := zkClient(t, addr), zkClient(t, addr)
	for round := range 5 {
		if granted := stopWaiters(t, a, c, servers, fmt.Sprintf("/round%d", round)); granted > 0 {
			t.Logf("c has %d locks, and b was granted %d of them too", zkLocks, granted)
			return
		}
	}
	t.Fatal("mended? Each Lock of b has had an error, five times")
}

// stopWaiters plays the course on locks under a node. It returns how many of them b was granted while c has them.
func stopWaiters(t *testing.T, a, c *zk.Conn, servers []string, parent string) (granted int) {
	t.Helper()
	lockAll := func(conn *zk.Conn) (all []*zk.Lock) {
		t.Helper()
		for i := range zkLocks {
			l := zk.NewLock(conn, zkName(parent, i), zk.WorldACL(zk.PermAll))
			if err := l.Lock(); err != nil {
				t.Fatal(err)
			}
			all = append(all, l)
		}
		return all
	}
	// nodes is whether each lock has so many nodes, of its holder and of those that wait for it.
	nodes := func(n int) func() bool {
		return func() bool {
			for i := range zkLocks {
				if children, _, err := c.Children(zkName(parent, i)); err != nil || len(children) != n {
					return false
				}
			}
			return true
		}
	}

	held := lockAll(a)
	b := exec.Command(os.Args[0], "-test.run=^TestShowsZkVoid$")
	// With few processors the deadlines of the reads that have passed win the race against what there is to read.
	b.Env = append(os.Environ(), zkServersVar+"="+strings.Join(servers, ","), zkParentVar+"="+parent, "GOMAXPROCS=16")
	b.Stderr = os.Stderr
	out, err := b.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = b.Process.Kill()
		_ = b.Wait()
	}()
	waitFor(t, "b waits for each lock behind a", nodes(2))
	if err := b.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(b.Process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatalf("b has not stopped: %v, %v", status, err)
	}
	for _, l := range held {
		if err := l.Unlock(); err != nil {
			t.Fatal(err)
		}
	}
	waitFor(t, "the sessions of b have ended", nodes(0))
	lockAll(c)
	if err := b.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for n := range zkLocks {
		if !lines.Scan() {
			t.Fatalf("b has ended after %d of %d locks: %v", n, zkLocks, lines.Err())
		}
		if lines.Text() == "granted" {
			granted++
		}
	}
	if !nodes(1)() {
		t.Fatal("not each lock has the node of c alone")
	}
	return granted
}

// waitForLocks is the process of b: it says of each lock whether it was granted.
func waitForLocks(servers []string, parent string) {
	var all sync.WaitGroup
	for i := range zkLocks {
		conn, _, err := zk.Connect(servers, time.Second, zk.WithLogger(log.New(io.Discard, "", 0)))
		if err != nil {
			panic(err)
		}
		all.Go(func() {
			if err := zk.NewLock(conn, zkName(parent, i), zk.WorldACL(zk.PermAll)).Lock(); err != nil {
				fmt.Println("refused:", err)
				return
			}
			fmt.Println("granted")
		})
	}
	all.Wait()
}
